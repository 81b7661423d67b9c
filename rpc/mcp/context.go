package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// assembleInput are the arguments of assemble_context.
type assembleInput struct {
	Message     string   `json:"message" jsonschema:"what the user wrote; @Name, @[Full Name], @handle_of_an_entity and [[Title]] in it are mentions"`
	EntityIDs   []string `json:"entityIds,omitempty" jsonschema:"further entities that it is about"`
	NoteIDs     []string `json:"noteIds,omitempty" jsonschema:"further notes that it is about, at most 5 are shown"`
	SearchNotes int      `json:"searchNotes,omitempty" jsonschema:"notes to add by a search for the message"`
	MaxDepth    int      `json:"maxDepth,omitempty" jsonschema:"steps to follow references from mentioned entities"`
	MaxChars    int      `json:"maxChars,omitempty" jsonschema:"characters at most"`
}

const standardFound = 3

func assembleSchema() *jsonschema.Schema {
	return inputOf[assembleInput](func(p map[string]*jsonschema.Schema) {
		between(p["searchNotes"], 0, prompt.MaxFound, standardFound)
		between(p["maxDepth"], 0, gather.MaxDepth, gather.DefaultDepth)
		between(p["maxChars"], 500, mostChars, prompt.DefaultBudgets.Total)
	})
}

// assembleOutput is the result of assemble_context.
type assembleOutput struct {
	Context  string        `json:"context" jsonschema:"what the notes know, as Markdown; [id:…] are ids"`
	Items    []contextItem `json:"items" jsonschema:"what it is made of, in order"`
	NotShown []contextDrop `json:"notShown" jsonschema:"what was mentioned or reached and has no room, or could mean several records"`
}

// contextItem is one record of a context.
type contextItem struct {
	Kind   string `json:"kind" jsonschema:"note or entity"`
	ID     string `json:"id" jsonschema:"id of the record"`
	Title  string `json:"title" jsonschema:"its title or name"`
	Cut    bool   `json:"cut" jsonschema:"whether only a part of it is shown"`
	Reason string `json:"reason" jsonschema:"why it is there"`
}

// contextDrop is one record that is not in a context.
type contextDrop struct {
	Kind       string      `json:"kind" jsonschema:"note or entity"`
	ID         string      `json:"id,omitempty" jsonschema:"id of the record"`
	Title      string      `json:"title,omitempty" jsonschema:"its title or name, or what was written"`
	Reason     string      `json:"reason" jsonschema:"budget, limit, archived, deleted or ambiguous"`
	Candidates []candidate `json:"candidates,omitempty" jsonschema:"what an ambiguous mention may mean"`
}

// candidate is one record that an ambiguous mention may mean.
type candidate struct {
	ID    string `json:"id" jsonschema:"id of the record"`
	Title string `json:"title" jsonschema:"its title or name"`
	Type  string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Path  string `json:"path,omitempty" jsonschema:"its path, of a note"`
}

func (o assembleOutput) text() string {
	text := o.Context
	if text == "" {
		text = "The notes know nothing about this message.\n"
	}
	var b strings.Builder
	for _, d := range o.NotShown {
		if d.Reason != string(prompt.Ambiguous) {
			continue
		}
		fmt.Fprintf(&b, "\n%q could mean:\n", oneLine(d.Title))
		for _, cand := range d.Candidates {
			fmt.Fprintf(&b, "- %s [id:%s] %s\n", oneLine(cand.Title), cand.ID, oneLine(cand.Type+cand.Path))
		}
	}
	return text + b.String()
}

func (c *call) assembleContext(in assembleInput) (assembleOutput, error) {
	if len(in.Message) > gather.MaxText {
		return assembleOutput{}, fault.TooLarge("message", len(in.Message), gather.MaxText, "bytes")
	}
	params := gather.Params{
		Text: in.Message, MentionedEntityIDs: in.EntityIDs, MentionedNoteIDs: in.NoteIDs,
		SearchNotes: in.SearchNotes, MaxDepth: &in.MaxDepth, Audience: c.audience(), Budgets: &gather.Budgets{Total: &in.MaxChars},
	}
	var res prompt.Result
	if err := c.ask("context.assemble", params, &res); err != nil {
		return assembleOutput{}, err
	}
	if c.settle(&params, res.Report.Dropped) {
		res = prompt.Result{}
		if err := c.ask("context.assemble", params, &res); err != nil {
			return assembleOutput{}, err
		}
	}
	return c.assembled(&res)
}

// assembled returns what a host may see of a prompt and of its report.
func (c *call) assembled(res *prompt.Result) (out assembleOutput, err error) {
	out = assembleOutput{Items: []contextItem{}, NotShown: []contextDrop{}}
	if out.Context, err = c.quoted(res.System); err != nil {
		return out, err
	}
	for _, section := range res.Report.Sections {
		for _, item := range section.Items {
			if err := errors.Join(c.clean(&item.Title, nil), c.clean(&item.Reason, nil)); err != nil {
				return out, err
			}
			out.Items = append(out.Items, contextItem{item.Kind, item.ID, item.Title, item.Cut, item.Reason})
		}
	}
	for _, d := range res.Report.Dropped {
		if !c.tells(d) {
			continue
		}
		if err := c.clean(&d.Title, nil); err != nil {
			return out, err
		}
		drop := contextDrop{Kind: d.Kind, ID: d.ID, Title: d.Title, Reason: string(d.Reason)}
		for _, cand := range d.Candidates {
			if err := c.clean(&cand.Title, nil); err != nil {
				return out, err
			}
			drop.Candidates = append(drop.Candidates, candidate(cand))
		}
		out.NotShown = append(out.NotShown, drop)
	}
	return out, nil
}

// settle takes a mention for the one public record that it can mean, as if the
// private ones of the same name did not exist. It reports whether it found one.
func (c *call) settle(p *gather.Params, dropped []prompt.Dropped) bool {
	if c.opts.IncludePrivate {
		return false
	}
	found := false
	for _, d := range dropped {
		if d.Reason != prompt.Ambiguous || len(d.Candidates) != 1 {
			continue
		}
		found = true
		if d.Kind == prompt.KindNote {
			p.MentionedNoteIDs = append(p.MentionedNoteIDs, d.Candidates[0].ID)
		} else {
			p.MentionedEntityIDs = append(p.MentionedEntityIDs, d.Candidates[0].ID)
		}
	}
	return found
}

// tells reports whether a host may hear of something that is not shown. Who may
// not know of private records must not be able to tell a private title from one
// that there is not, so neither is told of.
func (c *call) tells(d prompt.Dropped) bool {
	if c.opts.IncludePrivate {
		return true
	}
	switch d.Reason {
	case prompt.OverBudget, prompt.OverLimit, prompt.Archived, prompt.Deleted:
		return true
	case prompt.Ambiguous:
		return len(d.Candidates) > 1
	}
	return false
}

// addPrompts declares the prompts.
func (s *server) addPrompts() {
	s.sdk.AddPrompt(&sdk.Prompt{
		Name: "ask_notes", Title: "Ask with the context of your notes",
		Description: "A message together with what the notes know about it.",
		Arguments: []*sdk.PromptArgument{{
			Name: "message", Required: true,
			Description: "the message; @Name, @[Full Name], @handle_of_an_entity and [[Title]] in it are mentions",
		}},
	}, s.askNotes)
}

func (s *server) askNotes(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	message := req.Params.Arguments["message"]
	if strings.TrimSpace(message) == "" {
		return nil, invalidParams("the argument message is needed")
	}
	out, err := s.begin(ctx).assembleContext(assembleInput{
		Message: message, SearchNotes: standardFound, MaxDepth: gather.DefaultDepth, MaxChars: prompt.DefaultBudgets.Total,
	})
	if err != nil {
		return nil, s.wireError(err)
	}
	res := &sdk.GetPromptResult{Description: "a message with its context"}
	for _, text := range []string{out.Context, message} {
		if text != "" {
			res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}})
		}
	}
	return res, nil
}
