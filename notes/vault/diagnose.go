package vault

// diagnose*.go say what is wrong with the text of a note, as it is in an editor: links that lead nowhere or could
// mean several notes, headings and blocks that are not there, frontmatter that cannot be read, values that do not fit
// their field, queries with errors, names that are given twice. With each they say what may have been meant, as edits.
//
// Diagnose is the only entry. It asks a World of notes.Store.Suppose, in which unsaved texts stand in place of the files,
// and the store of entities for types and names; the notes are not locked while it asks that. Names are compared by edit
// distance (Levenshtein, in code points, at most two), those that cannot be so near by their letters left out before.
//
// Places are bytes of the text, half open. A note has at most MaxProblems; time grows with the length of the text and,
// where a link leads nowhere, with the names in the vault. Nothing is kept; Diagnose may be called concurrently. Errors
// are faults: that of a path which neither a note nor a buffer has.

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// MaxProblems is how many problems of one note are told.
const MaxProblems = 500

// What a problem is about.
const (
	CodeUnresolved     = "link.unresolved"
	CodeAmbiguous      = "link.ambiguous"
	CodeChosen         = "link.chosen" // one of several, by the rules
	CodeHeading        = "link.heading"
	CodeBlock          = "link.block"
	CodeFrontmatter    = "frontmatter"
	CodeValue          = "field.value"
	CodeReference      = "field.reference"
	CodeQuery          = "query"
	CodeDuplicateBlock = "duplicate.block"
	CodeDuplicateTitle = "duplicate.title"
	CodeInferred       = "type.inferred"
)

// How much a problem matters.
const (
	SeverityError       = "error"
	SeverityWarning     = "warning"
	SeverityInformation = "information"
	SeverityHint        = "hint"
)

// A Problem is something about a place of a text.
type Problem struct {
	Start, End int
	Code       string
	Severity   string
	Message    string
	Fixes      []Fix
	Create     string // path of a note that a link waits for
	Type       string // name of the type that it is about
	Others     []string
}

// A Fix is an edit of the text that solves a problem.
type Fix struct {
	Title string
	Edit  Edit
}

// QueryCheck checks a query of an entity of a type; "" for none. Lines and columns count from 1, columns in UTF-16 code units.
type QueryCheck func(query, typeName string) []record.Diagnostic

// Diagnose returns the problems of the note at a path, in the order of its text, and the text that they are of.
func Diagnose(s *notes.Store, ents *entities.Store, check QueryCheck, where RenameScope, p string) (list []Problem, text string, err error) {
	var n *notes.Note
	d := &doctor{where: where, ents: ents}
	s.Suppose(func(w notes.World) {
		d.world = withBuffers(w, where)
		n = atPath(d.world, where.Vault, p)
		if n == nil || n.Kind != "" {
			return
		}
		d.note, d.doc = n, markdown.Parse(n.Body)
		d.links()
		d.twice()
	})
	if n == nil {
		return nil, "", &fault.Error{Kind: fault.NotFound, Field: "path", Msg: "no note has that path", Hint: "give the path of a note within the vault"}
	}
	if n.Kind != "" {
		return nil, n.Body, nil
	}
	d.world = notes.World{}
	d.frontmatter()
	d.queries(check, d.values())
	slices.SortStableFunc(d.found, func(a, b Problem) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return d.found[:min(len(d.found), MaxProblems)], n.Body, nil
}

// doctor looks at one note.
type doctor struct {
	where RenameScope
	ents  *entities.Store
	world notes.World // while the notes are locked
	note  *notes.Note
	doc   *markdown.Document
	found []Problem
	near  *nearest

	folders map[string]map[string]int // by key of the frontmatter: see foldersOfLinks
	days    map[string]int            // see foldersOfDays
}

func (d *doctor) add(p Problem) { d.found = append(d.found, p) }

func (d *doctor) links() {
	for _, l := range d.note.Links() {
		if len(d.found) > MaxProblems {
			return
		}
		lead := d.world.Lead(l, d.note.ID)
		switch {
		case lead.File != "":
		case lead.ID == "" && len(lead.Could) > 0:
			d.ambiguous(l, lead)
		case lead.ID == "" && !l.Possible():
			d.unresolved(l)
		case lead.ID != "":
			d.resolved(l, lead)
		}
	}
}

// resolved looks at a link that leads to a note.
func (d *doctor) resolved(l markdown.Link, lead notes.Lead) {
	to := d.world.Note(lead.ID)
	if lead.Among > 1 {
		p := d.about(l, CodeChosen, SeverityInformation, fmt.Sprintf("%d notes are called so; it leads to %s", lead.Among, nameOf(to)))
		p.Fixes = d.spelledOut(l, to)
		for n := range d.world.All() {
			if n.ID != to.ID && n.Vault == d.note.Vault && text.Fold(stem(path.Base(n.Path))) == text.Fold(stem(path.Base(to.Path))) && len(p.Fixes) < maxTargets {
				p.Others = append(p.Others, n.Path)
				p.Fixes = append(p.Fixes, d.spelledOut(l, n)...)
			}
		}
		d.add(p)
	}
	if l.Heading == "" && l.Block == "" || to.Kind != "" {
		return
	}
	start, end := notes.LinkPart(l)
	if l.Block != "" {
		var blocks []string
		markdown.Blocks(to.Body, func(b markdown.Block) { blocks = append(blocks, b.ID) })
		if !slices.ContainsFunc(blocks, func(id string) bool { return text.Fold(id) == text.Fold(l.Block) }) {
			d.missing(start, end, CodeBlock, "no block of "+nameOf(to)+" is called ^"+l.Block, blocks, l.Block)
		}
		return
	}
	if hasHeading(to.Body, l.Heading) {
		return
	}
	var headings []string
	markdown.Headings(to.Body, func(h markdown.Heading) { headings = append(headings, markdown.LinkableHeading(h.Text)) })
	d.missing(start, end, CodeHeading, nameOf(to)+" has no heading "+l.Heading, headings, l.Heading)
}

// missing adds a part of a note that is not there.
func (d *doctor) missing(start, end int, code, message string, names []string, said string) {
	p := Problem{Start: start, End: end, Code: code, Severity: SeverityWarning, Message: message}
	for _, name := range likest(names, said) {
		p.Fixes = append(p.Fixes, Fix{"Change to " + name, Edit{Start: start, End: end, New: name}})
	}
	d.add(didYouMean(p))
}

// about makes a problem of the target of a link.
func (d *doctor) about(l markdown.Link, code, severity, message string) Problem {
	start, end := notes.LinkTarget(l)
	if start == end {
		start, end = l.Start, l.End
	}
	return Problem{Start: start, End: end, Code: code, Severity: severity, Message: message}
}

func (d *doctor) ambiguous(l markdown.Link, lead notes.Lead) {
	p := d.about(l, CodeAmbiguous, SeverityWarning, fmt.Sprintf("%d notes are called so, and none is nearer than the others", len(lead.Could)))
	for _, id := range lead.Could[:min(len(lead.Could), maxTargets)] {
		n := d.world.Note(id)
		p.Others = append(p.Others, cmp.Or(n.Path, n.Title))
		p.Fixes = append(p.Fixes, d.spelledOut(l, n)...)
	}
	d.add(p)
}

// maxFixes is how many fixes a problem has, where they are guesses.
const maxFixes = 5

// maxTargets is how many of the notes that a link could mean are told.
const maxTargets = 20

// spelledOut returns the fix that has a link name a note so that it can mean no other: by the whole path where less is
// not enough. There is none where no text does.
func (d *doctor) spelledOut(l markdown.Link, n *notes.Note) []Fix {
	fixes := d.pick(l, n)
	if len(fixes) == 0 || l.Markdown {
		return fixes
	}
	for _, name := range append(linkTexts(d.world, l, d.note, n), stem(n.Path), n.Path) {
		as := l
		as.Target = name
		if lead := d.world.Lead(as, d.note.ID); lead.ID == n.ID && lead.Among <= 1 {
			fixes[0].Edit.New = name
			return fixes
		}
	}
	return fixes
}

// pick returns the fix that has a link lead to a note; none where no text does.
func (d *doctor) pick(l markdown.Link, n *notes.Note) []Fix {
	names := linkTexts(d.world, l, d.note, n)
	start, end := notes.LinkTarget(l)
	if start == end || len(names) == 0 {
		return nil
	}
	return []Fix{{"Link to " + nameOf(n), Edit{Start: start, End: end, New: names[0]}}}
}

func (d *doctor) unresolved(l markdown.Link) {
	p := d.about(l, CodeUnresolved, SeverityWarning, "no note is called "+l.Target)
	if l.Markdown {
		p.Message = "there is no file " + l.Target
	}
	if d.near == nil {
		d.near = newNearest(d.world, d.note.Vault)
	}
	for _, n := range d.near.to(stem(path.Base(l.Target))) {
		p.Fixes = append(p.Fixes, d.pick(l, d.world.Note(n.id))...)
	}
	if !l.Picture() {
		p.Create = d.home(l)
	}
	d.add(didYouMean(p))
}

// didYouMean says in the message of a problem what may have been meant.
func didYouMean(p Problem) Problem {
	if len(p.Fixes) > 0 {
		p.Message += "; did you mean " + p.Fixes[0].Edit.New + "?"
	}
	return p
}

// nameOf is what a note is called in a message.
func nameOf(n *notes.Note) string { return cmp.Or(n.Path, n.Title) }

func stem(p string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if len(p) > len(ext) && strings.EqualFold(p[len(p)-len(ext):], ext) {
			return p[:len(p)-len(ext)]
		}
	}
	return p
}

// twice looks for names that are given twice: of blocks, and of the note.
func (d *doctor) twice() {
	seen := make(map[string]bool)
	at, line := 0, 1 // where the last block was
	markdown.Blocks(d.note.Body, func(b markdown.Block) {
		id := text.Fold(b.ID)
		if !seen[id] || len(d.found) > 2*MaxProblems {
			seen[id] = true
			return
		}
		start, end := lineOf(d.note.Body[at:], b.Line-line+1)
		start, end = start+at, end+at
		at, line = start, b.Line
		if i := strings.LastIndex(d.note.Body[start:end], "^"+b.ID); i >= 0 {
			d.add(Problem{
				Start: start + i, End: start + i + 1 + len(b.ID), Code: CodeDuplicateBlock, Severity: SeverityWarning,
				Message: "another block of this note is called ^" + b.ID + ", and links lead to that one",
			})
		}
	})
	title := text.Fold(d.note.Title)
	var others []string
	for n := range d.world.All() {
		if n.ID != d.note.ID && n.Vault == d.note.Vault && n.Live() && text.Fold(n.Title) == title {
			others = append(others, nameOf(n))
		}
	}
	if len(others) == 0 || d.doc.Title == "" { // a file name may be that of others in other folders
		return
	}
	slices.Sort(others)
	start, end := titlePlace(d.note.Body, d.doc)
	d.add(Problem{
		Start: start, End: end, Code: CodeDuplicateTitle, Severity: SeverityInformation, Others: others,
		Message: fmt.Sprintf("%s has this title, too", others[0]),
	})
}

// titlePlace returns where the title of a note stands.
func titlePlace(text string, doc *markdown.Document) (start, end int) {
	if f, ok := doc.Frontmatter.Get("title"); ok {
		return lineOf(text, f.Line)
	}
	found := false
	markdown.Headings(text, func(h markdown.Heading) {
		if !found && h.Level == 1 && h.Text == doc.Title {
			found, start, end = true, h.Start, h.End
		}
	})
	return start, end
}

// lineOf returns where a line begins and ends, without its line end.
func lineOf(text string, line int) (start, end int) {
	for range line - 1 {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return len(text), len(text)
		}
		start += i + 1
	}
	end = len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return start, start + len(strings.TrimRight(text[start:end], "\r"))
}
