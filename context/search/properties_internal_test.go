package search

import (
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestCTX3_PropertiesAreFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "Bridge", Body: "---\nstatus: in progress\nlead: \"[[Eve|Boss]]\"\ncssclasses: wide\nDue Date: 2026-03\n---\nText."},
		notes.Draft{ID: "b", Title: "Roof", Body: "---\nteams: [red, {deep: blue}]\n---\nNo progress."},
		notes.Draft{ID: "c", Title: "Broken", Body: "---\nstatus: a: b\nkeep: found\n---\nText."},
	)
	for query, want := range map[string]string{
		`"in progress" `: "a", "progress ": "b a", "status ": "c a", "eve ": "a", "boss ": "a", "due ": "a", "2026-03 ": "a",
		"blue ": "b", "deep ": "b", "wide ": "", "cssclasses ": "", "found ": "c",
	} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	res, err := r.Search(ctx, Request{Query: "eve ", Limit: 3, Explain: true})
	must(t, err)
	if got := signals(res.Hits[0])["field:properties"]; got <= 0 || got != res.Hits[0].Score {
		t.Errorf("field:properties is %v of %v", got, res.Hits[0].Score)
	}
}

func TestCTX2_CommentsAreNotFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "One", Body: "---\nx: y\n---\nShown %%hidden words%% text.\n\n%%\n# Secret heading\n%%\n\nEnd."},
		notes.Draft{ID: "b", Title: "Two", Body: "%%begin%%\n---\na: b\n---\nLeft %% open"},
		notes.Draft{ID: "c", Title: "Code", Body: "`%%quoted%%`"},
	)
	for query, want := range map[string]string{
		"hidden ": "", "secret ": "", `"shown text" `: "a", "end ": "a", "begin ": "", "open ": "b", "quoted ": "c",
	} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	res, err := r.Search(ctx, Request{Query: "shown ", Limit: 1, Snippets: true})
	must(t, err)
	if got := res.Hits[0].Snippet; got != "Shown text. End." {
		t.Errorf("the snippet is %q", got)
	}
	for _, c := range r.src.Get("a").Chunks() {
		if c.Text != "Shown text.\n\nEnd." || c.Prefix != "One" {
			t.Errorf("chunk %+v", c)
		}
	}
}
