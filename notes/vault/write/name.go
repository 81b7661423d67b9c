package write

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/fault"
)

// inNoName are the characters that names of files cannot have on all systems.
const inNoName = `/\:*?"<>|`

// maxName is how many bytes the name of a file may have: of ext4, APFS and others.
const maxName = 255

// deviceName matches what is a device to Windows, with whatever ending.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\.|$)`)

// Unseen reports a character that nobody sees in a name and that no name needs: controls, breaks of lines, and marks that turn
// the direction of what follows.
func Unseen(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// NameProblem says why no file can have a name on one of the systems that a vault may come to; "" when one can.
// ext is the ending, with its dot.
func NameProblem(name, ext string) string {
	switch {
	case name == "" || strings.ContainsAny(name, inNoName) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "."):
		return fmt.Sprintf("a name of a file has none of %s, and no dot before or behind it", inNoName)
	case strings.TrimSpace(name) != name:
		return "a name of a file has no blank before or behind it"
	case strings.ContainsFunc(name, Unseen):
		return "a name of a file has no control characters"
	case deviceName.MatchString(name):
		return fmt.Sprintf("no file can be called %s on Windows", name)
	case len(name)+len(ext) > maxName:
		return fmt.Sprintf("a name of a file has %d bytes at most, with its ending", maxName)
	}
	return ""
}

// PathProblem is NameProblem for each part of the path of a file.
func PathProblem(p string) string {
	parts := strings.Split(p, "/")
	for i, name := range parts {
		ext := ""
		if i == len(parts)-1 {
			ext = path.Ext(name)
			name = strings.TrimSuffix(name, ext)
		}
		if why := NameProblem(name, ext); why != "" {
			return why
		}
	}
	return ""
}

// maxLinks is how many links are followed.
const maxLinks = 40

// Resolve returns the path of the file that a path leads to within a vault, where links are followed. What is not there may be
// created: its path is the one given, below the last folder that is there. folder is that of the vault, absolute.
func Resolve(root *os.Root, folder, p string) (string, error) {
	at, rest := ".", strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		info, err := root.Lstat(filepath.FromSlash(next))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path.Join(append([]string{at}, rest...)...), nil
		case err != nil:
			return "", failed(p, err)
		case info.Mode()&fs.ModeSymlink == 0:
			at, rest = next, rest[1:]
			continue
		}
		to, err := root.Readlink(filepath.FromSlash(next))
		if err != nil {
			return "", failed(p, err)
		}
		links++
		if filepath.IsAbs(to) {
			to, err = filepath.Rel(folder, to)
		} else {
			to = filepath.Join(filepath.FromSlash(at), to)
		}
		if err != nil || !filepath.IsLocal(to) || links > maxLinks {
			return "", fault.Clash(fault.State, "%s is a link that leads out of the vault", next).WithRef(p).
				WithHint("write to the file itself, with a program of your own")
		}
		at, rest = ".", append(strings.Split(filepath.ToSlash(to), "/"), rest[1:]...)
	}
	return at, nil
}
