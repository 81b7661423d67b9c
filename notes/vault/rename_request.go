package vault

// rename_*.go work out which edits a rename needs: of a note, a heading, a block, a tag, or files and folders that
// move. Every link of the vault leads afterwards where it led, and no byte changes that need not. Nothing is written: a
// RenamePlan says what an editor is to change, in the texts as they are before anything moves.
//
// A planner asks two Worlds of notes.Store.Suppose, that of before and that of after, where each link leads. A link that
// leads elsewhere afterwards gets the shortest text in its own style (path, name or title; relative or from the root;
// escaped or in angle brackets) that leads there again. An edit can change what another note is called, as in the
// heading "# About [[Old]]": then it is all worked out again, until nothing changes. What cannot be kept is told as a
// RenameProblem: a link that led nowhere and would lead to the new name, or one of a file that is no text.
//
// Offsets are bytes of the text of a note, half open; RenamePlan.Files are sorted by path and their edits by place, without
// overlaps. Errors are faults that name the field of the request. It takes time for each note of the store, but little,
// and for each link under the old and the new names. Functions may be called concurrently; writers of the store wait
// meanwhile.

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/notes/vault/write"
)

// What of a note a rename changes.
const (
	RenameFileAndTitle = "both"  // its file, and its title and first heading where they are the old name
	RenameFileOnly     = "file"  // its file alone
	RenameTitleOnly    = "title" // its title and first heading alone
)

// MoveFiles plans moves of files and folders that an editor is about to make. A folder moves with all that is in it.
func MoveFiles(s *notes.Store, where RenameScope, moves []Move) (plan *RenamePlan, err error) {
	s.Suppose(func(w notes.World) {
		j := newJob(w, where)
		for i, m := range moves {
			if err = checkMove(m); err != nil {
				err = fault.Under("moves["+itoa(i)+"]", err)
				return
			}
		}
		to := func(p string) (string, bool) {
			for _, m := range moves {
				if p == m.From {
					return m.To, true
				}
				if rest, in := strings.CutPrefix(p, m.From+"/"); in {
					return m.To + "/" + rest, true
				}
			}
			return "", false
		}
		for n := range j.before.All() {
			if n.Vault != where.Vault {
				continue
			}
			if p, moves := to(n.Path); moves && p != n.Path {
				j.moved[n.ID] = p
			}
		}
		for _, p := range j.before.Files(where.Vault) {
			if to, moves := to(p); moves && to != p {
				j.files[p] = to
			}
		}
		plan = j.finish()
	})
	return plan, err
}

func checkMove(m Move) error {
	for _, p := range []struct{ field, path string }{{"from", m.From}, {"to", m.To}} {
		if p.path == "" || path.Clean(p.path) != p.path || strings.HasPrefix(p.path, "/") || strings.HasPrefix(p.path, "..") ||
			p.path == "." {
			return fault.Field(p.field, "%s is not a path within the vault", p.field).WithHint("write it as in Projects/Alpha.md")
		}
	}
	return nil
}

// A NoteRename is another name for a note.
type NoteRename struct {
	Path string
	Old  string // the name that is replaced, a title or a file name; "": the file name
	New  string
	What string // OfBoth, OfFile or OfTitle; "": OfBoth
}

// RenameNote plans another name for a note. Its file gets the name if it has the old one; so do its title in the frontmatter
// and its first heading.
//
// Where it is the name of the entity of the note, mentions of it and values of fields that say it get the new name, too;
// ents may be nil.
func RenameNote(s *notes.Store, ents *entities.Store, where RenameScope, r NoteRename) (plan *RenamePlan, err error) {
	r.New = strings.TrimSpace(r.New)
	named := cmp.Or(r.Old, withoutExt(path.Base(r.Path)))
	fields := refsTo(s, ents, where, r.Path, named)
	s.Suppose(func(w notes.World) {
		j := newJob(w, where)
		var n *notes.Note
		if n, err = j.note(r.Path); err != nil {
			return
		}
		if err = j.rename(n, r); err != nil {
			return
		}
		if j.after().Note(n.ID).Title == r.New {
			j.renameEntity(fields, named, r.New)
		}
		plan = j.finish()
	})
	return plan, err
}

// note returns the note of a path.
func (j *job) note(p string) (*notes.Note, error) {
	if n := atPath(j.before, j.vault, p); n != nil {
		return n, nil
	}
	return nil, &fault.Error{
		Kind: fault.NotFound, Field: "path", Msg: "no note has that path", Hint: "give the path of a note within the vault",
	}
}

// atPath returns the note of a path, nil for none. An editor may write an é as one character where the file system has two.
func atPath(w notes.World, vault, p string) (found *notes.Note) {
	composed := norm.NFC.String(p)
	for n := range w.All() {
		if n.Vault == vault && (n.Path == p || found == nil && norm.NFC.String(n.Path) == composed) {
			found = n
		}
	}
	return found
}

// unnamed are the characters that no name of a note can have: links give them a meaning.
const unnamed = "[]#^|"

func unseenName(name string) error {
	if strings.ContainsFunc(name, write.Unseen) {
		return fault.Field("new", "a name has no control characters").WithHint("type the name, as one line")
	}
	return nil
}

// fileName refuses what a file cannot be called on one of the systems that a vault may come to.
func fileName(name, ext string) error {
	if why := write.NameProblem(name, ext); why != "" {
		return fault.Field("new", "%s", why).WithHint("choose another name, or change the title alone")
	}
	return nil
}

func (j *job) rename(n *notes.Note, r NoteRename) error {
	base := withoutExt(path.Base(n.Path))
	old, what := cmp.Or(r.Old, base), cmp.Or(r.What, RenameFileAndTitle)
	name := r.New
	if err := unseenName(name); err != nil {
		return err
	}
	switch {
	case name == "" || strings.ContainsAny(name, unnamed):
		return fault.Field("new", "a name of a note is not empty and has none of []#^|").WithHint("choose a name that a link can say")
	case !slices.Contains([]string{RenameFileAndTitle, RenameFileOnly, RenameTitleOnly}, what):
		return fault.Field("what", "what must be both, file or title")
	}
	equal := func(a, b string) bool { return text.Fold(a) == text.Fold(b) }
	done := false
	if what != RenameFileOnly {
		titles, whole := titleEdits(n, old, name)
		if !whole {
			return fault.Field("new", "the title of the note is written in a way that cannot be changed safely").
				WithHint("change the title in the note itself, or rename the file alone")
		}
		if len(titles) > 0 {
			j.own[n.ID], done = titles, true
		}
	}
	if what != RenameTitleOnly && equal(base, old) && name != base {
		if err := fileName(name, path.Ext(n.Path)); err != nil {
			return err
		}
		to := path.Join(n.Folder, name+path.Ext(n.Path))
		for other := range j.before.All() {
			if other.Vault == n.Vault && other.ID != n.ID && equal(other.Path, to) {
				return &fault.Error{
					Kind: fault.Conflict, Reason: fault.Exists, Field: "new", Ref: other.ID, Msg: "another note has that path",
					Hint: "choose another name", Candidates: []fault.Candidate{{ID: other.ID, Title: other.Title, Path: other.Path}},
				}
			}
		}
		j.moved[n.ID], done = to, true
		j.plan.Moves = append(j.plan.Moves, Move{n.Path, to})
	}
	if !done && name != old {
		return fault.Field("old", "neither the file nor the title of the note is called so").
			WithHint("the file is called %s, the title is %s", base, n.Title)
	}
	return nil
}

// A PartRename is another name for a heading or a block of a note.
type PartRename struct {
	Path string
	Line int // of the heading, or of the identifier of the block, from 1
	New  string
}

// RenameHeading plans another text for a heading. It may be the title of its note.
func RenameHeading(s *notes.Store, where RenameScope, r PartRename) (plan *RenamePlan, err error) {
	return part(s, where, r, func(n *notes.Note) ([]Edit, error) {
		name := strings.TrimSpace(r.New)
		if name == "" {
			return nil, fault.Field("new", "a heading is not empty").WithHint("give the text of the heading without #")
		}
		if err := unseenName(name); err != nil {
			return nil, err
		}
		var list []markdown.Heading
		markdown.Headings(n.Body, func(h markdown.Heading) { list = append(list, h) })
		at := slices.IndexFunc(list, func(h markdown.Heading) bool { return h.Line == r.Line })
		if at < 0 {
			return nil, fault.Field("line", "no heading begins on line %d", r.Line).WithHint("give the line of a heading, from 1")
		}
		edits, ok := headingEdit(n.Body, list[at], name)
		if !ok || newOutline(apply(n.Body, edits)).lacks(at, len(list), name) {
			return nil, fault.Field("new", "the heading cannot be written so").WithHint("choose a text without markup")
		}
		return edits, nil
	})
}

// lacks reports whether an outline has not so many headings, one of them with the name.
func (o *outline) lacks(at, count int, name string) bool {
	return len(o.headings) != count || o.headings[at].Text != name
}

// RenameBlock plans another identifier for a block.
func RenameBlock(s *notes.Store, where RenameScope, r PartRename) (plan *RenamePlan, err error) {
	return part(s, where, r, func(n *notes.Note) ([]Edit, error) {
		var old string
		markdown.Blocks(n.Body, func(b markdown.Block) {
			if b.Line == r.Line && old == "" {
				old = b.ID
			} else if text.Fold(b.ID) == text.Fold(r.New) {
				r.Line = -1
			}
		})
		switch {
		case r.Line < 0:
			return nil, fault.Field("new", "another block of the note is called so").WithHint("choose another identifier")
		case old == "":
			return nil, fault.Field("line", "no identifier of a block stands on line %d", r.Line)
		}
		start := 0
		for range r.Line - 1 {
			start += strings.IndexByte(n.Body[start:], '\n') + 1
		}
		end := len(n.Body)
		if i := strings.IndexByte(n.Body[start:], '\n'); i >= 0 {
			end = start + i
		}
		at := start + strings.LastIndex(n.Body[start:end], "^"+old) + 1
		edits := []Edit{{at, at + len(old), r.New}}
		if newOutline(apply(n.Body, edits)).block(r.New) < 0 {
			return nil, fault.Field("new", "an identifier of a block has letters, digits and hyphens, and one letter at least").
				WithHint("choose a name such as decision-2")
		}
		return edits, nil
	})
}

func part(s *notes.Store, where RenameScope, r PartRename, edits func(*notes.Note) ([]Edit, error)) (plan *RenamePlan, err error) {
	s.Suppose(func(w notes.World) {
		j := newJob(w, where)
		var n *notes.Note
		if n, err = j.note(r.Path); err != nil {
			return
		}
		if j.own[n.ID], err = edits(n); err != nil {
			return
		}
		plan = j.finish()
	})
	return plan, err
}
