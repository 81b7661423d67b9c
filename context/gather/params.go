package gather

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// What is asked for and what is kept of it are declared in context/prompt, because
// clients see it.

type (
	// Params are what a prompt is to be made of.
	Params = prompt.Params
	// Budgets are what a caller sets of prompt.Budgets.
	Budgets = prompt.ParamBudgets
	// Recorded is the report of an assembly that was done.
	Recorded = prompt.Recorded
)

// Audiences: who reads the prompt.
const (
	Local  = string(audience.Local)  // a model on this machine: private records are shown
	Remote = string(audience.Remote) // any other, the default: they are withheld
)

// Formats of prompts.
const (
	Markdown = "markdown"
	XML      = "xml"
)

// maxIDs is how many ids, events or actions one list of a call has at most.
const maxIDs = 1000

// request is checked Params.
type request struct {
	Params
	remote  bool           // the prompt is for a remote reader
	view    *audience.View // what the prompt may show
	told    *audience.View // what the report may tell of
	format  prompt.Format
	variant int // of blocks
	depth   int
	budgets prompt.Budgets
	pins    pins

	limit time.Duration // of what searches may take, together; 0: none
	until time.Time     // when that is over

	prefetch, passive bool // how memories are found
	whole             bool // candidates that are memories have their Record
}

// check returns the request of a call. Params.Audience has chosen the View already.
func check(by Readers, p Params) (*request, error) {
	r := &request{
		Params: p, remote: by.Prompt.Hides(), view: by.Prompt, told: by.Report, depth: prompt.DefaultDepth,
		budgets: prompt.DefaultBudgets,
	}
	if len(p.Text) > prompt.MaxText {
		return nil, fault.TooLarge("text", len(p.Text), prompt.MaxText, "bytes")
	}
	switch p.Format {
	case "", Markdown:
	case XML:
		r.format = prompt.XML
	default:
		return nil, fault.Field("format", "unknown format %q", p.Format).WithHint("give markdown or xml")
	}
	r.variant = int(r.format)
	if r.remote {
		r.variant += variants / 2
	}
	if p.MaxDepth != nil {
		r.depth = *p.MaxDepth
	}
	if r.depth < 0 || r.depth > prompt.MaxDepth {
		return nil, fault.Field("maxDepth", "maxDepth is %d", r.depth).
			WithHint("give a depth from 0 to %d", prompt.MaxDepth)
	}
	if p.SearchNotes < 0 || p.SearchNotes > prompt.MaxFound {
		return nil, fault.Field("searchNotes", "searchNotes is %d", p.SearchNotes).
			WithHint("give a number from 0 to %d", prompt.MaxFound)
	}
	if p.Passages < 0 || p.Passages > prompt.MaxPassages {
		return nil, fault.Field("passages", "passages is %d", p.Passages).
			WithHint("give a number from 0 to %d", prompt.MaxPassages)
	}
	if p.DeadlineMS < 0 || p.DeadlineMS > prompt.MaxDeadlineMS {
		return nil, fault.Field("deadlineMs", "deadlineMs is %d", p.DeadlineMS).
			WithHint("give a number of milliseconds from 1 to %d", prompt.MaxDeadlineMS)
	}
	if p.Memories < 0 || p.Memories > prompt.MaxMemories {
		return nil, fault.Field("memories", "memories is %d", p.Memories).
			WithHint("give a number from 0 to %d", prompt.MaxMemories)
	}
	for _, list := range [...]struct {
		field string
		n     int
	}{
		{"mentionedEntityIds", len(p.MentionedEntityIDs)},
		{"mentionedNoteIds", len(p.MentionedNoteIDs)},
		{"attachedMemoryIds", len(p.AttachedMemoryIDs)},
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
	if err := r.checkRecall(); err != nil {
		return nil, err
	}
	if err := r.checkHistory(); err != nil {
		return nil, err
	}
	return r, r.setBudgets(p.Budgets)
}

// checkRecall reads how memories are found.
func (r *request) checkRecall() error {
	r.prefetch = true
	if r.Recall == nil {
		return nil
	}
	if r.Memories == 0 {
		r.Memories = prompt.DefaultRecalled
	}
	switch r.Recall.Mode {
	case "", prompt.Prefetch:
		return nil
	case prompt.Passive:
		r.prefetch, r.passive = false, true
	case prompt.Both:
		r.passive = true
	default:
		return fault.Field("recall.mode", "unknown mode %q", r.Recall.Mode).
			WithHint("give prefetch, passive or both")
	}
	if r.ConversationID == "" {
		return fault.Field("conversationId", "recall.mode is %s, and conversationId is absent", r.Recall.Mode).
			WithHint("give the conversation whose last turns have found what is to be taken")
	}
	return nil
}

// checkClient refuses what could not stand in a prompt, or says nothing.
func (r *request) checkClient() error {
	if r.ConversationID != "" {
		if err := checkID("conversationId", r.ConversationID); err != nil {
			return err
		}
	}
	for i, id := range r.AttachedMemoryIDs {
		if err := checkID(fmt.Sprintf("attachedMemoryIds[%d]", i), id); err != nil {
			return err
		}
	}
	for i, e := range r.CalendarEvents {
		if strings.TrimSpace(e.Title) == "" {
			return fault.Field(fmt.Sprintf("calendarEvents[%d].title", i), "event %d has no title", i).
				WithHint("give each event a title")
		}
	}
	for i, a := range r.ActionItems {
		if err := checkID(fmt.Sprintf("actionItems[%d].id", i), a.ID); err != nil {
			return err
		}
		if strings.TrimSpace(a.Text) == "" {
			return fault.Field(fmt.Sprintf("actionItems[%d].text", i), "action item %d has no text", i).
				WithHint("give each action item a text")
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
	set := (*prompt.BudgetTable[*int])(b)
	for i, budget := range prompt.AllBudgets {
		chars := *set.At(i)
		if chars == nil {
			continue
		}
		if *chars < 0 || *chars > prompt.MaxBudget {
			return fault.Field("budgets."+budget.Name, "budgets.%s is %d", budget.Name, *chars).
				WithHint("give a number of characters from 0 to %d", prompt.MaxBudget)
		}
		*r.budgets.At(i) = *chars
	}
	return nil
}
