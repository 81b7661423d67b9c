package cited

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

// Document is what the page tells of.
type Document struct {
	Stats  *protocol.ChatNoteStatistics
	Uses   []*protocol.ChatCitations // of each note of Stats, the newest messages; nil: they are not told
	SVG    string                    // the graph; empty: there is none
	Since  string                    // as it was asked for
	Remote bool
	Made   time.Time
	// As says how a message refers to a note.
	As func(*protocol.ChatCitation) string
}

type pageData struct {
	Policy        string
	Style         template.HTML
	Total, Since  string
	More, Remote  bool
	Graph         template.URL
	Months        []month
	Notes         []note
	Made, Program string
}

type month struct {
	Name, Width                                string
	Used, Direct, Search, Conversations, Count string
}

type note struct {
	Anchor, Title, Path  string
	Gone                 bool
	Used, Direct, Search string
	Conversations, Last  string
	Width                string
	Messages             []message
	Earlier              string
}

type message struct {
	When, Title, Number, As, Preview string
	Private                          bool
}

// Write returns the page.
func Write(d *Document) (string, error) { return page.Execute("cited", pageHTML, d.data()) }

func (d *Document) data() *pageData {
	style := page.Style + page.Lists + pageCSS
	p := &pageData{
		Policy: "default-src 'none'; img-src data:; style-src '" + page.Hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + style + "</style>"),
		Total:  term.Count(d.Stats.Total, "note"), More: d.Stats.Total > len(d.Stats.Notes), Since: d.Since, Remote: d.Remote,
		Made: term.Day(d.Made), Program: command.ProgramName(),
	}
	if d.SVG != "" {
		p.Graph = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(d.SVG)))
	}
	most := 0
	for _, m := range d.Stats.Months {
		most = max(most, m.Used+m.Direct+m.Search)
	}
	for _, m := range d.Stats.Months {
		p.Months = append(p.Months, month{
			Name: m.Month, Width: share(m.Used+m.Direct+m.Search, most), Used: term.Number(m.Used), Direct: term.Number(m.Direct),
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

func share(n, most int) string { return page.Share(float64(n) / float64(max(most, 1))) }

// note is what the page says of a note.
func (d *Document) note(i, most int) note {
	of := &d.Stats.Notes[i]
	n := note{
		Anchor: fmt.Sprint("n", i+1), Title: page.Visible(of.Title), Path: page.Visible(of.Path), Gone: of.Title == "",
		Used: term.Number(of.Used), Direct: term.Number(of.Direct), Search: term.Number(of.Search),
		Conversations: term.Count(of.Conversations, "conversation"), Last: term.Day(of.Last), Width: share(of.Used, most),
	}
	if n.Gone {
		n.Title = "a note that is gone, " + page.Visible(of.NoteID)
	}
	if i >= len(d.Uses) || d.Uses[i] == nil {
		return n
	}
	for j := range d.Uses[i].Messages {
		m := &d.Uses[i].Messages[j]
		shown := message{
			When: term.Day(m.CreatedAt), Title: page.Visible(m.Title), Number: fmt.Sprintf("%s %d", m.Role, m.Index), As: d.As(m),
			Preview: page.Visible(m.Preview), Private: m.Private,
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
