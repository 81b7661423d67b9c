package vault

// problems*.go list what is wrong in a vault, for vault.problems: the problems of its notes that Diagnose tells an editor of,
// but for hints, and what the last scan could not take in, as Status.Errors says. Each count of a Status is the number of
// problems of some kinds: Unresolved that of link.unresolved and link.ambiguous, UnresolvedRefs that of field.reference and
// field.ambiguous, and Errors has as many entries as there are problems of the other kinds whose names begin with vault, file,
// type, frontmatter, private and field.value.
//
// The notes are locked for one of them at a time, so that nobody who writes waits for long. Of most notes only the links are
// looked at. The last list is kept until something is written.

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
)

// Reader says what the one who asks may see. The zero Reader sees all.
type Reader struct {
	// Sees tells which notes there are; nil: all. Where it is set, no fixes are looked for. It must not ask the store.
	Sees      func(*notes.Note) bool
	Withholds func(noteID, target string) bool // whether a link of a note means a record that there is not
	Text      func(noteID, text string) string // a text of a note as it is shown
	Check     QueryCheck                       // checks the queries in notes
}

func (r Reader) unseen() notes.Skip {
	if r.Sees == nil {
		return nil
	}
	return func(n *notes.Note) bool { return !r.Sees(n) }
}

// ProblemPlace is where a problem stands in the list: by kind, in the order of record.ProblemKinds, then by path, line and
// place on the line.
type ProblemPlace struct {
	Kind record.ProblemKind
	Path string
	Line int // 0: the file as a whole
	Nth  int // of those of this kind on the line, from 0
}

// kindRank returns where a kind stands in record.ProblemKinds, -1 for one that does not.
func kindRank(kind record.ProblemKind) int {
	for i := range record.ProblemKinds {
		if record.ProblemKinds[i].Kind == kind {
			return i
		}
	}
	return -1
}

// Compare orders two places.
func (p *ProblemPlace) Compare(q *ProblemPlace) int {
	if p.Kind != q.Kind {
		return kindRank(p.Kind) - kindRank(q.Kind)
	}
	return cmp.Or(strings.Compare(p.Path, q.Path), p.Line-q.Line, p.Nth-q.Nth)
}

// Valid reports whether there may be such a place.
func (p *ProblemPlace) Valid() bool { return kindRank(p.Kind) >= 0 && p.Line >= 0 && p.Nth >= 0 }

// ProblemListed is a problem in the list of a vault. ProblemList.Describe says more of it.
type ProblemListed struct {
	ProblemPlace
	what   string
	fix    string // "": what mends others of its kind
	noteID string // "": it is about a file
	start  int    // of the text of the note
	copyOf string // path of the note that the file is a copy of
}

// ProblemList is what is wrong in a vault. It is shared and not to be changed.
type ProblemList struct {
	Vault  string
	Folder string // absolute path
	All    []ProblemListed
	Counts map[record.ProblemKind]int // of the kinds of which there are any

	im     *Importer
	reader Reader
}

// problemKey is what a list of problems is kept by.
type problemKey struct {
	vault  string
	remote bool
	seq    uint64 // of the store
}

// keptProblems is the last list of one reader.
type keptProblems struct {
	key problemKey
	all []ProblemListed
}

// Problems lists what is wrong in a vault, of the only one for "". The error is that of Status, or of a context that has
// ended.
func (im *Importer) Problems(ctx context.Context, name string, r Reader) (*ProblemList, error) {
	var v *vault
	err := im.db.View(ctx, func(tx *kv.Tx) (err error) {
		if v, err = im.find(tx, name); err == nil {
			err = tx.Err()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	key := problemKey{v.Name, r.Sees != nil, im.db.Seq()}
	im.mu.Lock()
	kept := im.problems
	im.mu.Unlock()
	if kept.key != key || kept.all == nil {
		kept = keptProblems{key: key}
		if kept.all, err = im.listProblems(ctx, v.Name, r); err != nil {
			return nil, err
		}
		if im.db.Seq() == key.seq {
			im.mu.Lock()
			im.problems = kept
			im.mu.Unlock()
		}
	}
	list := &ProblemList{
		Vault: v.Name, All: append(im.folderProblems(v), kept.all...), Counts: make(map[record.ProblemKind]int),
		im: im, Folder: v.Path, reader: r,
	}
	for i := range list.All {
		list.Counts[list.All[i].Kind]++
	}
	return list, nil
}

// folderProblems returns what is wrong with a vault as a whole. Nothing is written when that changes, so it is not kept.
func (im *Importer) folderProblems(v *vault) (list []ProblemListed) {
	s := Status{Stale: !isFolder(v.Path)}
	if f := im.follower(v.Name); f != nil {
		f.addTo(&s)
	}
	if v.Forgetting {
		s.Errors = append(s.Errors, ImportSkip{Reason: "it is being forgotten"})
	}
	if s.Stale && len(s.Errors) == 0 {
		s.Errors = append(s.Errors, ImportSkip{Reason: "its folder is not there: what was read of it before is still answered"})
	}
	for i, e := range s.Errors {
		list = append(list, ProblemListed{ProblemPlace: ProblemPlace{Kind: record.VaultFolder, Path: ".", Nth: i}, what: e.Reason})
	}
	return list
}

// listProblems looks at all notes of a vault, and at what its last scan could not take in.
func (im *Importer) listProblems(ctx context.Context, name string, r Reader) ([]ProblemListed, error) {
	list, heads, err := im.fileProblems(ctx, name, r)
	if err != nil {
		return nil, err
	}
	refs := im.notes.UnresolvedRefs(name, r.Sees)
	d := &doctor{store: im.notes, ents: im.ents, check: r.Check, vault: name, reader: r}
	var all []*notes.Note
	for n := range im.notes.All() {
		if n.Vault == name && (r.Sees == nil || r.Sees(n)) {
			all = append(all, n)
		}
	}
	for _, n := range all {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		if d.examine(n.ID, heads[n.ID] || refs[n.ID] > 0) {
			list = d.list(list)
		}
	}
	return ordered(list), nil
}

// examine looks at a note as it is now: at its frontmatter only when it should. It reports false when there is none.
func (d *doctor) examine(id string, head bool) (there bool) {
	d.store.Suppose(func(w notes.World) {
		d.world = w.Without(d.reader.unseen())
		n := d.world.Note(id)
		if there = n != nil; !there {
			return
		}
		d.begin(n)
		if n.Kind == "" {
			d.inWorld()
		} else {
			d.links()
		}
	})
	d.world = notes.World{}
	if there {
		d.quote()
	}
	if !there || d.note.Kind != "" {
		return there
	}
	d.empty()
	if head {
		d.head()
	}
	d.queries()
	return true
}

// list adds the problems of the note to a list.
func (d *doctor) list(list []ProblemListed) []ProblemListed {
	line, at := 1, 0
	for _, p := range d.sorted() {
		if p.Severity == SeverityHint {
			continue
		}
		line, at = line+strings.Count(d.note.Body[at:p.Start], "\n"), p.Start
		item := ProblemListed{
			ProblemPlace: ProblemPlace{Kind: p.Code, Path: d.note.Path, Line: line}, what: p.Message, fix: p.Mend, noteID: d.note.ID, start: p.Start,
		}
		if d.note.Kind != "" || p.Code == record.DuplicatePath || p.Code == record.NoteEmpty {
			item.Line = 0 // of a canvas the text is not that of the file
		}
		list = append(list, item)
	}
	return list
}

// ordered sorts a list, and numbers what is of one kind on one line.
func ordered(list []ProblemListed) []ProblemListed {
	slices.SortStableFunc(list, func(a, b ProblemListed) int { return a.Compare(&b.ProblemPlace) })
	for i := 1; i < len(list); i++ {
		before, p := &list[i-1], &list[i]
		if before.Kind == p.Kind && before.Path == p.Path && before.Line == p.Line {
			p.Nth = before.Nth + 1
		}
	}
	return slices.Clip(list)
}

// Of returns the problems of some kinds, of all for none.
func (l *ProblemList) Of(kinds []record.ProblemKind) []ProblemListed {
	if len(kinds) == 0 {
		return l.All
	}
	return slices.DeleteFunc(slices.Clone(l.All), func(p ProblemListed) bool { return !slices.Contains(kinds, p.Kind) })
}

// guessedAtOnce is of how many problems of a note fixes are looked for while the notes are locked: each is compared with the
// names of all notes.
const guessedAtOnce = 20

// Describe says of some problems what is wrong and what mends it, as it is now. It takes the time of Diagnose for each of
// their notes.
func (l *ProblemList) Describe(ctx context.Context, list []ProblemListed) ([]record.VaultProblem, error) {
	out := make([]record.VaultProblem, len(list))
	byNote := make(map[string][]int)
	for i := range list {
		p := &list[i]
		out[i] = record.VaultProblem{
			Kind: p.Kind, Path: p.Path, Line: p.Line, What: p.what, Fix: cmp.Or(p.fix, record.ProblemKinds[kindRank(p.Kind)].Fix),
		}
		if p.noteID != "" {
			byNote[p.noteID] = append(byNote[p.noteID], i)
		}
	}
	if l.reader.Sees != nil { // what may have been meant is for who sees all
		return out, ctx.Err()
	}
	d := &doctor{store: l.im.notes, ents: l.im.ents, check: l.reader.Check, vault: l.Vault, guesses: new(guesses)}
	for _, p := range list {
		places := byNote[p.noteID]
		delete(byNote, p.noteID)
		if len(places) == 0 {
			continue
		}
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		for some := range slices.Chunk(places, guessedAtOnce) {
			d.wanted = make(map[spot]bool)
			for _, i := range some {
				d.wanted[spot{list[i].Kind, list[i].start}] = true
			}
			if !d.examine(p.noteID, true) {
				break
			}
			for _, i := range some {
				d.describe(&list[i], &out[i])
			}
		}
	}
	return out, l.compareCopies(ctx, list, out)
}

// describe fills in what was found about a problem of the note, unless it has changed.
func (d *doctor) describe(p *ProblemListed, out *record.VaultProblem) {
	for i := range d.found {
		f := &d.found[i]
		if f.Code == p.Kind && f.Start == p.start && strings.HasPrefix(f.Message, p.what) {
			out.What, out.Fix = f.Message, cmp.Or(f.mends(), out.Fix)
			return
		}
	}
}

// fixesSaid is how many fixes are named in a sentence.
const fixesSaid = 3

// mends says how a problem is mended, "" where nothing exact is known.
func (p *Problem) mends() string {
	var ways []string
	for _, f := range p.Fixes[:min(len(p.Fixes), fixesSaid)] {
		ways = append(ways, strings.ToLower(f.Title[:1])+f.Title[1:])
	}
	if p.Create != "" {
		if len(ways) == 0 {
			ways = append(ways, "correct the link")
		}
		ways = append(ways, "create "+p.Create)
	}
	return strings.Join(ways, ", or ")
}
