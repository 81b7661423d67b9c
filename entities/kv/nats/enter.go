package nats

import (
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ctxd/ctxd/entities/fault"
)

// renewEvery is how often credentials are read again, at most.
const renewEvery = time.Second

// credentialsKind is what the text of credentials is.
type credentialsKind int

const (
	noCredentials credentialsKind = iota
	credentialsFile
	userSeed
	userAndPassword
	token
)

func kindOfCredentials(text string) credentialsKind {
	switch {
	case text == "":
		return noCredentials
	case strings.Contains(text, "BEGIN NATS USER JWT"):
		return credentialsFile
	case strings.HasPrefix(text, "SU") && len(text) == 58:
		return userSeed
	case strings.Contains(text, ":") && !strings.Contains(text, "\n"):
		return userAndPassword
	}
	return token
}

// credentials are what a connection enters with. They are read again for each attempt: a
// password may be another one by now, a credentials file may be renewed. A server that does
// not answer is not entered, so nothing is read for it.
type credentials struct {
	renew func() (string, error)

	mu   sync.Mutex // of what follows
	text string
	kind credentialsKind
	read time.Time
	bad  error // why they could not be read the last time; nil: they could
}

// now returns what to enter with.
func (c *credentials) now() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renew == nil || time.Since(c.read) < renewEvery {
		return c.text
	}
	c.read = time.Now()
	text, err := c.renew()
	text = strings.TrimSpace(text)
	if err == nil && kindOfCredentials(text) != c.kind {
		err = fault.New(fault.Unavailable, "the credentials of the servers are of another kind than at the start").
			WithHint("start the daemon again: ctxd stop; ctxd serve")
	}
	c.bad = err
	if err == nil {
		c.text = text
	}
	return c.text
}

// why is why they could not be read again.
func (c *credentials) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bad
}

// entering returns the options that credentials are.
func (d *dialer) entering(s Servers) ([]nats.Option, error) {
	c := &d.credentials
	c.renew, c.text, c.read = s.Renew, strings.TrimSpace(s.Credentials), time.Now()
	c.kind = kindOfCredentials(c.text)
	switch c.kind {
	case credentialsFile:
		return []nats.Option{nats.UserJWT(
			func() (string, error) { return nkeys.ParseDecoratedJWT([]byte(c.now())) },
			func(nonce []byte) ([]byte, error) {
				pair, err := nkeys.ParseDecoratedUserNKey([]byte(c.now()))
				if err != nil {
					return nil, err
				}
				defer pair.Wipe()
				return pair.Sign(nonce)
			},
		)}, nil
	case userSeed:
		pair, err := nkeys.FromSeed([]byte(c.text))
		if err == nil {
			var public string
			public, err = pair.PublicKey()
			if err == nil {
				return []nats.Option{nats.Nkey(public, pair.Sign)}, nil
			}
		}
		return nil, fault.New(fault.Unavailable, "the credentials of the servers are no valid seed").WithHint("correct what store.sync.credentials names")
	case userAndPassword:
		return []nats.Option{nats.UserInfoHandler(func() (string, string) {
			user, password, _ := strings.Cut(c.now(), ":")
			return user, password
		})}, nil
	case token:
		return []nats.Option{nats.TokenHandler(c.now)}, nil
	}
	return nil, nil
}
