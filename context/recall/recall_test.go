package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/facts"
)

// fact is a memory that was written down so many days ago.
func fact(id, statement string, daysAgo int) *memory.Record {
	at := facts.Now.AddDate(0, 0, -daysAgo)
	return recordOf(facts.Memory{
		ID: id, Tier: record.TierBank, Kind: record.MemoryFact, Statement: statement, Status: record.MemoryActive,
		Importance: 0.7, Confidence: 0.7, CreatedAt: at, UpdatedAt: at,
	}, len(id)*1000+daysAgo)
}

// ids of hits, best first.
func ids(res *recall.Result) string {
	var list []string
	for _, h := range res.Hits {
		list = append(list, h.ID)
	}
	return strings.Join(list, " ")
}

func expect(t *testing.T, what string, res *recall.Result, want string) {
	t.Helper()
	if got := ids(res); got != want {
		t.Errorf("%s: found %q, want %q", what, got, want)
	}
}

func bags() embed.Embedder { return &embedtest.Bags{Name: "b"} }

func TestMEM20_HitsAreScoredInHundredths(t *testing.T) {
	h := open(t, bags(), []*memory.Record{
		fact("swim", "I swim in the lake on Sundays.", 3), fact("lake", "The lake freezes in January.", 2),
		fact("tea", "I drink green tea.", 1),
	}, nil)
	res := ask(t, h.ranker(recall.Options{}), h.local, recall.Request{Query: "swim in the lake", Explain: true})
	expect(t, "both with the lake", res, "swim lake")
	for _, hit := range res.Hits {
		if hit.Score <= 0 || hit.Score > 1 || hit.Score != math.Round(hit.Score*100)/100 {
			t.Errorf("%s has the score %v", hit.ID, hit.Score)
		}
		if hit.Text != hit.Memory.Statement || len(hit.Ranges) == 0 || hit.Signals[0].Name != "relevance" {
			t.Errorf("%+v", hit)
		}
	}
	if len(res.Stages) != len(recall.Stages) || res.Stages[0].Name != recall.Stages[0].Name {
		t.Errorf("stages %+v", res.Stages)
	}
	one := ask(t, h.ranker(recall.Options{}), h.local, recall.Request{Query: "swim in the lake", Limit: 1})
	expect(t, "the limit", one, "swim")
	if one.Stages != nil || one.Hits[0].Signals != nil {
		t.Error("it explains unasked")
	}
	expect(t, "minScore", ask(t, h.ranker(recall.Options{}), h.local, recall.Request{
		Query: "swim in the lake", MinScore: res.Hits[0].Score,
	}), "swim")
}

func TestMEM20_WhatThereIsNotIsRefused(t *testing.T) {
	h := open(t, nil, nil, nil)
	r := h.ranker(recall.Options{})
	for field, req := range map[string]recall.Request{
		"query": {Query: " "}, "limit": {Query: "a", Limit: 51}, "sort": {Query: "a", Sort: "size"},
		"kinds[0]": {Query: "a", Kinds: []string{"notes"}}, "stages": {Query: "a", Stages: map[string]bool{"luck": true}},
		"tiers[0]": {Query: "a", Memories: memory.Filter{Tiers: []string{"none"}}},
	} {
		_, err := r.Search(t.Context(), h.local, req)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Field != field || f.Hint == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestMEM25_WhatTheQuestionNamesIsFavoured(t *testing.T) {
	about := fact("b", "He likes strong coffee.", 2)
	about.EntityIDs = []string{"milo"}
	h := open(t, nil, []*memory.Record{fact("a", "She likes weak coffee.", 2), about}, nil)
	_, _, err := h.Entities.PutType(t.Context(), entities.Type{Name: "Person"}, nil, false)
	must(t, err)
	_, err = h.Entities.Put(t.Context(), entities.Entity{ID: "milo", Type: "Person", Name: "Milo"}, nil)
	must(t, err)
	r := h.ranker(recall.Options{})
	res := ask(t, r, h.local, recall.Request{Query: "Which coffee for Milo?", Explain: true})
	expect(t, "named", res, "b a")
	if !slices.Equal(res.Understood.Entities, []string{"milo"}) || res.Hits[0].Signals[1].Name != recall.Entity {
		t.Errorf("%+v, signals %v", res.Understood, res.Hits[0].Signals)
	}
	expect(t, "not named", ask(t, r, h.local, recall.Request{Query: "Which coffee for Anna?"}), "a b")
}

func TestMEM28_TheNewerTakesThePlaceOfTheOlder(t *testing.T) {
	h := open(t, bags(), []*memory.Record{
		fact("old", "The gate code is 4711.", 300), fact("new", "The code of the new gate is now 1204, they say.", 20),
		fact("other", "Ida has shoes of size 31.", 10),
	}, nil)
	r := h.ranker(recall.Options{})
	req := recall.Request{Query: "the gate code is"}
	res := ask(t, r, h.local, req)
	expect(t, "newest", res, "new old")
	if res.Hits[0].OlderThan != "" || res.Hits[1].OlderThan != "new" {
		t.Errorf("olderThan %q and %q", res.Hits[0].OlderThan, res.Hits[1].OlderThan)
	}
	req.Stages = map[string]bool{recall.Newest: false}
	expect(t, "off", ask(t, r, h.local, req), "old new")
	month := facts.Now.AddDate(0, 0, -300).Format("January 2006")
	expect(t, "asked for then", ask(t, r, h.local, recall.Request{Query: "the gate code is, in " + month}), "old new")
}

// TestMEM28_OfTwoThingsNoneIsOlder: what is said in nearly the same words of another thing is no news of the first, and
// what is said of the same thing is.
func TestMEM28_OfTwoThingsNoneIsOlder(t *testing.T) {
	e, err := embed.BuiltinTable()
	must(t, err)
	for _, c := range []struct {
		old, now, question string
		news               bool
	}{
		{"The red car's tyre size is 195.", "The blue car's tyre size is 205.", "What is the tyre size of the red car?", false},
		{"The tyre size of my red car is 195/65", "The tyre size of my blue car is 205/55", "red car tyre size", false},
		{"Ida wears shoes of size 31.", "Jonas wears shoes of size 35.", "What is Ida's shoe size?", false},
		{"The code of the gate is 4711.", "The code of the shed is 1204.", "What is the code of the gate?", false},
		{"The kitchen lamp takes a 40 watt bulb.", "The hall lamp takes a 60 watt bulb.", "Which bulb for the kitchen lamp?", false},
		{"My brother's birthday is on 3 May.", "My sister's birthday is on 9 June.", "When is my brother's birthday?", false},
		{"The train to London leaves at 7:15.", "The train to Cardiff leaves at 8:40.", "When does the train to London leave?", false},
		{"The red car's tyre size is 195.", "The red car's tyre size is 205.", "What is the tyre size of the red car?", true},
		{"The code of the gate is 4711.", "The gate's code is now 1204.", "What is the code of the gate?", true},
		{"I train on Mondays.", "I train on Thursdays.", "When do I train?", true},
		{"My boss is Anna.", "My boss is Tom.", "Who is my boss?", true},
		{"I pay 900 pounds of rent since March.", "I pay 950 pounds of rent since June.", "How much rent do I pay?", true},
		{"I drink two cups of coffee a day.", "I drink three cups of tea a day, no coffee.", "How much coffee do I drink?", true},
	} {
		h := open(t, e, []*memory.Record{fact("old", c.old, 300), fact("new", c.now, 20)}, nil)
		hits := ask(t, h.ranker(recall.Options{}), h.local, recall.Request{Query: c.question}).Hits
		at := slices.IndexFunc(hits, func(hit recall.Hit) bool { return hit.ID == "old" })
		if at < 0 || (hits[at].OlderThan == "new") != c.news || !c.news && at > 0 {
			t.Errorf("%q: of %q and %q the first is at %d of %+v", c.question, c.old, c.now, at, hits)
		}
	}
}

// oracle is a reranker that finds one word good, and everything else bad.
type oracle struct {
	word   string
	remote bool
	fail   error
	wait   bool
	read   []string
}

func (o *oracle) Rerank(ctx context.Context, _ string, texts []string) ([]float32, error) {
	o.read = texts
	if o.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := make([]float32, len(texts))
	for i, text := range texts {
		out[i] = -9
		switch {
		case text == "":
			out[i] = embed.NoScore()
		case strings.Contains(text, o.word):
			out[i] = 9
		}
	}
	return out, o.fail
}

func (o *oracle) Status() embed.Status { return embed.Status{Remote: o.remote} }
func (o *oracle) Close() error         { return nil }

func someFacts(n int) (list []*memory.Record) {
	for i := range n {
		list = append(list, fact(fmt.Sprintf("f%02d", i), fmt.Sprintf("Colour number %d is mixed of paint.", 100+i), i+1))
	}
	return list
}

func TestMEM30_ARerankerIsAskedForTheBest(t *testing.T) {
	h := open(t, nil, someFacts(40), nil)
	o := &oracle{word: "125"}
	r := h.ranker(recall.Options{Reranker: o})
	req := recall.Request{Query: "colour of paint", Limit: 3}
	if res := ask(t, r, h.local, req); res.Hits[0].ID != "f25" || len(o.read) != 30 {
		t.Errorf("found %s, read %d", ids(res), len(o.read))
	}
	o.read = nil
	req.Limit = 20
	ask(t, r, h.local, req)
	if o.read != nil {
		t.Error("it is asked for few hits")
	}
}

func TestMEM34_AStageThatFailsIsSkippedAndNamed(t *testing.T) {
	h := open(t, nil, someFacts(40), nil)
	req := recall.Request{Query: "colour of paint", Limit: 3, Explain: true}
	want := ids(ask(t, h.ranker(recall.Options{}), h.local, req))
	for why, o := range map[string]*oracle{
		"is broken":              {fail: fault.New(fault.Unavailable, "the reranker is broken")},
		"did not answer in time": {wait: true},
	} {
		r := h.ranker(recall.Options{Reranker: o, RerankTimeout: time.Millisecond})
		res, err := r.Search(t.Context(), h.local, req)
		must(t, err)
		expect(t, why, res, want)
		i := slices.IndexFunc(res.Stages, func(a recall.Applied) bool { return a.Name == recall.Rerank })
		if !contains(res.Degraded, why) || !contains(res.Degraded, recall.Rerank) || !contains(res.Stages[i].Skipped, why) {
			t.Errorf("degraded %q, stage %+v", res.Degraded, res.Stages[i])
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.ranker(recall.Options{}).Search(over, h.local, req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMEM34_WithoutVectorsWordsFind(t *testing.T) {
	e := &embedtest.Bags{Name: "b"}
	h := open(t, e, []*memory.Record{fact("a", "The gate code is 4711.", 2)}, nil)
	e.Set(func() { e.Fail = fault.New(fault.Unavailable, "the embedder is away") })
	res, err := h.ranker(recall.Options{}).Search(t.Context(), h.local, recall.Request{Query: "the code of the gate"})
	must(t, err)
	expect(t, "words", res, "a")
	if !contains(res.Degraded, "away") || res.Confidence == search.High {
		t.Errorf("degraded %q, confidence %s", res.Degraded, res.Confidence)
	}
}

func TestMEM31_DiversityShowsTheSurest(t *testing.T) {
	sure := fact("sure", "I like black tea in the morning.", 9)
	sure.Confidence = 0.9
	h := open(t, bags(), []*memory.Record{sure, fact("copy", "I like black tea in the early morning.", 9), fact("other", "Tea grows in Assam.", 9)}, nil)
	r := h.ranker(recall.Options{})
	req := recall.Request{Query: "tea in the early morning", Stages: map[string]bool{recall.Diversity: true}}
	expect(t, "diverse", ask(t, r, h.local, req), "sure other")
	req.Stages = nil
	expect(t, "off", ask(t, r, h.local, req), "copy sure other")
}

func TestMEM32_TimeInTheQuestion(t *testing.T) {
	h := open(t, bags(), []*memory.Record{
		fact("a", "We met the plumber.", 100), fact("b", "We met the plumber.", 7), fact("c", "We met the plumber.", 40),
	}, nil)
	off := map[string]bool{recall.Newest: false}
	r := h.ranker(recall.Options{})
	res := ask(t, r, h.local, recall.Request{Query: "When did we meet the plumber in " + facts.Now.AddDate(0, 0, -40).Format("January") + "?", Explain: true, Stages: off})
	if res.Hits[0].ID != "c" || res.Understood.Span == nil || res.Hits[0].Signals[1] != (recall.Signal{Name: recall.Span, Value: 1.6}) {
		t.Errorf("found %s, %+v", ids(res), res.Understood)
	}
	expect(t, "recency", ask(t, r, h.local, recall.Request{Query: "met the plumber", Sort: recall.ByRecency, Stages: off}), "b c a")
	recent := map[string]bool{recall.Recent: true, recall.Newest: false}
	res = ask(t, r, h.local, recall.Request{Query: "met the plumber recently", Stages: recent})
	expect(t, "asked for what is new", res, "b c a")
	if res.Understood.Sort != recall.ByRecency {
		t.Errorf("sorted by %s", res.Understood.Sort)
	}
	day := facts.Now.AddDate(0, 0, -41)
	expect(t, "after", ask(t, r, h.local, recall.Request{Query: "met the plumber", After: day, Stages: off}), "b c")
	expect(t, "before", ask(t, r, h.local, recall.Request{Query: "met the plumber", Before: day, Stages: off}), "a")
}

// TestMEM98_WhatIsFromTheDaysAskedForStandsFirst, all of it: neither what is newer nor another part of these days hides it.
func TestMEM98_WhatIsFromTheDaysAskedForStandsFirst(t *testing.T) {
	var list []*memory.Record
	for name, daysAgo := range map[string]int{"walrus": 20, "tiger": 20, "okapi": 19, "lynx": 21, "heron": 30, "otter": 3} {
		list = append(list, fact(name, "The animal of the day was a "+name+".", daysAgo))
	}
	h := open(t, bags(), list, nil)
	r := h.ranker(recall.Options{})
	for query, want := range map[string]string{
		"Which animal of the day was it on %s?": "tiger walrus",
		"animal of the day since %s":            "okapi otter tiger walrus",
		"animal of the day after %s":            "okapi otter",
		"animal of the day before %s":           "heron lynx",
		"animal of the day until %s":            "heron lynx tiger walrus",
		"animal of the day between %s and %s":   "okapi tiger walrus",
		"animal of the day vor dem %s":          "heron lynx",
	} {
		query = strings.Replace(query, "%s", facts.Now.AddDate(0, 0, -20).Format(time.DateOnly), 1)
		query = strings.Replace(query, "%s", facts.Now.AddDate(0, 0, -19).Format(time.DateOnly), 1)
		found := strings.Fields(ids(ask(t, r, h.local, recall.Request{Query: query})))
		found = found[:min(len(found), len(strings.Fields(want)))]
		slices.Sort(found)
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestMEM32_WhatHeldThen(t *testing.T) {
	h := open(t, bags(), []*memory.Record{fact("bonn", "I live in the city of Bonn.", 900), fact("dep", "I live in a city flat.", 600)}, nil)
	ctx := t.Context()
	low := 0.2
	_, err := h.mem.Update(ctx, h.local, memory.Patch{ID: "dep", Confidence: &low}, nil)
	must(t, err)
	moved := facts.Now.AddDate(0, 0, -400)
	_, err = h.mem.Add(ctx, h.local, []memory.Draft{{
		ID: "graz", Statement: "I live in the city of Graz.", Supersedes: []string{"bonn"}, ValidFrom: &moved,
	}})
	must(t, err)
	h.settle()
	r := h.ranker(recall.Options{})
	then := func(days int) string {
		list := strings.Fields(ids(ask(t, r, h.local, recall.Request{Query: "I live in the city", AsOf: facts.Now.AddDate(0, 0, -days)})))
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	for days, want := range map[int]string{1000: "", 800: "bonn", 500: "bonn dep", 100: "dep graz"} {
		if got := then(days); got != want {
			t.Errorf("%d days ago: %q, want %q", days, got, want)
		}
	}
	expect(t, "now", ask(t, r, h.local, recall.Request{Query: "I live in the city"}), "graz")
	h.now = h.now.Add(time.Hour)
	said := "I live in the city of Vienna."
	_, err = h.mem.Update(ctx, h.local, memory.Patch{ID: "graz", Statement: &said}, nil)
	must(t, err)
	res := ask(t, r, h.local, recall.Request{Query: "I live in the city", AsOf: facts.Now})
	i := slices.IndexFunc(res.Hits, func(hit recall.Hit) bool { return hit.ID == "graz" })
	if i < 0 || res.Hits[i].Text != "I live in the city of Graz." {
		t.Errorf("it said %+v", res.Hits)
	}
}

func TestMEM33_NothingIsLowAndAllIsHigh(t *testing.T) {
	h := open(t, bags(), []*memory.Record{fact("a", "The gate code is 4711.", 2), fact("b", "Ida has shoes of size 31.", 3)}, nil)
	r := h.ranker(recall.Options{})
	for query, want := range map[string]string{"The gate code is": search.High, "pope Singapore casino": search.Low} {
		res := ask(t, r, h.local, recall.Request{Query: query})
		if res.Confidence != want || res.Reason == "" {
			t.Errorf("%s: %s, since %s", query, res.Confidence, res.Reason)
		}
	}
}

func TestPRIV8_ARemoteRerankerReadsNothingPrivate(t *testing.T) {
	list := someFacts(12)
	list[3].Private = true
	list = append(list, fact("z", "Colour number 7 is paint of [[Zanzibar]].", 3))
	h := open(t, nil, list, nil)
	h.Put(h, note("zan", "Zanzibar", true))
	o := &oracle{word: "103", remote: true}
	r := h.ranker(recall.Options{Reranker: o})
	req := recall.Request{Query: "colour of paint", Limit: 2}
	ask(t, r, h.local, req)
	if len(o.read) != 13 || slices.ContainsFunc(o.read, func(s string) bool { return contains(s, "103") || contains(s, "Zanzibar") }) {
		t.Errorf("read %q", o.read)
	}
	o.remote = false
	if res := ask(t, r, h.local, req); res.Hits[0].ID != "f03" {
		t.Errorf("found %s", ids(res))
	}
	if res := ask(t, r, h.remote, recall.Request{Query: "colour of paint", Limit: 50}); contains(ids(res), "f03") {
		t.Errorf("a remote reader found %s", ids(res))
	}
}

func TestPRIV8_ARemoteReaderIsToldOfNoHiddenNewer(t *testing.T) {
	secret := fact("new", "The gate code is now 1204.", 2)
	secret.Private = true
	h := open(t, bags(), []*memory.Record{fact("old", "The gate code is 4711.", 300), secret}, nil)
	r := h.ranker(recall.Options{})
	res := ask(t, r, h.remote, recall.Request{Query: "the gate code", Explain: true})
	expect(t, "remote", res, "old")
	without := open(t, bags(), []*memory.Record{fact("old", "The gate code is 4711.", 300)}, nil)
	alone := ask(t, without.ranker(recall.Options{}), without.remote, recall.Request{Query: "the gate code"})
	if res.Hits[0].OlderThan != "" || res.Hits[0].Score != alone.Hits[0].Score || res.Confidence != alone.Confidence {
		t.Errorf("%+v, and without the hidden one %+v", res.Hits[0], alone.Hits[0])
	}
}

func message(conversation string, index int, role, text string) said {
	return said{recall.Message{
		Conversation: conversation, Index: index, Role: role, CreatedAt: facts.Now.Add(time.Duration(index-100) * time.Minute),
	}, fmt.Sprint(conversation, index), text}
}

func TestMEM22_WhoSaidIt(t *testing.T) {
	h := open(t, nil, nil, []said{
		message("c", 0, "user", "The boiler makes a noise."), message("c", 40, "assistant", "The boiler makes a noise."),
	})
	r, alone := h.ranker(recall.Options{}), map[string]bool{recall.Support: false}
	expect(t, "own words", ask(t, r, h.local, recall.Request{Query: "What did I say of the boiler noise?", Stages: alone}), "c0 c40")
	expect(t, "the assistant's", ask(t, r, h.local, recall.Request{Query: "What did you say of the boiler noise?", Stages: alone}), "c40 c0")
}

func TestMEM21_NeighboursSupport(t *testing.T) {
	h := open(t, nil, nil, []said{
		message("a", 0, "user", "The boiler makes a noise."), message("b", 0, "user", "The boiler makes a noise."),
		message("b", 1, "user", "It is the pump of the boiler."),
	})
	r := h.ranker(recall.Options{})
	req := recall.Request{Query: "boiler noise in the winter", Explain: true}
	res := ask(t, r, h.local, req)
	expect(t, "supported", res, "b0 a0 b1")
	if res.Hits[0].Signals[1].Name != recall.Support {
		t.Errorf("signals %v", res.Hits[0].Signals)
	}
	req.InConversation = "a"
	expect(t, "in one", ask(t, r, h.local, req), "a0")
	expect(t, "memories alone", ask(t, r, h.local, recall.Request{Query: "boiler", Kinds: []string{recall.Memories}}), "")
}

// TestMEM20_OnlyWhatIsAskedFor compares the hits with what a scan of the store lets through.
func TestMEM20_OnlyWhatIsAskedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []*memory.Record
		for i := range rapid.IntRange(0, 12).Draw(rt, "memories") {
			m := fact(fmt.Sprintf("m%02d", i), fmt.Sprintf("Tree %d stands in the wood.", i), rapid.IntRange(1, 99).Draw(rt, "age"))
			m.Tier = rapid.SampledFrom(record.Tiers).Draw(rt, "tier")
			m.Status = rapid.SampledFrom(record.MemoryStatuses).Draw(rt, "status")
			m.Private = rapid.Bool().Draw(rt, "private")
			m.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(rt, "tags")
			list = append(list, m)
		}
		h := open(t, nil, list, nil)
		f := memory.Filter{
			Tiers: rapid.SliceOfN(rapid.SampledFrom(record.Tiers), 0, 2).Draw(rt, "tiers"),
			Tags:  rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 1).Draw(rt, "tag"),
		}
		v := rapid.SampledFrom([]string{"local", "remote"}).Draw(rt, "reader")
		view := h.local
		if v == "remote" {
			view = h.remote
		}
		res, err := h.ranker(recall.Options{}).Search(t.Context(), view, recall.Request{Query: "tree in the wood", Limit: 50, Memories: f})
		must(rt, err)
		var want []string
		for _, m := range list {
			if m.Current() && (v == "local" || !m.Private) && (len(f.Tiers) == 0 || slices.Contains(f.Tiers, m.Tier)) &&
				(len(f.Tags) == 0 || slices.Contains(m.Tags, f.Tags[0])) {
				want = append(want, m.ID)
			}
		}
		got := strings.Fields(ids(res))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("found %q, want %q", got, want)
		}
		for i := 1; i < len(res.Hits); i++ {
			if res.Hits[i].Score > res.Hits[i-1].Score {
				rt.Fatalf("scores rise: %+v", res.Hits)
			}
		}
	})
}

// TestMEM20_WordsSideBySide: both messages have the words of the question, in a text of the same length, and
// one has them side by side.
func TestMEM20_WordsSideBySide(t *testing.T) {
	list := []said{
		message("c", 0, "user", "The second sprint, as it was planned, ends in June, the first long one."),
		message("c", 9, "user", "In June, as it was planned, it ends, the long first sprint, the second."),
		message("c", 20, "user", "The kettle is broken again, and somebody has to mend it soon."),
	}
	h := open(t, nil, nil, list)
	r := h.ranker(recall.Options{})
	req := recall.Request{Query: "When does my first sprint end?", Explain: true, Stages: map[string]bool{recall.Support: false}}
	res := ask(t, r, h.local, req)
	if len(res.Hits) != 2 || res.Hits[0].Message.Index != 9 || res.Hits[0].Score > 1 {
		t.Fatalf("%+v", res.Hits)
	}
	has := func(h recall.Hit) bool {
		return slices.ContainsFunc(h.Signals, func(s recall.Signal) bool { return s.Name == recall.Pairs && s.Value > 0 })
	}
	if !has(res.Hits[0]) || has(res.Hits[1]) {
		t.Errorf("signals %v, %v", res.Hits[0].Signals, res.Hits[1].Signals)
	}
	for query, why := range map[string]string{"sprint": "side by side", "When is the sprint, my sprint?": "side by side"} {
		req.Query = query
		if at := slices.IndexFunc(ask(t, r, h.local, req).Stages, func(a recall.Applied) bool {
			return a.Name == recall.Pairs && contains(a.Skipped, why)
		}); at < 0 {
			t.Errorf("%s: the stage was not skipped", query)
		}
	}
}

// TestMEM20_ApartSaysWhetherItWasDone: of few messages it cannot be told what they have in common.
func TestMEM20_ApartSaysWhetherItWasDone(t *testing.T) {
	for _, c := range []struct {
		messages int
		off      bool
		skipped  bool
	}{{messages: 20, skipped: true}, {messages: 150}, {messages: 150, off: true}} {
		var list []said
		for i := range c.messages {
			list = append(list, message("c", i, "user", fmt.Sprintf("The hive scale says %d today, word%d and name%d.", i, i, i)))
		}
		h := open(t, bags(), nil, list)
		res := ask(t, h.ranker(recall.Options{}), h.local,
			recall.Request{Query: "the hive scale says what", Explain: true, Stages: map[string]bool{recall.Apart: !c.off}})
		i := slices.IndexFunc(res.Stages, func(a recall.Applied) bool { return a.Name == recall.Apart })
		a := res.Stages[i]
		if a.On == c.off || (a.Skipped != "") != c.skipped || (a.Changed > 0) != (a.On && !c.skipped) {
			t.Errorf("%d messages, off %v: %+v", c.messages, c.off, a)
		}
	}
}

// TestMEM56_RanksByWhatIsSureNow: what a model took out of a conversation counts with the confidence that is left of it.
func TestMEM56_RanksByWhatIsSureNow(t *testing.T) {
	said, taken := fact("said", "The pump in the cellar is oiled in spring.", 200), fact("taken", "The pump in the cellar is oiled in spring!", 200)
	said.Confidence, taken.Confidence, taken.Source.Kind = 0.5, 0.9, "extraction"
	h := open(t, bags(), []*memory.Record{said, taken}, nil)
	surest := func() *recall.Result {
		return ask(t, h.ranker(recall.Options{}), h.local, recall.Request{
			Query: "When is the pump oiled?", Stages: map[string]bool{recall.Diversity: true},
		})
	}
	expect(t, "the surest", surest(), "said")
	h.now = taken.CreatedAt
	expect(t, "the surest on its day", surest(), "taken")
}

// TestMEM97_WordsOfWhatIsRetractedAreUnknown: a question with them is answered as surely as one with nonsense at most.
func TestMEM97_WordsOfWhatIsRetractedAreUnknown(t *testing.T) {
	e, err := embed.BuiltinTable()
	must(t, err)
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	statements := []string{
		"The key of the shed hangs behind the door", "The boat needs a new anchor", "My sister plays the cello in Bergen",
		"The allotment costs 78 pounds a year", "The dentist is on Gloucester Road", "Milo writes the release notes",
	}
	var list []*memory.Record
	for i, s := range append(statements, "The password of the wardenclyffe shed is tulip", "The plimsoll of the boat is green") {
		list = append(list, recordOf(facts.Memory{
			ID: fmt.Sprintf("m%d", i), Tier: record.TierBank, Kind: "fact", Statement: s, Status: record.MemoryActive,
			Importance: 0.7, Confidence: 0.7, CreatedAt: at.Add(time.Duration(i) * time.Hour),
		}, i+1))
	}
	list[len(list)-2].Status, list[len(list)-1].Private = record.MemoryRetracted, true
	h := open(t, e, list, nil)
	r := h.ranker(recall.Options{})
	level := map[string]int{search.Low: 0, search.Medium: 1, search.High: 2}
	for _, c := range []struct {
		view       *audience.View
		word, with string
	}{
		{h.local, "wardenclyffe", "where is the key of the %s shed"},
		{h.local, "wardenclyffe", "%s shed key"},
		{h.local, "wardenclyffe", "%s"},
		{h.local, "tulip", "does my sister play the %s in Bergen"},
		{h.remote, "plimsoll", "the anchor of the %s boat"},
		{h.remote, "plimsoll", "%s boat"},
	} {
		got := ask(t, r, c.view, recall.Request{Query: fmt.Sprintf(c.with, c.word)})
		plain := ask(t, r, c.view, recall.Request{Query: fmt.Sprintf(c.with, "xyzzyqk")})
		if level[got.Confidence] > level[plain.Confidence] || got.Confidence == search.High {
			t.Errorf("%q of %q is %s (%s), and with nonsense %s", c.word, c.with, got.Confidence, got.Reason, plain.Confidence)
		}
		if !slices.Contains(got.Understood.Unknown, c.word) {
			t.Errorf("of %q unknown are %q", fmt.Sprintf(c.with, c.word), got.Understood.Unknown)
		}
	}
	if got := ask(t, r, h.local, recall.Request{Query: "the plimsoll of the boat"}); slices.Contains(got.Understood.Unknown, "plimsoll") {
		t.Errorf("who sees it does not know %q", got.Understood.Unknown)
	}
}
