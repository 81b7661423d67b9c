package vault

import (
	"io/fs"
	"os"
	"strings"

	"github.com/ctxd/ctxd/notes/ignore"
)

// exclusions are the patterns of the configuration in both forms.
type exclusions struct{ exact, folded []ignore.Pattern }

func newExclusions(lines []string) exclusions {
	text := strings.Join(lines, "\n")
	return exclusions{ignore.Parse(text, ".", false), ignore.Parse(text, ".", true)}
}

func (e exclusions) of(folds bool) []ignore.Pattern {
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
	return &walker{root: root, exclude: im.exclude, reads: im.reads, folds: func(in *os.Root, names []string) bool {
		folds, known := im.opts.FoldsCase(in, names)
		if !known {
			return im.notes.FoldsCase(name)
		}
		return folds
	}}
}
