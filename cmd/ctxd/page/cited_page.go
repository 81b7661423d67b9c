package page

// This file writes the page of ctxd chat stats --html: which notes conversations stood on, how often and in which
// months, the graph of both, and of each note the newest messages that used it. The page runs no script; texts of a
// person are escaped by the template, and the drawing is a picture. [RenderCited] takes O(notes and messages shown).

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

var (
	//go:embed cited.html
	citedHTML string
	//go:embed cited.css
	citedCSS string
)

// CitedDocument is what the page tells of.
type CitedDocument struct {
	Stats  *protocol.ChatNoteStatistics
	Uses   []*protocol.ChatCitations // of each note of Stats, the newest messages; nil: they are not told
	SVG    string                    // the graph; empty: there is none
	Since  string                    // as it was asked for
	Remote bool
	Made   time.Time
	// As says how a message refers to a note.
	As func(*protocol.ChatCitation) string
}

type citedData struct {
	Policy        string
	Style         template.HTML
	Total, Since  string
	More, Remote  bool
	Graph         template.URL
	Months        []citedMonth
	Notes         []citedNote
	Made, Program string
}

type citedMonth struct {
	Name, Width                                string
	Used, Direct, Search, Conversations, Count string
}

type citedNote struct {
	Anchor, Title, Path  string
	Gone                 bool
	Used, Direct, Search string
	Conversations, Last  string
	Width                string
	Messages             []citedMessage
	Earlier              string
}

type citedMessage struct {
	When, Title, Number, As, Preview string
	Private                          bool
}

// RenderCited returns the page.
func RenderCited(d *CitedDocument) (string, error) { return Execute("cited", citedHTML, d.data()) }

func (d *CitedDocument) data() *citedData {
	style := Style + listStyle + citedCSS
	p := &citedData{
		Policy: "default-src 'none'; img-src data:; style-src '" + Hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + style + "</style>"),
		Total:  term.Count(d.Stats.Total, "note"), More: d.Stats.Total > len(d.Stats.Notes), Since: d.Since, Remote: d.Remote,
		Made: term.Day(d.Made), Program: term.ProgramName(),
	}
	if d.SVG != "" {
		p.Graph = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(d.SVG)))
	}
	most := 0
	for _, m := range d.Stats.Months {
		most = max(most, m.Used+m.Direct+m.Search)
	}
	for _, m := range d.Stats.Months {
		p.Months = append(p.Months, citedMonth{
			Name: m.Month, Width: shareOf(m.Used+m.Direct+m.Search, most), Used: term.Number(m.Used), Direct: term.Number(m.Direct),
			Search: term.Number(m.Search), Conversations: term.Number(m.Conversations), Count: term.Number(m.Notes),
		})
	}
	most = 0
	for _, n := range d.Stats.Notes {
		most = max(most, n.Used)
	}
	for i := range d.Stats.Notes {
		p.Notes = append(p.Notes, d.note(i, most))
	}
	return p
}

func shareOf(n, most int) string { return Share(float64(n) / float64(max(most, 1))) }

// note is what the page says of a note.
func (d *CitedDocument) note(i, most int) citedNote {
	of := &d.Stats.Notes[i]
	n := citedNote{
		Anchor: fmt.Sprint("n", i+1), Title: Visible(of.Title), Path: Visible(of.Path), Gone: of.Title == "",
		Used: term.Number(of.Used), Direct: term.Number(of.Direct), Search: term.Number(of.Search),
		Conversations: term.Count(of.Conversations, "conversation"), Last: term.Day(of.Last), Width: shareOf(of.Used, most),
	}
	if n.Gone {
		n.Title = "a note that is gone, " + Visible(of.NoteID)
	}
	if i >= len(d.Uses) || d.Uses[i] == nil {
		return n
	}
	for j := range d.Uses[i].Messages {
		m := &d.Uses[i].Messages[j]
		shown := citedMessage{
			When: term.Day(m.CreatedAt), Title: Visible(m.Title), Number: fmt.Sprintf("%s %d", m.Role, m.Index), As: d.As(m),
			Preview: Visible(m.Preview), Private: m.Private,
		}
		if shown.Title == "" {
			shown.Title = "Untitled conversation"
		}
		n.Messages = append(n.Messages, shown)
	}
	if left := d.Uses[i].Total - len(n.Messages); left > 0 {
		n.Earlier = term.Number(left)
	}
	return n
}
