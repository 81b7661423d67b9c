package rpc_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// listed are the ids that a list gives over all of its pages, each of two records.
func (d *daemon) listed(method, params, of string) (ids []string) {
	d.t.Helper()
	var total string
	for cursor := ""; ; {
		page := d.do(method, `{"limit":2,"cursor":"`+cursor+`"`+params+`}`)
		records := page[of].([]any)
		for _, r := range records {
			ids = append(ids, fmt.Sprint(at(r, "id")))
		}
		total = fmt.Sprint(page["total"])
		next, more := page["nextCursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	if want := fmt.Sprint(len(ids)); total != want {
		d.t.Errorf("%s %s says that there are %s, and lists %s", method, params, total, want)
	}
	return ids
}

// TestListsByTimeAndVault: lists of notes by when they were changed and by vault,
// with how many there are.
func TestListsByTimeAndVault(t *testing.T) {
	d := start(t)
	d.seed()
	for i := range 5 {
		d.do("notes.put", fmt.Sprintf(`{"id":"n%d","title":"Note %d"}`, i, 9-i))
	}
	d.do("notes.patch", `{"id":"n2","body":"changed last of these"}`)
	updated := func(id string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(d.do("notes.get", `{"ref":"`+id+`"}`)["updatedAt"]))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	all := d.listed("notes.list", `,"sort":"updated"`, "notes")
	want := slices.Clone(all)
	slices.SortFunc(want, func(a, b string) int {
		return cmp.Or(updated(b).Compare(updated(a)), strings.Compare(a, b))
	})
	if len(all) != 7 || !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	since := updated("n2")
	late := slices.DeleteFunc(want, func(id string) bool { return updated(id).Before(since) })
	got := d.listed("notes.list", `,"sort":"updated","changedSince":"`+since.Format(time.RFC3339Nano)+`"`, "notes")
	if !slices.Equal(got, late) || !slices.Contains(got, "n2") {
		t.Errorf("since %v: %v, want %v", since, got, late)
	}
	if got := d.listed("notes.list", `,"changedSince":"2999-01-01"`, "notes"); got != nil {
		t.Errorf("in the far future: %v", got)
	}

	dir := filepath.Join(t.TempDir(), "Garden")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Rose.md"), []byte("red"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	d.want(d.do("notes.list", `{"vault":"Garden"}`), "notes.0.title", "Rose")
	d.want(d.do("notes.list", `{"vault":"Garden"}`), "total", 1)
	if got := d.listed("notes.list", `,"vault":"None"`, "notes"); got != nil {
		t.Errorf("of no vault: %v", got)
	}
	if got := d.listed("entities.list", ``, "entities"); len(got) != 3 {
		t.Errorf("%v", got)
	}
	d.want(d.do("tags.list", `{"limit":1}`), "total", 2)
}
