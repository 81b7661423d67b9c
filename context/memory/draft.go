package memory

// Draft say what a new memory may be, before it is written down.
//
// They are what a client says of one. Record makes them a record, but for what a transaction adds: id, number, handle
// and times. checkStored refuses a memory that says what none may, and tidies its texts and lists. Lengths are in code
// points. The errors are Invalid and Limit, with the member at fault. Nothing is kept, and all of it is safe for
// concurrent use. O(size).

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Sizes that a memory may have. Lengths are in code points.
const (
	maxStatement  = 8000
	MaxUnsummed   = 2000 // of a statement without a summary
	maxSummary    = 200
	maxQuestions  = 8
	maxQuestion   = 500
	MaxLabels     = 50 // domains or tags of a memory
	MaxLabel      = 100
	maxReferences = 200 // ids in one list of a memory
	maxClientName = 200
	MaxMany       = entities.MaxMany // memories of one call

	defaultWeight = 0.7 // importance and confidence that nobody gave

	// lowConfidence is where a memory is no longer relied on.
	lowConfidence = 0.3
)

// Draft is what a client may say of a new memory.
type Draft struct {
	ID        string // a new UUID when empty
	Handle    string // made of the statement when empty
	Tier      string // memoryBank when empty
	Kind      string // fact when empty
	Statement string
	Summary   string
	Questions []string
	Domains   []string
	Tags      []string
	Contexts  []string // ids
	EntityIDs []string
	NoteIDs   []string

	Importance   *float64
	Confidence   *float64
	Pinned       bool
	AlwaysInject bool
	Private      bool
	ValidFrom    *time.Time
	ValidTo      *time.Time
	Source       record.MemorySource // of kind client when empty
	Supersedes   []string            // ids
	CreatedAt    time.Time           // now when zero

	// Other is what another program said of it in members that are not known here.
	Other map[string]json.RawMessage
}

// Record returns the record that a draft makes, without what a transaction adds: id, number,
// handle, times.
func (d *Draft) Record() (*StoredMemory, error) {
	m := &StoredMemory{MemoryRecord: record.MemoryRecord{
		Tier: orElse(d.Tier, record.TierBank), Kind: orElse(d.Kind, record.MemoryFact), Status: record.MemoryActive,
		Importance: defaultWeight, Confidence: defaultWeight,
		Pinned: d.Pinned, AlwaysInject: d.AlwaysInject, Private: d.Private, Version: 1,
		Aliases: []string{}, Evidence: []string{}, Contradicts: []string{},
	}}
	if d.Importance != nil {
		m.Importance = *d.Importance
	}
	if d.Confidence != nil {
		m.Confidence = *d.Confidence
	}
	m.Source = d.Source
	m.Source.Kind = orElse(m.Source.Kind, "client")
	m.Statement, m.Summary = d.Statement, d.Summary
	m.Questions, m.Domains, m.Tags = d.Questions, d.Domains, d.Tags
	m.EntityIDs, m.NoteIDs, m.Supersedes = d.EntityIDs, d.NoteIDs, d.Supersedes
	m.ValidFrom, m.ValidTo, m.Other = inUTC(d.ValidFrom), inUTC(d.ValidTo), d.Other
	if err := checkStored(m); err != nil {
		return nil, err
	}
	if m.Confidence < lowConfidence {
		m.Status = record.MemoryDeprecated
	}
	return m, nil
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// inUTC returns a time as records have it.
func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC().Truncate(time.Millisecond)
	return &at
}

// checkStored refuses a memory that says what no memory may, and tidies its texts and lists.
func checkStored(m *StoredMemory) (err error) {
	for _, v := range []struct {
		field, value string
		allowed      []string
	}{
		{"tier", m.Tier, record.Tiers},
		{"kind", m.Kind, record.MemoryKinds},
		{"source.kind", m.Source.Kind, record.MemorySources},
	} {
		if !slices.Contains(v.allowed, v.value) {
			return fault.Field(v.field, "%s is none of its values", v.field).
				WithHint("give one of %s", strings.Join(v.allowed, ", "))
		}
	}
	if m.Statement, err = checkText("statement", m.Statement, maxStatement); err != nil {
		return err
	}
	if m.Statement == "" {
		return fault.Field("statement", "statement is empty").
			WithHint("say one thing about the person or their world, such as %q", "I prefer morning workouts")
	}
	if m.Summary, err = checkText("summary", m.Summary, maxSummary); err != nil {
		return err
	}
	if err := checkSaid(m); err != nil {
		return err
	}
	if m.Questions, err = checkTexts("questions", m.Questions, maxQuestions, maxQuestion); err != nil {
		return err
	}
	if m.Domains, err = checkLabels("domains", m.Domains, MaxLabels, MaxLabel); err != nil {
		return err
	}
	if m.Tags, err = checkLabels("tags", m.Tags, MaxLabels, MaxLabel); err != nil {
		return err
	}
	for _, list := range []struct {
		field string
		ids   *[]string
	}{
		{"entityIds", &m.EntityIDs},
		{"noteIds", &m.NoteIDs},
		{"supersedes", &m.Supersedes},
		{"source.messageIds", &m.Source.MessageIDs},
	} {
		if *list.ids, err = checkIDs(list.field, *list.ids, maxReferences); err != nil {
			return err
		}
	}
	if len(m.Source.MessageIDs) == 0 {
		m.Source.MessageIDs = nil
	}
	for field, id := range map[string]string{
		"source.noteId": m.Source.NoteID, "source.conversationId": m.Source.ConversationID,
	} {
		if id != "" {
			if err := entities.CheckID(field, id); err != nil {
				return err
			}
		}
	}
	if m.Source.Client, err = checkText("source.client", m.Source.Client, maxClientName); err != nil {
		return err
	}
	return checkWorth(m)
}

// checkSaid refuses what is no statement about a person or their world.
func checkSaid(m *StoredMemory) error {
	labels := strings.Count(m.Statement, ":") // at most; the expression takes longer
	if labels > 1 && len(roleLabel().FindAllStringIndex(m.Statement, 2)) > 1 {
		return fault.Field("statement", "statement is an exchange of messages, not a statement").
			WithHint("store what follows from it in one sentence; messages belong to conversations")
	}
	if n := utf8.RuneCountInString(m.Statement); n > MaxUnsummed && m.Summary == "" {
		return fault.Field("summary", "a statement of %d characters needs a summary", n).
			WithHint("give a summary of at most %d characters, or a shorter statement", maxSummary)
	}
	if m.Tier == record.TierBank && m.Kind == record.MemoryTakeaway {
		return fault.Field("kind", "a takeaway says nothing about the person, so it is not for memoryBank").
			WithHint("give it the tier working or history, or another kind")
	}
	return nil
}

// roleLabel begins a turn of a conversation that is written down.
var roleLabel = text.Pattern(`(?im)^[\t #>*_-]*(?:user|human|assistant|system|ai|bot|model|chatgpt|claude)[*_ ]*:`)

func checkWorth(m *StoredMemory) error {
	for _, w := range []struct {
		field string
		value float64
	}{{"importance", m.Importance}, {"confidence", m.Confidence}} {
		if math.IsNaN(w.value) || w.value < 0 || w.value > 1 {
			return fault.Field(w.field, "%s is not between 0 and 1", w.field).WithHint("give a number such as 0.7")
		}
	}
	if m.AlwaysInject && (m.Tier != record.TierBank || m.Kind != record.MemoryIdentity) {
		return fault.Field("alwaysInject", "only memories of the tier memoryBank and the kind identity are always injected").
			WithHint("give the tier memoryBank and the kind identity, or pin the memory")
	}
	if m.ValidFrom != nil && m.ValidTo != nil && m.ValidTo.Before(*m.ValidFrom) {
		return fault.Field("validTo", "validTo is before validFrom").WithHint("exchange the two")
	}
	return nil
}
