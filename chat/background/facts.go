package background

// A FactExtractor has a model find what a person tells about themselves in a message, in the background; an [Adviser]
// has it decide how two remembered statements stand to each other.
//
// The handler of chat.send calls [FactExtractor.Answered] when an answer is stored, and never waits for a model. A run
// of upkeep (package learn) calls [FactExtractor.Run] and [Adviser.Decide], and waits. A FactExtractor belongs to one
// store: another store has another one.
//
// The record is
//
//	learn-extract  a message in which nobody has looked for facts yet, by its id
//
// A message stays there until a model has answered, over starts of the daemon. The newest [maxWaitingMessages] are
// kept.
//
// What a model is given is read from the store right before it is asked, and whether it is private, too. A model on
// another machine is given what a remote reader would see; a private message goes to none. A fact of a private message
// is private.
//
// A run asks for one message after the other, O(messages of its conversation) each.

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// FactModel is which model is asked.
type FactModel struct {
	Providers *llm.Set
	Provider  string // the name of one of Providers
	Name      string // "" for that of the provider
	Prompts   *prompts.Set
}

// FactExtractorOptions are what an Extractor works with.
type FactExtractorOptions struct {
	DB            *kv.Store
	Memory        *memory.Store
	Local, Remote *audience.View
	Model         *FactModel       // nil: messages wait
	Now           func() time.Time // nil: time.Now
}

// FactExtractor finds facts in messages.
type FactExtractor struct {
	opts    FactExtractorOptions
	running sync.Mutex // held by a run
}

// NewFactExtractor returns an Extractor. It starts nothing.
func NewFactExtractor(o FactExtractorOptions) *FactExtractor {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &FactExtractor{opts: o}
}

// waiting is a message in which nobody has looked for facts.
type waiting struct {
	ConversationID string    `json:"conversationId"`
	At             time.Time `json:"at"`
}

// waits are Local: facts are looked for where the message was answered, and only there.
var waits = kv.NewCollection[waiting]("learn-extract").Local()

// maxWaitingMessages is how many messages wait at most.
const maxWaitingMessages = 10_000

// Answered says that a message was answered: facts are looked for in it later.
func (x *FactExtractor) Answered(ctx context.Context, sent *turn.ChatSent) error {
	m, a := sent.UserMessage, sent.AssistantMessage
	if x == nil || sent.Repeat || m == nil || a == nil || a.Finish != record.FinishComplete || ownWords(m.Content) == "" {
		return nil
	}
	return x.opts.DB.Update(ctx, func(tx *kv.Tx) error {
		if there, err := chat.Conversations.Has(tx, sent.ConversationID); err != nil || !there { // it was deleted meanwhile
			return err
		}
		var oldest string
		var at time.Time
		n := 0
		for id, w := range waits.All(tx, "") {
			if n++; oldest == "" || w.At.Before(at) {
				oldest, at = id, w.At
			}
		}
		if n >= maxWaitingMessages {
			if err := waits.Delete(tx, oldest); err != nil {
				return err
			}
		}
		return waits.Put(tx, m.ID, &waiting{ConversationID: sent.ConversationID, At: m.CreatedAt})
	})
}

// Waiting returns how many messages wait. O(those).
func (x *FactExtractor) Waiting(ctx context.Context) (n int, err error) {
	if x == nil {
		return 0, nil
	}
	err = x.opts.DB.View(ctx, func(tx *kv.Tx) error {
		for range waits.All(tx, "") {
			n++
		}
		return tx.Err()
	})
	return n, err
}

// job is a message that waits.
type job struct {
	id string
	waiting
}

// Run looks for facts in the messages that wait, the oldest first, until none waits or a model fails. It returns the ids
// of the memories that are new, and how many tokens it took. Without a model nothing is done.
func (x *FactExtractor) Run(ctx context.Context) (added []string, tokens int64, err error) {
	if x == nil || x.opts.Model == nil {
		return nil, 0, nil
	}
	x.running.Lock()
	defer x.running.Unlock()
	provider, err := x.opts.Model.Providers.Provider(x.opts.Model.Provider)
	if err != nil {
		return nil, 0, err
	}
	var list []job
	err = x.opts.DB.View(ctx, func(tx *kv.Tx) error {
		for id, w := range waits.All(tx, "") {
			list = append(list, job{id, *w})
		}
		return tx.Err()
	})
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(list, func(a, b job) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.id, b.id)) })
	for _, j := range list {
		new, took, err := x.look(ctx, provider, j)
		added, tokens = append(added, new...), tokens+took
		if err != nil {
			return added, tokens, err
		}
	}
	return added, tokens, nil
}

// look looks for facts in one message.
func (x *FactExtractor) look(ctx context.Context, provider llm.Provider, j job) (added []string, tokens int64, err error) {
	local := provider.Info().Local
	text, private, err := x.shownMessage(ctx, j, local)
	if err != nil {
		return nil, 0, err
	}
	if private && !local && text != "" {
		return nil, 0, nil // it waits for a model of this machine
	}
	var list []proposedFact
	if own := ownWords(text); own != "" {
		asking := outbound.Unless(ctx, func(ctx context.Context) (bool, error) {
			now, private, err := x.shownMessage(ctx, j, local)
			return now != text || private && !local, err
		})
		if list, tokens, err = x.opts.Model.find(asking, provider, own); err != nil {
			return nil, tokens, err
		}
	}
	text = ownWords(text)
	for _, p := range list {
		d, ok := p.draft(text)
		if !ok {
			continue
		}
		d.Source = record.MemorySource{Kind: "extraction", ConversationID: j.ConversationID, MessageIDs: []string{j.id}}
		d.Private = private
		id, err := x.add(ctx, j, d)
		if err != nil {
			if ctx.Err() != nil {
				return added, tokens, err
			}
			continue // it is no memory that may be written down, or the message is gone
		}
		if id != "" {
			added = append(added, id)
		}
	}
	return added, tokens, x.opts.DB.Update(ctx, func(tx *kv.Tx) error { return waits.Delete(tx, j.id) })
}

// add writes down a fact of a message that is still there. The id is "" for one that was known.
func (x *FactExtractor) add(ctx context.Context, j job, d memory.Draft) (id string, err error) {
	a, err := x.opts.Memory.Adding(x.opts.Local, d)
	if err != nil {
		return "", err
	}
	err = x.opts.DB.Update(ctx, func(tx *kv.Tx) error {
		if text, _, err := messageTx(tx, j); err != nil || text == "" {
			return cmp.Or[error](err, fault.Missing("message", j.id))
		}
		return a.Add(tx)
	})
	if ended := a.Ended(ctx); err == nil {
		err = ended
	}
	if id, known := a.Added(); err == nil && !known {
		return id, nil
	}
	return "", err
}

// shownMessage reads a message that waits as a model is shown it; "" for one that is gone.
func (x *FactExtractor) shownMessage(ctx context.Context, j job, local bool) (text string, private bool, err error) {
	err = x.opts.DB.View(ctx, func(tx *kv.Tx) error {
		text, private, err = messageTx(tx, j)
		return err
	})
	if !local {
		text = x.opts.Remote.TextOf("", text)
	}
	return text, private, err
}

func messageTx(tx *kv.Tx, j job) (text string, private bool, err error) {
	private, found, err := chat.State(tx, j.ConversationID, []string{j.id})
	if err != nil || !found {
		return "", false, err
	}
	for _, m := range chat.Messages.All(tx, j.ConversationID+"/") {
		if m.ID == j.id && m.Role == record.RoleUser {
			text = m.Content
		}
	}
	return text, private, tx.Err()
}

// proposedFact is a fact as a model proposes it.
type proposedFact struct {
	Statement  string
	Kind       string
	Quote      string
	Confidence string
}

// How sure a fact is that a model is sure of, and how important one of a kind is.
var (
	sure       = map[string]float64{"high": 0.7, "medium": 0.5}
	importance = map[string]float64{
		record.MemoryIdentity: 0.9, record.MemoryGoal: 0.85, record.MemoryProject: 0.8, record.MemorySkill: 0.75,
		record.MemoryPreference: 0.7,
	}
)

const (
	ofName   = 0.95 // importance of what the person is called
	ofOthers = 0.6
)

// maxFact is how long a fact may be, in bytes.
const maxFact = 500

// kinds are those that a fact of a message may have.
var kinds = slices.DeleteFunc(slices.Clone(record.MemoryKinds), func(k string) bool {
	return k == record.MemoryTakeaway || k == record.MemorySolution || k == record.MemoryLesson
})

// draft returns the memory that a fact makes; ok is false for one that is not sure, that the message does not say, or that
// is of no kind.
func (p *proposedFact) draft(message string) (d memory.Draft, ok bool) {
	confidence, isSure := sure[p.Confidence]
	statement := strings.Join(strings.Fields(p.Statement), " ")
	if !isSure || !slices.Contains(kinds, p.Kind) || statement == "" || len(statement) > maxFact || !quotes(message, p.Quote) {
		return d, false
	}
	weight := cmp.Or(importance[p.Kind], ofOthers)
	if p.Kind == record.MemoryIdentity && slices.ContainsFunc(learn.ReadStatement(statement).Topics(), func(t string) bool { return t == "@name " }) {
		weight = ofName
	}
	return memory.Draft{Tier: record.TierBank, Kind: p.Kind, Statement: statement, Confidence: &confidence, Importance: &weight}, true
}

// shortestQuote is how many letters a quote has at least.
const shortestQuote = 4

// quotes reports whether a message has words as they stand, but for case and blanks.
func quotes(message, words string) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(entities.Fold(s)), " ") }
	words = fold(words)
	letters := 0
	for _, r := range words {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= shortestQuote && strings.Contains(" "+fold(message)+" ", words)
}

// ownWords is a message without what is quoted in it, and without code.
func ownWords(message string) string {
	var b strings.Builder
	fence := false
	for line := range strings.Lines(message) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fence = !fence
			continue
		}
		if !fence && !strings.HasPrefix(bare, ">") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(unquoted(b.String()))
}

// unquoted leaves out what stands between marks of quotation.
func unquoted(text string) string {
	for _, marks := range [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {`"`, `"`}} {
		for {
			before, rest, ok := strings.Cut(text, marks[0])
			if !ok {
				break
			}
			_, after, ok := strings.Cut(rest, marks[1])
			if !ok {
				break
			}
			text = before + " … " + after
		}
	}
	return text
}
