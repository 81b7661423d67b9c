package gather_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
)

// thingType is the type of the standard entities: 8 fields, 2 of them
// references, and a computed field, which is how lists of what refers to a
// record are had.
var thingType = entities.Type{Name: "Project", Fields: []entities.Field{
	{Name: "status", Type: record.Select, Options: []string{"open", "active", "blocked", "done"}},
	{Name: "score", Type: record.Number},
	{Name: "since", Type: record.Date},
	{Name: "done", Type: record.Boolean},
	{Name: "tags", Type: record.TextList},
	{Name: "note", Type: record.Text},
	{Name: "lead", Type: record.EntityRef},
	{Name: "parent", Type: record.EntityRef},
	{Name: "leads", Type: record.Computed, Query: "SELECT p FROM Project WHERE p.lead = {this}"},
}}

// things writes n standard entities and returns their names. The i-th has the
// id thing-i.
func (w *world) things(b *testing.B, n int) (names []string) {
	b.Helper()
	if _, _, err := w.ents.PutType(ctx, thingType, nil, false); err != nil {
		b.Fatal(err)
	}
	ids := make(map[string]string, n)
	var list []entities.Entity
	for t := range fixtures.StandardThings(n) {
		e := entities.Entity{ID: fmt.Sprintf("thing-%d", len(ids)), Type: thingType.Name, Name: t.Name, Fields: t.Fields}
		for _, ref := range []string{"lead", "parent"} {
			e.Fields[ref] = ids[e.Fields[ref].(string)]
			if e.Fields[ref] == "" {
				delete(e.Fields, ref)
			}
		}
		ids[t.Name] = e.ID
		names = append(names, t.Name)
		list = append(list, e)
		if len(list) == entities.MaxMany || len(ids) == n {
			if _, err := w.ents.PutMany(ctx, list); err != nil {
				b.Fatal(err)
			}
			list = list[:0]
		}
	}
	return names
}

// documents writes n standard notes and returns the titles of the first few.
func (w *world) documents(b *testing.B, n, few int) (titles []string) {
	b.Helper()
	var list []notes.Draft
	i := 0
	for d := range fixtures.StandardDocuments(n) {
		i++
		if i <= few {
			titles = append(titles, d.Title)
		}
		list = append(list, notes.Draft{Body: d.Body})
		if len(list) == entities.MaxMany || i == n {
			if _, err := w.notes.PutMany(ctx, list); err != nil {
				b.Fatal(err)
			}
			list = list[:0]
		}
	}
	return titles
}

// mentionSets is how many sets of mentions take turns: enough that what they
// show does not stay in the processor's caches.
const mentionSets = 64

// mentioned returns the numbers of the entities that the i-th question over n
// entities mentions. They lie at the same place of the whole for every n, so
// about as many others refer to them.
func mentioned(i, n int) (numbers [5]int) {
	for j := range numbers {
		numbers[j] = n/40 + (i*5+j)*(n/3000)
	}
	return numbers
}

// assembles reports the time that half of the prompts took at most: the mean is
// at the mercy of what else the machine does.
func assembles(b *testing.B, w *world, params []gather.Params) {
	b.Helper()
	for _, p := range params { // fills the caches
		if _, err := w.assembled(ctx, w.gather, p); err != nil {
			b.Fatal(err)
		}
	}
	var took []time.Duration
	chars := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		res, err := w.assembled(ctx, w.gather, params[i%len(params)])
		took = append(took, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		if len(res.Report.Sections) == 0 {
			b.Fatalf("nothing is found: %+v", res.Report.Dropped)
		}
		chars += res.Report.Chars
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(chars)/float64(len(took)), "chars")
}

// BenchmarkMentions is CTX-35: 5 mentions over 20,000 entities with the default
// budgets, which they fill, by id and by name in the text.
func BenchmarkMentions(b *testing.B) {
	const n = 20_000
	w := newWorld(b)
	names := w.things(b, n)
	var byID, byName []gather.Params
	for i := range mentionSets {
		var ids, mentions []string
		for _, number := range mentioned(i, n) {
			ids, mentions = append(ids, fmt.Sprintf("thing-%d", number)), append(mentions, "@"+names[number])
		}
		byID = append(byID, gather.Params{MentionedEntityIDs: ids})
		byName = append(byName, gather.Params{Text: "What do " + strings.Join(mentions, ", ") + " have in common?"})
	}
	b.Run("ids", func(b *testing.B) { assembles(b, w, byID) })
	b.Run("text", func(b *testing.B) { assembles(b, w, byName) })
}

// BenchmarkGrowth is PERF-16 for prompts: the same questions over ten times the
// notes and entities. Each mentions 5 entities by name and pins 2 notes.
func BenchmarkGrowth(b *testing.B) {
	for _, size := range []struct{ notes, things int }{{10_000, 20_000}, {100_000, 200_000}} {
		b.Run(fmt.Sprint(size.notes), func(b *testing.B) {
			w := newWorld(b)
			names := w.things(b, size.things)
			titles := w.documents(b, size.notes, 2*mentionSets)
			var params []gather.Params
			for i := range mentionSets {
				text := fmt.Sprintf("What do [[%s]] and [[%s]] say of", titles[2*i], titles[2*i+1])
				for _, number := range mentioned(i, size.things) {
					text += " @" + names[number] + ","
				}
				params = append(params, gather.Params{Text: text})
			}
			assembles(b, w, params)
		})
	}
}

// BenchmarkCTX41_Focus makes the prompt of a follow-up with eight turns before it, whose answers have 1,000 characters: beside one
// that names the same records itself, so that the difference is what finding the focus takes.
func BenchmarkCTX41_Focus(b *testing.B) {
	w := sample(b)
	named := "[[Project Alpha]], [[Returns Process]] and @Alice Novak"
	var said []prompt.HistoryMessage
	for range prompt.HistoryTurns {
		said = append(said, prompt.HistoryMessage{Role: "user", Text: "What about " + named + "?"},
			prompt.HistoryMessage{Role: "assistant", Text: strings.Repeat("As [[Project Alpha]] says, the scale stands under the hive. ", 17)})
	}
	for _, reader := range []string{gather.Local, gather.Remote} {
		for name, p := range map[string]gather.Params{
			"named": {Text: "When is it due, " + named + "?", Audience: reader}, "followed": {Text: "and when is it due?", History: said, Audience: reader},
		} {
			b.Run(reader+"/"+name, func(b *testing.B) {
				for b.Loop() {
					w.assemble(b, p)
				}
			})
		}
	}
}
