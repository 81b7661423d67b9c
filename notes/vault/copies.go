package vault

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/text"
)

// Synchronisers leave a copy beside a note that was changed in two places. It says again what the note says, so it must not
// be another note of the name: links would be ambiguous, and a person there twice. It is listed instead, until somebody has
// compared the two.

// copyNames are what synchronisers call such copies, as names without their ending; the first group is that of the note.
var copyNames = []struct {
	by   string
	name func() *regexp.Regexp
}{
	{"Syncthing", text.Pattern(`^(.+)\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$`)},
	{"a synchroniser", text.Pattern(`(?i)^(.+?) ?\([^()]*\bconflicted copy\b[^()]*\)$`)}, // Dropbox, Obsidian Sync, Nextcloud
	{"a synchroniser", text.Pattern(`(?i)^(.+?) ?\((?:case conflict|unicode encoding conflict)[^()]*\)$`)},
	{"Dropbox", text.Pattern(`(?i)^(.+?) ?\((?:in konflikt stehende kopie|copie en conflit|copia en conflicto|copia in conflitto|conflicterende kopie|cópia em conflito|kopia powodująca konflikt|konfliktkopia|競合コピー|冲突的副本|衝突複本)[^()]*\)$`)}, //nolint:misspell // French
	{"ownCloud", text.Pattern(`^(.+)_conflict-\d{8}-\d{6}$`)},
	{"Seafile", text.Pattern(`^(.+) \(SFConflict [^()]+\)$`)},
	{"pCloud", text.Pattern(`(?i)^(.+) \[conflicted\](?: \(\d+\))?$`)},
	{"Resilio Sync", text.Pattern(`^(.+)\.Conflict$`)},
	{"Synology Drive", text.Pattern(`^(.+)_[^_]+_[A-Z][a-z]{2}-\d{2}-\d{6}-\d{4}_(?:Case)?Conflict$`)},
	{"git", text.Pattern(`^(.+)_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+$`)},
}

// doubtfulNames are names that a note may have as well. They count only beside a note of which the file has most lines.
var doubtfulNames = []struct {
	by   string
	name func() *regexp.Regexp
}{
	{"iCloud or Google Drive", text.Pattern(`^(.+?) \(?\d{1,2}\)?$`)},
	{"a synchroniser", text.Pattern(`(?i)^(.+?) ?\([^()]*(?:conflict|konflikt|conflit|競合|冲突|衝突)[^()]*\)$`)}, //nolint:misspell // French
}

// Copy is a file that a synchroniser left beside a note.
type Copy struct {
	Vault string
	Path  string // within the vault, as Of
	Of    string // the note
	By    string // the synchroniser
}

// CopiesIn returns what gives the copies that the last scans have found, those of a vault by path.
func CopiesIn(db *kv.Store) func(context.Context) ([]Copy, error) {
	return func(ctx context.Context) (list []Copy, err error) {
		err = db.View(ctx, func(tx *kv.Tx) error {
			for _, v := range vaults.All(tx, "") {
				for _, s := range v.Skipped {
					if s.CopyOf != "" {
						list = append(list, Copy{v.Name, s.Path, s.CopyOf, s.LeftBy})
					}
				}
			}
			return tx.Err()
		})
		return list, err
	}
}

// leaveCopies takes the copies out of the notes of a folder.
func (w *walker) leaveCopies(f *folder, dir string) {
	if len(f.notes) < 2 {
		return
	}
	byFold := make(map[string]string, len(f.notes))
	for name := range f.notes {
		byFold[text.Fold(name)] = name
	}
	for _, name := range slices.Sorted(maps.Keys(f.notes)) {
		if of, by := w.copyOf(byFold, dir, name); of != "" {
			delete(f.notes, name)
			f.skip(path.Join(dir, name), "a copy of "+of+" that "+by+" has left after a conflict: compare them, and delete one")
			left := &f.skipped[len(f.skipped)-1]
			left.CopyOf, left.LeftBy = path.Join(dir, of), by
		}
	}
}

// copyOf returns of which note in its folder a file is a copy, and who has left it; "" for none.
func (w *walker) copyOf(byFold map[string]string, dir, name string) (of, by string) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	beside := func(stem string) string {
		if is := byFold[text.Fold(stem+ext)]; is != name {
			return is
		}
		return ""
	}
	for _, p := range copyNames {
		if m := p.name().FindStringSubmatch(stem); m != nil {
			if is := beside(m[1]); is != "" {
				return is, p.by
			}
		}
	}
	for _, p := range doubtfulNames {
		if m := p.name().FindStringSubmatch(stem); m != nil {
			if is := beside(m[1]); is != "" && w.mostlySame(path.Join(dir, name), path.Join(dir, is)) {
				return is, p.by
			}
		}
	}
	for at := strings.LastIndexByte(stem, '-'); at > 0; at = strings.LastIndexByte(stem[:at], '-') { // Note-HOST
		host := stem[at+1:]
		if !strings.ContainsFunc(host, unicode.IsLetter) { // a part of a date
			continue
		}
		if is := beside(stem[:at]); is != "" && w.mostlySame(path.Join(dir, name), path.Join(dir, is)) {
			return is, "OneDrive"
		}
	}
	return "", ""
}

// maxCopy is how large a file may be that is compared, in bytes.
const maxCopy = 1 << 20

// mostlySame reports whether at least half of the lines of a file are those of another.
func (w *walker) mostlySame(copied, original string) bool {
	lines := func(p string) []string {
		data, _, err := place{Root: w.root}.readFile(p, maxCopy)
		if err != nil {
			return nil
		}
		list := strings.Split(strings.ReplaceAll(string(data), "\r", ""), "\n")
		return slices.DeleteFunc(list, func(l string) bool { return strings.Trim(l, " \t-") == "" })
	}
	own := lines(copied)
	if len(own) == 0 {
		return false
	}
	has := make(map[string]bool)
	for _, l := range lines(original) {
		has[l] = true
	}
	same := 0
	for _, l := range own {
		if has[l] {
			same++
		}
	}
	return 2*same >= len(own)
}
