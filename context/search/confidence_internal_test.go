package search

import (
	"math"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH46_ConfidenceIsTold goes through all that tells how sure a search is.
func TestSRCH46_ConfidenceIsTold(t *testing.T) {
	near := func(cosine float64, asked bool) func() (float64, bool) {
		return func() (float64, bool) { return cosine, asked }
	}
	unknown := []string{"lisbon"}
	for _, c := range []struct {
		name  string
		given Certainty
		value string
		says  string
	}{
		{"refused", Certainty{Nothing: "nothing is about lisbon"}, Low, "nothing is about lisbon"},
		{"none", Certainty{}, Low, "nothing was found"},
		{"read, all", Certainty{Hits: 1, Reach: Reach{Read: true, Answered: highAnswered}}, High, "nearly all"},
		{"read, in part", Certainty{Hits: 1, Reach: Reach{Read: true, Answered: highAnswered - .01}}, Medium, "a part of"},
		{"read, in part, unknown", Certainty{Hits: 1, Unknown: unknown, Reach: Reach{Read: true, Answered: lowAnswered}}, Medium, "lisbon; what is near"},
		{"read, little", Certainty{Hits: 1, Reach: Reach{Read: true, Answered: lowAnswered - .01}}, Low, "no hit has much"},
		{"read, little, unknown", Certainty{Hits: 1, Unknown: unknown, Reach: Reach{Read: true}}, Low, "lisbon, and little"},
		{"unknown and far", Certainty{Hits: 1, Unknown: unknown, NearUnknown: near(.1, true)}, Low, "lisbon, and nothing is near"},
		{"unknown, no vectors", Certainty{Hits: 1, Unknown: unknown, NearUnknown: near(0, false)}, Low, "nothing has the words lisbon"},
		{"unknown and near", Certainty{Hits: 1, Unknown: unknown, Vectors: true, Reach: Reach{Known: .5}, NearUnknown: near(.2, true)}, Medium, "lisbon"},
		{"words alone", Certainty{Hits: 1, Reach: Reach{Known: 1}}, Medium, "only words"},
		{"far", Certainty{Hits: 1, Vectors: true, Reach: Reach{Known: 1, Cosine: .4}}, Medium, "very near"},
		{"alike", Certainty{Hits: 2, Vectors: true, Reach: Reach{Known: 1, Cosine: .6}, Gap: .01}, Medium, "as good"},
		{"sure", Certainty{Hits: 1, Vectors: true, Reach: Reach{Known: 1, Cosine: .6}, Gap: 1}, High, "stands out"},
	} {
		value, reason := c.given.Told()
		if value != c.value || !strings.Contains(reason, c.says) {
			t.Errorf("%s: %s, %q", c.name, value, reason)
		}
	}
}

// TestSRCH46_SearchesSayHowSureTheyAre: by any mode but meaning alone, and without telling how the query was read.
func TestSRCH46_SearchesSayHowSureTheyAre(t *testing.T) {
	r := graphs(t, true)
	for _, c := range []struct {
		query, value, says string
		mode               Mode
	}{
		{"graph view", Medium, "only words were compared", Lexical},
		{"graph view", High, "stands out", Hybrid},
		{"zzzqqq", Low, "nothing is about zzzqqq", Hybrid},
		{"zzzqqq", Low, "nothing is about zzzqqq", Lexical},
		{"graph view", "", "", Semantic},
		{"tag:none", Low, "nothing has all", Hybrid},
		{"after:2001", "", "", Hybrid},
	} {
		req := Request{Query: c.query, Mode: c.mode, Limit: 5, Confidence: true, Plain: !strings.Contains(c.query, ":")}
		res, err := r.Search(ctx, req)
		must(t, err)
		if res.Confidence != c.value || !strings.Contains(res.Reason, c.says) || (res.Confidence == "") != (res.Reason == "") {
			t.Errorf("%s %q: %q, %q with %d hits", c.mode, c.query, res.Confidence, res.Reason, len(res.Hits))
		}
		if res.Understood != nil {
			t.Errorf("%s %q: it tells how it was read", c.mode, c.query)
		}
		req.Confidence = false
		if res, err := r.Search(ctx, req); err != nil || res.Confidence != "" {
			t.Errorf("%s %q: %q, %v, and nobody has asked", c.mode, c.query, res.Confidence, err)
		}
	}
}

// TestSRCH46_WordsAreReadOneByOne: what is said in words that are near is found, words that nothing is near to are refused, and
// nothing is said while what was found is not encoded.
func TestSRCH46_WordsAreReadOneByOne(t *testing.T) {
	drafts := []notes.Draft{
		{ID: "near", Title: "One", Body: "weights of hivex under scalex"},
		{ID: "other", Title: "Two", Body: "the weekly market and its stalls"},
		{ID: "third", Title: "Three", Body: "of hats, coats and umbrellas"},
	}
	r, _ := hives(t, drafts...)
	ask := func(query string) *Result {
		t.Helper()
		r.tokens.AskWords(ctx, query, false)
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Plain: true, Limit: 5, Reach: true, Explain: true})
		must(t, err)
		a := res.Answer
		if (a != nil) != res.Reach.Read || a != nil && (math.Abs(a.Likely-likely(res.Reach.Answered)) > 1e-9 || a.Words == 0 || a.Floor != likely(leastAnswered)) {
			t.Errorf("%q: %+v of %+v", query, a, res.Reach)
		}
		return res
	}
	for query, found := range map[string]bool{
		"hives scales weights":                    true,  // two of them in other words
		"scalez hivez":                            true,  // in other words alone
		"umbrellas":                               true,  // all known: nothing is asked of it
		"grumph snorvel blix":                     false, // words that mean nothing, which may be of any language
		"snorvel umbrellas":                       true,  // a list of words, of which one is known
		"what umbrellas of snorvel are grumph":    false,
		"die Vulkane brechen unter dem Meere aus": true, // another language
	} {
		res := ask(query)
		if r := res.Refused; (r == nil) != found || r != nil && !(0 < r.Score && r.Score < r.Floor && r.Floor < 1) {
			t.Errorf("%q: refused %+v", query, r)
		}
		if (len(res.Hits) > 0) != found || found != (res.Nothing == "") {
			t.Errorf("%q finds %q: %q, %+v", query, ids(res), res.Nothing, res.Reach)
		}
		told := strings.HasPrefix(query, "die")
		if res.Reach.Read == told {
			t.Errorf("%q: read is %t", query, res.Reach.Read)
		}
	}
	w := new(wordly)
	late := openAll(t, t.TempDir(), Options{Embedder: &embedtest.Bags{Name: "b"}, Words: w})
	late.put(t, drafts[0])
	late.settled(t)
	until(t, "one is encoded", func() bool { return late.tokens.Stats().Docs == 1 })
	const asked = "hivez market"
	late.tokens.AskWords(ctx, asked, false) // its words are known then
	w.mu.Lock()                             // nothing more is encoded
	late.put(t, drafts[1:]...)
	late.settled(t)
	res, err := late.Search(ctx, Request{Query: asked, Mode: Hybrid, Plain: true, Limit: 5, Reach: true})
	w.mu.Unlock()
	must(t, err)
	if len(res.Hits) < 2 || res.Hits[0].Late == nil && res.Hits[1].Late == nil {
		t.Errorf("found %q", ids(res))
	}
	if res.Reach.Read {
		t.Error("something is said of words that are not encoded")
	}
}

// TestSRCH46_AWordIsComparedWithThatOfTheEncoder: an encoder cuts words in its own way.
func TestSRCH46_AWordIsComparedWithThatOfTheEncoder(t *testing.T) {
	a := aboutness{all: 10, words: []QueryWord{{Word: "honey", Docs: 2}, {Word: "lisbon"}, {Word: "my", Docs: 5}, {Word: "beekeepers", Docs: 1}}}
	for word, want := range map[string]string{
		"honey": "honey", "lisbon": "lisbon", "lisbo": "lisbon", "lis": "", "my": "", "": "", "beekeeper": "beekeepers", "the": "",
	} {
		got := ""
		if w := a.asked(word); w != nil {
			got = w.Word
		}
		if got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
	m, any := a.match([]string{"", "my", "honey", "lisbon", "lisbon", ""}, []float32{.9, .9, .5, .2, .4, .9})
	if !any || m.words != 2 || math.Abs(m.unknown-.3) > 1e-6 {
		t.Fatalf("%+v", m)
	}
	known, all := idf(a.words[0], 10)/2, idf(a.words[0], 10)+idf(a.words[1], 10)
	want := (known + idf(a.words[1], 10)/(1+math.Exp(matchedSlope*.2))) / all
	if math.Abs(m.matched-want) > 1e-6 {
		t.Errorf("matched %v, want %v", m.matched, want)
	}
	if _, any := a.match([]string{"", "my"}, []float32{1, 1}); any {
		t.Error("a question of words that say nothing is compared")
	}
	if m, _ := a.match([]string{"honey"}, []float32{1}); m.unknown != noneUnknown {
		t.Errorf("unknown %v where nothing is unknown", m.unknown)
	}
}

// TestPRIV6_WhatIsReadTellsNothingOfPrivateNotes: a public search is as sure as one of a store without private notes.
func TestPRIV6_WhatIsReadTellsNothingOfPrivateNotes(t *testing.T) {
	open := []notes.Draft{
		{ID: "near", Title: "One", Body: "weights of hivex under scalex"},
		{ID: "third", Title: "Three", Body: "of hats, coats and umbrellas"},
	}
	without, _ := hives(t, open...)
	with, _ := hives(t, append(open, notes.Draft{ID: "secret", Title: "Nightjar", Body: "the nightjarx budget", Private: true})...)
	for _, query := range []string{"nightjarz budget", "hives scales", "nightjar umbrellas", "grumph budget"} {
		say := func(r *rooms) (string, Reach) {
			r.tokens.AskWords(ctx, query, true)
			res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Plain: true, Limit: 5, Public: true, Confidence: true, Reach: true})
			must(t, err)
			return ids(res) + res.Nothing + res.Confidence + res.Reason, res.Reach
		}
		got, reach := say(with)
		want, bare := say(without)
		if got != want || reach != bare {
			t.Errorf("%q: %q %+v, without private notes %q %+v", query, got, reach, want, bare)
		}
	}
}
