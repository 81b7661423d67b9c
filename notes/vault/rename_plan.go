package vault

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/notes/markdown"
)

// RenameScope says which notes a rename is about.
type RenameScope struct {
	Vault string
	// Buffers are texts that are not saved yet, by path: they count in place of what is stored.
	Buffers map[string]string
	// Source reads the file at a path, of those that are no Markdown; nil: their links are not changed.
	Source func(path string) (string, error)
	Days   days.Settings // of the vault
	Making Making        // of the vault, for Diagnose
}

// An Edit replaces the bytes [Start, End) of a text.
type Edit struct {
	Start, End int
	New        string
}

// A ChangedFile is a text that changes.
type ChangedFile struct {
	Path  string // before anything moves
	Text  string // that the edits are of
	Edits []Edit
}

// Apply returns the text with its edits.
func (f *ChangedFile) Apply() string { return apply(f.Text, f.Edits) }

// A Move is a file that gets another path. Both are paths of the vault.
type Move struct{ From, To string }

// A RenameProblem is a place that the plan does not keep as it is, and why.
type RenameProblem struct {
	Path string
	Line int // from 1
	Text string
	Why  string
}

// A RenamePlan is all that a rename changes.
type RenamePlan struct {
	Moves    []Move // of the note that is renamed; files that were asked to move are not repeated
	Files    []ChangedFile
	Problems []RenameProblem
}

func apply(text string, edits []Edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String()
}

func inOrder(edits []Edit) []Edit {
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return edits
}

// job is the making of one Plan, in one World.
type job struct {
	before notes.World
	vault  string
	moved  map[string]string // new paths of notes, by id
	files  map[string]string // new paths of files that are no notes, by path
	own    map[string][]Edit // of what is renamed itself, by id of the note
	links  map[string][]Edit // of links, by id of the note
	named  map[string]bool   // notes of which links change what they or their headings are called, by id

	outlines map[outlineOf]*outline
	source   func(path string) (string, error)
	days     days.Settings
	lost     []RenameProblem // that have nothing to do with links
	plan     RenamePlan
}

// bufferID is what stands before the path in the id of a buffer that is no note yet.
const bufferID = "buffer:"

func newJob(w notes.World, where RenameScope) *job {
	j := &job{
		vault: where.Vault, source: where.Source, days: where.Days, moved: make(map[string]string), files: make(map[string]string),
		own: make(map[string][]Edit), named: make(map[string]bool), outlines: make(map[outlineOf]*outline),
	}
	j.before = withBuffers(w, where)
	return j
}

// withBuffers returns the World in which the texts of buffers are those of the notes. A buffer that is no note yet is one.
func withBuffers(w notes.World, where RenameScope) notes.World {
	if len(where.Buffers) == 0 {
		return w
	}
	composed := make(map[string]string, len(where.Buffers))
	for p := range where.Buffers {
		composed[norm.NFC.String(p)] = p
	}
	byPath := make(map[string]*notes.Note)
	for n := range w.All() {
		if n.Vault != where.Vault {
			continue
		}
		p, open := composed[norm.NFC.String(n.Path)]
		if _, exact := where.Buffers[n.Path]; exact {
			p = n.Path
		}
		if open && (byPath[p] == nil || p == n.Path) {
			byPath[p] = n
		}
	}
	var list []*notes.Note
	for p, text := range where.Buffers {
		n := byPath[p]
		switch {
		case n == nil:
			n = new(notes.Note)
			n.ID, n.Vault = bufferID+p, where.Vault
		case n.Body == text || n.Kind != "":
			continue
		}
		list = append(list, as(w, where.Days, n, cmp.Or(n.Path, p), text))
	}
	if len(list) == 0 {
		return w
	}
	return w.With(list)
}

// as returns a note as it would be with another text and path. At another path it may be that of another day.
func as(w notes.World, named days.Settings, n *notes.Note, path, body string) *notes.Note {
	aliases := n.Given.Get().Aliases
	if path != n.Path {
		aliases = named.Names()(path)
	}
	return w.As(n, path, body, aliases)
}

// maxRounds is how often links are worked out anew because links in names have changed names.
const maxRounds = 6

// finish works the edits of links out, and returns the plan.
func (j *job) finish() *RenamePlan {
	for range maxRounds {
		after := j.after()
		j.plan.Problems, j.plan.Files = nil, nil
		clear(j.outlines)
		links := j.linkEdits(after)
		renamed := j.renames(links)
		j.links = links
		if !renamed {
			break
		}
	}
	for _, id := range j.edited() {
		n := j.before.Note(id)
		j.plan.Files = append(j.plan.Files, ChangedFile{n.Path, n.Body, j.editsOf(id)})
	}
	slices.SortFunc(j.plan.Files, func(a, b ChangedFile) int { return strings.Compare(a.Path, b.Path) })
	j.plan.Problems = append(j.plan.Problems, j.lost...)
	slices.SortFunc(j.plan.Problems, func(a, b RenameProblem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line, strings.Compare(a.Text, b.Text))
	})
	j.plan.Problems = slices.Compact(j.plan.Problems)
	return &j.plan
}

// edited returns the ids of the notes with edits, sorted.
func (j *job) edited() []string {
	var ids []string
	for _, edits := range []map[string][]Edit{j.own, j.links} {
		for id, list := range edits {
			if len(list) > 0 {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (j *job) editsOf(id string) []Edit { return inOrder(slices.Concat(j.own[id], j.links[id])) }

// changed returns the ids of the notes that are other than before, sorted.
func (j *job) changed() []string {
	ids := j.edited()
	for id := range j.moved {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// renamed returns the ids of the notes that are called otherwise than before, or their parts, sorted.
func (j *job) renamed() []string {
	ids := slices.Concat(slices.Collect(maps.Keys(j.moved)), slices.Collect(maps.Keys(j.own)), slices.Collect(maps.Keys(j.named)))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// after returns the World with all that is known to change.
func (j *job) after() notes.World {
	var list []*notes.Note
	for _, id := range j.changed() {
		n := j.before.Note(id)
		list = append(list, as(j.before, j.days, n, cmp.Or(j.moved[id], n.Path), apply(n.Body, j.editsOf(id))))
	}
	w := j.before.With(list)
	if len(j.files) > 0 {
		paths := j.before.Files(j.vault)
		for i, p := range paths {
			paths[i] = cmp.Or(j.files[p], p)
		}
		w = w.WithFiles(j.vault, paths)
	}
	return w
}

// renames reports whether edits of links change what a note or its headings are called, against those of the round
// before.
func (j *job) renames(links map[string][]Edit) (renamed bool) {
	ids := slices.Concat(slices.Collect(maps.Keys(links)), slices.Collect(maps.Keys(j.links)))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if slices.Equal(links[id], j.links[id]) {
			continue
		}
		n := j.before.Note(id)
		was := as(j.before, j.days, n, n.Path, apply(n.Body, j.editsOf(id)))
		now := as(j.before, j.days, n, n.Path, apply(n.Body, inOrder(slices.Concat(j.own[id], links[id]))))
		if was.Title != now.Title || !slices.Equal(was.Aliases, now.Aliases) || !sameHeadings(was.Body, now.Body) {
			renamed, j.named[id] = true, true
		}
	}
	return renamed
}

// names returns what changed notes and files are called, before and after.
func (j *job) names(after notes.World) []string {
	var names []string
	for _, id := range j.renamed() {
		for _, n := range []*notes.Note{j.before.Note(id), after.Note(id)} {
			names = append(append(names, n.Path, n.Title), n.Aliases...)
		}
	}
	for from, to := range j.files {
		names = append(names, from, to)
	}
	return names
}

// linkEdits returns the edits of all links that would lead elsewhere.
func (j *job) linkEdits(after notes.World) map[string][]Edit {
	ids := slices.Concat(j.before.Linking(j.names(after)), j.renamed())
	slices.Sort(ids)
	edits := make(map[string][]Edit)
	for _, id := range slices.Compact(ids) {
		n := j.before.Note(id)
		if n.Vault != j.vault {
			continue // of another vault, or no file at all
		}
		if n.Kind != "" {
			j.drawing(n, after)
			continue
		}
		w := &writer{job: j, after: after, from: n, text: n.Body}
		for _, l := range n.Links() {
			w.link(l)
		}
		if len(w.edits) > 0 {
			edits[id] = inOrder(w.edits)
		}
	}
	return edits
}

// problem notes a place that is not kept.
func (j *job) problem(n *notes.Note, l markdown.Link, why string) {
	j.plan.Problems = append(j.plan.Problems, RenameProblem{n.Path, l.Line, l.Raw, why})
}
