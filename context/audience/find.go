package audience

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// MinIDPrefix is how many characters of an id name a record, when no other record that the reader sees has an id that
// begins with them.
const MinIDPrefix = 8

// offered is how many candidates an error has.
const offered = 3

// FindNote returns the note that people mean by a ref, which is tried as: an id, a path, a title or an alias, the target
// of a link, a path or a title behind the name of its vault and a colon, the beginning of an id. [[Title]], [id:…] and an
// address are read as what they are. What names an entity alone means the note that describes it. With a vault only its
// notes are looked at. The error is a Conflict with candidates for several, and NotFound for none.
// It costs O(1), and O(n) for the beginning of an id.
func (v *View) FindNote(ref, vault string) (*notes.Note, error) {
	r := record.ParseNamed(ref)
	if vault != "" && r.Text != "" {
		n, err := v.noteInVault(vault, r.Text)
		return n, fault.In("ref", err)
	}
	n, err := v.findNote(r)
	if err == nil || r.Note || !fault.IsMissing(err) {
		return n, err
	}
	if e, noEntity := v.findEntity(r, ""); noEntity == nil {
		if n := v.Note(e.NoteID); n != nil {
			return n, nil
		}
	}
	return nil, err
}

// Others are notes that a ref could mean as well as the one that the rules of links have chosen for it, the nearest first.
func (v *View) Others(ref string, n *notes.Note) []fault.Candidate {
	r := record.ParseNamed(ref)
	if r.ID {
		return nil
	}
	found := v.ResolveNote(r.Text, "")
	if found.ID != n.ID {
		return nil
	}
	return v.Candidates(found.Others[:min(len(found.Others), offered)])
}

func (v *View) findNote(r record.Named) (*notes.Note, error) {
	switch {
	case r.Text == "":
		return nil, fault.Field("ref", "ref is empty").WithHint("give an id, a path or a title")
	case r.ID:
		n, err := v.NoteByID(r.Text)
		return n, fault.In("ref", err)
	}
	if n := v.Note(r.Text); n != nil && !r.Note {
		return n, nil
	}
	looks := []func(string) (*notes.Note, error){v.NoteByPath, v.NoteByTitle, v.noteByLink, v.noteByVault, v.noteByPrefix}
	if r.Note { // as the messages and notes that hold the link
		looks[0], looks[2] = v.noteByLink, v.NoteByPath
	}
	for _, look := range looks {
		n, err := look(r.Text)
		if err == nil || !fault.IsMissing(err) {
			return n, fault.In("ref", err)
		}
	}
	return nil, &fault.Error{
		Kind: fault.NotFound, Field: "ref", Msg: "no note has that id, path or title",
		Hint: "notes.complete finds notes by the beginning of their title",
	}
}

// noteByLink returns the note that a link of no note leads to.
func (v *View) noteByLink(target string) (*notes.Note, error) {
	found := v.ResolveNote(target, "")
	if n := v.Note(found.ID); n != nil {
		return n, nil
	}
	if len(found.Candidates) == 0 {
		return nil, notes.Unnamed("title")
	}
	return nil, fault.Clash(fault.Ambiguous, "several notes have that title or path").
		WithHint("give the id of one of the candidates").WithCandidates(v.Candidates(found.Candidates))
}

// noteByVault reads vault:path and vault:title, as answers write them where there are several vaults.
func (v *View) noteByVault(text string) (*notes.Note, error) {
	vault, rest, ok := strings.Cut(text, ":")
	if !ok || vault == "" || rest == "" {
		return nil, notes.Unnamed("title")
	}
	return v.noteInVault(vault, rest)
}

func (v *View) noteInVault(vault, text string) (n *notes.Note, err error) {
	for _, at := range [][2]string{{text, ""}, {text + ".md", ""}, {"", text}} {
		n, err = v.NoteInVault(vault, at[0], at[1])
		if err == nil || !fault.IsMissing(err) {
			break
		}
	}
	return n, err
}

func (v *View) noteByPrefix(prefix string) (*notes.Note, error) {
	found, err := ByIDPrefix(prefix, v.notes.All(), func(n *notes.Note) (string, bool) { return n.ID, v.SeesNote(n) })
	if found == nil && err == nil {
		err = notes.Unnamed("title")
	}
	return found, v.ShownError(err)
}

// FindEntity returns the entity that people mean by a ref, of a type or of any for "": an id, a name or an alias, a handle
// (which is made of a name), the beginning of an id, in that order. @Name, @[Name], [id:…] and an address are read as what
// they are. What names a note alone means the entity that it describes. Errors and cost are those of FindNote.
func (v *View) FindEntity(ref, typeName string) (*entities.Entity, error) {
	r := record.ParseNamed(ref)
	var missing error
	if !r.Note {
		e, err := v.findEntity(r, typeName)
		if err == nil || r.Entity || !fault.IsMissing(err) {
			return e, err
		}
		missing = err
	}
	n, err := v.findNote(r)
	if err != nil && r.Note {
		return nil, err
	}
	if err == nil {
		if e := v.Entity(n.EntityID); e != nil && (typeName == "" || entities.Fold(e.Type) == entities.Fold(typeName)) {
			return e, nil
		}
	}
	return nil, cmp.Or(missing, error(noEntityNamed()))
}

func noEntityNamed() *fault.Error {
	return &fault.Error{
		Kind: fault.NotFound, Field: "ref", Msg: "no entity has that id or name",
		Hint: "entities.complete finds entities by the beginning of their name",
	}
}

func (v *View) findEntity(r record.Named, typeName string) (*entities.Entity, error) {
	if r.Text == "" {
		return nil, fault.Field("ref", "ref is empty").WithHint("give an id, a handle or a name")
	}
	of := func(e *entities.Entity) bool {
		return e != nil && (typeName == "" || entities.Fold(e.Type) == entities.Fold(typeName))
	}
	if e := v.Entity(r.Text); of(e) {
		return e, nil
	}
	if r.ID {
		return nil, fault.In("ref", fault.Missing("entity", r.Text))
	}
	e, err := v.EntityByName(r.Text, typeName)
	if err == nil || !fault.IsMissing(err) {
		return e, fault.In("ref", err)
	}
	if list := slices.DeleteFunc(slices.Clone(v.Handled(r.Text)), func(e *entities.Entity) bool { return !of(e) }); len(list) == 1 {
		return list[0], nil
	}
	found, several := ByIDPrefix(r.Text, v.entities.All(), func(e *entities.Entity) (string, bool) { return e.ID, v.SeesEntity(e) && of(e) })
	if found != nil || several != nil {
		return found, several
	}
	return nil, noEntityNamed()
}

// FindRecord returns the id of the entity or note that people mean by a ref: FindEntity goes before FindNote, but for
// [[Title]] and the address of a note.
func (v *View) FindRecord(ref string) (id string, err error) {
	r := record.ParseNamed(ref)
	if !r.Note {
		e, err := v.findEntity(r, "")
		if err == nil {
			return e.ID, nil
		}
		if r.Entity || !fault.IsMissing(err) {
			return "", err
		}
	}
	n, err := v.findNote(r)
	switch {
	case err == nil:
		return n.ID, nil
	case r.Note || !fault.IsMissing(err):
		return "", err
	}
	return "", &fault.Error{
		Kind: fault.NotFound, Field: "ref", Msg: "no note or entity has that id, path, title or name",
		Hint: "notes.complete and entities.complete find them by their beginning",
	}
}

// ByIDPrefix returns the only one of some records whose id begins with a text of at least MinIDPrefix characters, and the
// zero value for none. Of several the error is a Conflict. id returns the id of a record, and whether the reader sees it.
func ByIDPrefix[R any](prefix string, all iter.Seq[R], id func(R) (string, bool)) (found R, err error) {
	var none R
	if len(prefix) < MinIDPrefix || !record.IsID(prefix) {
		return none, nil
	}
	var ids []fault.Candidate
	for r := range all {
		if s, seen := id(r); seen && strings.HasPrefix(s, prefix) {
			found, ids = r, append(ids, fault.Candidate{ID: s})
		}
	}
	if len(ids) > 1 {
		slices.SortFunc(ids, func(a, b fault.Candidate) int { return strings.Compare(a.ID, b.ID) })
		e := fault.Clash(fault.Ambiguous, "several ids begin with %q", prefix).WithHint("give more of the id").
			WithCandidates(ids[:min(len(ids), offered)])
		e.Field = "ref"
		return none, e
	}
	return found, nil
}
