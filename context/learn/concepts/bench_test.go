package concepts_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/fixtures/facts"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// utterance is a message of a benchmark.
type utterance struct {
	id, text, conversation string
	index                  int
	at                     time.Time
}

func (u *utterance) ID() string                          { return u.id }
func (u *utterance) Title() string                       { return "" }
func (u *utterance) Version() uint64                     { return 1 }
func (u *utterance) UpdatedAt() time.Time                { return u.at }
func (u *utterance) Private() bool                       { return false }
func (u *utterance) Size() int                           { return len(u.text) }
func (u *utterance) Plain() string                       { return u.text }
func (u *utterance) Fields(visit func(int, string) bool) { visit(0, u.text) }
func (u *utterance) Stored(visit func(string))           { visit(u.text) }
func (u *utterance) Chunks() []text.Chunk                { return []text.Chunk{{Text: u.text}} }
func (u *utterance) ChunkedFrom() []string               { return []string{u.text} }

// talk is a Source of messages that never change.
type talk struct {
	list []*utterance
	byID map[string]*utterance
}

func (*talk) Kind() text.DocKind   { return text.DocKind{One: "message", Many: "messages"} }
func (*talk) Fields() []text.Field { return []text.Field{{Name: "said", Weight: 1}} }
func (s *talk) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for _, u := range s.list {
			if !yield(u) {
				return
			}
		}
	}
}
func (s *talk) Get(id string) text.Doc                  { return s.byID[id] }
func (s *talk) Count() (int, int64)                     { return len(s.list), 0 }
func (*talk) Changes(*kv.ChangeSet) []text.Change       { return nil }
func (*talk) Revealed(*kv.ChangeSet) []string           { return nil }
func (*talk) Public(d text.Doc) text.Doc                { return d }
func (*talk) Usual(text.Doc) bool                       { return true }
func (*talk) Filters() []string                         { return nil }
func (*talk) Filter(string, string) func(text.Doc) bool { return nil }

// large is an index over 10,000 memories, of which a third was used, and 100,000 messages in 2,500 conversations. They say
// what the labelled facts say, each with words of its own in it, so that most phrases are rare and some are frequent.
func large(b *testing.B) (*concepts.Index, *audience.View, []string) {
	b.Helper()
	const memories, messages, inOne = 10_000, 100_000, 40
	set, err := facts.Load()
	must(b, err)
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		words[i] = fmt.Sprintf("%c%ck%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/7%26, 'a'+i/676%26)
	}
	varied := func(s string) string {
		return strings.TrimRight(s, ".?! ") + " with the " + words[int(rng.ExpFloat64()*300)%len(words)] + " and the " + words[rng.IntN(len(words))] + "."
	}
	db := searchtest.Open(b, kv.InMemory)
	at := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	uses := kv.NewCollection[memory.Use]("memory-use")
	for from := 0; from < memories; from += 500 {
		must(b, db.Update(b.Context(), func(tx *kv.Tx) error {
			for i := from; i < from+500; i++ {
				of := set.Memories[i%len(set.Memories)]
				m := &memory.Record{MemoryRecord: record.MemoryRecord{
					ID: fmt.Sprint("m", i), Number: int64(i + 1), Tier: record.Tiers[i%4], Kind: of.Kind, Statement: varied(of.Statement),
					Tags: of.Tags, Status: record.MemoryActive, Importance: 0.7, Confidence: 0.7, CreatedAt: at, UpdatedAt: at, Version: 1,
				}}
				if err := memory.Records.Put(tx, m.ID, m); err != nil {
					return err
				}
				if i%3 == 0 {
					if err := uses.Put(tx, m.ID, &memory.Use{Uses: 3, Worked: i % 4, Failed: i % 3}); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	rooms := searchtest.Over(b, db, notes.Options{})
	engine := wql.New(rooms.Entities, wql.Options{})
	seen := audience.Open(db, audience.Stores{
		Entities: rooms.Entities, Notes: rooms.Notes, WQL: engine, Graph: graph.Open(db, rooms.Entities, rooms.Notes, engine),
	})
	mem, err := memory.Open(db, memory.Options{Entity: entities.EntityRecords.Has})
	must(b, err)
	said := &talk{byID: make(map[string]*utterance)}
	for i := range messages {
		u := &utterance{
			id: fmt.Sprint("c", i/inOne, "/", i%inOne), conversation: fmt.Sprint("c", i/inOne), index: i%inOne + 1,
			text: varied(set.Messages[i%len(set.Messages)].Text), at: at.Add(time.Duration(i) * time.Minute),
		}
		said.list = append(said.list, u)
		said.byID[u.id] = u
	}
	x := concepts.Open(db, seen, concepts.Options{
		Store: mem, Memories: document.New(db, mem, seen), Messages: said,
		Said: func(d text.Doc, _ bool) concepts.Said {
			u := d.(*utterance)
			return concepts.Said{ID: u.id, Conversation: u.conversation, Index: u.index, Role: record.Roles[(u.index+1)%2], At: u.at}
		},
	})
	began := time.Now()
	must(b, x.Ready(b.Context()))
	b.Logf("read in %v", time.Since(began).Round(time.Millisecond))
	var asked []string
	for _, q := range set.Questions {
		asked = append(asked, varied(q.Text))
	}
	return x, seen.View(audience.Local), asked
}

// BenchmarkInsight is the insight of a message over 10,000 memories and 100,000 messages.
func BenchmarkInsight(b *testing.B) {
	x, v, asked := large(b)
	took := make([]time.Duration, 0, len(asked))
	topics := 0
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		in, err := x.Insight(b.Context(), v, asked[i%len(asked)], "c7")
		if len(took) < 10*len(asked) {
			took = append(took, time.Since(began))
		}
		must(b, err)
		topics += len(in.Topics)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(topics)/float64(b.N), "topics/op")
}

// BenchmarkConcepts is a list of concepts over the same.
func BenchmarkConcepts(b *testing.B) {
	x, v, _ := large(b)
	for b.Loop() {
		_, _, total, err := x.List(b.Context(), v, concepts.Filter{})
		must(b, err)
		b.ReportMetric(float64(total), "concepts")
	}
}

// BenchmarkWrites is memory.add and chat.append while nobody follows, and while an index does that was asked before.
func BenchmarkWrites(b *testing.B) {
	for _, follows := range []bool{false, true} {
		open := func(b *testing.B) *house {
			h := open(b)
			h.fact("The roof has a chimney.")
			if follows {
				must(b, h.x.Ready(ctx()))
			}
			return h
		}
		b.Run(fmt.Sprint("memory.add/follows=", follows), func(b *testing.B) {
			h := open(b)
			for i := 0; b.Loop(); i++ {
				_, err := h.mem.Add(ctx(), h.local, []memory.Draft{{Tier: record.TierPatterns, Statement: fmt.Sprint("My garden has a gate and a pond ", i)}})
				must(b, err)
			}
		})
		b.Run(fmt.Sprint("chat.append/follows=", follows), func(b *testing.B) {
			h := open(b)
			id := h.say("", "Hello there.")
			for b.Loop() {
				_, err := h.chat.Append(ctx(), h.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{{Role: "user", Content: "Is the gate of the garden open?"}}})
				must(b, err)
			}
		})
	}
}
