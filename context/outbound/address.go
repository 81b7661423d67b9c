package outbound

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Service is what a server is asked for, in the words of errors and hints.
type Service struct {
	Noun    string // of a server
	Setting string // what its settings begin with
	Path    string // what its URL ends with
	Example string // the name of a model
	Pull    string // how one is fetched
	Start   string // how a server is started for it
	Outside string // how one on another machine is allowed, behind the name of its settings
	Base    string // the setting of its URL, behind the name of its settings; "": url
}

// address is the full name of the setting of the URL.
func (s *Service) address() string {
	if s.Base != "" {
		return s.Setting + "." + s.Base
	}
	return s.Setting + ".url"
}

// Allowing is what lets a service be asked on another machine.
func (s *Service) Allowing() string {
	return "set " + s.Setting + "." + s.Outside + " when the texts of your notes may leave this machine"
}

// Target is who is asked, as settings name it.
type Target struct {
	URL   string // of the server, of its version, or in full: see Parse
	Model string
	Key   string // "" for none
	// AllowRemote lets texts leave this machine.
	AllowRemote bool
}

// Address is what a URL stands for.
type Address struct {
	URL    string     // of what is asked for
	Host   string     // with its port, for people; "unix:" and the path of a socket
	Socket string     // path of the Unix socket that is dialled in the place of the host; "" for none
	Addr   netip.Addr // when it is named by one
	Secure bool
	Local  bool // by its name; where a name leads is seen when it is dialled
}

// Resolve says where a target is. Its error is fault.Invalid that names the field at fault:
// url, model or key. It asks nobody.
func (s *Service) Resolve(t Target) (*Address, error) {
	a, err := ParseAddress(t.URL, s.Path)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(t.Model) == "":
		return nil, fault.Field("model", "an endpoint needs the name of a model").
			WithHint("name it as the endpoint does, such as %s", s.Example)
	case len(t.Model) > 256 || strings.ContainsFunc(t.Model, isControl):
		return nil, fault.Field("model", "this is no name of a model").
			WithHint("name it as the server does, on one line")
	}
	if err := checkKey(t.Key); err != nil {
		return nil, err
	}
	if a.Addr.IsValid() && !a.Local && !t.AllowRemote {
		hint := s.Allowing()
		if a.Addr.IsUnspecified() {
			hint = "write 127.0.0.1 when you mean this machine"
		}
		return nil, fault.Field("url", "%s is not this machine", a.Host).WithHint("%s", hint)
	}
	if t.Key != "" && !a.Secure && a.Remote(t.AllowRemote) {
		return nil, fault.Field("url", "a key would go to %s for everybody to read", a.Host).
			WithHint("begin the URL with https://")
	}
	return a, nil
}

// checkKey refuses what can't be a key. The error does not show it.
func checkKey(key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.Field("key", "the key has characters that no key has").
			WithHint("it must be one line of letters, digits and signs")
	}
	return nil
}

// ParseAddress reads a URL that leads to the path of a service, or to its server: with the path
// embeddings http://127.0.0.1:11434, http://127.0.0.1:11434/v1 and
// http://127.0.0.1:11434/v1/embeddings are the same. unix:///run/llama.sock is a server that listens on a socket,
// unix:///run/llama.sock:/v1 the same with its path. Its errors don't show the URL: a wrong one may hold a key.
func ParseAddress(text, path string) (*Address, error) {
	bad := func(why string) error {
		return fault.Field("url", "%s", why).WithHint("write it as http://127.0.0.1:11434/v1")
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
		return nil, bad("an endpoint needs a URL")
	case err != nil || !hasHost(u):
		return nil, bad("this is no URL of an endpoint")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fault.Field("url", "the URL of an endpoint has no user, no question mark and no fragment").
			WithHint("give a key by the setting of its own")
	}
	socket := ""
	if u.Scheme == socketScheme {
		if socket, u.Path = splitSocket(u.Path); socket == "" {
			return nil, fault.Field("url", "this is no path of a socket").
				WithHint("write it as unix:///run/llama.sock, at most %d bytes, or with the path of its service as unix:///run/llama.sock:/v1", maxSocketPath)
		}
		u.Scheme, u.Host = "http", "localhost"
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch p := strings.TrimRight(u.Path, "/"); {
	case p == "":
		u.Path = "/v1/" + path
	case strings.HasSuffix(p, "/"+path):
		u.Path = p
	default:
		u.Path = p + "/" + path
	}
	u.RawPath, u.OmitHost = "", false
	a := &Address{URL: u.String(), Host: u.Host, Socket: socket, Secure: u.Scheme == "https"}
	if socket != "" {
		a.Host, a.Local = socketScheme+":"+socket, true
		return a, nil
	}
	name := u.Hostname()
	a.Addr, err = netip.ParseAddr(name)
	a.Local = err == nil && a.Addr.Unmap().IsLoopback() || name == "localhost" || strings.HasSuffix(name, ".localhost")
	return a, nil
}

// hasHost reports whether a URL names a server, or the socket of one on this machine.
func hasHost(u *url.URL) bool {
	switch u.Scheme {
	case "http", "https":
		return u.Hostname() != ""
	case socketScheme:
		return u.Host == "" && u.Opaque == ""
	}
	return false
}

const (
	socketScheme  = "unix"
	maxSocketPath = 103 // bytes, the least of the systems that we run on
)

// splitSocket splits the path of a unix URL into that of the socket, "" where it can't be one, and the path behind its last
// colon, which the server is asked for. A drive of Windows has a colon too.
func splitSocket(path string) (socket, asked string) {
	drive := filepath.VolumeName(strings.TrimPrefix(path, "/"))
	if drive != "" {
		path = path[1:]
	}
	socket = path
	if at := strings.LastIndex(path[len(drive):], ":/"); at >= 0 {
		at += len(drive)
		socket, asked = path[:at], path[at+1:]
	}
	if !strings.HasPrefix(socket[len(drive):], "/") || strings.HasSuffix(socket, "/") || len(socket) > maxSocketPath ||
		strings.ContainsFunc(socket, isControl) {
		return "", ""
	}
	return filepath.FromSlash(socket), asked
}

// Remote reports whether texts may leave this machine. Where they may not, only
// addresses of this machine are dialled, wherever a name leads.
func (a *Address) Remote(allowed bool) bool { return allowed && !a.Local }

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
