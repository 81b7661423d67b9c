package main

import (
	"crypto/rand"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/socket"
)

// Lengths of tokens, in bytes.
const (
	leastToken = 16
	mostToken  = 4 << 10
)

// serveHTTP serves hosts over HTTP until Ctrl-C.
func (c *mcpCmd) serveHTTP(a *app, opts mcp.Options) error {
	token, made, err := c.token()
	if err != nil {
		return err
	}
	ln, err := listenHTTP(c.HTTP)
	if err != nil {
		return err
	}
	at := "http://" + ln.Addr().String() + "/"
	if ln.Addr().Network() == "unix" {
		at = "unix:" + ln.Addr().String()
	}
	a.Err.Say(term.Text("MCP over HTTP at " + at + "; Ctrl-C stops"))
	if made {
		a.Err.Say(term.Text("Authorization: Bearer " + token))
	}
	return mcp.ServeHTTP(a.Ctx, ln, token, opts)
}

// listenHTTP listens at unix:PATH, or at a port of this machine alone.
func listenHTTP(address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return socket.Listen(path, socket.Options{Version: term.ProgramVersion()})
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fault.Field("http", "%q is no address that only this machine reaches", address).
			WithHint("give 127.0.0.1:PORT, [::1]:PORT or unix:PATH")
	}
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot listen at %s", at).
			WithHint("choose another port; 0 takes a free one")
	}
	return ln, nil
}

// token reads the token of the file, or makes one.
func (c *mcpCmd) token() (token string, made bool, err error) {
	if c.TokenFile == "" {
		return rand.Text() + rand.Text(), true, nil
	}
	f, err := os.Open(c.TokenFile)
	if err != nil {
		return "", false, fault.Field("token-file", "the file of the token can't be read").
			WithHint("make one: head -c 24 /dev/urandom | base64 > FILE; chmod 600 FILE")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", false, fault.Field("token-file", "others may read the file of the token").
			WithHint("chmod 600 the file, and make another token")
	}
	text, err := io.ReadAll(io.LimitReader(f, mostToken))
	if err != nil {
		return "", false, err
	}
	token = strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", false, fault.Field("token-file",
			"the file does not hold a token of one word and %d characters or more", leastToken)
	}
	return token, false, nil
}
