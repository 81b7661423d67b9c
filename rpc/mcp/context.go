package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// assembleInput are the arguments of assemble_context.
type assembleInput struct {
	Message     string   `json:"message" jsonschema:"what the user wrote; in it @Name, @[Full Name], [[Title]] and [[Title#Heading]] are mentions, and #42, @handle and @claim_42 refer to memories, contexts, tags and messages"`
	Entities    []string `json:"entities,omitempty" jsonschema:"further entities that it is about: names or ids"`
	Notes       []string `json:"notes,omitempty" jsonschema:"further notes that it is about: titles, paths or ids"`
	SearchNotes int      `json:"searchNotes,omitempty" jsonschema:"notes to add by a search for the message"`
	Memories    int      `json:"memories,omitempty" jsonschema:"memories and messages to add by a search for the message, with what is pinned and known about the user"`
	MaxDepth    int      `json:"maxDepth,omitempty" jsonschema:"steps to follow references from mentioned entities"`
	MaxChars    int      `json:"maxChars,omitempty" jsonschema:"length of the answer at most, in characters"`
}

const (
	standardFound = 3
	maxMentioned  = 20 // records of an argument
)

func assembleSchema() *jsonschema.Schema {
	return inputOf[assembleInput](func(p map[string]*jsonschema.Schema) {
		between(p["searchNotes"], 0, prompt.MaxFound, standardFound)
		between(p["memories"], 0, prompt.MaxMemories, 0)
		between(p["maxDepth"], 0, prompt.MaxDepth, prompt.DefaultDepth)
		between(p["maxChars"], leastChars, mostChars, standardPrompt)
		most := maxMentioned
		p["entities"].MaxItems, p["notes"].MaxItems = &most, &most
	})
}

// tailRoom is how much of a page is kept for what stands below the prompt.
const tailRoom = 1_000

func (c *call) assembleContext(in assembleInput) (string, error) {
	res, err := c.assembled(in)
	if err != nil {
		return "", err
	}
	text := res.System
	if text == "" {
		text = "The notes contain nothing about this message.\n"
	}
	return text + c.below(res), nil
}

// below is what stands below a prompt: what is not in it.
func (s *server) below(res *prompt.Result) string {
	tail, _ := prompt.Cut(leftOut(&res.Report, s.words.Replace("explain_context")), tailRoom)
	return tail
}

// assembled makes the prompt of a message.
func (c *call) assembled(in assembleInput) (*prompt.Result, error) {
	if len(in.Message) > prompt.MaxText {
		return nil, fault.TooLarge("message", len(in.Message), prompt.MaxText, "bytes")
	}
	room := in.MaxChars - tailRoom
	params := prompt.Params{
		Text: in.Message, SearchNotes: in.SearchNotes, Memories: in.Memories, MaxDepth: &in.MaxDepth, Audience: c.opts.audience(),
		Budgets: &prompt.ParamBudgets{Total: &room}, Personality: new(bool), // the host has its own
		DeadlineMS: prompt.AnswerDeadlineMS,
	}
	for _, name := range in.Entities {
		id := record.ParseNamed(name)
		if !id.ID {
			e, err := c.findEntity(name, 0)
			if err != nil {
				return nil, fault.In("entities", err)
			}
			id.Text = e.ID
		}
		params.MentionedEntityIDs = append(params.MentionedEntityIDs, id.Text)
	}
	for _, name := range in.Notes {
		id, err := c.noteID(name)
		if err != nil {
			return nil, fault.In("notes", err)
		}
		params.MentionedNoteIDs = append(params.MentionedNoteIDs, id)
	}
	var res prompt.Result
	if err := c.ask("context.assemble", params, &res); err != nil {
		return nil, err
	}
	c.lastPrompt.Store(&res.Report.Hash)
	return &res, nil
}

// isTold reports whether a host is told of what was dropped: a record that is not there,
// or that is shown anyhow, is none of it.
func isTold(d prompt.Dropped) bool { return d.Reason != prompt.Unknown && d.Reason != prompt.Duplicate }

// leftOut says below a prompt what a mention may mean, and how much has found no room.
func leftOut(r *prompt.Report, explain string) string {
	var b strings.Builder
	dropped := 0
	for _, d := range r.Dropped {
		switch {
		case !isTold(d):
		case d.Reason == prompt.Ambiguous:
			b.WriteString("\n\"" + render.Inline(d.Title) + "\" could mean:\n" + candidateLines(d.Candidates))
		default:
			dropped++
		}
	}
	for _, w := range r.Warnings {
		b.WriteString("\n" + render.Inline(w.Ref) + ": " + render.Inline(w.Message) + "\n")
	}
	cut := 0
	for _, s := range r.Sections {
		for _, item := range s.Items {
			if item.Cut != nil {
				cut++
			}
		}
	}
	if dropped+cut == 0 {
		return b.String()
	}
	records := render.Plural(dropped, "record")
	return fmt.Sprintf("\n%s left out, %d shown in part: %s lists them.\n", records, cut, explain) + b.String()
}

func candidateLines(list []prompt.Candidate) string {
	var b strings.Builder
	for _, cand := range list {
		b.WriteString("- " + render.Inline(cand.Title) + render.ID(cand.ID))
		if cand.Type != "" {
			b.WriteString(" " + render.Inline(cand.Type))
		}
		b.WriteString(render.Location(cand.Vault, cand.Path) + "\n")
	}
	return b.String()
}

// explainInput are the arguments of explain_context.
type explainInput struct{ paging }

func explainSchema() *jsonschema.Schema { return pagesOf[explainInput](nil) }

// explainContext lists what the last prompt of assemble_context is made of, and what was
// left out. The report is the daemon's: nothing is remembered here but its hash.
func (c *call) explainContext(in explainInput) (string, error) {
	hash := c.lastPrompt.Load()
	if hash == nil {
		return "", fault.New(fault.NotFound, "no context has been assembled yet").WithHint("call assemble_context first")
	}
	var recent protocol.RecentReports
	if err := c.ask("context.recent", protocol.Recent{Limit: maxReports}, &recent); err != nil {
		return "", err
	}
	for i := range recent.Reports {
		if r := &recent.Reports[i].Report; r.Hash == *hash {
			l := reportLines(r)
			if err := l.Skip(in.Cursor); err != nil {
				return "", err
			}
			return l.Text(in.MaxChars)
		}
	}
	return "", fault.New(fault.NotFound, "the report of that context is no longer kept").
		WithHint("call assemble_context again")
}

// maxReports is how many reports the daemon gives at once.
const maxReports = 50

// reportLines lists what a prompt is made of, an item a line.
func reportLines(r *prompt.Report) *render.Page {
	l := &render.Page{Noun: "item", Head: fmt.Sprintf("The context has %d of at most %d characters.\n", r.Chars, r.Budget)}
	add := func(text string) { l.Items = append(l.Items, text) }
	for _, s := range r.Sections {
		for _, item := range s.Items {
			line := "- " + recordLabel(item.Kind, item.Title, item.ID) + vaultMark(item.Vault) + fmt.Sprintf(": in %s, %d characters", s.Name, item.Chars)
			if item.Cut != nil {
				line += ", " + item.Cut.String() + " shown"
			}
			add(line + "; " + render.Inline(item.Reason) + "\n")
		}
	}
	for _, d := range r.Dropped {
		switch {
		case d.Reason == prompt.Ambiguous:
			add("- left out, ambiguous: \"" + render.Inline(d.Title) + "\" could mean:\n")
			for _, cand := range d.Candidates {
				add("  " + candidateLines([]prompt.Candidate{cand}))
			}
		case isTold(d):
			add("- left out, " + whyDropped[d.Reason] + ": " + recordLabel(d.Kind, d.Title, d.ID) + vaultMark(d.Vault) + "\n")
		}
	}
	for _, w := range r.Warnings {
		add("- a warning about " + render.Inline(w.Ref) + ": " + render.Inline(w.Message) + "\n")
	}
	for _, q := range r.QueryErrors {
		add("- a computed field failed: " + render.Inline(q.Field) + " of" + render.ID(q.Entity) + ": " + render.Inline(q.Message) + "\n")
	}
	for _, s := range r.Stages {
		if s.Skipped {
			add("- a step was skipped: " + render.Inline(s.Name) + ": " + render.Inline(s.Why) + "\n")
		}
	}
	l.Total, l.None = len(l.Items), "It is empty."
	return l
}

// whyDropped says in words why a record is not in a prompt.
var whyDropped = map[prompt.Reason]string{
	prompt.OverBudget: "no room", prompt.OverLimit: "over the section limit", prompt.Archived: "archived",
	prompt.Deleted: "deleted", prompt.Private: "private",
}

func recordLabel(kind, title, id string) string {
	label := render.Inline(title)
	switch kind {
	case prompt.KindNote:
		label = render.Note(title)
	case prompt.KindEntity:
		label = "@" + render.Inline(title)
	}
	if id != "" {
		label += render.ID(id)
	}
	return label
}

// vaultMark names the vault of a note where there are several, as prompts do.
func vaultMark(vault string) string {
	if vault == "" {
		return ""
	}
	return " (vault " + render.Inline(vault) + ")"
}

// promptName names the one prompt.
const promptName = "ask_notes"

// addPrompts declares the prompts.
func (s *server) addPrompts() {
	s.sdk.AddPrompt(&sdk.Prompt{
		Name: promptName, Title: "Ask with context from your notes",
		Description: "A message together with what the notes say about it.",
		Arguments: []*sdk.PromptArgument{{
			Name: "message", Title: "Message", Required: true,
			Description: "the message; @Name, @[Full Name] and [[Title]] are mentions, #42 and @handle refer to memories",
		}},
	}, s.askNotes)
}

func (s *server) askNotes(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	message := req.Params.Arguments["message"]
	if strings.TrimSpace(message) == "" {
		return nil, invalidParams("the argument message is needed")
	}
	made, err := s.begin(ctx).assembled(assembleInput{
		Message: message, SearchNotes: standardFound, MaxDepth: prompt.DefaultDepth, MaxChars: standardPrompt,
	})
	if err != nil {
		return nil, s.wireError(err)
	}
	res := &sdk.GetPromptResult{Description: "a message with its context"}
	for _, text := range []string{made.System + s.below(made), message} {
		if text != "" {
			res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: text}})
		}
	}
	return res, nil
}
