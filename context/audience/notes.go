package audience

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
)

// Note returns the note of that id as it is stored, or nil. What is shown of it goes
// through ShownNote, Title or Body.
func (v *View) Note(id string) *notes.Note {
	n := v.notes.Get(id)
	if !v.SeesNote(n) {
		return nil
	}
	return n
}

// HidesNote reports whether there is a note of that id that the reader does not see, or
// there was one. What refers to it shows as "(private)".
func (v *View) HidesNote(id string) bool {
	if !v.hides || id == "" {
		return false
	}
	n := v.notes.Get(id)
	if n == nil {
		return v.notes.WasPrivate(id)
	}
	return n.Private
}

// NoteByID is notes.Store.ByID.
func (v *View) NoteByID(id string) (*notes.Note, error) {
	n, err := v.notes.ByID(id)
	if err == nil && !v.SeesNote(n) {
		return nil, notes.Missing(id)
	}
	return n, err
}

// NoteByPath is notes.Store.ByPath.
func (v *View) NoteByPath(p string) (*notes.Note, error) { return v.noteByPath(p, v.skipNote()) }

func (v *View) noteByPath(p string, skip notes.Skip) (*notes.Note, error) {
	n, err := v.notes.ByPath(p, skip)
	return n, v.ShownError(err)
}

// NoteInVault is NoteByPath, or NoteByTitle where path is "", among the notes of a vault.
func (v *View) NoteInVault(vault, path, title string) (*notes.Note, error) {
	outside := func(n *notes.Note) bool { return n.Vault != vault || v.hides && privateNote(n) }
	if path != "" {
		return v.noteByPath(path, outside)
	}
	return v.noteByTitle(title, outside)
}

// NoteByTitle is notes.Store.ByTitle. A note is not found by a title that names a
// private record with a link; by one that is no more than what such a record is called
// too, it is. By an alias it is found when its aliases are shown as they are.
func (v *View) NoteByTitle(title string) (*notes.Note, error) {
	return v.noteByTitle(title, v.skipNote())
}

func (v *View) noteByTitle(title string, skip notes.Skip) (*notes.Note, error) {
	n, err := v.notes.ByTitle(title, skip)
	switch {
	case err == nil && v.hidesName(n, title):
		return nil, notes.Unnamed("title")
	case err != nil && v.masks():
		return v.onlyTitled(title, err)
	}
	return n, v.ShownError(err)
}

// hidesName reports whether the reader would be told something by finding a note by a
// title or an alias.
func (v *View) hidesName(n *notes.Note, name string) bool {
	if !v.masks() {
		return false
	}
	if entities.Fold(strings.TrimSpace(name)) == entities.Fold(n.Title) {
		return v.linksInTitle(n)
	}
	return !slices.Equal(v.shownTexts(n.ID, n.Aliases), n.Aliases)
}

// onlyTitled is NoteByTitle for a title that several notes have: those that it does not
// find are none of them.
func (v *View) onlyTitled(title string, err error) (*notes.Note, error) {
	var several *fault.Error
	if !errors.As(err, &several) || len(several.Candidates) == 0 {
		return nil, err
	}
	shown := *several
	shown.Candidates = slices.DeleteFunc(v.Candidates(candidateIDs(several.Candidates)), func(c fault.Candidate) bool {
		n := v.Note(c.ID)
		return n == nil || v.hidesName(n, title)
	})
	switch len(shown.Candidates) {
	case 0:
		return nil, notes.Unnamed("title")
	case 1:
		return v.NoteByID(shown.Candidates[0].ID)
	}
	return nil, &shown
}

// linksInTitle reports whether a title says more than the reader is shown of it, other
// than by being what a private record is called.
func (v *View) linksInTitle(n *notes.Note) bool {
	if !v.masks() {
		return false
	}
	shown, _ := v.titleWithoutLinks(n)
	return shown != n.Title
}

// ShownError returns the error of a call with the notes that it names as the reader may
// see them.
func (v *View) ShownError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Candidates) == 0 && f.Sides == nil {
		return err
	}
	shown := *f
	if v.hides {
		shown.Sides = nil // they may name what is private
	}
	if !v.hides {
		shown.Candidates = v.inVaults(slices.Clone(f.Candidates))
		return &shown
	}
	shown.Candidates = v.Candidates(candidateIDs(f.Candidates))
	if v.HidesNote(f.Ref) {
		shown.Ref = ""
	}
	return &shown
}

func candidateIDs(list []fault.Candidate) []string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids
}

// Candidates describes notes that something may mean.
func (v *View) Candidates(ids []string) []fault.Candidate {
	if !v.hides {
		return v.inVaults(v.notes.Describe(ids))
	}
	seen := make([]string, 0, len(ids))
	for _, id := range ids {
		if v.Note(id) != nil {
			seen = append(seen, id)
		}
	}
	list := v.notes.Describe(seen)
	for i := range list {
		if n := v.Note(list[i].ID); n != nil {
			list[i].Title = v.TitleOf(n)
		}
	}
	return v.inVaults(list)
}

// Notes is notes.Store.List, in the order of what is shown. The texts of the notes are
// as they are stored. The error is that of a context that has ended.
func (v *View) Notes(ctx context.Context, f notes.Filter) ([]*notes.Note, error) {
	list := v.notes.List(f)
	if !v.hides {
		return list, nil
	}
	kind := entities.Fold(f.Type)
	list = slices.DeleteFunc(list, func(n *notes.Note) bool {
		return n.Private || kind != "" && v.Entity(n.EntityID) == nil
	})
	changed := false
	for i, n := range list {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		list[i] = v.shownHead(n)
		changed = changed || list[i].Title != n.Title
	}
	if changed {
		slices.SortFunc(list, func(a, b *notes.Note) int {
			return cmp.Or(entities.CompareNatural(a.Title, b.Title), strings.Compare(a.ID, b.ID))
		})
	}
	return list, nil
}

// shownHead returns a note with everything but its text as the reader may see it.
func (v *View) shownHead(n *notes.Note) *notes.Note {
	out := *n
	out.Title = v.TitleOf(n)
	out.Aliases, out.Tags = v.shownTexts(n.ID, n.Aliases), v.shownTexts(n.ID, n.Tags)
	if v.Entity(n.EntityID) == nil {
		out.EntityID = ""
	}
	return &out
}

// ShownNote returns a note as the reader may see it. One that the reader does not see
// is shown to the one who has just written it. The error is that of a context that has
// ended.
func (v *View) ShownNote(ctx context.Context, n *notes.Note) (*notes.Note, error) {
	if !v.hides || n == nil {
		return n, nil
	}
	out := v.shownHead(n)
	shown, err := v.Body(ctx, n, MarksOf(n.Body))
	if err != nil {
		return nil, err
	}
	out.Body = shown.Body
	return out, nil
}

// shownTexts returns texts as the reader may see them, without those of which nothing
// is left.
func (v *View) shownTexts(from string, list []string) []string {
	if !v.masks() {
		return list
	}
	out := make([]string, 0, len(list))
	for _, text := range list {
		if shown := v.TextOf(from, text); shown == text || shown != withheld {
			out = append(out, shown)
		}
	}
	return out
}

// CompleteNotes is notes.Store.Complete. Names that say more than the reader is shown
// are not offered.
func (v *View) CompleteNotes(typed string, limit int) []names.Hit {
	if !v.masks() {
		return v.notes.Complete(typed, limit, v.hides)
	}
	return v.rooms.shown.Load().notes.complete(func(hides func(id, name string) bool) []names.Hit {
		return v.notes.CompleteShown(typed, limit, hides)
	}, v.hiddenNoteNames)
}

// hiddenNoteNames is hiddenEntityNames for a note.
func (v *View) hiddenNoteNames(id string) (list []string, all bool) {
	n := v.Note(id)
	if n == nil {
		return nil, true
	}
	if v.TitleOf(n) != n.Title {
		list = append(list, n.Title)
	}
	for _, alias := range n.Aliases {
		if alias != n.Title && v.TextOf(n.ID, alias) != alias {
			list = append(list, alias)
		}
	}
	return list, false
}

// ResolveNote is notes.Store.Resolve. A note that is called by what the reader is not
// shown of its names is not found.
func (v *View) ResolveNote(link, from string) notes.Resolution {
	return v.shownResolution(v.notes.Resolve(link, from, v.skipNote()))
}

// ResolveAmong is ResolveNote for a link of no note where there are no notes but those of some ids: what a text leads to that
// was written by who was shown these. What leads to none of them is not found.
func (v *View) ResolveAmong(link string, ids map[string]bool) notes.Resolution {
	return v.shownResolution(v.notes.Resolve(link, "", func(n *notes.Note) bool { return !ids[n.ID] || !v.SeesNote(n) }))
}

func (v *View) shownResolution(res notes.Resolution) notes.Resolution {
	if !v.masks() {
		return res
	}
	if n := v.Note(res.ID); n != nil {
		if res.Tier == notes.TierTitle && v.linksInTitle(n) ||
			res.Tier == notes.TierAlias && len(v.shownTexts(n.ID, n.Aliases)) < len(n.Aliases) {
			return notes.Resolution{}
		}
	}
	return res
}

// Attachment returns the path of the file that is no note to which a link of no note leads; "" for none.
func (v *View) Attachment(target string) string { return v.notes.FindAttachment(target, v.hides) }

// Links returns the wikilinks of a note, as notes.Store.Outgoing does. A link to a
// private record is none.
func (v *View) Links(id string) (resolved, unresolved []notes.Link) {
	resolved, unresolved = v.notes.Outgoing(id)
	if !v.hides {
		for i := range unresolved {
			unresolved[i].Candidates = v.inVaults(unresolved[i].Candidates)
		}
		v.linksInVaults(resolved)
		return resolved, unresolved
	}
	resolved = slices.DeleteFunc(resolved,
		func(l notes.Link) bool { return v.hidesTarget(id, l) || v.Withholds(id, l.Target) })
	for i := range resolved {
		l := &resolved[i]
		if n := v.Note(l.ID); n != nil {
			l.Title = v.TitleOf(n)
		}
		l.Alias = v.TextOf(id, l.Alias)
	}
	v.linksInVaults(resolved)
	unresolved = slices.DeleteFunc(unresolved, func(l notes.Link) bool { return v.Withholds(id, l.Target) })
	for i := range unresolved {
		l := &unresolved[i]
		l.Candidates = v.Candidates(candidateIDs(l.Candidates))
		l.Alias = v.TextOf(id, l.Alias)
	}
	return resolved, unresolved
}

// hidesTarget reports whether a link of a note leads to what the reader may not know of: a
// private note, or a file in a private folder.
func (v *View) hidesTarget(from string, l notes.Link) bool {
	if l.Kind != notes.LinkToAttachment {
		return v.Note(l.ID) == nil
	}
	n := v.notes.Get(from)
	return n == nil || !v.notes.PublicPlace(n.Vault, l.Path)
}

// Backlinks is notes.Store.Incoming, in the order of what is shown.
func (v *View) Backlinks(id string) []notes.Backlink {
	list := v.notes.Incoming(id)
	v.backlinksInVaults(list)
	if v.hides {
		list = v.shownBacklinks(list)
		slices.SortFunc(list, func(a, b notes.Backlink) int {
			return cmp.Or(entities.CompareNatural(a.Title, b.Title), strings.Compare(a.ID, b.ID))
		})
	}
	return list
}

func (v *View) shownBacklinks(list []notes.Backlink) []notes.Backlink {
	list = slices.DeleteFunc(list, func(b notes.Backlink) bool { return v.Note(b.ID) == nil })
	for i := range list {
		if n := v.Note(list[i].ID); n != nil {
			list[i].Title = v.TitleOf(n)
		}
	}
	return list
}

// Tags is notes.Store.Tags. For a remote reader it counts all public notes.
func (v *View) Tags(prefix string) []record.NoteTag {
	if !v.hides {
		return v.notes.Tags(prefix)
	}
	counts := notes.TagCounts{}
	for n := range v.notes.All() {
		if n.Private || !n.Live() {
			continue
		}
		for _, name := range n.Tags {
			counts.Add(name, 1)
		}
	}
	return slices.DeleteFunc(counts.List(prefix), func(t record.NoteTag) bool { return v.TextOf("", t.Name) != t.Name })
}

// Unresolved is notes.Store.Unresolved: without links that can mean nothing but private
// records.
func (v *View) Unresolved(vault string) []notes.Unresolved {
	list := v.notes.Unresolved(vault, v.skipNote())
	if !v.hides {
		for i := range list {
			list[i].Candidates = v.inVaults(list[i].Candidates)
		}
		return list
	}
	list = slices.DeleteFunc(list, func(u notes.Unresolved) bool {
		return len(u.From) == 0 || v.Withholds(u.From[0].ID, u.Target)
	})
	for i := range list {
		list[i].From = v.shownBacklinks(list[i].From)
		list[i].Candidates = v.Candidates(candidateIDs(list[i].Candidates))
	}
	return list
}

// Chooser returns the test of a filter, as notes.Store.Chooser does.
func (v *View) Chooser(f notes.SearchFilter) func(*notes.Note) bool { return v.notes.Chooser(f) }

// NotesSeen tells which notes a room may count for the reader; nil: all.
func (v *View) NotesSeen() func(*notes.Note) bool {
	if !v.hides {
		return nil
	}
	return v.SeesNote
}
