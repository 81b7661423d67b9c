package mcp

import (
	"context"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
		between(p["maxDepth"], 0, prompt.MaxDepth, prompt.DefaultDepth)
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
		b.WriteString("\n\"" + inline(d.Title) + "\" could mean:\n")
		for _, cand := range d.Candidates {
			b.WriteString("- " + inline(cand.Title) + idMark(cand.ID) + " " + inline(cand.Type+cand.Path) + "\n")
		}
	}
	return text + b.String()
}

func (c *call) assembleContext(in assembleInput) (assembleOutput, error) {
	out := assembleOutput{Items: []contextItem{}, NotShown: []contextDrop{}}
	if len(in.Message) > prompt.MaxText {
		return out, fault.TooLarge("message", len(in.Message), prompt.MaxText, "bytes")
	}
	var res prompt.Result
	err := c.ask("context.assemble", prompt.Params{
		Text: in.Message, MentionedEntityIDs: in.EntityIDs, MentionedNoteIDs: in.NoteIDs,
		SearchNotes: in.SearchNotes, MaxDepth: &in.MaxDepth, Audience: c.opts.audience(),
		Budgets: &prompt.ParamBudgets{Total: &in.MaxChars},
	}, &res)
	if err != nil {
		return out, err
	}
	out.Context = res.System
	for _, section := range res.Report.Sections {
		for _, item := range section.Items {
			out.Items = append(out.Items, contextItem{item.Kind, item.ID, item.Title, item.Cut, item.Reason})
		}
	}
	for _, d := range res.Report.Dropped {
		if d.Reason == prompt.Unknown || d.Reason == prompt.Duplicate {
			continue // it is no record, or it is shown
		}
		drop := contextDrop{Kind: d.Kind, ID: d.ID, Title: d.Title, Reason: string(d.Reason)}
		for _, cand := range d.Candidates {
			drop.Candidates = append(drop.Candidates, candidate(cand))
		}
		out.NotShown = append(out.NotShown, drop)
	}
	return out, nil
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
		Message: message, SearchNotes: standardFound, MaxDepth: prompt.DefaultDepth,
		MaxChars: prompt.DefaultBudgets.Total,
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
