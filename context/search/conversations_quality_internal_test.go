package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// conversations are the messages of long conversations, each a note, and questions about
// them.
func conversations(t *testing.T) (sets []*collection) {
	t.Helper()
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA does not say where the conversations are")
	}
	dir := filepath.Join(data, "conversations")
	of := make(map[string]*collection)
	eachLine(t, filepath.Join(dir, "conversations.jsonl"), func(line string) {
		var m struct {
			Conversation string
			Index        int
			Text         string
		}
		must(t, json.Unmarshal([]byte(line), &m))
		c := of[m.Conversation]
		if c == nil {
			c = &collection{relevant: make(map[string]map[string]float64)}
			of[m.Conversation] = c
			sets = append(sets, c)
		}
		c.docs = append(c.docs, document{fmt.Sprint("m", m.Index), fmt.Sprint("Message ", m.Index), m.Text})
	})
	eachLine(t, filepath.Join(dir, "questions.jsonl"), func(line string) {
		var q struct {
			Conversation, Question string
			Sources                []int
		}
		must(t, json.Unmarshal([]byte(line), &q))
		c := of[q.Conversation]
		id := fmt.Sprint(len(c.questions))
		c.questions = append(c.questions, question{id, q.Question})
		c.relevant[id] = make(map[string]float64)
		for _, s := range q.Sources {
			c.relevant[id][fmt.Sprint("m", s)] = 1
		}
	})
	return sets
}

// TestSRCH13_LongQuestionsOverLongTexts pins how well messages are found as notes.
func TestSRCH13_LongQuestionsOverLongTexts(t *testing.T) {
	campaign.Only(t)
	builtin, err := embed.BuiltinTable()
	must(t, err)
	names := []string{"plain BM25", "lexical", "semantic", "hybrid by rank", "hybrid"}
	of := make(map[string]*figures)
	asked := 0.0
	for _, c := range conversations(t) {
		r := openOver(t, c, builtin)
		by := func(mode Mode, fusion Fusion) func(string) []string {
			return func(text string) []string {
				r.opts.Fusion = fusion
				return strings.Split(r.findInTime(t, Request{Query: text, Mode: mode, Plain: true}), " ")
			}
		}
		answered := 0.0
		for _, q := range c.questions {
			if len(c.relevant[q.ID]) > 0 {
				answered++
			}
		}
		asked += answered
		for name, rank := range map[string]func(string) []string{
			"plain BM25": plainBM25(c.docs), "lexical": by(Lexical, ByScore), "semantic": by(Semantic, ByScore),
			"hybrid by rank": by(Hybrid, ByRank), "hybrid": by(Hybrid, ByScore),
		} {
			if of[name] == nil {
				of[name] = new(figures)
			}
			f := c.measure(rank)
			of[name].ndcg += answered * f.ndcg
			of[name].recall += answered * f.recall
			of[name].first += answered * f.first
			of[name].mrr += answered * f.mrr
		}
		must(t, r.db.Close())
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-16s nDCG@10 recall@1 recall@10 MRR\n", fmt.Sprintf("%.0f questions", asked))
	for _, name := range names {
		f := of[name]
		*f = figures{f.ndcg / asked, f.recall / asked, f.mrr / asked, f.first / asked}
		fmt.Fprintf(&table, "%-16s %.4f  %.4f   %.4f    %.4f\n", name, f.ndcg, f.first, f.recall, f.mrr)
	}
	if hybrid := of["hybrid"]; hybrid.ndcg < of["lexical"].ndcg || hybrid.ndcg < of["semantic"].ndcg ||
		hybrid.recall < of["lexical"].recall || hybrid.recall < of["semantic"].recall {
		t.Errorf("hybrid is worse than one of its lists:\n%s", &table)
	}
	pinned(t, "hybrid-conversations.golden", table.String())
}
