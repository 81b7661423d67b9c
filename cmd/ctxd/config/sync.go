package config

import (
	"cmp"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
)

// Sync says on which servers the store lies that this machine shares with others.
type Sync struct {
	URL         string // "": the store is this machine's alone
	credentials string // where they are found: none, env:NAME, file:PATH or keyring:NAME
	ca          string
	cert        string
	certKey     string
	Offline     string // what becomes of writes while the servers can't be reached: OfflineRefuse or OfflineQueue
}

// What becomes of writes while the servers of a shared store can't be reached.
const (
	OfflineRefuse = "refuse"
	OfflineQueue  = "queue"
)

// NotShared is the word for a store that is this machine's alone.
const NotShared = "none"

func (c *Config) syncSettings() []*Setting {
	s := &c.Store.Sync
	url := stringOf(&s.URL, checkServers)
	set, text := url.set, url.Text
	url.words = []string{NotShared}
	url.set = func(words []string) *fault.Error {
		if len(words) == 1 && words[0] == NotShared {
			s.URL = ""
			return nil
		}
		return set(words)
	}
	url.Text = func() string { return cmp.Or(text(), NotShared) }
	url.raw = func() any { return url.Text() }
	list := []*Setting{
		{key: "store.sync.url", about: "NATS servers of the store that several machines share, such as nats://HOST:4222, several separated by commas; none: the store is this machine's alone", value: url},
		{key: "store.sync.credentials", about: "where to find what the servers ask for, never that itself: env:NAME, file:PATH, keyring:NAME or none; it is a credentials file, a user seed, USER:PASSWORD or a token", value: keyOf(&s.credentials)},
		{key: "store.sync.ca", about: "file of the certificates that are trusted beside those of the system; none", value: pathOrWord(&s.ca, NotShared)},
		{key: "store.sync.cert", about: "file of the certificate that this machine shows to the servers; none", value: pathOrWord(&s.cert, NotShared)},
		{key: "store.sync.certKey", about: "file of the key of that certificate; none", value: pathOrWord(&s.certKey, NotShared)},
		{key: "store.sync.offline", about: "what becomes of writes while the servers cannot be reached: refuse, or queue: what only adds is taken and waits for the other machines", value: wordOf(&s.Offline, OfflineRefuse, OfflineQueue)},
	}
	return unquoted(list)
}

// checkServers refuses what is no address of servers.
func checkServers(text string) *fault.Error { return nats.CheckURL(text) }

// Servers are where the shared store lies and how they are entered. What they ask for is read
// now, from where the settings say it is, and again before each later connection.
func (s *Sync) Servers() (nats.Servers, error) {
	source := s.credentials
	read := func() (string, error) { return outbound.LoadKey(source, "store.sync.credentials") }
	credentials, err := read()
	if err != nil {
		return nats.Servers{}, err
	}
	return nats.Servers{URL: s.URL, Credentials: credentials, Renew: read, CA: s.ca, Cert: s.cert, CertKey: s.certKey}, nil
}

// check finds what only shows when all is known.
func (s *Sync) check() *fault.Error {
	if (s.cert == "") != (s.certKey == "") {
		f := fault.Field("store.sync.certKey", "a certificate and its key go together")
		return f.WithHint("give both store.sync.cert and store.sync.certKey, or neither")
	}
	return nil
}
