package recall_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// The year that is simulated: so many tasks, which come as often as Zipf's law says, so many questions a month.
const (
	yearMonths    = 10
	yearTasks     = 50
	yearQuestions = 100
	yearWorlds    = 4
)

// year is a simulated year: tasks of which several memories speak in the same words, some of them useful and most not.
type year struct {
	testing.TB
	rng      *rand.Rand
	db       *kv.Store
	mem      *memory.Store
	chat     *chat.Store
	ranker   *recall.Ranker
	stages   map[string]bool
	outcomes *learn.Scorer
	v        *audience.View
	useful   map[string]float64 // by id
	nouns    [][2]string        // of a task
	tiers    []string           // in which most of what is useful for a task is
	now      time.Time
	counter  int
}

// word makes a noun that nobody has.
func word(rng *rand.Rand) string {
	var b strings.Builder
	for range 3 {
		b.WriteByte("bdfgklmnprstvz"[rng.IntN(14)])
		b.WriteByte("aeiou"[rng.IntN(5)])
	}
	return b.String() + "k"
}

// newYear makes the world with a number, for a ranking with stages.
func newYear(t testing.TB, number uint64, stages map[string]bool) *year {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	y := &year{TB: t, rng: rand.New(rand.NewPCG(number, 7)), db: db, useful: make(map[string]float64), now: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return y.now }
	rooms := searchtest.Over(t, db, notes.Options{})
	seen := audience.Open(db, audience.Stores{Entities: rooms.Entities, Notes: rooms.Notes})
	y.v = seen.View(audience.Local)
	y.mem, err = memory.Open(db, memory.Options{
		Now: clock, Entity: entities.EntityRecords.Has, Conversation: chat.State,
		NewID: func() string { y.counter++; return fmt.Sprintf("m%05d", y.counter) },
	})
	must(t, err)
	y.chat, err = chat.Open(db, chat.Options{Now: clock, Memories: y.mem})
	must(t, err)
	src := document.New(db, y.mem, seen)
	in := recall.Indexes{Memories: recall.Index{Search: search.Open(db, src, search.Options{AtOnce: 1 << 30}), Source: src}, Store: y.mem}
	y.ranker, y.stages = recall.New(in, recall.Options{Now: clock}), stages
	y.outcomes, err = learn.OpenScorer(db, y.mem, learn.ScorerOptions{
		Now:          clock,
		Conversation: func(context.Context, *audience.View, string) bool { return true },
		Answer: func(context.Context, *audience.View, string, string) (learn.Answer, error) {
			return learn.Answer{}, nil
		},
	})
	must(t, err)
	for range yearTasks {
		y.nouns = append(y.nouns, [2]string{word(y.rng), word(y.rng)})
		y.tiers = append(y.tiers, []string{record.TierWorking, record.TierHistory, record.TierPatterns}[y.rng.IntN(3)])
	}
	for task := range yearTasks {
		for range 6 {
			y.learn(task)
		}
	}
	return y
}

func (y *year) question(task int) string {
	return fmt.Sprintf("How do I mend the %s of the %s?", y.nouns[task][0], y.nouns[task][1])
}

// learn writes a memory about a task: one of three is useful, and most of these lie in the tier of the task. One of three is
// a solution that says which question it answers, so that the worlds stay those in which more stages were tried.
func (y *year) learn(task int) {
	useful := y.rng.IntN(3) == 0
	tiers := []string{record.TierWorking, record.TierHistory, record.TierPatterns}
	tier := tiers[y.rng.IntN(3)]
	if useful && y.rng.IntN(10) < 7 {
		tier = y.tiers[task]
	}
	d := memory.Draft{Tier: tier, Kind: "lesson", Statement: fmt.Sprintf(
		"The %s of the %s needs the %s and the %s.", y.nouns[task][0], y.nouns[task][1], word(y.rng), strings.Repeat(word(y.rng)+" ", 1+y.rng.IntN(3)))}
	if y.rng.IntN(3) == 0 {
		d.Kind, d.Questions = record.MemorySolution, []string{y.question(task)}
	}
	list, err := y.mem.Add(y.Context(), y.v, []memory.Draft{d})
	must(y, err)
	y.useful[list[0].Memory.ID] = 0.15
	if useful {
		y.useful[list[0].Memory.ID] = 0.85
	}
}

// month asks the questions of a month, and tells how it went with what came first, of which a share is told wrong. It
// returns how useful that was on average.
func (y *year) month(noise float64) float64 {
	zipf := rand.NewZipf(y.rng, 1.2, 3, yearTasks-1)
	sum := 0.0
	for range yearQuestions {
		y.now = y.now.Add(7 * time.Hour)
		task := int(zipf.Uint64())
		luck, wrong := y.rng.Float64(), y.rng.Float64() < noise // drawn also where they are not needed: worlds stay alike
		res, err := y.ranker.Search(y.Context(), y.v, recall.Request{Query: y.question(task), Kinds: []string{recall.Memories}, Stages: y.stages})
		must(y, err)
		if len(res.Hits) == 0 {
			y.Fatalf("nothing answers %q", y.question(task))
		}
		id := res.Hits[0].ID
		sum += y.useful[id]
		outcome := record.OutcomeFailed
		if (luck < y.useful[id]) != wrong {
			outcome = record.OutcomeWorked
		}
		y.told(task, id, outcome)
	}
	for task := range yearTasks {
		if y.rng.IntN(10) == 0 {
			y.learn(task)
		}
	}
	return 100 * sum / yearQuestions
}

// told keeps an answer that stood on a memory, and what became of it.
func (y *year) told(task int, id, outcome string) {
	out, err := y.chat.Append(y.Context(), y.v, chat.AppendRequest{Messages: []chat.Draft{
		{Role: record.RoleUser, Content: y.question(task)}, {Role: record.RoleAssistant, Content: "Thus."},
	}})
	must(y, err)
	refs, err := json.Marshal([]record.ChatReference{{MemoryID: id}})
	must(y, err)
	must(y, y.db.Update(y.Context(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, out.ConversationID+"/") {
			if m.Role != record.RoleAssistant {
				continue
			}
			named := *m
			named.Members = map[string]json.RawMessage{"references": refs}
			if err := chat.Messages.Put(tx, key, &named); err != nil {
				return err
			}
		}
		return tx.Err()
	}))
	_, err = y.mem.Use(y.Context(), y.v, []string{id})
	must(y, err)
	answer := out.Messages[1].ID
	must(y, y.outcomes.Answered(y.Context(), y.v, out.ConversationID, answer, []string{id}))
	_, err = y.outcomes.Response(y.Context(), y.v, learn.AnswerOutcome{ConversationID: out.ConversationID, MessageID: answer, Outcome: outcome})
	must(y, err)
}

// yearStages are the rankings that are compared.
var yearStages = [][]string{nil, {recall.Outcome}}

// yearNoises are the shares of what people tell wrongly.
var yearNoises = []float64{0, 0.2, 0.4}

// result is how useful the first memory is, of 100, in the first and in the last month of a year.
type result struct{ first, last float64 }

func (r result) String() string { return fmt.Sprintf("%.1f → %.1f", r.first, r.last) }

// live lives through a year in each world.
func live(t *testing.T, names []string, noise float64) (r result) {
	t.Helper()
	stages := map[string]bool{recall.Outcome: slices.Contains(names, recall.Outcome)}
	for number := range uint64(yearWorlds) {
		y := newYear(t, number, stages)
		for month := range yearMonths {
			useful := y.month(noise)
			switch month {
			case 0:
				r.first += useful / yearWorlds
			case yearMonths - 1:
				r.last += useful / yearWorlds
			}
		}
	}
	return r
}

// TestMEM24_AYearOfLearning measures what the stage outcome makes of a year in which people tell how answers went, a part of them
// wrongly. The table decides whether it is on. It takes minutes, so that only two of its cells are looked at unless it is
// made anew.
func TestMEM24_AYearOfLearning(t *testing.T) {
	campaign.Only(t)
	golden := filepath.Join("testdata", "year.golden")
	if *update {
		must(t, os.WriteFile(golden, []byte(years(t)), 0o644))
	}
	table, err := os.ReadFile(golden)
	must(t, err)
	for _, c := range []struct {
		names []string
		noise float64
		at    int
	}{{nil, 0, 0}, {[]string{recall.Outcome}, 0.2, 1}} {
		got := live(t, c.names, c.noise).String()
		for line := range strings.SplitSeq(string(table), "\n") {
			cells := strings.Split(line, "|")
			if strings.TrimSpace(cells[0]) != titleOf(c.names) {
				continue
			}
			if want := strings.TrimSpace(cells[1+c.at]); got != want {
				t.Errorf("%s at %.1f: %s, and the table has %s; run with -update and look at the difference", titleOf(c.names), c.noise, got, want)
			}
		}
	}
}

func titleOf(names []string) string { return cmp.Or(strings.Join(names, " "), "none") }

// years is the table.
func years(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# How useful the first memory is on average, of 100, in the first and in the tenth month of a simulated year, while a\n" +
		"# share of what people tell of answers is wrong. go test ./context/recall -run AYearOfLearning -update (it takes minutes)\n")
	fmt.Fprintf(&b, "%-34s|%14s |%14s |%14s\n", "# stages", "0 % wrong", "20 % wrong", "40 % wrong")
	none := live(t, nil, 0) // nothing of it depends on what is told
	var worse []string
	for _, names := range yearStages {
		fmt.Fprintf(&b, "%-34s", titleOf(names))
		for i, noise := range yearNoises {
			r := none
			if len(names) > 0 {
				r = live(t, names, noise)
			}
			if r.last < none.last-1 {
				worse = append(worse, fmt.Sprintf("%s at %.0f %%", titleOf(names), 100*noise))
			}
			fmt.Fprintf(&b, "|%14s ", r)
			if i == len(yearNoises)-1 {
				b.WriteString("\n")
			}
		}
	}
	fmt.Fprintf(&b, "# Worse in the tenth month than without learning, by more than one: %s.\n", cmp.Or(strings.Join(worse, ", "), "none"))
	return strings.ReplaceAll(b.String(), " \n", "\n")
}
