package gather

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// Params say what a prompt is to be made of.
type Params struct {
	Text               string          `json:"text,omitempty" jsonschema:"what the user typed; @Name, @[Full Name], @handle_of_an_entity and [[Title]] in it are mentions"`
	MentionedEntityIDs []string        `json:"mentionedEntityIds,omitempty" jsonschema:"mentioned entities, before those in the text"`
	MentionedNoteIDs   []string        `json:"mentionedNoteIds,omitempty" jsonschema:"pinned notes, before those in the text"`
	SearchNotes        int             `json:"searchNotes,omitempty" min:"0" max:"8" default:"0" jsonschema:"notes to add by a search for the text"`
	CalendarEvents     []prompt.Event  `json:"calendarEvents,omitempty" jsonschema:"events that the client knows of"`
	ActionItems        []prompt.Action `json:"actionItems,omitempty" jsonschema:"open action items that the client knows of"`
	ConversationID     string          `json:"conversationId,omitempty" jsonschema:"the conversation that the prompt is for, kept with its report"`
	Budgets            *Budgets        `json:"budgets,omitempty" jsonschema:"room in characters, where it is to differ from the default"`
	Audience           string          `json:"audience,omitempty" enum:"local,remote" default:"remote" jsonschema:"who reads the prompt: private records are kept from a remote one"`
	Format             string          `json:"format,omitempty" enum:"markdown,xml" default:"markdown" jsonschema:"how the prompt is written"`
	MaxDepth           *int            `json:"maxDepth,omitempty" min:"0" max:"4" default:"2" jsonschema:"steps from a mentioned entity"`
	Explain            bool            `json:"explain,omitempty" jsonschema:"name in the report what leads to each entity"`
}

// Budgets are what a caller sets of prompt.Budgets; nil members keep their
// defaults.
type Budgets struct {
	Total    *int `json:"total,omitempty" default:"64000" jsonschema:"the whole prompt"`
	Pinned   *int `json:"pinned,omitempty" default:"20500" jsonschema:"pinned notes"`
	Entities *int `json:"entities,omitempty" default:"12000" jsonschema:"entities"`
	Linked   *int `json:"linked,omitempty" default:"6500" jsonschema:"notes that entity fields refer to"`
	Search   *int `json:"search,omitempty" default:"12500" jsonschema:"notes found by search"`
	Client   *int `json:"client,omitempty" default:"8000" jsonschema:"calendar and action items together"`
	Memory   *int `json:"memory,omitempty" default:"6000" jsonschema:"memories, of which this daemon has none"`
}

// Audiences: who reads the prompt.
const (
	Local  = "local"  // a model on this machine: private records are shown
	Remote = "remote" // any other, the default: they are withheld
)

// Formats of prompts.
const (
	Markdown = "markdown"
	XML      = "xml"
)

// Limits and defaults of parameters.
const (
	MaxText      = 1 << 20 // bytes
	MaxDepth     = 4
	DefaultDepth = 2
	MaxBudget    = 4 << 20 // characters
	maxIDs       = 1000
)

// request is checked Params.
type request struct {
	Params
	remote  bool
	format  prompt.Format
	variant int // of blocks
	depth   int
	budgets prompt.Budgets
}

func (p Params) check() (*request, error) {
	r := &request{Params: p, remote: true, depth: DefaultDepth, budgets: prompt.DefaultBudgets}
	if len(p.Text) > MaxText {
		return nil, fault.TooLarge("text", len(p.Text), MaxText, "bytes")
	}
	switch p.Audience {
	case "", Remote:
	case Local:
		r.remote = false
	default:
		return nil, fault.Field("audience", "there is no audience %q", p.Audience).WithHint("it is local or remote")
	}
	switch p.Format {
	case "", Markdown:
	case XML:
		r.format = prompt.XML
	default:
		return nil, fault.Field("format", "there is no format %q", p.Format).WithHint("it is markdown or xml")
	}
	if r.variant = int(r.format); r.remote {
		r.variant += variants / 2
	}
	if p.MaxDepth != nil {
		r.depth = *p.MaxDepth
	}
	if r.depth < 0 || r.depth > MaxDepth {
		return nil, fault.Field("maxDepth", "maxDepth is %d", r.depth).WithHint("give a depth from 0 to %d", MaxDepth)
	}
	if p.SearchNotes < 0 || p.SearchNotes > prompt.MaxFound {
		return nil, fault.Field("searchNotes", "searchNotes is %d", p.SearchNotes).WithHint("give a number from 0 to %d", prompt.MaxFound)
	}
	for _, list := range [...]struct {
		field string
		n     int
	}{
		{"mentionedEntityIds", len(p.MentionedEntityIDs)},
		{"mentionedNoteIds", len(p.MentionedNoteIDs)},
		{"calendarEvents", len(p.CalendarEvents)},
		{"actionItems", len(p.ActionItems)},
	} {
		if list.n > maxIDs {
			return nil, fault.TooLarge(list.field, list.n, maxIDs, "items")
		}
	}
	if err := r.checkClient(); err != nil {
		return nil, err
	}
	return r, r.setBudgets(p.Budgets)
}

// checkClient refuses what could not stand in a prompt, or says nothing.
func (r *request) checkClient() error {
	if r.ConversationID != "" {
		if err := checkID("conversationId", r.ConversationID); err != nil {
			return err
		}
	}
	for i, e := range r.CalendarEvents {
		if strings.TrimSpace(e.Title) == "" {
			return fault.Field(fmt.Sprintf("calendarEvents[%d].title", i), "event %d has no title", i).WithHint("give each event a title")
		}
	}
	for i, a := range r.ActionItems {
		if err := checkID(fmt.Sprintf("actionItems[%d].id", i), a.ID); err != nil {
			return err
		}
		if strings.TrimSpace(a.Text) == "" {
			return fault.Field(fmt.Sprintf("actionItems[%d].text", i), "action item %d has no text", i).WithHint("say what is to be done")
		}
		for j, id := range a.EntityIDs {
			if err := checkID(fmt.Sprintf("actionItems[%d].entityIds[%d]", i, j), id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *request) setBudgets(b *Budgets) error {
	if b == nil {
		return nil
	}
	var memory int // this daemon has none
	for _, set := range [...]struct {
		name string
		to   *int
		from *int
	}{
		{"total", &r.budgets.Total, b.Total},
		{"pinned", &r.budgets.Pinned, b.Pinned},
		{"entities", &r.budgets.Entities, b.Entities},
		{"linked", &r.budgets.Linked, b.Linked},
		{"search", &r.budgets.Search, b.Search},
		{"memory", &memory, b.Memory},
		{"client", &r.budgets.Client, b.Client},
	} {
		if set.from == nil {
			continue
		}
		if *set.from < 0 || *set.from > MaxBudget {
			return fault.Field("budgets."+set.name, "budgets.%s is %d", set.name, *set.from).
				WithHint("give a number of characters from 0 to %d", MaxBudget)
		}
		*set.to = *set.from
	}
	return nil
}
