package concepts_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

var sentences = []string{
	"The roof has a chimney.", "My garden has a gate and a pond.", "A pond is in the garden.", "We mend the roof with Maren Holt.",
	"Is the gate of the garden open?", "Maren Holt likes the pond.", "The chimney smokes.", "A hedge is around the garden.",
}

// told is all that a reader is told of concepts, as text without ids that differ from store to store.
func (h *house) told(v *audience.View, ids map[string]string) string {
	h.Helper()
	list, edges, total, err := h.x.List(ctx(), v, concepts.Filter{})
	must(h, err)
	all := []any{list, total}
	named := func(p *record.ConceptPlace) {
		for of, as := range map[*string]string{&p.ID: ids[p.ID], &p.ConversationID: ids[p.ConversationID]} {
			if *of != "" {
				*of = as
			}
		}
	}
	for i := range edges {
		named(&edges[i].Example)
	}
	all = append(all, edges)
	for i, c := range list {
		about, err := h.x.Get(ctx(), v, c.Label)
		must(h, err)
		for i := range about.Edges {
			named(&about.Edges[i].Example)
		}
		for i := range about.Examples {
			named(&about.Examples[i])
		}
		all = append(all, about)
		path, over, err := h.x.Path(ctx(), v, c.Label, list[(i+1)%len(list)].Label)
		for i := range over {
			named(&over[i].Example)
		}
		all = append(all, path, over, err != nil)
	}
	actions, err := h.x.Actions(ctx(), v, "the garden and the roof")
	must(h, err)
	for i := range actions.Actions {
		for k := range actions.Actions[i].Examples {
			e := &actions.Actions[i].Examples[k]
			e.MessageID, e.ConversationID = ids[e.MessageID], ids[e.ConversationID]
		}
	}
	data, err := json.Marshal(append(all, actions))
	must(h, err)
	return string(data)
}

// TestPRIV6_PrivateRecordsChangeNoConcepts: of two stores in which the same is said and remembered, one of which has
// private memories, messages, conversations and synonyms besides, a remote reader is told the same.
func TestPRIV6_PrivateRecordsChangeNoConcepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var houses [2]*house
		ids := [2]map[string]string{{}, {}}
		for i := range houses {
			db, err := kv.Open(kv.InMemory, kv.Options{})
			must(t, err)
			defer func() { must(t, db.Close()) }()
			houses[i] = openOver(t, db)
			houses[i].entity("e1", "Maren Holt", false, nil, "Maren")
		}
		conversation := [2]string{}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			text := rapid.SampledFrom(sentences).Draw(t, "text")
			private := rapid.Bool().Draw(t, "private")
			what := rapid.SampledFrom([]string{"memory", "message", "conversation", "synonym", "ask"}).Draw(t, "what")
			answered := rapid.SampledFrom(record.Outcomes).Draw(t, "outcome")
			other := rapid.SampledFrom([]string{"pond", "roof"}).Draw(t, "other")
			uses := rapid.IntRange(0, 3).Draw(t, "uses")
			if private {
				text += fmt.Sprint(" The roof and the cellar of the secret, ", step)
			}
			for i, h := range houses {
				if private && i == 0 && what != "ask" {
					h.now = h.now.Add(time.Minute)
					continue
				}
				switch what {
				case "memory":
					id := fmt.Sprint("memory-", step)
					_, err := h.mem.Add(ctx(), h.local, []memory.Draft{{
						ID: id, Statement: text + fmt.Sprint(" ", step), Private: private, Tags: []string{"home"}, EntityIDs: []string{"e1"},
					}})
					must(t, err)
					h.use(id, uses, 1)
					ids[i][id] = id
				case "message", "conversation":
					said := chat.AppendRequest{ConversationID: conversation[i], Messages: []chat.Draft{
						{Role: "user", Content: text, Private: private}, {Role: "assistant", Content: text, Private: private},
					}}
					if what == "conversation" && !private || conversation[i] == "" {
						said.ConversationID = ""
					}
					out, err := h.chat.Append(ctx(), h.local, said)
					must(t, err)
					if !private {
						conversation[i] = out.ConversationID
						ids[i][out.ConversationID] = fmt.Sprint("c", step)
						for k, m := range out.Messages {
							ids[i][m.ID] = fmt.Sprint("c", step, " ", k)
						}
					}
					h.outcome(out.ConversationID, out.Messages[1].ID, answered, "notes.search")
				case "synonym":
					_, err := h.mem.PutSynonyms(ctx(), h.local, []string{"garden", other}, private)
					must(t, err)
				case "ask":
					_ = h.told(h.local, ids[i])
				}
				h.now = h.now.Add(time.Minute)
			}
			if a, b := houses[0].told(houses[0].remote, ids[0]), houses[1].told(houses[1].remote, ids[1]); a != b {
				t.Fatalf("without private records a remote reader is told\n%s\nand with them\n%s", a, b)
			}
		}
	})
}

// TestMEM62_WhatIsKeptIsWhatRecordsSay: whatever is written, changed and deleted, an index that has followed is equal to
// one that is made of the records that are left.
func TestMEM62_WhatIsKeptIsWhatRecordsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		defer func() { must(t, db.Close()) }()
		h := openOver(t, db)
		h.entity("e1", "Maren Holt", rapid.Bool().Draw(t, "hidden"), nil)
		var memories, conversations []string
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			text := rapid.SampledFrom(sentences).Draw(t, "text")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				memories = append(memories, h.remember(memory.Draft{Statement: text + fmt.Sprint(len(memories)), Private: rapid.Bool().Draw(t, "private")})...)
			case 1:
				conversations = append(conversations, h.say("", text, text))
			case 2:
				if n := len(memories); n > 0 {
					must(t, h.mem.Delete(ctx(), h.local, memories[n-1], true, nil))
					memories = memories[:n-1]
				}
			case 3:
				if n := len(conversations); n > 0 {
					_, err := h.chat.Delete(ctx(), h.local, conversations[n-1])
					must(t, err)
					conversations = conversations[:n-1]
				}
			case 4:
				h.entity("e1", "Maren Holt", rapid.Bool().Draw(t, "hidden"), nil)
			case 5:
				if n := len(memories); n > 0 {
					h.use(memories[n-1], 1, 0)
				}
			case 6:
				if n := len(memories); n > 0 {
					_, err := h.mem.Archive(ctx(), h.local, memories[n-1], nil)
					_ = err // it may be archived
				}
			case 7:
				must(t, h.x.Ready(ctx()))
			}
		}
		got, err := h.x.Known(ctx())
		must(t, err)
		want, err := concepts.Open(db, h.rooms, h.opts).Known(ctx())
		must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("it knows\n%q\nand of the records is made\n%q", got, want)
		}
	})
}
