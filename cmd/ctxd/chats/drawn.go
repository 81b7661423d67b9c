package chats

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// answerView shows an answer while it is given. It is made for one answer.
type answerView struct {
	out    *term.Screen // gets the answer
	side   *term.Screen // gets all else, so that what is piped is the answer alone
	json   bool         // each delta is a line
	thinks bool         // all of the reasoning is shown, not only its first line
	lists  bool         // what is proposed is listed behind the answer, not here

	began   bool                 // a delta has come
	done    bool                 // the last one has
	md      *term.MarkdownWriter // of a text that goes on; nil: none does, or it is plain
	plain   bool                 // a text goes on as it is
	ended   bool                 // its last line has
	thought strings.Builder      // reasoning that goes on
	hidden  int                  // characters of it that are not shown
	calling string               // id of the call whose line has no end yet
}

func newAnswerView(s *term.Streams, thinks bool) *answerView {
	v := &answerView{out: s.Out, side: s.Out, json: s.JSON, thinks: thinks}
	if !s.Out.Terminal {
		v.side = s.Err
	}
	return v
}

// show shows a delta at once.
func (v *answerView) show(d *turn.ChatDelta) error {
	v.began, v.done = true, d.Type == turn.Done
	if v.json {
		return jsonLine(v.out, d)
	}
	v.draw(d)
	return v.out.Flush()
}

// jsonLine writes a value on one line, also on a terminal, so that a line is a value.
func jsonLine(s *term.Screen, value any) error {
	doc, err := json.Marshal(value)
	if err != nil {
		return err
	}
	fmt.Fprintln(s, term.EscapeControls(string(doc)))
	return s.Flush()
}

func (v *answerView) draw(d *turn.ChatDelta) {
	if d.Type != turn.Reasoning {
		v.endThought()
	}
	if d.Type != turn.Text {
		v.endText()
	}
	if d.Type != turn.ToolResult && d.Type != turn.ToolCall {
		v.endCall()
	}
	data := d.Data
	if data == nil {
		data = &turn.ChatDeltaData{}
	}
	switch d.Type {
	case turn.Text:
		v.text(d.Text)
	case turn.Reasoning:
		v.think(d.Text)
	case turn.Replace:
		v.endText()
		v.side.Say(term.Styled(term.Faint, "that was the model thinking; the answer follows"))
	case turn.ToolCall:
		if data.Call != nil {
			v.call(data.Call)
		}
	case turn.ToolResult:
		if data.Call != nil {
			v.result(data.Call, data.Result)
		}
	case turn.Action:
		if data.Action != nil && !v.lists {
			v.propose(data.Action)
		}
	case turn.Warning:
		if data.Warning != nil {
			v.warn(data.Warning)
		}
	case turn.Done:
		if data.Finish != record.FinishComplete {
			v.side.Say(term.Styled(term.Warn, "the answer is "+data.Finish))
		}
	}
}

// text shows a piece of the answer: as Markdown where there are colours, else as it is.
func (v *answerView) text(piece string) {
	if piece == "" {
		return
	}
	if v.out.Coloured {
		if v.md == nil {
			v.md = term.NewMarkdownWriter(v.out)
			piece = strings.TrimLeft(piece, "\n")
		}
		v.md.Write(piece)
		return
	}
	if !v.plain {
		piece = strings.TrimLeft(piece, "\n") // an answer goes on after a call of a tool
	}
	if piece == "" {
		return
	}
	v.plain, v.ended = true, strings.HasSuffix(piece, "\n")
	fmt.Fprint(v.out, term.CleanLines(piece))
}

func (v *answerView) endText() {
	if v.md != nil {
		v.md.Close()
		v.md = nil
	}
	if v.plain && !v.ended {
		fmt.Fprintln(v.out)
	}
	v.plain = false
}

// think shows a piece of the reasoning, the first line of it unless all is wanted.
func (v *answerView) think(piece string) {
	if v.hidden > 0 {
		v.hidden += utf8.RuneCountInString(piece)
		return
	}
	v.thought.WriteString(piece)
	if v.thinks {
		whole := v.thought.String()
		at := strings.LastIndexByte(whole, '\n') + 1
		v.thought.Reset()
		v.thought.WriteString(whole[at:])
		v.drawThought(whole[:at])
		return
	}
	all := strings.TrimLeft(v.thought.String(), " \n")
	first, rest, cut := strings.Cut(all, "\n")
	if rest = strings.TrimSpace(rest); cut && rest != "" || term.Columns(term.Clean(first)) > v.side.Columns()-2 {
		head, over := term.CutColumns(term.Clean(first), v.side.Columns()-2)
		v.side.Say(term.Styled(term.Faint, head+"…"))
		v.hidden = 1 + utf8.RuneCountInString(over) + utf8.RuneCountInString(rest)
		v.thought.Reset()
	}
}

func (v *answerView) drawThought(text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	for _, l := range term.Wrap(term.CleanLines(text), v.side.Columns()) {
		v.side.Say(term.Styled(term.Faint, l))
	}
}

func (v *answerView) endThought() {
	if rest := strings.TrimSpace(v.thought.String()); rest != "" {
		v.drawThought(rest)
	}
	v.thought.Reset()
	v.hidden = 0
}

// call shows that a tool runs. Its line ends with what came of it.
func (v *answerView) call(c *record.ChatToolCall) {
	if !v.side.Terminal || v.calling != "" {
		return // the line is said with its end
	}
	line := callLine(c, v.side.Columns()-callRoom)
	fmt.Fprint(v.side, v.side.Render(append(line, term.Styled(term.Faint, " … "))))
	v.calling = c.ID
}

// callRoom is how many columns stay for what came of a call.
const callRoom = 28

func callLine(c *record.ChatToolCall, width int) term.Line {
	return term.Line{
		term.Styled(term.Faint, "⚙ "), term.Styled(term.Accent, c.Name), term.Text(" " + argumentsOf(c.Arguments)),
	}.Fit(max(width, term.MinWidth/2))
}

// argumentsOf shows what a tool is called with: the text itself where that is all.
func argumentsOf(doc string) string {
	var args map[string]any
	if json.Unmarshal([]byte(doc), &args) != nil {
		return doc
	}
	var shown []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, err := json.Marshal(args[name])
		if err != nil {
			continue
		}
		if name == "query" || len(args) == 1 {
			shown = slices.Insert(shown, 0, string(value))
			continue
		}
		shown = append(shown, name+": "+string(value))
	}
	return strings.Join(shown, ", ")
}

// result shows what came of a call.
func (v *answerView) result(c *record.ChatToolCall, text string) {
	came := term.Styled(term.Faint, resultOf(text))
	if c.Failed {
		first, _, _ := strings.Cut(text, "\n")
		head, rest := term.CutColumns(term.Clean(first), 60)
		if rest != "" {
			head += "…"
		}
		came = term.Styled(term.Warn, head)
	}
	if v.calling == c.ID && c.ID != "" {
		fmt.Fprintln(v.side, v.side.Render(term.Line{came}))
		v.calling = ""
		return
	}
	v.endCall()
	v.side.Say(append(callLine(c, v.side.Columns()-callRoom), term.Styled(term.Faint, " … "), came)...)
}

func (v *answerView) endCall() {
	if v.calling != "" {
		fmt.Fprintln(v.side)
		v.calling = ""
	}
}

// A result that is a list numbers what it has.
var numbered = text.Pattern(`(?m)^\d+\. `)

// resultOf says how much a tool has found.
func resultOf(text string) string {
	if n := len(numbered().FindAllStringIndex(text, -1)); n > 0 {
		return term.Count(n, "result")
	}
	if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "No ") {
		return "nothing"
	}
	return term.Count(utf8.RuneCountInString(text), "character")
}

// propose shows what an answer proposes to do. Nothing of it is done.
func (v *answerView) propose(a *record.ChatAction) {
	drawProposal(v.side, term.Line{term.Styled(term.Warn, "? "), term.Text("proposes ")}, a)
	v.side.Say(term.Styled(term.Faint, "  not done; ctxd chat confirm "+a.ID+" does it"))
}

func (v *answerView) warn(w *record.ChatWarning) {
	for i, l := range term.Wrap(term.Clean(w.About+": "+w.Message), v.side.Columns()-2) {
		mark := "! "
		if i > 0 {
			mark = "  "
		}
		v.side.Say(term.Styled(term.Faint, mark+l))
	}
}

// end ends what goes on.
func (v *answerView) end() error {
	if v.json {
		return v.out.Flush()
	}
	v.endThought()
	v.endText()
	v.endCall()
	return v.out.Flush()
}
