package vault

import (
	"io/fs"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
)

// comparable returns the form in which paths and patterns are compared: in NFC, since
// one file system writes an é as one character and another as two, and without regard to
// letter case where the file system of the vault folds it.
func comparable(p string, folds bool) string {
	if folds {
		return entities.Fold(p)
	}
	return norm.NFC.String(p)
}

// parsePatterns reads the lines of a .ctxdignore that lies in dir.
func parsePatterns(text, dir string, folds bool) []gitignore.Pattern {
	var domain []string
	if dir != "." {
		domain = strings.Split(comparable(dir, folds), "/")
	}
	var out []gitignore.Pattern
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, gitignore.ParsePattern(comparable(line, folds), domain))
		}
	}
	return out
}

// exclusions are the patterns of the configuration in both forms.
type exclusions struct{ exact, folded []gitignore.Pattern }

func newExclusions(lines []string) exclusions {
	text := strings.Join(lines, "\n")
	return exclusions{parsePatterns(text, ".", false), parsePatterns(text, ".", true)}
}

func (e exclusions) of(folds bool) []gitignore.Pattern {
	if folds {
		return e.folded
	}
	return e.exact
}

// foldsCase reports whether a folder does not tell letter case, by asking for one of the
// names in it with letters of the other case. It is not known where no name has letters
// of ASCII: of others, file systems differ in what they fold.
func foldsCase(in *os.Root, names []string) (folds, known bool) {
	for _, name := range names {
		other := strings.Map(otherCase, name)
		if other == name {
			continue
		}
		info, err := in.Lstat(name)
		if err != nil {
			continue // it went meanwhile
		}
		same, err := in.Lstat(other)
		return err == nil && os.SameFile(info, same), true
	}
	return false, false
}

func otherCase(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return r
}

func namesOf(entries []fs.DirEntry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// newWalker returns a walker over the folder of a vault; name is "" for one that has
// none yet.
func (im *Importer) newWalker(root *os.Root, name string) *walker {
	return &walker{root: root, exclude: im.exclude, folds: func(in *os.Root, names []string) bool {
		folds, known := im.opts.FoldsCase(in, names)
		if !known {
			return im.notes.FoldsCase(name)
		}
		return folds
	}}
}
