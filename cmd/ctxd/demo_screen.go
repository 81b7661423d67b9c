package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// demoScreen draws the demo as it goes. A nil one draws nothing.
type demoScreen struct {
	screen   *screen
	progress *screen // where the bar of a job is drawn
	step     int
}

func (d *demoScreen) begin(server protocol.InitializeResult, took time.Duration) {
	if d == nil {
		return
	}
	d.screen.say(styled(strong, "ctxd demo"), styled(faint, "  what a note app asks for, over a real socket, on a sample vault"))
	d.screen.say(styled(faint, fmt.Sprintf("daemon %s, protocol %s, %s, up in %s", server.ServerInfo.Version, server.ProtocolVersion,
		count(len(server.Capabilities.Methods), "method"), elapsed(took))))
}

// head begins the next step.
func (d *demoScreen) head(step demoStep, what string) *screen {
	d.step++
	d.screen.say()
	d.screen.say(styled(strong, fmt.Sprintf("%d  %s", d.step, step.Method)), text("  "+what), styled(faint, "  "+millis(step.MS)))
	return d.screen
}

// done shows the step at once, not when the demo ends.
func (d *demoScreen) done() { _ = d.screen.flush() } // an error shows at the end

func (d *demoScreen) progressBar() *progress {
	if d == nil {
		return &progress{}
	}
	return newProgress(d.progress)
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
	t := &table{indent: 3}
	for _, it := range items {
		t.row(mark(it.Title, it.Match), line{styled(faint, it.Path)})
	}
	t.draw(s)
	d.done()
}

func (d *demoScreen) entities(step demoStep, items []protocol.EntityItem) {
	if d == nil {
		return
	}
	s := d.head(step, "after @"+demoEntityPrefix)
	t := &table{indent: 3}
	for _, it := range items {
		t.row(mark(it.Name, it.Match), line{styled(faint, it.Type)})
	}
	t.draw(s)
	d.done()
}

func (d *demoScreen) computed(step demoStep, c *demoComputed) {
	if d == nil {
		return
	}
	s := d.head(step, "the computed field @"+c.Entity+"."+c.Field)
	s.say(styled(faint, "   "+c.Query))
	if c.Result.Value.Set {
		s.say(text("   = "), styled(strong, fmt.Sprint(c.Result.Value.Value)))
		d.done()
		return
	}
	names := make([]string, len(c.Result.Rows))
	for i, r := range c.Result.Rows {
		names[i] = "@" + r.Name
	}
	for i, l := range wrapNames(names, s.columns()-5) {
		s.say(text([]string{"   = ", "     "}[min(i, 1)] + l))
	}
	d.done()
}

func (d *demoScreen) found(step demoStep, res *protocol.SearchResult) {
	if d == nil {
		return
	}
	drawHits(d.head(step, demoSearch), "   ", res, true)
	d.done()
}

func (d *demoScreen) assembled(step demoStep, res *prompt.Result) {
	if d == nil {
		return
	}
	s := d.head(step, demoQuestion)
	s.say()
	s.say(styled(strong, "The prompt"), styled(faint, "  "+number(res.Report.Chars)+" characters"))
	drawPrompt(s, res.System)
	s.say()
	s.say(styled(strong, "Its report"))
	drawReport(s, &res.Report)
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
	d.screen.say()
	d.screen.say(styled(good, "done"), text(" in "+millis(did.TotalMS)), styled(faint, fmt.Sprintf("  %s, %s of it waiting for them",
		count(len(did.Steps), "call"), millis(waited))))
	d.screen.say(styled(faint, strings.Join([]string{"next: ctxd serve --vault ~/Notes", "ctxd inspect context \"…\"", "ctxd --help"}, " · ")))
	d.done()
}
