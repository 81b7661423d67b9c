package document_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// ranked opens a Ranker over the messages of a house.
func (h *house) ranked() *recall.Ranker {
	h.Helper()
	mem, err := memory.Open(h.DB, memory.Options{})
	searchtest.Must(h, err)
	return recall.New(recall.Indexes{
		Store: mem, Messages: recall.Index{Search: h.index, Source: h.source}, Message: document.Recalled,
	}, recall.Options{})
}

// TestMEM21_MessagesAreRanked pins what the ranking makes of messages as they are indexed: the share of
// the messages with the answer that are among the first.
func TestMEM21_MessagesAreRanked(t *testing.T) {
	campaign.Only(t)
	builtin, err := embed.BuiltinTable()
	searchtest.Must(t, err)
	rows := []struct {
		name   string
		stages map[string]bool
		sums   [3][3]float64 // by part
	}{
		{name: "index alone", stages: map[string]bool{recall.Support: false, recall.Speaker: false, recall.Span: false, recall.Apart: false, recall.Pairs: false}},
		{name: "as shipped"},
		{name: "support off", stages: map[string]bool{recall.Support: false}},
		{name: "speaker off", stages: map[string]bool{recall.Speaker: false}},
		{name: "apart off", stages: map[string]bool{recall.Apart: false}},
		{name: "pairs off", stages: map[string]bool{recall.Pairs: false}},
	}
	var asked [3]float64
	for n, c := range longConversations(t) {
		parts := []int{n % 2, 2} // constants are chosen on each other conversation: README.md of context/recall
		h := over(t, searchtest.Open(t, kv.InMemory), search.Options{Embedder: builtin})
		h.now = c.messages[len(c.messages)-1].CreatedAt
		id := ""
		for from := 0; from < len(c.messages); from += chat.MaxMany {
			id = h.say(id, c.messages[from:min(from+chat.MaxMany, len(c.messages))]...)
		}
		searchtest.Until(t, "vectors", func() bool { return h.index.Waiting() == 0 })
		for _, part := range parts {
			asked[part] += float64(len(c.questions))
		}
		for i := range rows {
			r := h.ranked()
			for _, q := range c.questions {
				shares := h.within(r, q, rows[i].stages)
				for _, part := range parts {
					rows[i].sums[part] = plus(rows[i].sums[part], shares)
				}
			}
		}
	}
	var out strings.Builder
	for part, name := range []string{"tune ", "check ", ""} {
		n := asked[part]
		fmt.Fprintf(&out, "%-19s recall@1 recall@5 recall@10\n", fmt.Sprintf("%s%.0f questions", name, n))
		for _, row := range rows {
			sums := row.sums[part]
			fmt.Fprintf(&out, "%-19s %8.1f %8.1f %9.1f\n", row.name, 100*sums[0]/n, 100*sums[1]/n, 100*sums[2]/n)
		}
	}
	const golden = "testdata/ranked.golden"
	if *update {
		searchtest.Must(t, os.WriteFile(golden, []byte(out.String()), 0o644))
		return
	}
	want, err := os.ReadFile(golden)
	searchtest.Must(t, err)
	if out.String() != string(want) {
		t.Errorf("messages are ranked otherwise:\n%s\nwant:\n%s", &out, want)
	}
}

func plus(a, b [3]float64) [3]float64 { return [3]float64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// within returns the share of the sources of a question among the first, the first five and the first ten.
func (h *house) within(r *recall.Ranker, q question, stages map[string]bool) (shares [3]float64) {
	h.Helper()
	var res *recall.Result
	searchtest.Until(h, "the vector of the question", func() bool {
		var err error
		res, err = r.Search(context.Background(), h.local, recall.Request{Query: q.text, Limit: 10, Kinds: []string{recall.Messages}, Stages: stages})
		searchtest.Must(h, err)
		return !strings.Contains(res.Degraded, "in time")
	})
	for i, hit := range res.Hits {
		for _, s := range q.sources {
			for k, first := range [...]int{1, 5, 10} {
				if hit.Message.Index == s && i < first {
					shares[k] += 1 / float64(len(q.sources))
				}
			}
		}
	}
	return shares
}

// TestPRIV8_ARemoteReaderIsRankedByWhatHeSees: what is private neither stands between two messages nor is
// among the hits.
func TestPRIV8_ARemoteReaderIsRankedByWhatHeSees(t *testing.T) {
	with, without := open(t), open(t)
	with.say("", user("The boiler makes a noise."), secret("The boiler is a Viessmann."), user("It is the pump of the boiler."))
	without.say("", user("The boiler makes a noise."), user("It is the pump of the boiler."))
	ask := func(h *house, v *audience.View) (list []string) {
		res, err := h.ranked().Search(t.Context(), v, recall.Request{Query: "What noise does the boiler make in winter?"})
		searchtest.Must(t, err)
		for _, hit := range res.Hits {
			list = append(list, fmt.Sprint(hit.Message.Index, " ", hit.Score, " ", hit.Text))
		}
		return list
	}
	if got, want := ask(with, with.remote), ask(without, without.remote); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("a remote reader finds %q, and without what is private %q", got, want)
	}
	if got := ask(with, with.local); len(got) != 3 {
		t.Errorf("a local reader finds %q", got)
	}
}
