package lsp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// ContextResult is the result of ctxd.lsp.context.
type ContextResult struct {
	Prompt  string         `json:"prompt"`
	Summary string         `json:"summary"` // of the report, in lines
	Report  *prompt.Report `json:"report"`
	File    string         `json:"file,omitempty"` // that was shown
}

const (
	notesInPrompt    = 3
	memoriesInPrompt = 5
)

// assemblePrompt returns the prompt for a note, a selection of it or a question.
func assemblePrompt(ctx context.Context, c *Call, a *CommandArguments) (*prompt.Result, string, error) {
	d, selected := commandDocument(c, a)
	ask := prompt.Params{
		Text: a.Text, Audience: a.Audience, Memories: memoriesInPrompt, SearchNotes: notesInPrompt, Explain: true,
		DeadlineMS: prompt.AnswerDeadlineMS,
	}
	if ask.Audience == "" {
		ask.Audience = protocol.Remote
	}
	if d != nil {
		id, err := c.NoteID(ctx, d.URI)
		if err != nil {
			return nil, "", err
		}
		if id != "" {
			ask.MentionedNoteIDs = []string{id}
		}
		if ask.Text == "" {
			ask.Text = selected
		}
		if ask.Text == "" && id == "" { // a note that is not saved
			ask.Text = d.Text
		}
	}
	if strings.TrimSpace(ask.Text) == "" && len(ask.MentionedNoteIDs) == 0 {
		return nil, "", fault.Field("text", "there is nothing to assemble a prompt for").WithHint("give text, or the uri of a note")
	}
	var out prompt.Result
	if err := c.Daemon(ctx, "context.assemble", ask, &out); err != nil {
		return nil, "", err
	}
	return &out, ask.Text, nil
}

func (r *runner) context(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	out, _, err := assemblePrompt(ctx, c, a)
	if err != nil {
		return nil, err
	}
	p := &ContextResult{Prompt: out.System, Report: &out.Report, Summary: promptSummary(&out.Report)}
	if a.Show {
		p.File, err = r.show(ctx, c, "prompt.md", out.System+"\n\n---\n\n"+p.Summary, false)
	}
	return p, err
}

// promptSummary says in lines what went into a prompt, and what did not.
func promptSummary(r *prompt.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d characters\n", r.Chars, r.Budget)
	for _, s := range r.Sections {
		if len(s.Items) > 0 {
			fmt.Fprintf(&b, "%s: %d of %d characters, %d items\n", s.Name, s.Chars, s.Budget, len(s.Items))
		}
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "left out: %s %s, %s\n", d.Kind, cmp.Or(d.Title, d.ID), d.Reason)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w.Message)
	}
	return b.String()
}

// GraphResult is the result of ctxd.lsp.graph.
type GraphResult struct {
	File string `json:"file"`
}

func (r *runner) graph(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	if a.Audience == "" {
		a.Audience = protocol.Local // it is looked at by the person
	}
	out, said, err := assemblePrompt(ctx, c, a)
	if err != nil {
		return nil, err
	}
	page, err := c.Page(said, a.Audience, out)
	if err != nil {
		return nil, err
	}
	file, err := r.show(ctx, c, "context.html", page, true)
	return &GraphResult{file}, err
}
