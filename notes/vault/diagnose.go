package vault

// diagnose*.go say what is wrong with the text of a note, as it is in an editor: links that lead nowhere or could
// mean several notes, headings and blocks that are not there, frontmatter that cannot be read, values that do not fit
// their field, queries with errors, names that are given twice. With each they say what may have been meant, as edits.
//
// Diagnose asks it of one note, Importer.Problems of all notes of a vault (problems*.go). It asks a World of
// notes.Store.Suppose, in which unsaved texts stand in place of the files,
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
	Code       record.ProblemKind
	Severity   string
	Message    string
	Fixes      []Fix
	Create     string // path of a note that a link waits for
	Mend       string // what mends it, where that is not what mends others of its kind
	Type       string // name of the type that it is about
	Others     []string

	// said is what the note says in place of quotation in Message; "" for nothing. It may name what the reader does not see.
	said   string
	isLink bool // said is the target of a link
}

// quotation stands in a message for what the note says, until the notes are not locked any more: who masks that asks them.
const quotation = "\x00"

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
	d := &doctor{store: s, ents: ents, check: check, vault: where.Vault, making: where.Making, guesses: new(guesses), limit: MaxProblems}
	s.Suppose(func(w notes.World) {
		d.world = withBuffers(w, where)
		if n = atPath(d.world, where.Vault, p); n != nil && n.Kind == "" {
			d.begin(n)
			d.inWorld()
		}
	})
	if n == nil {
		return nil, "", &fault.Error{Kind: fault.NotFound, Field: "path", Msg: "no note has that path", Hint: "give the path of a note within the vault"}
	}
	if n.Kind != "" {
		return nil, n.Body, nil
	}
	d.inText()
	return d.sorted(), n.Body, nil
}

// doctor looks at one note after the other.
type doctor struct {
	store   *notes.Store
	ents    *entities.Store
	check   QueryCheck
	vault   string
	making  Making
	reader  Reader
	limit   int           // of the problems of a note, about; 0: none
	guesses *guesses      // nil: no fixes are looked for
	wanted  map[spot]bool // the problems of which fixes are looked for; nil: all

	world  notes.World // while the notes are locked
	note   *notes.Note
	parsed *markdown.Document // see doc
	found  []Problem
	broken map[string]bool // targets of links in fields that lead nowhere

	// What was looked up for the notes before, of one call.
	heads   map[headOf]bool
	leading notes.Leading
	alike   map[likeKey][]*notes.Note
}

// spot is where a problem is, and what it is about.
type spot struct {
	code  record.ProblemKind
	start int
}

// mends reports whether fixes of a problem are looked for.
func (d *doctor) mends(p *Problem) bool {
	return d.guesses != nil && (d.wanted == nil || d.wanted[spot{p.Code, p.Start}])
}

// headOf is a heading or a block of a note. A changed note is another one.
type headOf struct {
	note *notes.Note
	name string
}

// guesses are what fixes are made of, for all notes of one call.
type guesses struct {
	near    *nearest
	folders map[string]map[string]int // by folder and key of the frontmatter: see foldersOfLinks
	days    map[string]int            // see foldersOfDays
}

// begin turns to a note.
func (d *doctor) begin(n *notes.Note) {
	d.note, d.parsed, d.found, d.broken = n, nil, nil, nil
}

// doc returns the text of the note, which is parsed when somebody asks.
func (d *doctor) doc() *markdown.Document {
	if d.parsed == nil {
		d.parsed = markdown.Parse(d.note.Body)
	}
	return d.parsed
}

// inWorld adds what depends on other notes, while they are locked.
func (d *doctor) inWorld() {
	d.links()
	d.blocks()
	d.names()
}

// inText adds what depends on the text, types and entities. The notes must not be locked.
func (d *doctor) inText() {
	d.world = notes.World{}
	d.quote()
	d.empty()
	d.head()
	d.queries()
}

// sorted returns what was found in the order of the text.
func (d *doctor) sorted() []Problem {
	slices.SortStableFunc(d.found, func(a, b Problem) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	if d.limit > 0 && len(d.found) > d.limit {
		return d.found[:d.limit]
	}
	return d.found
}

// quote fills in what the note says in the messages. The notes must not be locked.
func (d *doctor) quote() {
	for i := range d.found {
		p := &d.found[i]
		if p.said == "" {
			continue
		}
		shown := p.said
		switch {
		case p.isLink:
			shown = d.called(p.said)
		case d.reader.Text != nil:
			shown = d.reader.Text(d.note.ID, p.said)
		}
		p.Message = strings.ReplaceAll(p.Message, quotation, shown)
	}
}

// called returns the target of a link as the reader may see it. The notes must not be locked.
func (d *doctor) called(target string) string {
	if d.reader.Withholds != nil && d.reader.Withholds(d.note.ID, target) {
		return record.Withheld
	}
	return target
}

func (d *doctor) add(p Problem) { d.found = append(d.found, p) }

func (d *doctor) links() {
	head := -1 // where the body begins, or ends when it may have fields
	for l, lead := range d.world.Leads(d.note, &d.leading) {
		if d.limit > 0 && len(d.found) > d.limit {
			return
		}
		if lead.ID == "" && lead.File == "" && !l.Markdown {
			if head < 0 {
				_, head = markdown.SplitFrontmatter(d.note.Body)
				if strings.Contains(d.note.Body, "::") {
					head = len(d.note.Body)
				}
			}
			if l.Start < head {
				if d.broken == nil {
					d.broken = make(map[string]bool)
				}
				d.broken[l.Target] = true
			}
		}
		switch {
		case lead.File != "":
		case lead.ID == "" && lead.Among > 1:
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
	to := lead.Note
	if lead.Among > 1 {
		p := d.about(l, record.LinkChosen, SeverityInformation, fmt.Sprintf("%d notes are called %s; this link leads to %s", lead.Among, quotation, nameOf(to)))
		if lead.Among <= maxNamesakes && d.mends(&p) {
			d.namesakes(l, to, &p)
		}
		d.add(p)
	}
	if l.Heading == "" && l.Block == "" || to.Kind != "" {
		return
	}
	if d.hasPart(to, l) {
		return
	}
	start, end := notes.LinkPart(l)
	if l.Block != "" {
		var blocks []string
		markdown.Blocks(to.Body, func(b markdown.Block) { blocks = append(blocks, b.ID) })
		d.missing(start, end, record.LinkBlock, "no block of "+nameOf(to)+" is called ^"+quotation, blocks, l.Block)
		return
	}
	var headings []string
	markdown.Headings(to.Body, func(h markdown.Heading) { headings = append(headings, markdown.LinkableHeading(h.Text)) })
	d.missing(start, end, record.LinkHeading, nameOf(to)+" has no heading "+quotation, headings, l.Heading)
}

// hasPart reports whether a note has the heading or the block that a link names.
func (d *doctor) hasPart(to *notes.Note, l markdown.Link) (has bool) {
	key := headOf{to, l.Heading}
	if l.Block != "" {
		key.name = "^" + l.Block
	}
	if has, known := d.heads[key]; known {
		return has
	}
	if l.Block == "" {
		has = hasHeading(to.Body, l.Heading)
	} else {
		markdown.Blocks(to.Body, func(b markdown.Block) { has = has || text.Fold(b.ID) == text.Fold(l.Block) })
	}
	if d.heads == nil {
		d.heads = make(map[headOf]bool)
	}
	d.heads[key] = has
	return has
}

// namesakes adds the notes that a link could mean as well as the one that it leads to.
func (d *doctor) namesakes(l markdown.Link, to *notes.Note, p *Problem) {
	p.Fixes = d.spelledOut(l, to)
	for _, n := range d.world.Alike(to.Vault, path.Base(to.Path), notes.LikeFile) {
		if n.ID != to.ID && len(p.Fixes) < maxTargets {
			p.Others = append(p.Others, n.Path)
			p.Fixes = append(p.Fixes, d.spelledOut(l, n)...)
		}
	}
}

// missing adds a part of a note that is not there.
func (d *doctor) missing(start, end int, code record.ProblemKind, message string, names []string, said string) {
	p := Problem{Start: start, End: end, Code: code, Severity: SeverityWarning, Message: message, said: said}
	if !d.mends(&p) {
		d.add(p)
		return
	}
	for _, name := range likest(names, said) {
		p.Fixes = append(p.Fixes, Fix{"Change to " + name, Edit{Start: start, End: end, New: name}})
	}
	d.add(didYouMean(p))
}

// about makes a problem of the target of a link.
func (d *doctor) about(l markdown.Link, code record.ProblemKind, severity, message string) Problem {
	start, end := notes.LinkTarget(l)
	if start == end {
		start, end = l.Start, l.End
	}
	return Problem{Start: start, End: end, Code: code, Severity: severity, Message: message, said: l.Target, isLink: true}
}

func (d *doctor) ambiguous(l markdown.Link, lead notes.Lead) {
	p := d.about(l, record.LinkAmbiguous, SeverityWarning, fmt.Sprintf("%d notes are called %s, and none is nearer than the others", lead.Among, quotation))
	if lead.Among <= maxNamesakes && d.mends(&p) {
		could := d.world.Lead(l, d.note.ID).Could
		for _, id := range could[:min(len(could), maxTargets)] {
			n := d.world.Note(id)
			p.Others = append(p.Others, cmp.Or(n.Path, n.Title))
			p.Fixes = append(p.Fixes, d.spelledOut(l, n)...)
		}
	}
	d.add(p)
}

// maxFixes is how many fixes a problem has, where they are guesses.
const maxFixes = 5

// maxTargets is how many of the notes that a link could mean are told.
const maxTargets = 20

// maxNamesakes is of how many notes of one name texts are looked for that mean one of them: it takes time for each.
const maxNamesakes = 200

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
	p := d.about(l, record.LinkUnresolved, SeverityWarning, "no note is called "+quotation)
	if l.Markdown || l.Picture() {
		p.Message, p.Mend = "there is no file "+quotation, "correct the path, or put the file there"
	}
	if !d.mends(&p) {
		d.add(p)
		return
	}
	if d.guesses.near == nil {
		d.guesses.near = newNearest(d.world, d.note.Vault)
	}
	for _, n := range d.guesses.near.to(stem(path.Base(l.Target))) {
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

// blocks adds identifiers of blocks that are given twice.
func (d *doctor) blocks() {
	if strings.Count(d.note.Body, "^") < 2 {
		return
	}
	seen := make(map[string]bool)
	at, line := 0, 1 // where the last block was
	markdown.Blocks(d.note.Body, func(b markdown.Block) {
		id := text.Fold(b.ID)
		if !seen[id] || d.limit > 0 && len(d.found) > 2*d.limit {
			seen[id] = true
			return
		}
		start, end := lineOf(d.note.Body[at:], b.Line-line+1)
		start, end = start+at, end+at
		at, line = start, b.Line
		if i := strings.LastIndex(d.note.Body[start:end], "^"+b.ID); i >= 0 {
			d.add(Problem{
				Start: start + i, End: start + i + 1 + len(b.ID), Code: record.DuplicateBlock, Severity: SeverityWarning,
				Message: "another block of this note is called ^" + b.ID + ", and links lead to that one",
			})
		}
	})
}

// names adds the names of the note that others have, too: its title, aliases and path.
func (d *doctor) names() {
	// A file name may be that of others in other folders.
	if twins := d.others(d.note.Title, notes.LikeTitle); twins.more > 0 && d.doc().Title != "" {
		start, end := titlePlace(d.note.Body, d.doc())
		d.twin(start, end, record.DuplicateTitle, SeverityInformation, twins, "has the "+d.name("title", d.note.Title)+", too")
	}
	if d.note.Path != "" {
		if twins := d.others(d.note.Path, notes.LikePath); twins.more > 0 {
			d.twin(0, 0, record.DuplicatePath, SeverityWarning, twins,
				"has the same path but for letter case, the form of Unicode or the ending; on other systems the two may be one file")
		}
	}
	for i, alias := range d.note.Aliases {
		if slices.ContainsFunc(d.note.Aliases[:i], func(a string) bool { return text.Fold(a) == text.Fold(alias) }) {
			continue
		}
		for _, as := range []struct {
			by   notes.Like
			what string
		}{
			{notes.LikeFile, " for the name of its file, and links lead there"},
			{notes.LikeTitle, " for its title, and links lead there"},
			{notes.LikeAlias, ", too, and links with it lead nowhere"},
		} {
			if twins := d.others(alias, as.by); twins.more > 0 {
				start, end := d.aliasPlace(alias)
				d.twin(start, end, record.DuplicateAlias, SeverityInformation, twins, "has the "+d.name("alias", alias)+as.what)
				break
			}
		}
	}
}

// name names a title or an alias. Others may be told that there is one, and not of whom it is besides.
func (d *doctor) name(of, name string) string {
	if d.reader.Sees != nil {
		return "same " + of
	}
	return of + " " + name
}

// twins are other notes of a name: the first of them, and how many there are.
type twins struct {
	first []*notes.Note
	more  int
}

// likeKey is a name, and what it is of a note.
type likeKey struct {
	name string
	by   notes.Like
}

// manyNamed is of how many notes of one name on they are remembered.
const manyNamed = 32

// others returns the other notes of a name, of titles and aliases those that are not archived.
func (d *doctor) others(name string, by notes.Like) (o twins) {
	key := likeKey{text.Fold(name), by}
	list, known := d.alike[key]
	if !known {
		list = d.world.Alike(d.note.Vault, name, by)
		if by != notes.LikePath {
			list = slices.DeleteFunc(list, func(n *notes.Note) bool { return !n.Live() })
		}
		if len(list) >= manyNamed {
			if d.alike == nil {
				d.alike = make(map[likeKey][]*notes.Note)
			}
			d.alike[key] = list
		}
	}
	isThis := func(n *notes.Note) bool { return n.ID == d.note.ID }
	if o.more = len(list); slices.ContainsFunc(list, isThis) {
		o.more--
	}
	o.first = slices.DeleteFunc(slices.Clone(list[:min(len(list), maxTargets+1)]), isThis)
	return o
}

// twin adds a name that others have.
func (d *doctor) twin(start, end int, code record.ProblemKind, severity string, others twins, what string) {
	name := nameOf(others.first[0])
	if others.more > 1 {
		name += fmt.Sprintf(" (and %d more)", others.more-1)
	}
	p := Problem{Start: start, End: end, Code: code, Severity: severity, Message: name + " " + what}
	for _, n := range others.first {
		p.Others = append(p.Others, nameOf(n))
	}
	d.add(p)
}

// aliasPlace returns where an alias of the note stands.
func (d *doctor) aliasPlace(alias string) (start, end int) {
	for _, key := range []string{"aliases", "alias"} {
		f, ok := d.doc().Frontmatter.Get(key)
		if !ok {
			continue
		}
		start, end = lineOf(d.note.Body, f.Line)
		if i := strings.Index(d.note.Body[start:d.doc().BodyStart], alias); i >= 0 && alias != "" {
			return start + i, start + i + len(alias)
		}
		return start, end
	}
	return 0, 0
}

// empty adds that there is nothing in the note.
func (d *doctor) empty() {
	if strings.TrimSpace(d.note.Body) == "" {
		d.add(Problem{Code: record.NoteEmpty, Severity: SeverityInformation, Message: "there is nothing in this note"})
	}
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
