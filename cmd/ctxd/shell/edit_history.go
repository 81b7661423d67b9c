package shell

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/entities/fault"
)

// historyKept is how many texts the history of the prompt holds.
const historyKept = 1000

// History is what was entered at the prompt, the oldest first. It is also in
// a file, which only this user can read: what is typed names people. Prompts that run
// at a time add to the same file. A history is used by one goroutine.
type History struct {
	Path     string // "" when it is kept in no file
	variable string // of the environment, which names the file
	entries  []string
}

// OpenHistory reads the history in a file, and makes the file when there is
// none. On an error the history is usable, and kept in no file. variable is the
// one of the environment that chooses the file, for the hint of an error.
func OpenHistory(path, variable string) (*History, error) {
	h := &History{variable: variable}
	if path == "" {
		return h, nil
	}
	if _, err := config.SecureFile(path); err != nil {
		return h, h.failed(path, err)
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		return h, h.failed(path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(doc), "\n"), "\n")
	for _, l := range lines {
		h.remember(editable(unescapeBreaks(l)))
	}
	h.Path = path
	if len(lines) <= 2*historyKept {
		return h, nil
	}
	return h, h.rewrite()
}

func (h *History) failed(path string, err error) error {
	return fault.Wrap(fault.Unavailable, err, "cannot keep the history in %q", path).
		WithHint("%s=none keeps none, %s=FILE keeps it elsewhere", h.variable, h.variable)
}

// rewrite puts a file in the place of the one that has grown too long.
func (h *History) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(h.Path), filepath.Base(h.Path)+"-*") // 0600
	if err != nil {
		return h.failed(h.Path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when all went well
	var b strings.Builder
	for _, text := range h.entries {
		b.WriteString(escapeBreaks(text) + "\n")
	}
	_, err = f.WriteString(b.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), h.Path)
	}
	if err != nil {
		return h.failed(h.Path, err)
	}
	return nil
}

// Add appends a text, unless it is that of the entry before or begins with a
// space, which keeps it out as in a shell.
func (h *History) Add(text string) error {
	text = strings.TrimRight(text, " \n")
	if strings.HasPrefix(text, " ") || !h.remember(text) || h.Path == "" {
		return nil
	}
	f, err := os.OpenFile(h.Path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(escapeBreaks(text) + "\n")
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return h.failed(h.Path, err)
	}
	return nil
}

// remember takes an entry into memory, and reports whether it is a new one.
func (h *History) remember(text string) bool {
	if text == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return false
	}
	h.entries = append(h.entries, text)
	if over := len(h.entries) - historyKept; over > 0 {
		h.entries = h.entries[over:]
	}
	return true
}

func (h *History) len() int { return len(h.entries) }

// back returns the entry that lies n back, 1 for the last.
func (h *History) back(n int) string { return h.entries[len(h.entries)-n] }

// An entry is one line of the file, its line breaks and backslashes escaped.
var breaks = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

func escapeBreaks(text string) string { return breaks.Replace(text) }

func unescapeBreaks(l string) string {
	if !utf8.ValidString(l) {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		if l[i] == '\\' && i+1 < len(l) {
			i++
			if l[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(l[i])
	}
	return b.String()
}
