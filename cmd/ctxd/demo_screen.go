package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/report"
	"github.com/ctxd/ctxd/cmd/ctxd/search"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// demoScreen draws the demo as it goes. A nil one draws nothing.
type demoScreen struct {
	screen   *term.Screen
	progress *term.Screen // where the bar of a job is drawn
	step     int
}

func (d *demoScreen) begin(server protocol.InitializeResult, took time.Duration) {
	if d == nil {
		return
	}
	d.screen.Say(term.Styled(term.Strong, "ctxd demo"),
		term.Styled(term.Faint, "  what a note app asks for, over a real socket, on a sample vault"))
	d.screen.Say(term.Styled(term.Faint,
		fmt.Sprintf("daemon %s, protocol %s, %s, up in %s", server.ServerInfo.Version, server.ProtocolVersion,
			term.Count(len(server.Capabilities.Methods), "method"), term.Elapsed(took))))
}

// head begins the next step.
func (d *demoScreen) head(step demoStep, what string) *term.Screen {
	d.step++
	d.screen.Say()
	d.screen.Say(term.Styled(term.Strong, fmt.Sprintf("%d  %s", d.step, step.Method)), term.Text("  "+what),
		term.Styled(term.Faint, "  "+term.Millis(step.MS)))
	return d.screen
}

// done shows the step at once, not when the demo ends.
func (d *demoScreen) done() { _ = d.screen.Flush() } // an error shows at the end

func (d *demoScreen) progressBar() *term.Progress {
	if d == nil {
		return &term.Progress{}
	}
	return term.NewProgress(d.progress)
}

func (d *demoScreen) imported(step demoStep, res *watch.Result) {
	if d == nil {
		return
	}
	s := d.head(step, "a folder of Markdown files")
	drawImport(s, "   ", res)
	drawSkipped(s, "   ", res.Skipped, " more")
	d.done()
}

func (d *demoScreen) notes(step demoStep, items []protocol.NoteItem) {
	if d == nil {
		return
	}
	s := d.head(step, "after [["+demoNotePrefix)
	t := &term.Table{Indent: 3}
	for _, it := range items {
		t.Row(term.Mark(it.Title, it.Match), term.Line{term.Styled(term.Faint, it.Path)})
	}
	t.Draw(s)
	d.done()
}

func (d *demoScreen) entities(step demoStep, items []protocol.EntityItem) {
	if d == nil {
		return
	}
	s := d.head(step, "after @"+demoEntityPrefix)
	t := &term.Table{Indent: 3}
	for _, it := range items {
		t.Row(term.Mark(it.Name, it.Match), term.Line{term.Styled(term.Faint, it.Type)})
	}
	t.Draw(s)
	d.done()
}

func (d *demoScreen) computed(step demoStep, c *demoComputed) {
	if d == nil {
		return
	}
	s := d.head(step, "the computed field @"+c.Entity+"."+c.Field)
	s.Say(term.Styled(term.Faint, "   "+c.Query))
	if c.Result.Value.Set {
		s.Say(term.Text("   = "), term.Styled(term.Strong, fmt.Sprint(c.Result.Value.Value)))
		d.done()
		return
	}
	names := make([]string, len(c.Result.Rows))
	for i, r := range c.Result.Rows {
		names[i] = "@" + r.Name
	}
	for i, l := range term.WrapNames(names, s.Columns()-5) {
		s.Say(term.Text([]string{"   = ", "     "}[min(i, 1)] + l))
	}
	d.done()
}

func (d *demoScreen) found(step demoStep, res *protocol.SearchResult) {
	if d == nil {
		return
	}
	search.DrawHits(d.head(step, demoSearch), "   ", res, true)
	d.done()
}

func (d *demoScreen) assembled(step demoStep, res *prompt.Result) {
	if d == nil {
		return
	}
	s := d.head(step, demoQuestion)
	s.Say()
	s.Say(term.Styled(term.Strong, "The prompt"),
		term.Styled(term.Faint, "  "+term.Number(res.Report.Chars)+" characters"))
	inspect.DrawPrompt(s, res.System)
	s.Say()
	s.Say(term.Styled(term.Strong, "Its report"))
	report.Draw(s, &res.Report)
	d.done()
}

func (d *demoScreen) end(did *demonstration) {
	if d == nil {
		return
	}
	waited := 0.0
	for _, st := range did.Steps {
		waited += st.MS
	}
	d.screen.Say()
	d.screen.Say(term.Styled(term.Good, "done"), term.Text(" in "+term.Millis(did.TotalMS)),
		term.Styled(term.Faint, fmt.Sprintf("  %s, %s of it waiting for them",
			term.Count(len(did.Steps), "call"), term.Millis(waited))))
	d.screen.Say(term.Styled(term.Faint,
		strings.Join([]string{"next: ctxd serve --vault ~/Notes", "ctxd inspect context \"…\"", "ctxd --help"}, " · ")))
	d.done()
}
