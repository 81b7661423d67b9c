package inspect

import (
	"cmp"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/graph"
)

// The page of inspect context --html. Its style and script are ours alone, and
// the policy names their hashes: a browser runs and loads nothing else.
var (
	//go:embed context_page.html
	pageHTML string
	//go:embed context_page.js
	pageJS string
)

// contextPage is a prompt with its report, as the template takes it.
type contextPage struct {
	Policy        string
	Style, Script htmltemplate.HTML

	Title, Message                           string
	Audience                                 string
	Chars, Budget                            string
	Entities, Notes, Warned, LeftOut, Failed string
	Took, Made, Program, Hash                string

	Bars     []page.Bar
	Graph    htmltemplate.HTML
	Tools    htmltemplate.HTML // to look around in the graph
	OfNotes  bool              // the graph is of notes, since no entity is in the prompt
	Sections []pageSection
	After    string // what follows the last section
	Dropped  []pageDropped
	Warnings []prompt.Warning
	Failures []pageFailure
	Stages   []pageStage
}

type pageSection struct {
	Before       string // what lies between it and the section before
	Anchor, Name string
	Chars, Count string
	Head, Tail   string
	Items        []pageItem
}

type pageItem struct {
	Anchor, Node  string // ids of its block and its node
	Kind, Title   string
	Label, Vault  string
	Chars, Reason string
	Cut           *prompt.Extent
	Distilled     bool
	Depth         int
	Via           []pageVia
	MoreVia       string
	Gap, Text     string
	entity        string // its id, of an entity
	item          *prompt.Item
	block         entityBlock
}

type pageVia struct{ Anchor, From, Field string }

type pageDropped struct {
	Reason, Text, Count string
	Items               []pageDroppedItem
}

type pageDroppedItem struct {
	Name       string
	Candidates []prompt.Candidate
}

type pageFailure struct{ Anchor, Field, Message string }

type pageStage struct {
	Name, Time, Width, Why string
	Skipped                bool
}

// contextDocument is what the page tells of.
type contextDocument struct {
	message  string
	audience string
	made     time.Time
	result   *prompt.Result
}

// ContextPage returns the page of a prompt for a message, as --html writes it.
func ContextPage(message, audience string, of *prompt.Result) (string, error) {
	d := &contextDocument{message: message, audience: audience, made: time.Now(), result: of}
	return d.page()
}

// page writes the document as one page that needs nothing from elsewhere.
func (d *contextDocument) page() (string, error) { return page.Execute("context", pageHTML, d.data()) }

func (d *contextDocument) data() *contextPage {
	r := &d.result.Report
	style, script := page.Style+graph.SVGStyle+page.CanvasStyle, page.CanvasScript+pageJS
	p := &contextPage{
		Policy: "default-src 'none'; style-src '" + page.Hash(style) + "'; script-src '" + page.Hash(script) +
			"'; base-uri 'none'; form-action 'none'",
		Style:  htmltemplate.HTML("<style>" + style + "</style>"),
		Script: htmltemplate.HTML("<script>" + script + "</script>"),
		Tools:  page.CanvasTools,
		Title:  "Context", Message: page.Visible(d.message), Audience: d.audience,
		Chars: term.Number(r.Chars), Budget: term.Number(r.Budget),
		Made: term.Day(d.made), Program: term.ProgramName(), Hash: r.Hash,
	}
	if p.Message != "" {
		p.Title = "Context: " + (term.Line{term.Text(d.message)}).Fit(60).Plain()
	}
	p.sections(d.result)
	p.link()
	p.draw()
	p.count(r)
	p.bars(r)
	p.dropped(r.Dropped)
	p.failures(r)
	p.stages(r.Stages)
	return p
}

// cutter takes pieces out of a prompt by UTF-16 ranges.
type cutter struct {
	units []uint16
	at    int // how far it has come
}

// to returns the text up to end, which lies ahead.
func (c *cutter) to(end int) string {
	end = max(c.at, min(end, len(c.units)))
	if end > 0 && end < len(c.units) && utf16.IsSurrogate(rune(c.units[end-1])) && c.units[end-1] < 0xdc00 {
		end++ // no character is cut in two
	}
	piece := c.units[c.at:end]
	c.at = end
	return page.Visible(string(utf16.Decode(piece)))
}

// sections takes the prompt apart, every character of it once.
func (p *contextPage) sections(res *prompt.Result) {
	c := &cutter{units: utf16.Encode([]rune(res.System))}
	at := make(map[string]prompt.Section, len(res.Sections))
	for _, s := range res.Sections {
		at[s.Name] = s
	}
	for n := range res.Report.Sections {
		r := &res.Report.Sections[n]
		where, shown := at[r.Name]
		if !shown {
			continue
		}
		s := pageSection{
			Before: c.to(where.Start), Anchor: fmt.Sprintf("section-%d", n), Name: r.Name,
			Chars: term.Number(r.Chars), Count: term.Count(len(r.Items), "item"),
		}
		for i := range r.Items {
			it := &r.Items[i]
			between := c.to(it.Start)
			if i == 0 {
				s.Head = between
			} else {
				s.Items[i-1].Text += between // nothing, as prompts are written
			}
			s.Items = append(s.Items, newPageItem(it, fmt.Sprintf("item-%d-%d", n, i), c.to(it.End)))
		}
		s.Tail = c.to(where.End)
		p.Sections = append(p.Sections, s)
	}
	p.After = c.to(len(c.units))
}

func newPageItem(it *prompt.Item, anchor, whole string) pageItem {
	body := strings.TrimLeft(whole, "\n")
	out := pageItem{
		Anchor: anchor, Kind: it.Kind, Title: term.Clean(page.RecordLabel(it.Kind, it.Title)),
		Label: term.Clean(it.Kind + " " + it.Title), Vault: term.Clean(it.Vault),
		Chars: term.Number(it.Chars), Reason: term.Clean(it.Reason), Cut: it.Cut, Distilled: it.Distilled, Depth: it.Depth,
		Gap: whole[:len(whole)-len(body)], Text: body, item: it,
	}
	if it.Kind == prompt.KindEntity {
		out.entity, out.block = it.ID, readBlock(body)
	}
	return out
}

// entities calls fn for each block of an entity.
func (p *contextPage) entities(fn func(n int, it *pageItem)) {
	n := 0
	for s := range p.Sections {
		for i := range p.Sections[s].Items {
			if it := &p.Sections[s].Items[i]; it.entity != "" {
				fn(n, it)
				n++
			}
		}
	}
}

// maxVia is how many edges a block names.
const maxVia = 12

// link joins the blocks with their nodes and with the blocks that led to them.
func (p *contextPage) link() {
	blocks := make(map[string]*pageItem)
	p.entities(func(n int, it *pageItem) {
		blocks[it.entity] = it
		if n < graph.MaxSVGNodes {
			it.Node = fmt.Sprintf("g-node-%d", n)
		}
	})
	p.entities(func(_ int, it *pageItem) {
		if it.Depth == 0 {
			return // it was mentioned, which is why it is there
		}
		for i, e := range it.item.Via {
			if i == maxVia {
				it.MoreVia = fmt.Sprintf("and %d more", len(it.item.Via)-i)
				break
			}
			via := pageVia{From: "@" + term.Clean(e.From), Field: term.Clean(e.Field)}
			if from := blocks[e.From]; from != nil {
				via.Anchor, via.From = from.Anchor, from.Title
			}
			it.Via = append(it.Via, via)
		}
	})
}

// draw draws the graph of the entities in the prompt, or of the notes where there are
// no entities.
func (p *contextPage) draw() {
	sub := &graph.Subgraph{}
	var anchors []string
	o := graph.SVGOptions{
		Title: "The entities in the prompt and the fields that led to them", Inline: true, Depths: true, Kinds: true,
		Link: func(node int) string { return "#" + anchors[node] },
	}
	p.entities(func(_ int, it *pageItem) {
		sub.Nodes = append(sub.Nodes, graph.Vertex{
			ID: it.entity, Kind: it.Kind, Name: it.item.Title, Type: it.block.typeName, Depth: it.Depth,
			Fields: it.block.fields[:min(len(it.block.fields), maxNodeFields)],
		})
		for _, e := range it.item.Via {
			sub.Edges = append(sub.Edges, graph.Arc{From: e.From, To: it.entity, Field: e.Field})
		}
		anchors = append(anchors, it.Anchor)
	})
	if len(sub.Nodes) == 0 {
		anchors = p.notes(sub)
		o.Title, o.Depths, o.Marked = "The notes in the prompt and their links to each other", false, map[int]bool{}
		p.OfNotes = true
	}
	if len(sub.Nodes) == 0 {
		return
	}
	p.Graph = htmltemplate.HTML(graph.DrawSVG(sub, o)) // which escapes what users wrote
}

// linkedTitle is the title in a link of a note, as its text in the prompt has it.
var linkedTitle = text.Pattern(`\[\[([^\[\]|#]+)`)

// notes adds the notes in the prompt to a graph, with the links between them that the
// prompt shows, and returns the anchors of their blocks.
func (p *contextPage) notes(sub *graph.Subgraph) (anchors []string) {
	ids, texts := make(map[string]string), []string{}
	for s := range p.Sections {
		for i := range p.Sections[s].Items {
			it := &p.Sections[s].Items[i]
			if it.Kind != prompt.KindNote {
				continue
			}
			sub.Nodes = append(sub.Nodes,
				graph.Vertex{ID: it.item.ID, Kind: it.Kind, Name: it.item.Title, Type: p.Sections[s].Name})
			anchors, texts = append(anchors, it.Anchor), append(texts, it.Text)
			if title := strings.ToLower(it.item.Title); ids[title] == "" {
				ids[title] = it.item.ID
			}
		}
	}
	for i, text := range texts {
		from := sub.Nodes[i].ID
		for _, m := range linkedTitle().FindAllStringSubmatch(text, -1) {
			title := m[1][strings.LastIndex(m[1], "/")+1:]
			to := ids[strings.ToLower(strings.TrimSuffix(strings.TrimSpace(title), ".md"))]
			if to != "" && to != from { // the heading of its block is a link to itself
				sub.Edges = append(sub.Edges, graph.Arc{From: from, To: to, Field: graph.WikiLink})
			}
		}
	}
	return anchors
}

// maxNodeFields is how many fields a node of the graph shows.
const maxNodeFields = 4

func (p *contextPage) count(r *prompt.Report) {
	entities, notes := 0, 0
	for _, s := range r.Sections {
		for _, it := range s.Items {
			switch it.Kind {
			case prompt.KindEntity:
				entities++
			case prompt.KindNote:
				notes++
			}
		}
	}
	some := func(n int, noun string) string {
		if n == 0 {
			return ""
		}
		return term.Count(n, noun)
	}
	p.Entities, p.Notes = some(entities, "entity"), some(notes, "note")
	p.LeftOut, p.Failed = some(len(r.Dropped), "item"), some(len(r.QueryErrors), "field")
	p.Warned = some(len(r.Warnings), "warning")
}

func (p *contextPage) bars(r *prompt.Report) {
	anchors := make(map[string]string)
	for _, s := range p.Sections {
		anchors[s.Name] = s.Anchor
	}
	add := func(name, anchor string, whole bool, chars, budget int) {
		p.Bars = append(p.Bars, page.NewBar(name, anchor, whole, chars, budget))
	}
	add("whole prompt", "", true, r.Chars, r.Budget)
	for _, s := range r.Sections {
		add(s.Name, anchors[s.Name], false, s.Chars, s.Budget)
	}
}

func (p *contextPage) dropped(dropped []prompt.Dropped) {
	for _, group := range page.DroppedByReason(dropped) {
		out := pageDropped{Reason: string(group.Reason), Text: group.Text, Count: term.Number(len(group.Items))}
		for _, d := range group.Items {
			item := pageDroppedItem{Name: term.Clean(page.DroppedName(d))}
			for _, c := range d.Candidates {
				item.Candidates = append(item.Candidates,
					prompt.Candidate{
						ID: term.Clean(c.ID), Title: term.Clean(c.Title), Type: term.Clean(c.Type),
						Path: term.Clean(connect.Place(c.Vault, c.Path)),
					})
			}
			out.Items = append(out.Items, item)
		}
		p.Dropped = append(p.Dropped, out)
	}
}

func (p *contextPage) failures(r *prompt.Report) {
	anchors, titles := make(map[string]string), page.EntityTitles(r)
	p.entities(func(_ int, it *pageItem) { anchors[it.entity] = it.Anchor })
	for _, w := range r.Warnings {
		p.Warnings = append(p.Warnings, prompt.Warning{Ref: page.Visible(w.Ref), Message: page.Visible(w.Message)})
	}
	for _, q := range r.QueryErrors {
		f := pageFailure{
			Anchor: anchors[q.Entity],
			Field:  "@" + term.Clean(cmp.Or(titles[q.Entity], q.Entity)+"."+q.Field), Message: page.Visible(q.Message),
		}
		p.Failures = append(p.Failures, f)
	}
}

func (p *contextPage) stages(stages []prompt.Stage) {
	total := 0.0
	for _, st := range stages {
		if !st.Skipped {
			total += st.Ms
		}
	}
	for _, st := range stages {
		p.Stages = append(p.Stages, pageStage{
			Name: term.Clean(st.Name), Skipped: st.Skipped, Why: page.StageWhy(&st),
			Time: term.Millis(st.Ms), Width: page.Share(st.Ms / cmp.Or(total, 1)),
		})
	}
	p.Stages = append(p.Stages, pageStage{Name: "all", Time: term.Millis(total), Width: "100"})
	p.Took = "assembled in " + term.Millis(total)
}
