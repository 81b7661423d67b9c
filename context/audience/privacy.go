package audience

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// PrivateRecords lists what is private, archived notes and entities included, in the
// order of ComparePrivacy and without rules: Explain adds those. A remote reader has
// none. O(records).
func (v *View) PrivateRecords() []record.PrivacyRecord {
	if v.hides {
		return nil
	}
	list := make([]record.PrivacyRecord, 0, v.notes.Privates()+v.entities.Privates())
	for n := range v.notes.All() {
		if n.Private {
			list = append(list, ofNote(n))
		}
	}
	for e := range v.entities.All() {
		if e.Private {
			list = append(list, ofEntity(e))
		}
	}
	slices.SortFunc(list, func(a, b record.PrivacyRecord) int { return ComparePrivacy(a, b.Title, PrivacyKey(b)) })
	return list
}

// ComparePrivacy orders a record against one of that title and PrivacyKey: by title.
func ComparePrivacy(r record.PrivacyRecord, title, key string) int {
	return cmp.Or(entities.CompareNatural(r.Title, title), strings.Compare(PrivacyKey(r), key))
}

// PrivacyKey names a record among all kinds.
func PrivacyKey(r record.PrivacyRecord) string { return r.Kind + "/" + r.ID }

func ofNote(n *notes.Note) record.PrivacyRecord {
	return record.PrivacyRecord{Kind: record.KindNote, ID: n.ID, Title: n.Title, Path: n.Path}
}

func ofEntity(e *entities.Entity) record.PrivacyRecord {
	return record.PrivacyRecord{Kind: record.KindEntity, ID: e.ID, Title: e.Name, Type: e.Type}
}

// PrivacyOf returns the note and the entity of that id with their rules, private or not;
// none for an id that the reader does not know.
func (v *View) PrivacyOf(id string) []record.PrivacyRecord {
	var list []record.PrivacyRecord
	n := v.Note(id)
	if n != nil {
		list = append(list, ofNote(n))
	}
	e := v.Entity(id)
	if e != nil {
		list = append(list, ofEntity(e))
	}
	return v.Explain(list)
}

// Explain gives records the rule by which each is private now. Those that are gone
// meanwhile are left out. It reads the frontmatter of the notes.
func (v *View) Explain(list []record.PrivacyRecord) []record.PrivacyRecord {
	out := make([]record.PrivacyRecord, 0, len(list))
	for _, r := range list {
		if r.Kind == record.KindEntity {
			if e := v.Entity(r.ID); e != nil {
				r.Rule, r.NoteID = v.whyEntity(e)
				out = append(out, r)
			}
		} else if n := v.Note(r.ID); n != nil {
			r.Rule, r.Doubt = v.whyNote(n)
			out = append(out, r)
		}
	}
	return out
}

func (v *View) whyNote(n *notes.Note) (rule record.PrivacyRule, doubt string) {
	if !n.Private {
		return record.PrivacyPublic, ""
	}
	why := v.notes.WhyPrivate(n)
	if why.Rule == notes.RuleNone {
		return record.PrivacyEarlier, why.Doubt
	}
	return record.PrivacyRule(why.Rule), why.Doubt
}

// whyEntity returns the rule of an entity and the note that it is private because of.
func (v *View) whyEntity(e *entities.Entity) (rule record.PrivacyRule, noteID string) {
	if !e.Private {
		return record.PrivacyPublic, ""
	}
	described := v.notes.Get(e.NoteID)
	if described != nil && described.Private {
		return record.PrivacyNote, e.NoteID
	}
	source, inherited := v.entities.Inherited(e.ID)
	if inherited {
		return record.PrivacySource, source
	}
	return record.PrivacyClient, ""
}

// Sees reports whether the reader may know of a record of a room that stands on this one, such as a
// memory, by whether that is private.
func (v *View) Sees(private bool) bool { return !private || !v.hides }
