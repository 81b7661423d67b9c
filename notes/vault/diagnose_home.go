package vault

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// daily are names of notes that are a day.
var daily = text.Pattern(`^\d{4}[-_]\d{2}[-_]\d{2}$`)

// home returns the path of the note that a link waits for: what the link says, in the folder where the vault makes such notes by
// its own settings, else where it keeps such notes. Notes that are a day stand where most of them do; others where most notes do that notes of this folder link to
// by the same key of the frontmatter, or at all; else beside the note.
func (d *doctor) home(l markdown.Link) string {
	target := strings.TrimSpace(l.Target)
	name := path.Base(target)
	if name == "." || name == "/" || strings.ContainsAny(name, `\:*?"<>|`) || strings.HasPrefix(name, ".") {
		return ""
	}
	if stem(name) == name {
		if ext := path.Ext(name); l.Markdown && ext != "" {
			return "" // a file of another kind
		}
		name += ".md"
	}
	folder, _ := path.Split(target)
	switch {
	case strings.HasPrefix(target, "/"):
		return inVault(path.Join(path.Dir(target), name)[1:])
	case folder != "" && (l.Markdown || strings.HasPrefix(target, ".")):
		return inVault(path.Join(d.note.Folder, folder, name))
	case folder != "":
		return inVault(path.Join(folder, name))
	case l.Markdown:
		return inVault(path.Join(d.note.Folder, name))
	case d.making.home(stem(name)) != "":
		return d.making.home(stem(name))
	case daily().MatchString(stem(name)):
		if d.guesses.days == nil {
			d.guesses.days = d.foldersOfDays()
		}
		if at, ok := most(d.guesses.days); ok {
			return path.Join(at, name)
		}
	default:
		if at, ok := most(d.foldersOfLinks(l)); ok {
			return path.Join(at, name)
		}
	}
	return path.Join(d.note.Folder, name)
}

// inVault returns a path unless it leads out of the vault.
func inVault(p string) string {
	if p = path.Clean(p); p == ".." || strings.HasPrefix(p, "../") {
		return ""
	}
	return p
}

func (d *doctor) foldersOfDays() map[string]int {
	count := make(map[string]int)
	for n := range d.world.All() {
		if n.Vault == d.note.Vault && daily().MatchString(stem(path.Base(n.Path))) {
			count[n.Folder]++
		}
	}
	return count
}

// foldersOfLinks counts the folders of the notes that this one links to: those of the same key alone, where the link
// stands in the frontmatter.
func (d *doctor) foldersOfLinks(l markdown.Link) map[string]int {
	_, body := markdown.SplitFrontmatter(d.note.Body)
	key := keyOf(d.note.Body, l.Start, body)
	of := d.note.Folder + "\x00" + key
	if key == "" {
		of = d.note.ID
	}
	if count, known := d.guesses.folders[of]; known {
		return count
	}
	count := make(map[string]int)
	if d.guesses.folders == nil {
		d.guesses.folders = make(map[string]map[string]int)
	}
	d.guesses.folders[of] = count
	among := d.world.All()
	if key == "" {
		among = slices.Values([]*notes.Note{d.note})
	}
	for n := range among {
		if n.Vault != d.note.Vault || n.Folder != d.note.Folder {
			continue
		}
		body := n.Body
		_, start := markdown.SplitFrontmatter(body)
		for _, other := range n.Links() {
			if keyOf(body, other.Start, start) != key {
				continue
			}
			if lead := d.world.Lead(other, n.ID); lead.ID != "" && lead.ID != n.ID {
				count[d.world.Note(lead.ID).Folder]++
			}
		}
	}
	return count
}

// keyOf returns the key of the frontmatter that a place is under, "" for the body.
func keyOf(text string, at, body int) string {
	if at >= body {
		return ""
	}
	for at > 0 {
		start := strings.LastIndexByte(text[:at], '\n') + 1
		line := text[start:]
		if key, _, ok := strings.Cut(line, ":"); ok && line != "" && strings.IndexByte(" \t-\r\n", line[0]) < 0 && !strings.Contains(key, "\n") {
			return key
		}
		at = start - 1
	}
	return ""
}

// most returns what is counted most often, the first of several; not ok unless that is more than half, of two at least.
func most(count map[string]int) (best string, ok bool) {
	all := 0
	keys := make([]string, 0, len(count))
	for k, n := range count {
		all += n
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if count[k] > count[best] || best == "" && count[k] > 0 && count[best] == 0 {
			best = k
		}
	}
	return best, all >= 2 && 2*count[best] > all
}
