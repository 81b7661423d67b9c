package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// TestPRIV6_PrivateRecordsChangeNothingThatWaits: of two stores in which the same is said and remembered, one of which
// has private memories, messages and conversations besides, a remote reader is told the same.
func TestPRIV6_PrivateRecordsChangeNothingThatWaits(t *testing.T) {
	campaign.Only(t)
	subjects := []string{"boiler loud cellar night", "bees sleep winter hive", "marathon training knee spring"}
	rapid.Check(t, func(t *rapid.T) {
		var houses [2]*passiveHouse
		for i := range houses {
			db, err := kv.Open(kv.InMemory, kv.Options{})
			mustPassive(t, err)
			defer func() { mustPassive(t, db.Close()) }()
			houses[i] = openOver(t, db, passiveBags(), recall.PassiveOptions{Conversations: 1})
		}
		var conversations [][2]string
		text := func() string {
			return rapid.SampledFrom(subjects).Draw(t, "subject") + fmt.Sprint(" w", rapid.IntRange(0, 20).Draw(t, "word"))
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
			about, answer := text(), text()
			private := rapid.Bool().Draw(t, "private")
			if private {
				about += " p" // who remembers in public what is remembered in private stores nothing new
			}
			conversation := rapid.IntRange(-1, len(conversations)-1).Draw(t, "conversation")
			remembers := rapid.Bool().Draw(t, "remembers")
			var begun [2]string
			for k, h := range houses {
				switch {
				case private && k == 0:
				case remembers:
					h.remember(memory.Draft{ID: fmt.Sprint("m", i), Statement: about, Tier: record.TierPatterns, Private: private})
				default:
					said := chat.AppendRequest{Private: private && conversation < 0, Messages: []chat.Draft{
						{Role: record.RoleUser, Content: about, Private: private},
						{Role: record.RoleAssistant, Content: answer, Private: private},
					}}
					if conversation >= 0 {
						said.ConversationID = conversations[conversation][k]
					}
					begun[k] = h.append(said)
				}
				h.settle()
			}
			if !private && !remembers && conversation < 0 {
				conversations = append(conversations, begun)
			}
			for _, ids := range conversations {
				one, other := seen(houses[0], ids[0]), seen(houses[1], ids[1])
				if one != other {
					t.Fatalf("without private records waits\n%s\nand with them\n%s", one, other)
				}
			}
		}
	})
}

// seen returns what waits for a remote reader, by what it says.
func seen(h *passiveHouse, id string) string {
	w := h.passive.Waiting(context.Background(), h.remote, id)
	var list []string
	for _, hit := range w.Hits {
		list = append(list, hit.Text)
	}
	return strings.Join(list, "; ") + w.Why
}
