package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/records"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/remembered"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// drawing draws the demo as it goes. A nil one draws nothing.
type drawing struct {
	screen   *term.Screen
	progress *term.Screen // where the bar of a job is drawn
	step     int
}

func (d *drawing) begin(server protocol.InitializeResult, took time.Duration) {
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
func (d *drawing) head(step step, what string) *term.Screen {
	d.step++
	d.screen.Say()
	d.screen.Say(term.Styled(term.Strong, fmt.Sprintf("%d  %s", d.step, step.Method)), term.Text("  "+what),
		term.Styled(term.Faint, "  "+term.Millis(step.MS)))
	return d.screen
}

// done shows the step at once, not when the demo ends.
func (d *drawing) done() { _ = d.screen.Flush() } // an error shows at the end

func (d *drawing) progressBar() *term.Progress {
	if d == nil {
		return &term.Progress{}
	}
	return term.NewProgress(d.progress)
}

func (d *drawing) imported(step step, res *vault.ImportResult) {
	if d == nil {
		return
	}
	s := d.head(step, "a folder of Markdown files")
	page.DrawImport(s, "   ", res)
	page.DrawSkipped(s, "   ", res.Skipped, " more")
	d.done()
}

func (d *drawing) remembered(last step, set *remembered.Set, list []protocol.MemoryAdded) {
	if d == nil {
		return
	}
	s := d.head(last, "what the person said before")
	private, about := 0, 0
	for _, added := range list {
		if added.Memory.Private {
			private++
		}
		if len(added.Memory.EntityIDs) > 0 {
			about++
		}
	}
	t := &term.Table{Indent: 5, Right: []int{0}}
	t.Row(term.Line{term.Styled(term.Strong, term.Number(len(set.Messages)))},
		term.Line{term.Text("messages"), term.Styled(term.Faint, "  in "+term.Count(len(set.Conversations), "conversation"))})
	t.Row(term.Line{term.Styled(term.Strong, term.Number(len(list)))},
		term.Line{term.Text("memories"), term.Styled(term.Faint, "  in "+term.Count(len(set.Contexts), "context")+", "+
			term.Number(about)+" name an entity, "+term.Number(private)+" are private")})
	t.Draw(s)
	t = &term.Table{Indent: 3, Right: []int{0}}
	for _, added := range list[max(0, len(list)-shownMemories):] {
		t.Row(term.Line{term.Styled(term.Strong, inspect.MemoryNumber(added.Memory.Number))},
			term.Line{term.Text(added.Memory.Statement)}, term.Line{term.Styled(term.Accent, added.Memory.Kind)})
	}
	t.Draw(s)
	d.done()
}

func (d *drawing) notes(step step, items []protocol.NoteItem) {
	if d == nil {
		return
	}
	s := d.head(step, "after [["+notePrefix)
	t := &term.Table{Indent: 3}
	for _, it := range items {
		t.Row(term.Mark(it.Title, it.Match), term.Line{term.Styled(term.Faint, it.Path)})
	}
	t.Draw(s)
	d.done()
}

func (d *drawing) entities(step step, items []protocol.EntityItem) {
	if d == nil {
		return
	}
	s := d.head(step, "after @"+entityPrefix)
	t := &term.Table{Indent: 3}
	for _, it := range items {
		t.Row(term.Mark(it.Name, it.Match), term.Line{term.Styled(term.Faint, it.Type)})
	}
	t.Draw(s)
	d.done()
}

func (d *drawing) computed(step step, c *computed) {
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

func (d *drawing) found(step step, res *protocol.SearchResult) {
	if d == nil {
		return
	}
	inspect.DrawHits(d.head(step, searched), "   ", res, true)
	d.done()
}

func (d *drawing) recalled(last step, question string, found *protocol.MemoryFound) {
	if d == nil {
		return
	}
	records.DrawMemoryHits(d.head(last, question), "   ", found)
	d.done()
}

func (d *drawing) handles(last step, items []record.RefCompletion) {
	if d == nil {
		return
	}
	records.DrawCompletions(d.head(last, "after @"+handlePrefix), 3, items)
	d.done()
}

func (d *drawing) referred(last step, did *referred) {
	if d == nil {
		return
	}
	s := d.head(last, did.Message)
	drawPrompt(s, &did.Context)
	d.done()
}

func (d *drawing) book(last step, b *record.Book) {
	if d == nil {
		return
	}
	s := d.head(last, b.File)
	s.Say(term.Text("   "), term.Styled(term.Accent, b.Title), term.Text(", "+b.Author+"  "), term.Styled(term.Faint, term.Count(b.Passages, "passage")))
	d.done()
}

func (d *drawing) passages(last step, did *read) {
	if d == nil {
		return
	}
	s := d.head(last, asked)
	drawPrompt(s, &did.Context)
	d.done()
}

func (d *drawing) assembled(step step, res *prompt.Result) {
	if d == nil {
		return
	}
	s := d.head(step, question)
	drawPrompt(s, res)
	s.Say()
	s.Say(term.Styled(term.Strong, "Its report"))
	page.DrawBrief(s, res, func(kind, id string) string { return kind + " " + id })
	d.done()
}

// drawPrompt shows what a model gets before the message.
func drawPrompt(s *term.Screen, res *prompt.Result) {
	s.Say()
	s.Say(term.Styled(term.Strong, "The prompt"),
		term.Styled(term.Faint, "  "+term.Number(res.Report.Chars)+" characters"))
	inspect.DrawPrompt(s, res.System)
}

func (d *drawing) end(did *demonstration) {
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
