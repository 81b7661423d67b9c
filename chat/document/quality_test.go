package document_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
)

var update = flag.Bool("update", false, "write the golden files")

// eachLine decodes the lines of a file of the test data.
func eachLine[T any](t *testing.T, name string, visit func(T)) {
	t.Helper()
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA does not say where the conversations are")
	}
	f, err := os.Open(filepath.Join(data, "conversations", name))
	searchtest.Must(t, err)
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		searchtest.Must(t, json.Unmarshal(lines.Bytes(), &v))
		visit(v)
	}
	searchtest.Must(t, lines.Err())
}

// long is a conversation with questions about it.
type long struct {
	messages  []chat.Draft
	questions []question
}

type question struct {
	text    string
	sources []int // indexes from 1
}

func longConversations(t *testing.T) []*long {
	t.Helper()
	of := make(map[string]*long)
	var list []*long
	eachLine(t, "conversations.jsonl", func(line struct{ Conversation, Role, Date, Text string }) {
		c := of[line.Conversation]
		if c == nil {
			c = new(long)
			of[line.Conversation] = c
			list = append(list, c)
		}
		at, err := time.Parse(time.DateOnly, line.Date)
		searchtest.Must(t, err)
		c.messages = append(c.messages, chat.Draft{Role: line.Role, Content: line.Text, CreatedAt: at})
	})
	eachLine(t, "questions.jsonl", func(line struct {
		Conversation, Question string
		Sources                []int
	},
	) {
		if len(line.Sources) == 0 {
			return
		}
		q := question{text: line.Question}
		for _, s := range line.Sources {
			q.sources = append(q.sources, s+1)
		}
		c := of[line.Conversation]
		c.questions = append(c.questions, q)
	})
	return list
}

// figures are sums over questions.
type figures struct{ ndcg, recall, first, asked float64 }

// add takes in the indexes of the messages that a question found.
func (f *figures) add(q question, found []int) {
	relevant := make(map[int]bool)
	for _, s := range q.sources {
		relevant[s] = true
	}
	gain, best, hits := 0.0, 0.0, 0.0
	for i := range min(10, len(relevant)) {
		best += 1 / math.Log2(float64(i)+2)
	}
	for i, index := range found {
		if !relevant[index] {
			continue
		}
		gain += 1 / math.Log2(float64(i)+2)
		hits++
		if i == 0 {
			f.first++
		}
	}
	f.ndcg += gain / best
	f.recall += hits / float64(len(relevant))
	f.asked++
}

// TestMEM13_LongConversations pins how well messages are found.
func TestMEM13_LongConversations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	builtin, err := embed.BuiltinTable()
	searchtest.Must(t, err)
	modes := []search.Mode{search.Lexical, search.Semantic, search.Hybrid}
	of := make([]figures, len(modes))
	for _, c := range longConversations(t) {
		h := over(t, searchtest.Open(t, kv.InMemory), search.Options{Embedder: builtin})
		h.now = c.messages[len(c.messages)-1].CreatedAt
		id := ""
		for from := 0; from < len(c.messages); from += chat.MaxMany {
			id = h.say(id, c.messages[from:min(from+chat.MaxMany, len(c.messages))]...)
		}
		searchtest.Until(t, "vectors", func() bool { return h.index.Waiting() == 0 })
		for _, q := range c.questions {
			for i, mode := range modes {
				res, err := h.index.Search(t.Context(), search.Request{Query: q.text, Mode: mode, Limit: 10, Plain: true})
				searchtest.Must(t, err)
				var found []int
				for _, hit := range res.Hits {
					_, m := document.Message(hit.Doc)
					found = append(found, m.Index)
				}
				of[i].add(q, found)
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%-16s nDCG@10 first  recall@10\n", fmt.Sprintf("%.0f questions", of[0].asked))
	for i, name := range []string{"lexical", "semantic", "hybrid"} {
		f := of[i]
		fmt.Fprintf(&out, "%-16s %.4f  %.4f %.4f\n", name, f.ndcg/f.asked, f.first/f.asked, f.recall/f.asked)
	}
	const golden = "testdata/quality.golden"
	if *update {
		searchtest.Must(t, os.MkdirAll("testdata", 0o755))
		searchtest.Must(t, os.WriteFile(golden, []byte(out.String()), 0o644))
		return
	}
	want, err := os.ReadFile(golden)
	searchtest.Must(t, err)
	if out.String() != string(want) {
		t.Errorf("messages are found otherwise:\n%s\nwant:\n%s", &out, want)
	}
}
