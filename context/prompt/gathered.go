package prompt

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// GatherParams say for which message memories are to be gathered.
type GatherParams struct {
	Text              string   `json:"text" jsonschema:"what the user typed; @handle, #42, @claim_42 and @Name in it are references"`
	AttachedMemoryIDs []string `json:"attachedMemoryIds,omitempty" jsonschema:"memories that the user attached, for this message alone"`
	ConversationID    string   `json:"conversationId,omitempty" jsonschema:"the conversation that the message is of: what it holds itself is not found again"`
	K                 *int     `json:"k,omitempty" min:"0" max:"20" default:"10" jsonschema:"memories and messages to add by a search for the text; with any, what is pinned and, where a conversation begins, the profile is added too"`
	Format            string   `json:"format,omitempty" enum:"markdown,xml,pkb" default:"markdown" jsonschema:"how the text is written: as in a prompt, or as <pkb_item> lines"`
	Audience          string   `json:"audience,omitempty" enum:"local,remote" default:"remote" jsonschema:"who reads the text; for remote, private records are left out"`
}

// AskedAudience returns the audience that the call names.
func (p *GatherParams) AskedAudience() string { return p.Audience }

// Gathered are the memories for a message.
type Gathered struct {
	Items    []GatheredItem `json:"items" jsonschema:"what is in the text, in its order"`
	Text     string         `json:"text" jsonschema:"the memory part of the prompt"`
	Dropped  []Dropped      `json:"dropped" jsonschema:"what was left out, and why"`
	Warnings []Warning      `json:"warnings,omitempty" jsonschema:"what the caller asked for and got otherwise; absent without any"`
	Degraded string         `json:"degraded,omitempty" jsonschema:"what the search had to do without, or why nothing was searched for; absent when it had all"`
}

// GatheredItem is a memory in the text, or a message of a conversation.
type GatheredItem struct {
	Memory  *record.Memory   `json:"memory,omitempty" jsonschema:"the memory; absent for a message"`
	Message *GatheredMessage `json:"message,omitempty" jsonschema:"the message; absent for a memory"`
	Source  string           `json:"source" jsonschema:"why it is there: referenced, attached, profile, pinned, conv_pinned or auto"`
	Ref     string           `json:"ref,omitempty" jsonschema:"the reference that led to it, as it was typed"`
}

// GatheredMessage is a message of a conversation, named or found.
type GatheredMessage struct {
	ID             string    `json:"id" jsonschema:"id of the message"`
	ConversationID string    `json:"conversationId" jsonschema:"the conversation that it belongs to"`
	Role           string    `json:"role" jsonschema:"user, assistant or system"`
	Content        string    `json:"content" jsonschema:"what was typed or answered, as it is in the text"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was said"`
}

// item returns a candidate as clients see it.
func (m *Memory) item() GatheredItem {
	item := GatheredItem{Memory: m.Record, Source: m.Source, Ref: m.Ref}
	if m.Record == nil {
		item.Message = &GatheredMessage{
			ID: m.ID, ConversationID: m.ConversationID, Role: m.By, Content: m.Statement, CreatedAt: m.At,
		}
	}
	return item
}

// BuildMemories renders the memories of an Input alone, as Build does. Warnings and Degraded are left to
// the caller. O(size of what is shown + candidates).
func BuildMemories(in Input) *Gathered {
	res := Build(Input{
		Format: in.Format, Secret: in.Secret, Budgets: in.Budgets, Referenced: in.Referenced, Recalled: in.Recalled, Dropped: in.Dropped,
	})
	out := &Gathered{Items: []GatheredItem{}, Text: res.System, Dropped: res.Report.Dropped}
	candidates := make(map[itemKey]*Memory) // each stands once in all
	for _, list := range [][]Memory{in.Referenced, in.Recalled} {
		for i := range list {
			candidates[itemKey{list[i].Reported(), list[i].ID}] = &list[i]
		}
	}
	for _, s := range res.Report.Sections {
		for _, shown := range s.Items {
			out.Items = append(out.Items, candidates[itemKey{shown.Kind, shown.ID}].item())
		}
	}
	return out
}
