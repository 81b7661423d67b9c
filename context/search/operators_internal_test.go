package search

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH17_DatesAsPeopleWriteThem(t *testing.T) {
	zurich, err := time.LoadLocation("Europe/Zurich")
	must(t, err)
	// It is the 30th there and the 29th in UTC, and summer time has begun the day before.
	now := time.Date(2026, 3, 30, 0, 30, 0, 0, zurich)
	for text, want := range map[string]string{
		"today": "2026-03-30T00:00:00+02:00", "Today": "2026-03-30T00:00:00+02:00", "yesterday": "2026-03-29T00:00:00+01:00",
		"0d": "2026-03-30T00:00:00+02:00", "1d": "2026-03-29T00:00:00+01:00", "7d": "2026-03-23T00:00:00+01:00", "2w": "2026-03-16T00:00:00+01:00",
		"30D": "2026-02-28T00:00:00+01:00", "2026-01": "2026-01-01T00:00:00+01:00", "2026": "2026-01-01T00:00:00+01:00",
		"2026-07-04": "2026-07-04T00:00:00+02:00", "2026-07-04T10:00:00Z": "2026-07-04T10:00:00Z", "2026-07-04t10:00:00z": "2026-07-04T10:00:00Z",
		"lastweek": "", "": "", "d": "", "-1d": "", "7 d": "", "99999999999d": "", "2026-13": "", "2026-02-30": "", "1m": "", "tomorrow": "",
	} {
		got := ""
		if at, ok := Moment(text, now); ok {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// dated opens an index over notes of some days, by a clock that stands.
func dated(t *testing.T) *rooms {
	t.Helper()
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := searchtest.Open(t, kv.InMemory)
	on := searchtest.Over(t, db, notes.Options{Now: func() time.Time { return day }})
	clock := func() time.Time { return time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC) }
	r := &rooms{Open(db, notedoc.New(on.Notes, notedoc.Options{}), Options{Now: clock}), db, on.Entities, on.Notes}
	for _, n := range []struct {
		day  int
		note notes.Draft
	}{
		{1, notes.Draft{ID: "a", Title: "Alpha", Body: "bee", Tags: []string{"x"}}},
		{9, notes.Draft{ID: "b", Title: "Beta", Body: "bee", Tags: []string{"x"}}},
		{3, notes.Draft{ID: "c", Title: "Gamma", Body: "bee bee", Tags: []string{"x"}}},
		{10, notes.Draft{ID: "d", Title: "Delta", Body: "wax"}},
		{3, notes.Draft{ID: "e", Title: "Chi", Body: "wax", Tags: []string{"x"}}},
	} {
		day = time.Date(2026, 3, n.day, 12, 0, 0, 0, time.UTC)
		r.put(t, n.note)
	}
	return r
}

func TestSRCH17_AfterAndBefore(t *testing.T) {
	r := dated(t)
	for query, want := range map[string]string{
		"after:today": "d", "after:yesterday": "d b", "after:yesterday before:today": "b", "after:7d": "d b e c",
		"before:1w": "a", "bee after:7d": "c b", "after:2026-03-09": "d b", "-after:yesterday": "e c a",
	} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}

// TestSRCH17_WithoutWordsByTime: what has no words is listed, newest first; equals by title.
func TestSRCH17_WithoutWordsByTime(t *testing.T) {
	r := dated(t)
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Query: "tag:x"}, "b e c a"},
		{Request{Query: "tag:x", Mode: Hybrid}, "b e c a"},
		{Request{Query: "tag:x", Mode: Semantic}, "b e c a"},
		{Request{Query: "tag:x", Limit: 2}, "b e"},
		{Request{Query: "-wax"}, "b c a"},
		{Request{Query: "", List: true, Keep: r.chosen(notes.SearchFilter{Tags: []string{"x"}})}, "b e c a"},
		{Request{Query: " ", List: true, Mode: Hybrid, Keep: r.chosen(notes.SearchFilter{Tags: []string{"x"}})}, "b e c a"},
		{Request{Query: "", Keep: r.chosen(notes.SearchFilter{Tags: []string{"x"}})}, ""},
		{Request{Query: "bee", List: true}, "c a b"},
	} {
		if got := r.find(t, c.req); got != c.want {
			t.Errorf("%q %v finds %q, want %q", c.req.Query, c.req.List, got, c.want)
		}
	}
}

// asking opens an index over notes with properties.
func asking(t *testing.T) *rooms {
	t.Helper()
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "Alpha", Body: "---\nstatus: In Progress\nlead: \"[[people/Eve|Boss]]\"\nversion: 1.10\n---\nbee"},
		notes.Draft{ID: "b", Title: "Beta", Body: "---\nStatus: done\nteams: [red, \"blue sky\", \"[[Green]]\"]\ncssclass: wide\n---\nbee bee"},
		notes.Draft{ID: "c", Title: "Gamma", Body: "---\nstatus:\ntags: [one, \"#two\"]\nurl: https://x.example/a\n---\nThe status is done: foo bar."},
	)
	_, err := r.notes.Put(ctx, notes.Draft{ID: "v", Title: "Kept", Path: "v.md", Vault: "Work Notes", Body: "vaulted"}, nil)
	must(t, err)
	return r
}

func TestCTX3_PropertiesAreFilters(t *testing.T) {
	r := asking(t)
	for query, want := range map[string]string{
		`status:"in progress"`: "a", "STATUS:DONE ": "b", "status:progress": "", "-status:done bee": "a", "bee status:done": "b",
		"lead:boss": "a", `lead:"[[people/Eve|Boss]]"`: "a", "lead:people/eve": "a", "lead:eve": "a", "version:1.10": "a", "version:1.1": "",
		"teams:red": "b", `teams:"blue sky"`: "b", "teams:blue": "", "teams:green": "b", "tags:two": "c", "tags:one": "c",
		"url:https://x.example/a": "c", "status:done status:nothing": "", "-status:done -lead:eve vaulted": "v",
	} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 10, Explain: true})
		must(t, err)
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.Doc.ID())
		}
		if strings.Join(got, " ") != want || len(res.Understood.Problems) > 0 {
			t.Errorf("%s finds %v, want %q; %+v", query, got, want, res.Understood.Problems)
		}
	}
	// What changes is seen at once, and what is gone is a problem.
	r.put(t, notes.Draft{ID: "d", Title: "D", Body: "---\nmood: fine\n---\n"})
	if got := r.ids(t, "mood:fine"); got != "d" {
		t.Errorf("a new property finds %q", got)
	}
	_, err := r.notes.Delete(ctx, "d", nil)
	must(t, err)
	res, err := r.Search(ctx, Request{Query: "mood:fine", Limit: 1})
	must(t, err)
	if res.Understood == nil || len(res.Understood.Problems) != 1 {
		t.Errorf("a property that is gone: %+v", res.Understood)
	}
}

func TestSRCH17_Problems(t *testing.T) {
	r := asking(t)
	no := func(name string) string {
		return "there is no filter " + name + ":, and no note has a property of that name"
	}
	date := func(name string) string {
		return name + ": takes a date such as today, yesterday, 7d, 2w, 2026-01 or 2026-01-31"
	}
	for query, want := range map[string][]Problem{
		"foo:bar":                     {{"foo:bar", no("foo"), ""}},
		"bee -foo:bar":                {{"foo:bar", no("foo"), ""}},
		`foo:"bar baz" bee`:           {{`foo:"bar baz"`, no("foo"), ""}},
		"tga:work":                    {{"tga:work", no("tga"), "tag:work"}},
		"befor:2026":                  {{"befor:2026", no("befor"), "before:2026"}},
		"statu:done":                  {{"statu:done", no("statu"), "status:done"}},
		"after:lastweek":              {{"after:lastweek", date("after"), ""}},
		"-before:yesteday":            {{"-before:yesteday", date("before"), "-before:yesterday"}},
		`vault:"work note"`:           {{`vault:"work note"`, "there is no note of vault work note", `vault:"Work Notes"`}},
		"type:Persn":                  {{"type:Persn", "there is no note of type Persn", ""}},
		`bee "`:                       {{`"`, "the quotation mark has no end", ""}},
		`"bee wax`:                    {{`"bee wax`, "the quotation mark has no end", ""}},
		"foo:bar after:x foo:bar bee": {{"foo:bar", no("foo"), ""}, {"after:x", date("after"), ""}},
	} {
		for _, mode := range []Mode{Lexical, Hybrid} {
			res, err := r.Search(ctx, Request{Query: query, Limit: 3, Mode: mode})
			must(t, err)
			if res.Understood == nil {
				t.Errorf("%s: no problems", query)
			} else if diff := cmp.Diff(want, res.Understood.Problems); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
	}
	// What people write with a colon and without any such wish.
	for _, query := range []string{
		"http://x", "https://example.org/a?b=c", "12:30", "at 9:15am", "re: hello", "Re:hello", "note: buy milk", "std::vector", "C:\\Users", "c:/x",
		":)", ":D", "a:b", "localhost:8080", "mailto:eve@example.org", "TODO:fix", "doi:10.1000/182", "urn:isbn:123", "git@github.com:x/y",
		"John 3:16", "foo:", ":foo", "::", "foo :bar", "ratio 16:9", "eve@x.example:foo", "file:///tmp", "x.y:z", "日本:東京", "foo:bar:baz",
		`27" screen`, `"bee wax"`, "tag:x", "path:x", "after:7d", "vault:\"work notes\"", "",
	} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 3})
		must(t, err)
		if res.Understood != nil {
			t.Errorf("%q has problems: %+v", query, res.Understood.Problems)
		}
	}
	res, err := r.Search(ctx, Request{Query: "foo:bar", Plain: true, Limit: 3})
	must(t, err)
	if res.Understood != nil {
		t.Errorf("a plain text has problems: %+v", res.Understood)
	}
	if got := r.ids(t, "foo:bar"); got != "c" {
		t.Errorf("the words of what is no filter find %q", got)
	}
	if got := r.ids(t, "vault:\"WORK notes\""); got != "v" {
		t.Errorf("vault: finds %q", got)
	}
}

// TestSRCH17_ProblemsAreBounded: a hostile query costs no more than a long one.
func TestSRCH17_ProblemsAreBounded(t *testing.T) {
	r := asking(t)
	var many strings.Builder
	for i := range 500 {
		many.WriteString(" foo" + strings.Repeat("x", i%50) + ":bar status:" + strings.Repeat("y", i%60+1))
	}
	q, err := r.parse(ctx, &Request{Query: many.String()})
	must(t, err)
	if len(q.problems) != maxProblems || len(q.properties) != maxProperties {
		t.Errorf("%d problems, %d properties", len(q.problems), len(q.properties))
	}
}
