package page

// This file and traces_page.go are ctxd inspect chat: what a model was given for an answer, and why, on the terminal
// and as a page for a browser. The daemon keeps it; chat.inspect tells it.
//
// The command and its drawing are here, the page with its style and template in traces_page.go. The page runs no
// script: long lists are folded by the browser. Whatever was written elsewhere passes through [Visible] and the
// escaping of html/template.

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// InspectChatOptions are what the command runs with.
type InspectChatOptions struct {
	*term.Streams
	*connect.Link
}

// InspectChat is ctxd inspect chat.
type InspectChat struct {
	Conversation string `arg:"" help:"Id or handle of the conversation."`
	Number       *int   `arg:"" optional:"" name:"n" help:"Number of an answer, or of the message that it answers. Default: the newest answer."`
	HTML         string `name:"html" placeholder:"FILE" help:"Write what each answer got to this file as a page for a browser; with N, that answer alone. It needs no network, and only you can read it."`
	Force        bool   `help:"Replace the file if it exists."`

	connect.Audience
}

// Help is what --help says of the command.
func (InspectChat) Help() string {
	return "Shows what a model was given for an answer, and why: the sections of the prompt with their size, the records " +
		"in it with how they came there, what tools found that was not used, what was left out, each round with its calls " +
		"of tools, and how long everything took. Sizes and times are those of then. Names are those of now: a record " +
		"that was changed since says so, one that is gone is deleted. The text of the prompt is not kept."
}

// Examples are those of --help.
func (InspectChat) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect chat weekend_trip_k3x9", "what the newest answer got"},
		{"ctxd inspect chat weekend_trip_k3x9 4", "what answer 4 got"},
		{"ctxd inspect chat weekend_trip_k3x9 --html trip.html", "a page with what each answer got"},
		{"ctxd inspect chat weekend_trip_k3x9 --audience remote", "as a remote model sees it"},
		{"ctxd inspect chat weekend_trip_k3x9 --json | jq .trace.references", "for scripts"},
	}
}

// Run runs the command.
func (c *InspectChat) Run(a *InspectChatOptions) error {
	if c.Force && c.HTML == "" {
		return term.Misuse("--force needs --html", "ctxd inspect chat weekend_trip_k3x9 --html trip.html --force")
	}
	if c.Number != nil && *c.Number < 1 {
		return term.Misuse("messages are numbered from 1", "ctxd inspect chat weekend_trip_k3x9 2; ctxd chat show lists them")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		if c.HTML != "" {
			if err := term.FreeForDocument(c.HTML, c.Force); err != nil {
				return err
			}
			if err := c.writePage(a, cl, found); err != nil || !a.JSON {
				return err
			}
		}
		index := 0
		if c.Number != nil {
			index = *c.Number
		}
		got, err := inspected(a, cl, found.ID, index)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(got)
		}
		drawAnswer(a.Out, got)
		return nil
	})
}

func inspected(a *InspectChatOptions, cl *client.Client, id string, index int) (*turn.ChatInspected, error) {
	got := new(turn.ChatInspected)
	return got, cl.Call(a.Ctx, "chat.inspect", protocol.ChatInspect{ConversationID: id, Index: index}, got)
}

// previewed is how much of a message stands for it, in columns.
const previewed = 300

// preview is the beginning of a text in one line.
func preview(text string, columns int) string {
	return term.Line{term.Text(strings.Join(strings.Fields(term.CleanLines(text)), " "))}.Fit(columns).Plain()
}

func drawAnswer(s *term.Screen, got *turn.ChatInspected) {
	m := got.Answer
	head := term.Line{term.Styled(term.Strong, "Answer "+strconv.Itoa(m.Index))}
	if got.Conversation.Handle != "" {
		head = append(head, term.Styled(term.Accent, "  @"+got.Conversation.Handle))
	}
	head = append(head, term.Styled(term.Faint, "  "+got.Conversation.Title))
	s.Say(head...)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	width := max(s.Columns()-14, 20)
	if got.Question != nil {
		f.Add("asked", preview(got.Question.Content, min(width, previewed)))
	}
	f.Add("answered", preview(m.Content, min(width, previewed)))
	f.Add("by", answeredBy(got))
	f.Add("when", term.Day(m.CreatedAt))
	f.Add("ended", endOf(got))
	f.Add("tokens", tokensOf(m.Usage))
	if m.Private {
		f.Add("private", "yes: remote models never see it")
	}
	f.Draw(s)
	if got.Trace == nil {
		s.Say()
		for _, l := range term.Wrap("What it got is not known: "+term.Clean(got.Why), s.Columns()-2) {
			s.Say(term.Styled(term.Faint, "  "+l))
		}
		return
	}
	t := got.Trace
	drawSizes(s, t)
	refs := sorted(t)
	drawRefs(s, "References", refs.used)
	drawRefs(s, "Named by links, and not shown to the model", refs.linked)
	drawRefs(s, "Found and not used", refs.found)
	DrawDropped(s, droppedOf(t))
	drawWithheld(s, t)
	drawRounds(s, t)
	drawTimes(s, t)
	if len(m.Warnings) > 0 {
		s.Heading("Warnings")
		for _, w := range m.Warnings {
			for _, l := range term.Wrap(term.Clean(w.About+": "+w.Message), s.Columns()-2) {
				s.Say(term.Text("  " + l))
			}
		}
	}
	s.Say()
	if t.Prompt.Hash != "" {
		s.SayWhole(term.Styled(term.Faint, "sha256 "+t.Prompt.Hash))
	}
	s.SayWhole(term.Styled(term.Faint, "The text of the prompt is not kept. As it would be now: "+nowCommand(got)))
}

// nowCommand is the command that shows what the model would be given now.
func nowCommand(got *turn.ChatInspected) string {
	conversation := cmp.Or(got.Conversation.Handle, got.Conversation.ID)
	out := `ctxd prompt "…" --conversation ` + conversation + " --recall both --prompt"
	if !got.Trace.Remote {
		out += " --audience local"
	}
	return out
}

// answeredByNobody reports whether there was no model to be asked.
func answeredByNobody(t *turn.ChatTrace) bool {
	return !t.Asked && len(t.Rounds) > 0 && t.Failure == ""
}

// answeredBy says who answered, and as who it read.
func answeredBy(got *turn.ChatInspected) string {
	m := got.Answer
	who := strings.Join(term.NonEmpty(m.Provider, m.Model), ", ")
	if got.Trace == nil {
		return who
	}
	switch {
	case answeredByNobody(got.Trace):
		return "nobody: no provider is configured, or its key is missing"
	case got.Trace.Remote:
		return who + ": a remote model, which was given nothing private"
	}
	return who + ": a local model"
}

// endOf says how an answer ended.
func endOf(got *turn.ChatInspected) string {
	if got.Trace != nil && got.Trace.Failure != "" && got.Trace.Failure != got.Answer.Finish {
		return got.Answer.Finish + ": " + got.Trace.Failure
	}
	return got.Answer.Finish
}

func tokensOf(u *record.ChatUsage) string {
	if u == nil {
		return ""
	}
	out := term.Number(u.In) + " in, " + term.Number(u.Out) + " out"
	if u.Cached > 0 {
		out += ", " + term.Number(u.Cached) + " of them from the cache of the provider"
	}
	if u.Estimated {
		out += ", estimated"
	}
	return out
}

// drawSizes shows how much the model was given of what.
func drawSizes(s *term.Screen, t *turn.ChatTrace) {
	title := "What the model got"
	if answeredByNobody(t) {
		title = "What a model would have got"
	}
	s.Heading(title, term.Styled(term.Faint, "  in characters; about "+term.Number(t.Prompt.Tokens)+" tokens in all"))
	table := &term.Table{Indent: 2, Right: []int{2, 4}, Keep: []int{0, 2, 3, 4}}
	width := max(MinBudgetBar, min(BudgetBarWidth, s.Columns()-BudgetTextWidth-14))
	row := func(name term.Line, chars, budget int, more string) {
		table.Row(name, term.Bar(chars, budget, width), term.Line{term.Text(term.Number(chars))},
			term.Line{term.Styled(term.Faint, "of")}, term.Line{term.Text(term.Number(budget))}, term.Line{term.Styled(term.Faint, more)})
	}
	for _, section := range t.Prompt.Sections {
		row(term.Line{term.Text(section.Name)}, section.Chars, section.Budget, term.Count(section.Items, "item"))
	}
	row(term.Line{term.Styled(term.Strong, "whole prompt")}, t.Prompt.Chars, t.Prompt.Budget, "")
	table.Draw(s)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	for _, fact := range besides(t) {
		f.Add(fact[0], fact[1])
	}
	f.Draw(s)
}

// besides says what the model was given beside the prompt.
func besides(t *turn.ChatTrace) (facts [][2]string) {
	if t.Prompt.Own > 0 {
		facts = append(facts, [2]string{"system prompt", "of the conversation, " + term.Count(t.Prompt.Own, "character") + ", before the others"})
	}
	history := "none"
	if t.History.Messages > 0 {
		history = term.Count(t.History.Messages, "message") + ", " + term.Count(t.History.Chars, "character")
	}
	if t.History.Dropped > 0 {
		history += "; " + term.Count(t.History.Dropped, "earlier message") + " had no room"
	}
	if t.History.Withheld > 0 {
		history += "; " + term.Count(t.History.Withheld, "private message") + " withheld"
	}
	facts = append(facts, [2]string{"history", history})
	var sent []string
	if t.Attached.Files > 0 {
		sent = append(sent, term.Count(t.Attached.Files, "file")+", "+term.Count(t.Attached.Chars, "character"))
	}
	if t.Attached.Images > 0 {
		images := term.Count(t.Attached.Images, "image")
		if t.Attached.Refused > 0 {
			images += ", which the model did not take"
		}
		sent = append(sent, images)
	}
	if len(sent) > 0 {
		facts = append(facts, [2]string{"attached", strings.Join(sent, "; ")})
	}
	offered := "none offered"
	if t.Tools > 0 {
		offered = term.Number(t.Tools) + " offered"
	}
	return append(facts, [2]string{"tools", offered})
}

// sortedRefs are the records of an answer by what became of them.
type sortedRefs struct {
	used   []turn.ChatTraceRef // the model has read of them, or the answer names them
	linked []turn.ChatTraceRef // links name them, and nothing has shown them
	found  []turn.ChatTraceRef // tools have found them
}

func sorted(t *turn.ChatTrace) (out sortedRefs) {
	for _, r := range t.References {
		switch {
		case r.Used:
			out.used = append(out.used, r)
		case r.Origin == turn.OriginLink:
			out.linked = append(out.linked, r)
		default:
			out.found = append(out.found, r)
		}
	}
	return out
}

// nameOfRef writes a record as a person reads it.
func nameOfRef(kind, id, title, ref string) string {
	if kind == prompt.KindMessage && title != "" {
		title += ", message " + ref
	} else if title != "" && ref != "" {
		title = ref + " " + title
	}
	switch {
	case title != "":
		return RecordLabel(kind, title)
	case id != "":
		return kind + " " + id
	}
	return kind
}

func drawRefs(s *term.Screen, title string, list []turn.ChatTraceRef) {
	if len(list) == 0 {
		return
	}
	s.Heading(title, term.Styled(term.Faint, "  "+term.Count(len(list), "record")))
	table := &term.Table{Indent: 2, Right: []int{1}, Keep: []int{1, 2}}
	for i := range list {
		r := &list[i]
		chars := ""
		if r.Section != "" {
			chars = term.Number(r.Chars)
		}
		name := term.Line{term.Text(nameOfRef(r.Kind, r.ID, r.Title, r.Ref))}
		table.Row(name, term.Line{term.Text(chars)}, term.Line{term.Styled(term.Accent, r.Origin)},
			append(traceRefMarks(r), term.Styled(term.Faint, whereOf(r))))
	}
	table.Draw(s)
}

// notFound is said of a link that led to no one note.
const notFound = "not found"

// traceRefMarks says what is special about a record.
func traceRefMarks(r *turn.ChatTraceRef) (marks term.Line) {
	if r.Status == turn.TraceDeleted || r.Status == turn.TraceChanged {
		marks = append(marks, term.Styled(term.Warn, r.Status+"  "))
	}
	if r.Status == turn.TraceBroken {
		marks = append(marks, term.Styled(term.Warn, notFound+"  "))
	}
	if r.Cut {
		marks = append(marks, term.Styled(term.Warn, "cut  "))
	}
	return marks
}

// whereOf says where a record stood, and which tools showed it.
func whereOf(r *turn.ChatTraceRef) string {
	var out []string
	if r.Section != "" {
		out = append(out, "in "+r.Section)
	}
	if r.Depth > 0 {
		out = append(out, "depth "+term.Number(r.Depth))
	}
	if len(r.Tools) > 0 {
		out = append(out, string(r.How)+" by "+strings.Join(r.Tools, ", "))
	}
	return strings.Join(out, ", ")
}

// droppedOf is what was left out, as reports of prompts have it. Of what had no id its number alone is known.
func droppedOf(t *turn.ChatTrace) (list []prompt.Dropped) {
	type unknown struct {
		kind   string
		reason prompt.Reason
	}
	unnamed := make(map[unknown]int)
	for _, d := range t.Dropped {
		title := d.Title
		if title != "" && d.Ref != "" {
			title = d.Ref + " " + title
		}
		switch {
		case d.ID == "":
			unnamed[unknown{d.Kind, d.Reason}]++
			continue
		case d.Status == turn.TraceDeleted:
			title = "(deleted) " + d.ID
		}
		list = append(list, prompt.Dropped{Kind: d.Kind, ID: d.ID, Title: title, Reason: d.Reason})
	}
	for d, n := range unnamed {
		list = append(list, prompt.Dropped{Kind: "number", Title: term.Count(n, d.kind) + " without a name here", Reason: d.reason})
	}
	slices.SortStableFunc(list[len(list)-len(unnamed):], func(a, b prompt.Dropped) int { return cmp.Compare(a.Title, b.Title) })
	return list
}

func drawWithheld(s *term.Screen, t *turn.ChatTrace) {
	if t.Withheld == 0 && t.Left == 0 {
		return
	}
	s.Say()
	if t.Withheld > 0 {
		s.Say(term.Styled(term.Warn, term.Count(t.Withheld, "private record")), term.Text(" withheld from the model"))
	}
	if t.Left > 0 {
		s.Say(term.Styled(term.Faint, term.Count(t.Left, "further entry")+" were too many to be kept"))
	}
}

func drawRounds(s *term.Screen, t *turn.ChatTrace) {
	if len(t.Rounds) == 0 || answeredByNobody(t) {
		return
	}
	s.Heading("Rounds", term.Styled(term.Faint, "  "+term.Count(len(t.Rounds), "request")+" to the model"))
	table := &term.Table{Indent: 2, Right: []int{0, 1}, Keep: []int{0, 1}}
	for i := range t.Rounds {
		r := &t.Rounds[i]
		table.Row(term.Line{term.Styled(term.Strong, term.Number(i+1))}, term.Line{term.Text(term.Millis(r.MS))}, roundLine(r))
		for _, c := range r.Calls {
			table.Row(nil, term.Line{term.Styled(term.Faint, callTime(&c))}, callLine(&c))
		}
	}
	table.Draw(s)
}

func roundLine(r *turn.ChatTraceRound) term.Line {
	facts := []string{r.Finish}
	if r.FirstMS > 0 {
		facts = append(facts, "first piece after "+term.Millis(r.FirstMS))
	}
	facts = append(facts, term.NonEmpty(tokensOf(r.Usage))...)
	line := term.Line{term.Text(strings.Join(facts, ", "))}
	if r.Tries > 1 {
		line = append(line, term.Styled(term.Warn, "  sent "+term.Count(r.Tries, "time")))
	}
	return line
}

func callTime(c *turn.ChatTraceCall) string {
	if c.Cached {
		return "cached"
	}
	return term.Millis(c.MS)
}

func callLine(c *turn.ChatTraceCall) term.Line {
	line := term.Line{
		term.Text("⚙ "), term.Styled(term.Accent, cmp.Or(c.Name, "a tool that there is not")),
		term.Styled(term.Faint, "  "+term.Count(c.Arguments, "byte")+" of arguments, "+term.Count(c.Chars, "character")+" of result"),
	}
	if c.Failed {
		line = append(line, term.Styled(term.Bad, "  failed"))
	}
	return line
}

// stagesOfAnswer are the stages that an answer takes, in their order. The first piece and own overlap the others.
var stagesOfAnswer = []string{"assemble", "store", "firstDelta", "provider", "tools", "references", "own"}

// stagesOf returns the stages of an answer in their order.
func stagesOf(t *turn.ChatTrace) []string {
	names := slices.Sorted(maps.Keys(t.Timings))
	place := func(name string) int {
		if i := slices.Index(stagesOfAnswer, name); i >= 0 {
			return i
		}
		return len(stagesOfAnswer)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return names
}

// aboutStage says what a stage of an answer is.
var aboutStage = map[string]string{
	"assemble": "the prompt", "store": "the message, before the model was asked", "firstDelta": "from the first request to the first piece",
	"provider": "waiting for the model, in all rounds", "tools": "the calls of tools", "references": "what the answer stands on", "own": "all but waiting for the model",
}

func drawTimes(s *term.Screen, t *turn.ChatTrace) {
	s.Heading("Times")
	table := &term.Table{Indent: 2, Right: []int{1}}
	for _, name := range stagesOf(t) {
		table.Row(term.Line{term.Text(name)}, term.Line{term.Text(term.Millis(t.Timings[name]))}, term.Line{term.Styled(term.Faint, aboutStage[name])})
		if name != "assemble" {
			continue
		}
		for _, st := range t.Stages {
			took := term.Millis(st.Ms)
			if st.Skipped {
				took = "skipped"
			}
			table.Row(term.Line{term.Styled(term.Faint, "  "+st.Name)}, term.Line{term.Styled(term.Faint, took)}, nil)
		}
	}
	table.Draw(s)
}

// answersOf returns the newest answers of the newest branch, the earlier first, and whether there are more.
func answersOf(a *InspectChatOptions, cl *client.Client, id string) (list []*record.ChatMessage, more bool, err error) {
	params := protocol.ChatGet{Ref: id, Limit: 1000}
	for {
		var page protocol.ChatPage
		if err := cl.Call(a.Ctx, "chat.get", params, &page); err != nil {
			return nil, false, err
		}
		for _, m := range page.Messages {
			if m.Role == record.RoleAssistant {
				list = append(list, m)
			}
		}
		if over := len(list) - maxAnswers; over > 0 {
			list, more = list[over:], true
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return list, more, nil
		}
	}
}

// maxAnswers is how many answers a page has at most.
const maxAnswers = 200

// writePage writes the page of --html and says so.
func (c *InspectChat) writePage(a *InspectChatOptions, cl *client.Client, of *record.Conversation) error {
	d := &chatDocument{conversation: of, made: time.Now(), remote: c.Remote()}
	if c.Number != nil {
		got, err := inspected(a, cl, of.ID, *c.Number)
		if err != nil {
			return err
		}
		d.answers = append(d.answers, got)
	} else {
		list, more, err := answersOf(a, cl, of.ID)
		if err != nil {
			return err
		}
		d.more = more
		for _, m := range list {
			got, err := inspected(a, cl, of.ID, m.Index)
			if err != nil {
				return err
			}
			d.answers = append(d.answers, got)
		}
	}
	if err := d.stoodOn(a, cl); err != nil {
		return err
	}
	page, err := d.page()
	if err == nil {
		err = term.WriteDocument(c.HTML, c.Force, page)
	}
	if err != nil || a.JSON {
		return err
	}
	a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.HTML),
		term.Styled(term.Faint, "  "+term.Size(int64(len(page)))+", "+term.Count(len(d.answers), "answer")))
	return nil
}

// stoodOn adds what of notes the answers were shown, where it stands now, and which notes are related.
func (d *chatDocument) stoodOn(a *InspectChatOptions, cl *client.Client) error {
	d.excerpts = make(map[string]*turn.ChatHighlights)
	for _, got := range d.answers {
		if !slices.ContainsFunc(got.Answer.References, func(r record.ChatReference) bool { return len(r.Ranges) > 0 }) {
			continue
		}
		h := new(turn.ChatHighlights)
		params := protocol.ChatHighlightsParams{MessageID: got.Answer.ID, ConversationID: d.conversation.ID}
		if err := cl.Call(a.Ctx, "chat.highlights", params, h); err != nil {
			return err
		}
		d.excerpts[got.Answer.ID] = h
	}
	var related turn.ChatSuggestions
	err := cl.Call(a.Ctx, "chat.suggest", protocol.ChatSuggest{ConversationID: d.conversation.ID}, &related)
	d.related = related.Items
	return err
}
