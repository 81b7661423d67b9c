package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// library is a world with some notes.
func library(t testing.TB) *referWorld {
	t.Helper()
	w := openReferences(t)
	w.put(notes.Draft{ID: "params", Title: "parameters reference", Path: "docs/params.md", Body: "All of them.\n\n## Goals\nShip it. ^b1\n"})
	w.put(notes.Draft{ID: "tool", Title: "Tool Usage", Body: "Use it."})
	w.put(notes.Draft{ID: "plan1", Title: "Plan", Path: "a/one.md", Body: "x"})
	w.put(notes.Draft{ID: "plan2", Title: "Plan", Path: "b/two.md", Body: "x"})
	w.put(notes.Draft{ID: "old", Title: "Old", Body: "x"})
	_, err := w.notes.Archive(context.Background(), "old", nil)
	mustRefer(t, err)
	return w
}

// TestCHAT5_LinksOfAMessage has the rows of the table of links, and what is none.
func TestCHAT5_LinksOfAMessage(t *testing.T) {
	w := library(t)
	for text, want := range map[string]string{
		"see [[parameters reference]].":       "[[parameters reference]] params ok",
		"[[parameters reference|the plan]]":   "[[parameters reference|the plan]] params ok alias=the plan",
		"[[parameters reference#Goals]]":      "[[parameters reference#Goals]] params ok #Goals",
		"[[parameters reference#^b1]]":        "[[parameters reference#^b1]] params ok #^b1",
		"[[parameters reference#Gone]]":       "[[parameters reference#Gone]] params ok #Gone (The note has no heading Gone)",
		"[[parameters reference#^no]]":        "[[parameters reference#^no]] params ok #^no (The note has no block ^no)",
		"![[Tool Usage]]":                     "![[Tool Usage]] tool ok embed",
		"![[photo.png]] ![[a b.JPG|300]]":     "",
		"[[photo.png]]":                       "[[photo.png]] - broken (Document not found)",
		"[[docs/params]]":                     "[[docs/params]] params ok",
		"[[docs/params.md]]":                  "[[docs/params.md]] params ok",
		"[[params]]":                          "[[params]] params ok",
		"[[tool USAGE]]":                      "[[tool USAGE]] tool ok",
		"[[]] [[ ]] [[open":                   "",
		"[[#Goals]]":                          "[[#Goals]] - broken #Goals (No note is given)",
		"[[Ghost]]":                           "[[Ghost]] - broken (Document not found)",
		"[[Plan]]":                            "[[Plan]] - ambiguous (Several notes are called so: a/one.md, b/two.md)",
		"[[Old]]":                             "[[Old]] old broken (The note is archived)",
		"`[[Tool Usage]]` \\[[Tool Usage]]":   "",
		"```\n[[Tool Usage]]\n```":            "",
		"[[a\nb]]":                            "",
		"[[x [[Tool Usage]] y]]":              "[[Tool Usage]] tool ok",
		"<!-- [[Tool Usage]] -->":             "",
		"[[Ghost]] [[ghost|x]] [[Other]]":     "[[Ghost]] - broken (Document not found); [[Other]] - broken (Document not found)",
		"[[params]] [[docs/params]]":          "[[params]] params ok",
		"[[#A]] [[#B]] [[#a]]":                "[[#A]] - broken #A (No note is given); [[#B]] - broken #B (No note is given)",
		"[[tool]]" + strings.Repeat(" [", 50): "[[tool]] - broken (Document not found)",
	} {
		var got []string
		for _, r := range w.links(w.local, text) {
			got = append(got, line(&r))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q gives %q, want %q", text, s, want)
		}
	}
}

// line writes a reference in a line.
func line(r *chat.Reference) string {
	id := r.NoteID
	if id == "" {
		id = "-"
	}
	s := r.Wikilink + " " + id + " " + r.Status
	if r.Heading != "" {
		s += " #" + r.Heading
	}
	if r.Block != "" {
		s += " #^" + r.Block
	}
	if r.Alias != "" {
		s += " alias=" + r.Alias
	}
	if r.Embed {
		s += " embed"
	}
	if r.Reason != "" {
		s += " (" + r.Reason + ")"
	}
	return s
}

// TestCHAT7_EachMentionIsAPlace of one reference, in UTF-16 code units.
func TestCHAT7_EachMentionIsAPlace(t *testing.T) {
	w := library(t)
	text := "😀 [[params]], ![[docs/params]] é [[parameters reference|😀]] [[Ghost]] [[params]]"
	list := w.links(w.local, text)
	if len(list) != 2 || list[0].NoteID != "params" {
		t.Fatalf("%+v", list)
	}
	units := utf16.Encode([]rune(text))
	var got []string
	for _, s := range list[0].Spans {
		got = append(got, string(utf16.Decode(units[s[0]:s[1]])))
	}
	if want := []string{"[[params]]", "![[docs/params]]", "[[parameters reference|😀]]", "[[params]]"}; !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}

// TestCHAT29_AHundredReferences are kept of a message, and it is said that there were more.
func TestCHAT29_AHundredReferences(t *testing.T) {
	w := openReferences(t)
	var b strings.Builder
	for i := range chat.MaxMessageReferences {
		fmt.Fprintf(&b, "[[ghost %d]] ", i)
	}
	x := chat.NewReferenceReader(t.Context(), w.local, body)
	if list, left := x.Links(b.String() + "[[ghost 0]]"); len(list) != chat.MaxMessageReferences || left || len(list[0].Spans) != 2 {
		t.Errorf("%d references, left %v", len(list), left)
	}
	list, left := x.Links(b.String() + "[[ghost x]] [[ghost 1]]")
	if len(list) != chat.MaxMessageReferences || !left || len(list[1].Spans) != 2 {
		t.Errorf("%d references, left %v", len(list), left)
	}
	warnings := chat.ReferenceWarnings(&chat.ReferenceLists{Own: list, Same: true}, &chat.ReferenceLists{})
	if len(warnings) != 11 || warnings[10].Message != "90 other references are not as they were meant" {
		t.Errorf("%+v", warnings)
	}
}

// TestCHAT4_AFailureIsNoReason that nothing is read: there are no summaries then, or no references.
func TestCHAT4_AFailureIsNoReason(t *testing.T) {
	w := library(t)
	read := func(s chat.Summarizer) (chat.ReferenceLists, error) {
		return chat.ReadReferences(t.Context(), w.local, w.remote, s, func(x *chat.ReferenceReader) ([]chat.Reference, bool) {
			return x.Links("[[Tool Usage]]")
		})
	}
	fails := func(context.Context, *audience.View, string) (_, _ string, err error) {
		return "", "", errors.New("the disk is full")
	}
	if l, err := read(fails); err == nil || len(l.Own) != 1 || l.Own[0].Summary != "" {
		t.Errorf("%+v, %v", l, err)
	}
	panics := func(context.Context, *audience.View, string) (string, string, error) { panic("a defect") }
	if l, err := read(panics); err == nil || l.Any() || len(l.For(w.remote)) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := read(body); err != nil || l.Own[0].Summary != "Use it." {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestPRIV8_PlacesOfAMaskedText are those of what the reader is shown, and a link to a private note has none.
func TestPRIV8_PlacesOfAMaskedText(t *testing.T) {
	w := library(t)
	w.put(notes.Draft{ID: "secret", Title: "Zanzibar", Private: true, Body: "x"})
	text := "😀 [[Zanzibar]] [[Tool Usage]] é [[Zanzibar|a long label of it]][[Ghost]] [[tool usage]] [[Zanzibar]]"
	masked, _ := w.remote.Masked(text)
	if masked != w.remote.TextOf("", text) || strings.Contains(masked, "Zanzibar") {
		t.Fatalf("masked %q", masked)
	}
	for _, read := range []*audience.View{w.local, w.remote} {
		list := shown(w.remote, w.links(read, text), text)
		var got []string
		units := utf16.Encode([]rune(masked))
		for _, r := range list {
			for _, s := range r.Spans {
				got = append(got, string(utf16.Decode(units[s[0]:s[1]])))
			}
		}
		want := []string{"[[Tool Usage]]", "[[tool usage]]", "[[Ghost]]"}
		if !slices.Equal(got, want) || len(list) != 2 {
			t.Errorf("places %q, want %q", got, want)
		}
	}
	if list := shown(w.local, w.links(w.local, text), text); len(list) != 3 || len(list[0].Spans) != 3 {
		t.Errorf("the local reader has %+v", list)
	}
}

// TestPRIV6_AnAmbiguousLink means the public note for a remote reader, whatever private ones are called so.
func TestPRIV6_AnAmbiguousLink(t *testing.T) {
	var got [2]string
	for i := range got {
		w := openReferences(t)
		w.put(notes.Draft{ID: "public", Title: "Plan", Path: "plan.md", Body: "Open."})
		if i == 1 {
			w.put(notes.Draft{ID: "private", Title: "Other", Aliases: []string{"plan.md"}, Private: true, Body: "Closed."})
		}
		lists, err := chat.ReadReferences(t.Context(), w.local, w.remote, body, func(x *chat.ReferenceReader) ([]chat.Reference, bool) {
			return x.Links("[[Plan]] [[plan.md]]")
		})
		mustRefer(t, err)
		got[i] = fmt.Sprintf("%+v", chat.RenderReferences(w.remote, lists.For(w.remote), &chat.RenderedMessage{}, nil))
	}
	if got[0] != got[1] {
		t.Errorf("without private notes\n%s\nand with them\n%s", got[0], got[1])
	}
}

// TestPRIV6_TwoReadersOfOneLink: a link that is ambiguous for who typed it, since a private note is called so too, leads a
// remote reader to the public one.
func TestPRIV6_TwoReadersOfOneLink(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "open", Title: "Plan", Path: "open.md", Vault: "v", Body: "Open."})
	w.put(notes.Draft{ID: "closed", Title: "Plan", Path: "closed.md", Vault: "v", Body: "Closed.", Private: true})
	text := "The [[Plan]]."
	lists, err := chat.ReadReferences(t.Context(), w.local, w.remote, body, func(x *chat.ReferenceReader) ([]chat.Reference, bool) { return x.Links(text) })
	mustRefer(t, err)
	members := make(map[string]json.RawMessage)
	mustRefer(t, lists.Keep(nil, func(name string, value json.RawMessage) { members[name] = value }))
	for v, want := range map[*audience.View]string{
		w.local: "[[Plan]] - ambiguous (Several notes are called so: open.md, closed.md)", w.remote: "[[Plan]] open ok",
	} {
		list := shown(v, chat.StoredReferences(members, v), text)
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		if got := line(&chat.Reference{ChatReference: list[0]}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if w := chat.ReferenceWarnings(&lists, nil); len(w) != 1 || w[0].About != record.AboutPrivate || strings.Contains(w[0].Message, ".md") {
		t.Errorf("warnings %+v", w)
	}
}

// TestPRIV8_ASummaryThatNamesWhatBecamePrivate is not shown to a remote reader, also where it has lost the marks of the link.
func TestPRIV8_ASummaryThatNamesWhatBecamePrivate(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "n", Title: "Kickoff", Body: "We meet [[Zanzibar Inc|the Zanzibar people]] and @Bob.\n"})
	w.put(notes.Draft{ID: "z", Title: "Zanzibar Inc", Body: "x"})
	plain := func(_ context.Context, v *audience.View, id string) (text, source string, err error) {
		return "We meet the Zanzibar people.", v.Note(id).Body, nil
	}
	list, _ := chat.NewReferenceReader(t.Context(), w.local, plain).Links("[[Kickoff]]")
	if s := shown(w.remote, list, "[[Kickoff]]"); len(s) != 1 || s[0].Summary != "We meet the Zanzibar people." {
		t.Fatalf("%+v", s)
	}
	w.put(notes.Draft{ID: "z", Title: "Zanzibar Inc", Body: "x", Private: true})
	if s := shown(w.remote, list, "[[Kickoff]]"); len(s) != 1 || s[0].Summary != "" {
		t.Errorf("%+v", s)
	}
	if s := shown(w.local, list, "[[Kickoff]]"); len(s) != 1 || s[0].Summary == "" {
		t.Errorf("%+v", s)
	}
	// A note that becomes private is no reference any more, and one of several is not named.
	w.put(notes.Draft{ID: "z2", Title: "Two", Path: "a/z2.md"})
	w.put(notes.Draft{ID: "z3", Title: "Two", Path: "b/z3.md"})
	two := w.links(w.local, "[[Two]]")
	w.put(notes.Draft{ID: "z3", Title: "Two", Path: "b/z3.md", Private: true})
	if s := fmt.Sprint(shown(w.remote, two, "")); strings.Contains(s, "z3") {
		t.Errorf("%s", s)
	}
	w.put(notes.Draft{ID: "n", Title: "Kickoff", Body: "x", Private: true})
	if s := shown(w.remote, list, "[[Kickoff]]"); len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

// FuzzCHAT5_PlacesAreLinks: whatever a message says, each place holds a link that leads where its reference says, and a
// remote reader's places lie in his text.
func FuzzCHAT5_PlacesAreLinks(f *testing.F) {
	for _, s := range []string{
		"😀 [[params]] ![[Zanzibar|x]] [[Tool Usage#A]]", "[[Zanzibar", "`[[a]]` [[#x]]", "[[Old]]|[[Plan]]", "[[\x00]] [[Zanzibar]]é[[tool usage]]",
		"@Zanzibar [[Tool Usage]] <!-- [[x]] --> \\[[y]]",
	} {
		f.Add(s)
	}
	w := library(f)
	w.put(notes.Draft{ID: "secret", Title: "Zanzibar", Private: true, Body: "x"})
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "�")
		for _, v := range []*audience.View{w.local, w.remote} {
			masked, places := v.Masked(text)
			if masked != v.TextOf("", text) {
				t.Fatalf("Masked gives %q, TextOf %q", masked, v.TextOf("", text))
			}
			units := utf16.Encode([]rune(masked))
			list := w.links(v, text)
			if len(list) > chat.MaxMessageReferences {
				t.Fatalf("%d references", len(list))
			}
			for _, r := range chat.RenderReferences(v, list, &chat.RenderedMessage{Content: text, Places: places}, nil) {
				if v.HidesNote(r.NoteID) || r.Type != record.ReferDirect {
					t.Fatalf("%+v", r)
				}
				last := 0
				for _, s := range r.Spans {
					if s[0] < last || s[1] <= s[0] || s[1] > len(units) {
						t.Fatalf("places %v of %q", r.Spans, masked)
					}
					last = s[1]
					link := string(utf16.Decode(units[s[0]:s[1]]))
					if !strings.HasPrefix(strings.TrimPrefix(link, "!"), "[[") || !strings.HasSuffix(link, "]]") {
						t.Fatalf("%q of %q is no link", link, masked)
					}
				}
			}
		}
	})
}
