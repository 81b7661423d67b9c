package search_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// signs are symbols of all kinds: of currencies, mathematics, keys and typography, emoji with
// and without colours and tones, sequences of them, flags of letters and of tags.
var signs = strings.Fields(`€ ₿ £ ¥ ₹ $ % & * + < = > @ ^ ~ ± × ÷ ≠ ≤ ∞ √ ∑ − ° § ¶ † ‰ © ® ™ № ℃ ㎏ → ⇒ ↔ ⌘ ⌥ ⏎ ☐ ✓ ✗ ★ ♥ ♥️ ❤ ❤️ ♻️ ☃ ☎️ ♪
	🐝 🙂 🍯 👍 👍🏽 👩‍🌾 👩🏽‍🌾 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 🇫🇷 🇺🇦 🏴 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🀄 ♔ ⠿ ░ │ 𝄞 ¢ ¬ ¦ ´ ¨ ¯ ⁂ ※ ` + "\uE0A0 \uF8FF")

func TestSRCH2_SymbolsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		searchtest.Must(t, err)
		defer db.Close()
		rooms := searchtest.Over(t, db, notes.Options{})
		x := search.Open(db, notedoc.New(rooms.Notes, notedoc.Options{}), search.Options{})
		sign := rapid.SampledFrom(signs).Draw(t, "sign")
		around := rapid.SampledFrom([]string{"so %", "bees % wax", "bees% wax", "5% wax", "蜂% 蜜", "(%)", "a, %. b", "# a %", "- b % c", "“%”", "ไทย%ไทย"}).Draw(t, "around")
		text := strings.Replace(around, "%", sign, 1)
		draft := notes.Draft{ID: "it", Title: "Title", Body: text}
		place := rapid.SampledFrom([]string{"body", "title", "alias"}).Draw(t, "place")
		switch place {
		case "title":
			draft.Title, draft.Body = text, "Body"
		case "alias":
			draft.Aliases, draft.Body = []string{text}, "Body"
		}
		rooms.Put(t, notes.Draft{ID: "other", Title: "Bees", Body: "wax 蜂 5 a b ไทย"}, draft)
		for _, query := range []string{sign, " " + sign + " ", `"` + sign + `"`, sign + " nosuchword"} {
			res, err := x.Search(ctx, search.Request{Query: query, Limit: 10})
			searchtest.Must(t, err)
			if strings.Contains(query, "such") && (len(sign) == 1 || sign == "№") {
				continue // signs of ASCII, and words that say nothing, count where there are no others
			}
			if len(res.Hits) != 1 || res.Hits[0].Doc.ID() != "it" {
				t.Fatalf("%q finds %d, and not only %q in the %s", query, len(res.Hits), text, place)
			}
		}
		res, err := x.Search(ctx, search.Request{Query: "wax -" + sign, Limit: 10})
		searchtest.Must(t, err)
		for _, h := range res.Hits {
			if h.Doc.ID() == "it" {
				t.Fatalf("-%s leaves %q", sign, text)
			}
		}
	})
}

// TestSRCH2_SymbolsBesideWords has words count as they do without symbols, and a symbol make
// the difference where words make none.
func TestSRCH2_SymbolsBesideWords(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	rooms := searchtest.Over(t, db, notes.Options{})
	x := search.Open(db, notedoc.New(rooms.Notes, notedoc.Options{}), search.Options{})
	rooms.Put(
		t,
		notes.Draft{ID: "coin", Title: "A", Body: "The wallet holds ₿ 2 and beta → gamma."},
		notes.Draft{ID: "cash", Title: "B", Body: "The wallet holds € 2 and R&D in C++ and gamma."},
		notes.Draft{ID: "love", Title: "C", Body: "All ❤️ bees, 👍🏽 in ISPARTA and İzmir, near Kırşehir."},
	)
	for query, want := range map[string]string{
		"₿ wallet":       "coin cash",
		"€ wallet":       "cash coin",
		"wallet * + = &": "coin cash", // a tie, by title: signs of ASCII have no part beside words
		"&":              "cash",
		"+":              "cash",
		"*":              "",
		`"R&D"`:          "cash",
		`"C++"`:          "cash",
		`"beta gamma"`:   "coin", // symbols may stand between
		`"beta → gamma"`: "coin",
		`"beta ₿ gamma"`: "",
		"❤":              "love",
		"👍":              "love",
		"👍🏿":             "love",
		"ısparta":        "love",
		"isp":            "love",
		"IZM":            "love",
		"izmir":          "love",
		"kirseh":         "love",
	} {
		res, err := x.Search(ctx, search.Request{Query: query, Limit: 10})
		searchtest.Must(t, err)
		var ids []string
		for _, h := range res.Hits {
			ids = append(ids, h.Doc.ID())
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}
