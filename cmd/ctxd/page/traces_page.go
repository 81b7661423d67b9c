package page

import (
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
)

// The page of inspect chat --html. It looks like that of inspect context, and runs no script.
var (
	//go:embed traces.html
	chatHTML string
	//go:embed traces.css
	chatCSS string
)

// chatDocument is what the page tells of.
type chatDocument struct {
	conversation *record.Conversation
	answers      []*turn.ChatInspected
	excerpts     map[string]*turn.ChatHighlights // by id of the answer
	related      []turn.ChatSuggestion
	more         bool // there are earlier answers
	remote       bool
	made         time.Time
}

// chatPage is a conversation with what its answers got, as the template takes it.
type chatPage struct {
	Policy         string
	Style          htmltemplate.HTML
	Title, Handle  string
	Count          string
	Private        bool
	More, Remote   bool
	Made, Program  string
	Answers        []chatAnswer
	Related        []chatRef
	Tokens, Waited string // of all answers
}

type chatAnswer struct {
	Anchor, Number  string
	Question, Text  string
	By, When, Ended string
	Private, Whole  bool
	Why             string // nothing is known
	Short           string // of the list at the side
	Tokens          string
	Estimate        string // tokens of the first request
	Bars            []Bar
	Facts           [][2]string
	RefCount        int
	Refs, MoreRefs  []chatRef // those that are seen at once, and the others
	Excerpts        []chatExcerpt
	Linked          []chatRef
	Unused          []chatRef
	Dropped         []chatDropped
	Withheld, Left  string
	Rounds          []chatRound
	Times           []chatTime
	Warnings        []string
	Hash            string
}

type chatRef struct {
	Kind, Name, ID   string
	Origin, Where    string
	Chars            string
	Cut              bool
	Changed, Deleted bool
	Broken           bool // a link that leads to no one note
}

// chatExcerpt is a part of a note that the model was shown.
type chatExcerpt struct{ Note, Where, Text, Why string }

// chatDropped is what was left out for one reason. Many are folded away.
type chatDropped struct {
	Reason, Text, Count string
	Names               []string
	Long                bool
}

// seenAtOnce is how many records of a list are not folded away.
const seenAtOnce = 12

type chatRound struct {
	Number, Time, Facts, Tries string
	Calls                      []chatCall
}

type chatCall struct {
	Name, Time, Sizes string
	Failed, Cached    bool
}

type chatTime struct {
	Name, Time, About, Width string
	Part                     bool // of the stage above
}

// page writes the document as one page that needs nothing from elsewhere.
func (d *chatDocument) page() (string, error) { return Execute("chat", chatHTML, d.data()) }

func (d *chatDocument) data() *chatPage {
	style := Style + listStyle + chatCSS
	c := d.conversation
	p := &chatPage{
		Policy: "default-src 'none'; style-src '" + Hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  htmltemplate.HTML("<style>" + style + "</style>"),
		Title:  Visible(c.Title), Handle: Visible(c.Handle), Private: c.Private, More: d.more, Remote: d.remote,
		Made: term.Day(d.made), Program: term.ProgramName(), Count: term.Count(len(d.answers), "answer"),
	}
	if p.Title == "" {
		p.Title = "Untitled conversation"
	}
	var all record.ChatUsage
	waited := 0.0
	for i, got := range d.answers {
		p.Answers = append(p.Answers, newChatAnswer(i, got))
		p.Answers[i].Excerpts = excerptsOf(d.excerpts[got.Answer.ID])
		if u := got.Answer.Usage; u != nil {
			all.In, all.Out, all.Cached = all.In+u.In, all.Out+u.Out, all.Cached+u.Cached
			all.Estimated = all.Estimated || u.Estimated
		}
		if got.Trace != nil {
			waited += got.Trace.Timings["provider"]
		}
	}
	for _, n := range d.related {
		p.Related = append(p.Related, chatRef{Name: Visible(n.Title), Where: Visible(n.Path), Origin: Visible(n.Why)})
	}
	if all.In+all.Out > 0 {
		p.Tokens = tokensOf(&all)
	}
	if waited > 0 {
		p.Waited = term.Millis(waited)
	}
	return p
}

func newChatAnswer(i int, got *turn.ChatInspected) chatAnswer {
	m := got.Answer
	a := chatAnswer{
		Anchor: fmt.Sprint("answer-", i+1), Number: term.Number(m.Index), Text: Visible(m.Content), By: Visible(answeredBy(got)),
		When: term.Day(m.CreatedAt), Ended: Visible(endOf(got)), Whole: m.Finish == record.FinishComplete, Private: m.Private, Tokens: tokensOf(m.Usage),
	}
	if got.Question != nil {
		a.Question = Visible(got.Question.Content)
	}
	a.Short = preview(a.Question, 60)
	for _, w := range m.Warnings {
		a.Warnings = append(a.Warnings, Visible(w.About+": "+w.Message))
	}
	t := got.Trace
	if t == nil {
		a.Why = Visible(got.Why)
		return a
	}
	a.Estimate, a.Hash, a.Facts = term.Number(t.Prompt.Tokens), t.Prompt.Hash, besides(t)
	a.Bars = append(a.Bars, NewBar("whole prompt", "", true, t.Prompt.Chars, t.Prompt.Budget))
	for _, s := range t.Prompt.Sections {
		a.Bars = append(a.Bars, NewBar(Visible(s.Name), "", false, s.Chars, s.Budget))
	}
	refs := sorted(t)
	a.Refs, a.Linked, a.Unused = chatRefs(refs.used), chatRefs(refs.linked), chatRefs(refs.found)
	if a.RefCount = len(a.Refs); a.RefCount > seenAtOnce+1 {
		a.Refs, a.MoreRefs = a.Refs[:seenAtOnce], a.Refs[seenAtOnce:]
	}
	for _, group := range DroppedByReason(droppedOf(t)) {
		out := chatDropped{
			Reason: Visible(string(group.Reason)), Text: group.Text, Count: term.Number(len(group.Items)), Long: len(group.Items) > seenAtOnce,
		}
		for _, item := range group.Items {
			out.Names = append(out.Names, Visible(DroppedName(item)))
		}
		a.Dropped = append(a.Dropped, out)
	}
	if t.Withheld > 0 {
		a.Withheld = term.Count(t.Withheld, "private record")
	}
	if t.Left > 0 {
		a.Left = term.Count(t.Left, "further entry")
	}
	for n := range t.Rounds {
		a.Rounds = append(a.Rounds, newChatRound(n, &t.Rounds[n]))
	}
	a.Times = chatTimes(t)
	return a
}

func chatRefs(list []turn.ChatTraceRef) (out []chatRef) {
	for i := range list {
		r := &list[i]
		ref := chatRef{
			Kind: r.Kind, Name: Visible(nameOfRef(r.Kind, r.ID, r.Title, r.Ref)), ID: Visible(r.ID), Origin: Visible(r.Origin), Where: Visible(whereOf(r)), Cut: r.Cut,
			Changed: r.Status == turn.TraceChanged, Deleted: r.Status == turn.TraceDeleted, Broken: r.Status == turn.TraceBroken,
		}
		if r.Section != "" {
			ref.Chars = term.Number(r.Chars)
		}
		out = append(out, ref)
	}
	return out
}

func newChatRound(n int, r *turn.ChatTraceRound) chatRound {
	out := chatRound{Number: term.Number(n + 1), Time: term.Millis(r.MS), Facts: Visible(roundLine(r)[:1].Plain())}
	if r.Tries > 1 {
		out.Tries = "sent " + term.Count(r.Tries, "time")
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		out.Calls = append(out.Calls, chatCall{
			Name: Visible(c.Name), Time: callTime(c), Failed: c.Failed, Cached: c.Cached,
			Sizes: term.Count(c.Arguments, "byte") + " of arguments, " + term.Count(c.Chars, "character") + " of result",
		})
	}
	return out
}

// chatTimes are the stages of an answer, with those of the prompt below it.
func chatTimes(t *turn.ChatTrace) (out []chatTime) {
	most := 0.0
	for _, ms := range t.Timings {
		most = max(most, ms)
	}
	add := func(name, about string, ms float64, part bool) {
		share := 0.0
		if most > 0 {
			share = min(1, ms/most)
		}
		out = append(out, chatTime{Name: Visible(name), Time: term.Millis(ms), About: about, Width: Share(share), Part: part})
	}
	for _, name := range stagesOf(t) {
		add(name, aboutStage[name], t.Timings[name], false)
		if name == "assemble" {
			for _, s := range t.Stages {
				if !s.Skipped {
					add(s.Name, "", s.Ms, true)
				}
			}
		}
	}
	return out
}

// whyNone says why there is no excerpt.
var whyNone = map[string]string{
	turn.HighlightChanged: "the note has changed since", turn.HighlightGone: "the note is gone", turn.HighlightTooLong: "too long to be shown here",
}

// excerptsOf lists the excerpts of an answer.
func excerptsOf(h *turn.ChatHighlights) (list []chatExcerpt) {
	if h == nil {
		return nil
	}
	for i := range h.Items {
		n := &h.Items[i]
		e := chatExcerpt{Note: Visible(n.Title), Where: Visible(n.Path), Why: whyNone[n.Why]}
		if e.Note == "" {
			e.Note = Visible(n.Wikilink)
		}
		if len(n.Excerpts) == 0 {
			list = append(list, e)
		}
		for _, x := range n.Excerpts {
			part := e
			part.Where += fmt.Sprint(":", x.Line)
			part.Text = Visible(x.Text)
			list = append(list, part)
		}
	}
	return list
}
