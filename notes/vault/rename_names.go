package vault

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// refs are the keys of frontmatter that refer to entities by name, folded, by id of the note. nil: the name that is
// replaced is not that of one entity.
type refs map[string]map[string]bool

// refsTo finds the fields in which the name of the entity of a note may stand.
func refsTo(s *notes.Store, ents *entities.Store, where RenameScope, p, name string) refs {
	if ents == nil {
		return nil
	}
	entityOf := make(map[string]string) // ids of entities by those of their notes
	own := ""
	s.Suppose(func(w notes.World) {
		for n := range w.All() {
			if n.Vault != where.Vault || n.EntityID == "" {
				continue
			}
			if n.Path == p {
				own = n.EntityID
			}
			_, start := markdown.SplitFrontmatter(n.Body)
			if strings.Contains(text.Fold(n.Body[:start]), text.Fold(name)) {
				entityOf[n.ID] = n.EntityID
			}
		}
	})
	named := ents.Named(name, nil)
	if own == "" || len(named) != 1 || named[0].ID != own {
		return nil
	}
	out := make(refs, len(entityOf))
	for note, id := range entityOf {
		keys := make(map[string]bool)
		if e := ents.Get(id); e != nil {
			if t := ents.TypeOf(e); t != nil {
				for _, f := range t.Fields {
					if f.Type.IsRef() {
						keys[text.Fold(f.Name)] = true
					}
				}
			}
		}
		out[note] = keys
	}
	return out
}

// renameEntity adds the edits of all texts that say the name of the entity of a note without a link: as a mention, and
// in fields.
func (j *job) renameEntity(r refs, old, name string) {
	if r == nil {
		return
	}
	for n := range j.before.All() {
		if n.Vault != j.vault || n.Kind != "" {
			continue
		}
		edits := mentions(n.Body, old, name)
		if keys := r[n.ID]; len(keys) > 0 {
			edits = append(edits, values(n.Body, keys, old, name)...)
		}
		for _, e := range edits {
			if !j.overlaps(n.ID, e) {
				j.own[n.ID] = append(j.own[n.ID], e)
			}
		}
		inOrder(j.own[n.ID])
	}
}

func (j *job) overlaps(id string, e Edit) bool {
	for _, o := range j.own[id] {
		if o.Start < e.End && e.Start < o.End {
			return true
		}
	}
	return false
}

// mentions returns the edits of the places that mention a name in prose, @Name and @[Name]. Which of them are prose, the
// scanner of notes says: each becomes a wikilink of its own, and those that come back as links are some.
func mentions(text, old, name string) (edits []Edit) {
	_, body := markdown.SplitFrontmatter(text)
	if !strings.Contains(text[body:], "@") {
		return nil
	}
	var probes, places []Edit
	for _, at := range wordsLike(text[body:], old, body, '@') {
		start, end := at-1, at+len(old)
		if text[start] == '[' {
			if start--; start < 0 || end >= len(text) || text[end] != ']' {
				continue
			}
			end++
		}
		if text[start] != '@' || !mentionMayFollow(text[:start]) {
			continue
		}
		probes = append(probes, Edit{start, end, "[[" + probe(len(probes)) + "]]"})
		places = append(places, Edit{at, at + len(old), name})
	}
	if len(probes) == 0 {
		return nil
	}
	found := make(map[string]bool)
	for l := range markdown.Parse(apply(text, probes)).EachLink() {
		found[l.Raw] = true
	}
	for i, p := range probes {
		if found[p.New] {
			edits = append(edits, places[i])
		}
	}
	return edits
}

// values returns the edits of the values of some keys of the frontmatter that are a name.
func values(text string, keys map[string]bool, old, name string) (edits []Edit) {
	block, body := markdown.SplitFrontmatter(text)
	if !block.Found || !isPlain(name) {
		return nil
	}
	for _, at := range wordsLike(text[:body], old, 0, 0) {
		if !within(at, block) {
			continue
		}
		e := Edit{at, at + len(old), probe(0)}
		doc := markdown.Parse(apply(text[:body], []Edit{e}))
		for key := range keys {
			f, ok := doc.Frontmatter.Get(key)
			if !ok {
				continue
			}
			for _, value := range f.Texts() {
				if value == e.New {
					edits = append(edits, Edit{e.Start, e.End, name})
				}
			}
		}
	}
	return edits
}

// mentionMayFollow reports whether a mention by name may stand behind a text.
func mentionMayFollow(s string) bool {
	before := text.ContextOfMark(s)
	return before == text.AfterBlank || before == text.AfterOpening || before == text.AfterOther
}
