package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSRCH52_CopiesAreFoundByConflict and by nothing else: a hit is the original, and says where the copy is.
func TestSRCH52_CopiesAreFoundByConflict(t *testing.T) {
	d := start(t)
	dir := filepath.Join(t.TempDir(), "Notes")
	const (
		ofAlice = "alice (Jo's conflicted copy 2026-11-01).md"
		again   = "alice.sync-conflict-20261101-101010-ABCDEFG.md"
		ofCity  = "Zu\u0308rich.Conflict.md" // decomposed, as some file systems write it
		secret  = "plan [conflicted].md"
	)
	for p, text := range map[string]string{
		"people/alice.md": "# Dr. Alice Novak\n\nShe keeps bees.\n", "people/" + ofAlice: "# Dr. Alice Novak\n\nWasps.\n", "people/" + again: "# Dr. Alice Novak\n",
		"Zu\u0308rich.md": "---\ntitle: Zürich\ntags: [city]\n---\nA lake.\n", ofCity: "A river.\n",
		"Écrin/plan.md": "# Plan\n", "Écrin/" + secret: "# Plan\n",
		"git.md": "# Merging\n\nIt says `conflict: alice` then.\n", "bob.md": "# Bob\n\nNo bees.\n",
	} {
		full := filepath.Join(dir, filepath.FromSlash(p))
		must(t, os.MkdirAll(filepath.Dir(full), 0o700))
		must(t, os.WriteFile(full, []byte(text), 0o600))
	}
	read := func() { d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir)) }
	read()
	find := func(query, more string) (titles, snippets string) {
		t.Helper()
		res := d.do("notes.search", fmt.Sprintf(`{"query":%q,"limit":9%s}`, query, more))
		var found []string
		for i := 0; at(res, fmt.Sprintf("hits.%d", i)) != nil; i++ {
			found = append(found, fmt.Sprint(at(res, fmt.Sprintf("hits.%d.title", i))))
			snippets += fmt.Sprint(at(res, fmt.Sprintf("hits.%d.snippet", i))) + "\n"
		}
		if u := at(res, "understood.problems"); u != nil {
			t.Errorf("%s has problems: %v", query, u)
		}
		slices.Sort(found)
		return strings.Join(found, "|"), snippets
	}
	const alice, city, plan, merging = "Dr. Alice Novak", "Zürich", "Plan", "Merging"
	for _, c := range []struct{ query, local, remote string }{
		{"conflict:", alice + "|" + plan + "|" + city, alice + "|" + city},
		{"Conflict: ", alice + "|" + plan + "|" + city, alice + "|" + city},
		{"conflict:JO", alice, alice},
		{`conflict:"jo's conflicted"`, alice, alice},
		{`conflict:"alice novak"`, alice, alice},
		{"conflict:ZÜRICH", city, city},
		{"conflict:plan", plan, ""},
		{"conflict:bob", "", ""},
		{"conflict:people", "", ""}, // a folder is no name
		{"conflict: bees", alice, alice},
		{"conflict: wasps", "", ""}, // what only the copy says
		{"tag:city conflict:", city, city},
		{"bees -conflict:alice", "Bob", "Bob"},
		{"-conflict:", "Bob|" + merging, "Bob|" + merging},
		{"it says conflict: then", merging, merging}, // behind words it is one
		{`"conflict: alice"`, merging, merging},
		{"wasps", "", ""},
	} {
		for more, want := range map[string]string{`,"mode":"lexical"`: c.local, "": c.local, `,"audience":"remote"`: c.remote} {
			got, snippets := find(c.query, more)
			if got != want {
				t.Errorf("%s%s finds %q, want %q", c.query, more, got, want)
			}
			if more == `,"audience":"remote"` && strings.Contains(snippets, secret) {
				t.Errorf("%s tells a remote reader of a private copy: %s", c.query, snippets)
			}
		}
	}
	_, snippets := find("conflict:", "")
	for _, want := range []string{
		"copy " + ofAlice + ", left by a synchroniser; copy " + again + ", left by Syncthing: compare them, and delete what is not needed\n",
		"copy " + ofCity + ", left by Resilio Sync: compare them", "copy " + secret + ", left by pCloud: ",
	} {
		if !strings.Contains(snippets, want) {
			t.Errorf("the snippets are %q without %q", snippets, want)
		}
	}
	if _, got := find("conflict:syncthing", ""); got != "" {
		t.Errorf("who has left it is no name: %s", got)
	}
	if _, got := find("conflict:20261101", ""); strings.Contains(got, ofAlice) || !strings.Contains(got, again) {
		t.Errorf("of two copies the one that is named: %q", got)
	}
	for _, private := range []string{"plan", "nothing"} {
		res := d.do("notes.search", fmt.Sprintf(`{"query":"conflict:%s","audience":"remote"}`, private))
		d.want(res, "nothing.why", "nothing has all of what the query asks for")
	}
	must(t, os.Remove(filepath.Join(dir, "people", ofAlice)))
	must(t, os.Remove(filepath.Join(dir, ofCity)))
	read()
	if got, snippets := find("conflict:", ""); got != alice+"|"+plan || strings.Contains(snippets, ofAlice) {
		t.Errorf("when the files are deleted: %q, %q", got, snippets)
	}
}
