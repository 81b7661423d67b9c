package recall_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/fixtures/facts"
)

var update = flag.Bool("update", false, "write testdata anew")

// question is one of a labelled set.
type question struct {
	text            string
	relevant, stale []string
	any             bool // each of relevant answers alone
}

// figures are how well a ranking does.
type figures struct {
	questions, first, five, ten, mrr, ndcg float64
	newest, stale                          int
}

// take adds a question with the ids that were found for it, best first.
func (f *figures) take(q question, found []string) {
	f.questions++
	place := func(list []string) int {
		return slices.IndexFunc(found, func(id string) bool { return slices.Contains(list, id) })
	}
	within := func(k int) float64 {
		n := 0
		for _, id := range found[:min(k, len(found))] {
			if slices.Contains(q.relevant, id) {
				n++
			}
		}
		if q.any {
			return float64(min(n, 1))
		}
		return float64(n) / float64(len(q.relevant))
	}
	f.first += within(1)
	f.five += within(5)
	f.ten += within(10)
	best := place(q.relevant)
	if best >= 0 && best < 10 {
		f.mrr += 1 / float64(best+1)
	}
	gain, ideal := 0.0, 0.0
	for i, id := range found[:min(5, len(found))] {
		if slices.Contains(q.relevant, id) {
			gain += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(5, len(q.relevant)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	f.ndcg += gain / ideal
	if len(q.stale) > 0 {
		f.stale++
		old := place(q.stale)
		if best >= 0 && best < 10 && (old < 0 || best < old) {
			f.newest++
		}
	}
}

func (f *figures) String() string {
	share := func(x float64) float64 { return 100 * x / f.questions }
	return fmt.Sprintf("%8.1f %8.1f %9.1f %6.3f %7.3f %8s", share(f.first), share(f.five), share(f.ten), f.mrr/f.questions,
		f.ndcg/f.questions, fmt.Sprintf("%d/%d", f.newest, f.stale))
}

const heading = "recall@1 recall@5 recall@10    MRR  nDCG@5   newest"

// ways are the rows of a table of figures: all stages off, as they are by default, and each the other way.
func ways(of ...string) (names []string, stages []map[string]bool) {
	off := make(map[string]bool)
	for _, s := range recall.Stages {
		off[s.Name] = false
	}
	names, stages = []string{"index alone", "as shipped"}, []map[string]bool{off, nil}
	for _, s := range recall.Stages {
		if !slices.Contains(of, s.Name) {
			continue
		}
		state := "on"
		if s.On {
			state = "off"
		}
		names = append(names, s.Name+" "+state)
		stages = append(stages, map[string]bool{s.Name: !s.On})
	}
	return names, stages
}

// golden compares a table with the one in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("write it anew with -update if it should be so:\n%s\nwant\n%s", got, want)
	}
}

// factsHouse holds the memories of the labelled set.
func factsHouse(t *testing.T) (*house, facts.Set) {
	t.Helper()
	return factsHouseWith(t, nil)
}

// factsHouseWith is factsHouse with an encoder of words, unless it is nil.
func factsHouseWith(t *testing.T, words embed.TokenEmbedder) (*house, facts.Set) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	set, err := facts.Load()
	must(t, err)
	e, err := embed.BuiltinTable()
	must(t, err)
	var records []*memory.Record
	for i, m := range set.Memories {
		records = append(records, recordOf(m, i+1))
	}
	return openWith(t, search.Options{Embedder: e, Words: words}, records, nil), set
}

// inMemories leaves out the references of messages.
func inMemories(refs []string) []string {
	return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool { return strings.Contains(ref, "#") })
}

// factQuestions are the questions of a part, or of tune and check for "", that a memory answers.
func factQuestions(set facts.Set, part string) (list []question) {
	for _, q := range set.Questions {
		relevant := inMemories(q.Relevant)
		if len(relevant) > 0 && (part == "" && q.Part != facts.Held || q.Part == part) {
			list = append(list, question{q.Text, relevant, inMemories(q.Stale), true})
		}
	}
	return list
}

// asked returns the ids that are found for a question.
func (h *house) asked(r *recall.Ranker, q question, stages map[string]bool) []string {
	var ids []string
	for _, hit := range ask(h, r, h.local, recall.Request{Query: q.text, Limit: 10, Stages: stages}).Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

// plainBM25 measures the ranking that others start from.
func plainBM25(texts, ids []string, questions []question) (f figures) {
	c := embedtest.Collection{Texts: texts}
	for _, q := range questions {
		c.Questions = append(c.Questions, q.text)
	}
	for i, order := range embedtest.BM25(c) {
		var found []string
		for _, d := range order[:min(10, len(order))] {
			found = append(found, ids[d])
		}
		f.take(questions[i], found)
	}
	return f
}

// TestMEM20_WhichStagesPay pins what each stage is worth for facts.
func TestMEM20_WhichStagesPay(t *testing.T) {
	campaign.Only(t)
	h, set := factsHouse(t)
	var b strings.Builder
	var texts, ids []string
	for _, m := range set.Memories {
		texts, ids = append(texts, m.Statement), append(ids, m.ID)
	}
	names, stages := ways(recall.Span, recall.Newest, recall.Recent, recall.Diversity)
	for _, part := range []string{facts.Tune, facts.Check, ""} {
		questions := factQuestions(set, part)
		fmt.Fprintf(&b, "%-16s %s\n", strings.TrimSpace(fmt.Sprint(part, " ", len(questions))), heading)
		f := plainBM25(texts, ids, questions)
		fmt.Fprintf(&b, "%-16s %s\n", "plain BM25", &f)
		for i, name := range names {
			r := h.ranker(recall.Options{})
			var f figures
			for _, q := range questions {
				f.take(q, h.asked(r, q, stages[i]))
			}
			fmt.Fprintf(&b, "%-16s %s\n", name, &f)
			if name == "as shipped" && part == "" && f.newest*100 < 85*f.stale {
				t.Errorf("the newest comes first in %d of %d, and the goal is 85 %%", f.newest, f.stale)
			}
		}
	}
	golden(t, "stages.golden", b.String())
}

// TestMEM33_ConfidenceIsCalibrated pins how sure the search is of questions with an answer and without.
func TestMEM33_ConfidenceIsCalibrated(t *testing.T) {
	h, set := factsHouse(t)
	golden(t, "confidence.golden", confidences(t, h, set))
}

// TestSRCH46_FactsWithTheEncoder pins how well memories are ranked, and how sure a search of them is, where the encoder compares
// words.
func TestSRCH46_FactsWithTheEncoder(t *testing.T) {
	campaign.Only(t)
	encoder, err := embed.BuiltinEncoder()
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("the figures are those of amd64", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %s\n", "", heading)
	for _, words := range []embed.TokenEmbedder{nil, encoder} {
		name := "by the encoder"
		if words == nil {
			name = "by the table"
		}
		h, set := factsHouseWith(t, words)
		r := h.ranker(recall.Options{})
		for _, part := range []string{facts.Tune, facts.Check, facts.Held} {
			var f figures
			for _, q := range factQuestions(set, part) {
				f.take(q, h.asked(r, q, nil))
			}
			fmt.Fprintf(&b, "%-22s %s\n", name+", "+part, &f)
		}
		if words != nil {
			b.WriteString("\n" + confidences(t, h, set))
		}
	}
	golden(t, "encoder.golden", b.String())
}

// confidences counts how sure a search is of the labelled questions.
func confidences(t *testing.T, h *house, set facts.Set) string {
	t.Helper()
	r := h.ranker(recall.Options{})
	counts := make(map[string]map[string]int)
	count := func(part, kind, text string) {
		res := ask(t, r, h.local, recall.Request{Query: text})
		if counts[part+" "+kind] == nil {
			counts[part+" "+kind] = make(map[string]int)
		}
		counts[part+" "+kind][res.Confidence]++
	}
	all := []string{facts.Tune, facts.Check, facts.Held}
	for _, part := range all {
		for _, q := range factQuestions(set, part) {
			count(part, "answered", q.text)
		}
	}
	for _, q := range set.Unanswered {
		kind := "unanswered"
		if q.Near {
			kind = "nearly"
		}
		count(q.Part, kind, q.Text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s %5s %6s %4s\n", "", "high", "medium", "low")
	for _, part := range all {
		for _, kind := range []string{"answered", "nearly", "unanswered"} {
			c := counts[part+" "+kind]
			fmt.Fprintf(&b, "%-18s %5d %6d %4d\n", part+" "+kind, c[search.High], c[search.Medium], c[search.Low])
		}
	}
	return b.String()
}

// TestMEM21_WhichStagesPayForMessages pins what the stages of messages are worth, in eight conversations
// of which each is searched alone.
func TestMEM21_WhichStagesPayForMessages(t *testing.T) {
	campaign.Only(t)
	spoken, questions := conversations(t)
	e, err := embed.BuiltinTable()
	must(t, err)
	names, stages := ways(recall.Apart, recall.Pairs, recall.Support, recall.Speaker, recall.Span, recall.Recent)
	parts := []string{facts.Tune, facts.Check, ""}
	sums := make(map[string][]figures)
	for _, part := range parts {
		sums[part] = make([]figures, len(names)+1)
	}
	add := func(i int, part string, f figures) {
		sums[part][i].add(f)
		sums[""][i].add(f)
	}
	for n, list := range spoken {
		of, part := questions[list[0].Conversation], partOf(n)
		var texts, ids []string
		for _, m := range list {
			texts, ids = append(texts, m.text), append(ids, m.id)
		}
		add(0, part, plainBM25(texts, ids, of))
		h := open(t, e, nil, list)
		for i := range names {
			r := h.ranker(recall.Options{})
			var f figures
			for _, q := range of {
				f.take(q, h.asked(r, q, stages[i]))
			}
			add(i+1, part, f)
		}
	}
	var b strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&b, "%-19s %s\n", strings.TrimSpace(fmt.Sprintf("%s %.0f questions", part, sums[part][0].questions)), heading)
		for i, name := range slices.Concat([]string{"plain BM25"}, names) {
			fmt.Fprintf(&b, "%-19s %s\n", name, &sums[part][i])
		}
	}
	golden(t, "messages.golden", b.String())
}

// partOf is the part of the n-th of the long conversations: constants are chosen on the first, third, fifth
// and seventh, and checked on the others.
func partOf(n int) string {
	if n%2 == 0 {
		return facts.Tune
	}
	return facts.Check
}

func (f *figures) add(g figures) {
	f.questions += g.questions
	f.first += g.first
	f.five += g.five
	f.ten += g.ten
	f.mrr += g.mrr
	f.ndcg += g.ndcg
	f.newest += g.newest
	f.stale += g.stale
}

// conversations are the messages of long conversations, and the questions about each that have an answer.
func conversations(t testing.TB) (spoken [][]said, questions map[string][]question) {
	t.Helper()
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA does not say where the conversations are")
	}
	dir := filepath.Join(data, "conversations")
	embedtest.EachLine(t, filepath.Join(dir, "conversations.jsonl"), func(line string) {
		var m struct {
			Conversation     string
			Index            int
			Role, Date, Text string
		}
		must(t, json.Unmarshal([]byte(line), &m))
		day, err := time.Parse(time.DateOnly, m.Date)
		must(t, err)
		if n := len(spoken); n == 0 || spoken[n-1][0].Conversation != m.Conversation {
			spoken = append(spoken, nil)
		}
		last := &spoken[len(spoken)-1]
		*last = append(*last, said{
			Message: recall.Message{
				Conversation: m.Conversation, Index: m.Index, Role: m.Role,
				CreatedAt: day.Add(time.Duration(m.Index) * time.Second),
			},
			id: fmt.Sprint(m.Conversation, "#", m.Index), text: m.Text,
		})
	})
	questions = make(map[string][]question)
	embedtest.EachLine(t, filepath.Join(dir, "questions.jsonl"), func(line string) {
		var q struct {
			Conversation, Question string
			Sources, Stale         []int
		}
		must(t, json.Unmarshal([]byte(line), &q))
		ids := func(list []int) (out []string) {
			for _, i := range list {
				out = append(out, fmt.Sprint(q.Conversation, "#", i))
			}
			return out
		}
		if len(q.Sources) > 0 {
			questions[q.Conversation] = append(questions[q.Conversation], question{
				text: q.Question, relevant: ids(q.Sources), stale: ids(q.Stale),
			})
		}
	})
	return spoken, questions
}
