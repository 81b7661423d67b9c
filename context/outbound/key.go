package outbound

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// Where a key is found: none, env:NAME, file:PATH or keyring:NAME. These are the words of a
// setting.
const (
	KeyNone    = "none"
	KeyEnv     = "env:"
	KeyFile    = "file:"
	KeyKeyring = "keyring:"
)

// maxKey bounds a key in bytes.
const maxKey = 4 << 10

var (
	variableName = text.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
	keyringName  = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$`)
)

// IsKeySource reports whether a word says where a key is found. Of a path it looks at nothing
// but that there is one.
func IsKeySource(word string) bool {
	if name, ok := strings.CutPrefix(word, KeyEnv); ok {
		return variableName().MatchString(name)
	}
	if name, ok := strings.CutPrefix(word, KeyKeyring); ok {
		return keyringName().MatchString(name)
	}
	path, ok := strings.CutPrefix(word, KeyFile)
	return ok && path != "" || word == KeyNone
}

// LoadKey returns the key that a source names, which a setting gives, "" for none. Its
// errors are fault.Unavailable and name the source, never a part of the key.
func LoadKey(source, setting string) (string, error) {
	if name, ok := strings.CutPrefix(source, KeyEnv); ok {
		key := strings.TrimSpace(os.Getenv(name))
		if key == "" {
			return "", fault.New(fault.Unavailable, "the environment variable of the key is empty: $%s", name).
				WithHint("set it where the daemon is started, or write the key to a file and set %s to file:PATH", setting)
		}
		return key, nil
	}
	if p, ok := strings.CutPrefix(source, KeyFile); ok {
		return keyFromFile(p, setting)
	}
	if name, ok := strings.CutPrefix(source, KeyKeyring); ok {
		return keyFromKeyring(name, setting)
	}
	if source != "" && source != KeyNone { // it may be the key itself
		return "", fault.New(fault.Unavailable, "%s does not say where the key is found", setting).
			WithHint("write env:NAME, file:PATH, keyring:NAME or none")
	}
	return "", nil
}

// keyFromFile returns the key in a file that nobody else can read or write.
func keyFromFile(p, setting string) (string, error) {
	cant := func(why, hint string) error {
		return fault.New(fault.Unavailable, "cannot use the file of the key: %s", why).WithHint("%s", hint)
	}
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", cant("it does not exist", "write the key into it, or correct "+setting)
	case err != nil:
		return "", cant(reason(err), "check its permissions")
	case !info.Mode().IsRegular(): // opening a pipe would wait for somebody to write into it
		return "", cant("it is not a regular file", "set "+setting+" to the file itself")
	}
	f, err := os.Open(p)
	if err != nil {
		return "", cant(reason(err), "check its permissions")
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil {
		return "", cant(reason(err), "check its permissions")
	}
	if why := Tamperable(info); why != "" {
		return "", cant(why, "chown and chmod 600 it")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", cant("others can read it", "chmod 600 it, and replace the key if others may have read it")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	key := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", cant(reason(err), "check its permissions")
	case key == "" || len(text) > maxKey:
		return "", cant("it holds no key", "write only the key into it")
	}
	return key, nil
}

// reason returns why the system refused something, without the path.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
