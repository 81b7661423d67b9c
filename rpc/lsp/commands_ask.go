package lsp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/fault"
)

// AskResult is the result of ctxd.lsp.ask.
type AskResult struct {
	Answer         string `json:"answer"`
	ConversationID string `json:"conversationId"`
}

// ask asks a language model. Its answer is reported as it comes: each report of the progress is the line that is being
// written, and the log of the editor gets the whole.
func (r *runner) ask(ctx context.Context, c *Call, a *CommandArguments, token ProgressToken) (any, error) {
	d, selected := commandDocument(c, a)
	ask := turn.ChatSend{ConversationID: a.ConversationID, Text: a.Text}
	if ask.Text == "" {
		ask.Text = selected
	}
	if strings.TrimSpace(ask.Text) == "" {
		return nil, fault.Field("text", "there is no question").WithHint("give text, or a uri with a range")
	}
	if d != nil {
		id, err := c.NoteID(ctx, d.URI)
		if err != nil {
			return nil, err
		}
		if id != "" {
			ask.MentionedNoteIDs = []string{id}
		}
	}
	show := c.Progress(ctx, token, "ctxd: asking")
	var answer strings.Builder
	ask.ClientMessageID = r.begin(func(piece string) {
		answer.WriteString(piece)
		said := answer.String()
		show.Report(said[strings.LastIndexByte(strings.TrimRight(said, "\n"), '\n')+1:], 0, 0)
	})
	var out turn.ChatSent
	err := c.Job(ctx, "chat.send", ask, &out, nil)
	r.end(ask.ClientMessageID)
	show.End("")
	if err != nil {
		return nil, err
	}
	c.Log(MessageInfo, out.Content)
	return &AskResult{out.Content, out.ConversationID}, nil
}

// begin has a function called with the pieces of the answer to a question, and returns the id of the question.
func (r *runner) begin(piece func(string)) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made++
	id := "lsp-" + strconv.Itoa(r.made)
	r.asked[id] = piece
	return id
}

// end forgets a question. Pieces of its answer that are still to come are left out.
func (r *runner) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, id)
	for answer := range r.answers {
		if of, _, _ := strings.Cut(answer, "\x00"); of == id {
			delete(r.answers, answer)
		}
	}
}

// delta passes a piece of an answer on. The first one names the question.
func (r *runner) delta(params json.RawMessage) {
	var d turn.ChatDelta
	if json.Unmarshal(params, &d) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if piece := r.asked[d.ClientMessage]; piece != nil {
		r.answers[d.ClientMessage+"\x00"+d.MessageID] = piece
	}
	if d.Type != "text" {
		return
	}
	for answer, piece := range r.answers {
		if strings.HasSuffix(answer, "\x00"+d.MessageID) {
			piece(d.Text)
		}
	}
}
