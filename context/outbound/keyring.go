package outbound

import (
	"errors"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/ctxd/ctxd/entities/fault"
)

// KeyringService is the service under which keys stand in the keyring of the operating system:
// the Keychain of macOS, the Credential Manager of Windows, the Secret Service of Linux.
const KeyringService = "ctxd"

// keyringWait is how long the keyring may take: one that is locked asks the person, who may
// not be there.
const keyringWait = 5 * time.Second

// keyFromKeyring returns the key of a name. What the keyring says is not passed on: the error
// of a helper program may quote what it read. A keyring that does not answer keeps its
// goroutine until it does; it can't be withdrawn.
func keyFromKeyring(name, setting string) (string, error) {
	type answer struct {
		key string
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		key, err := keyring.Get(KeyringService, name)
		answers <- answer{strings.TrimSpace(key), err}
	}()
	limit := time.NewTimer(keyringWait)
	defer limit.Stop()
	cant := func(why, hint string) error {
		return fault.New(fault.Unavailable, "cannot use the keyring: %s", why).WithHint("%s", hint)
	}
	select {
	case a := <-answers:
		switch {
		case errors.Is(a.err, keyring.ErrNotFound) || a.err == nil && a.key == "":
			return "", cant("it has no key for "+name, "store the key in it for the service "+KeyringService+
				" and the account "+name+", or correct "+setting)
		case a.err != nil:
			return "", cant("this machine has none that answers", "set "+setting+" to env:NAME or file:PATH")
		case len(a.key) > maxKey:
			return "", cant("what it has for "+name+" is no key", "store only the key in it")
		}
		return a.key, nil
	case <-limit.C:
		return "", cant("it did not answer within "+keyringWait.String(), "unlock it, or set "+setting+" to file:PATH")
	}
}
