package books_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// said returns what the passages that are found say.
func (h *searchDeps) said(t testing.TB, v *audience.View, query, conversation string) []string {
	t.Helper()
	var list []string
	for _, p := range h.ask(t, v, recall.Request{Query: query, Conversation: conversation}) {
		list = append(list, p.Text)
	}
	return list
}

func (h *searchDeps) expect(t testing.TB, query, conversation string, local, remote []string) {
	t.Helper()
	for _, c := range []struct {
		v    *audience.View
		want []string
	}{{h.local, local}, {h.remote, remote}} {
		got := h.said(t, c.v, query, conversation)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s finds %q for %q in %q, want %q", c.v.Reader(), got, query, conversation, c.want)
		}
	}
}

func draft(text string) books.Draft {
	return books.Draft{Content: []byte(text), MimeType: "md", Name: "x.md"}
}

var none []string

func TestMEM69_TheNextCallFindsAPassageAndARemovedOneNot(t *testing.T) {
	h := openSearch(t, search.Options{})
	b := h.put(t, draft("# Herons\n\nA heron stands in the reed."))
	h.expect(t, "heron reed", "", []string{"A heron stands in the reed."}, []string{"A heron stands in the reed."})
	list := h.ask(t, h.local, recall.Request{Query: "heron"})
	if len(list) != 1 || list[0].Cite != "[Herons, Herons]" || list[0].BookID != b.ID {
		t.Errorf("%+v", list)
	}
	mustSearch(t, h.shelf.Remove(t.Context(), h.local, b.ID))
	h.expect(t, "heron reed", "", none, none)
	if n, bytes := h.source.Count(); n != 0 || bytes != 0 {
		t.Errorf("%d passages of %d bytes are left", n, bytes)
	}
}

func TestPRIV8_ABookThatBecomesPrivateIsHidden(t *testing.T) {
	h := openSearch(t, search.Options{})
	d := draft("# Herons\n\nA heron stands in the reed.")
	h.put(t, d)
	said := []string{"A heron stands in the reed."}
	h.expect(t, "heron", "", said, said)
	d.Private = true
	h.put(t, d)
	h.expect(t, "heron", "", said, none)
}

func TestPRIV8_ARemoteReaderFindsNoPassageByAPrivateName(t *testing.T) {
	h := openSearch(t, search.Options{})
	text := "The deadline of [[Zanzibar Project]] is in May."
	h.put(t, draft("# Plans\n\n"+text))
	h.expect(t, "zanzibar", "", []string{text}, []string{text})
	_, err := h.Notes.Put(t.Context(), notes.Draft{ID: "z", Title: "Zanzibar Project", Body: "x", Private: true}, nil)
	mustSearch(t, err)
	h.expect(t, "zanzibar", "", []string{text}, none)
	if got := h.said(t, h.remote, "deadline", ""); len(got) != 1 || strings.Contains(got[0], "Zanzibar") {
		t.Errorf("found %q", got)
	}
}

func TestMEM70_ABookOfAConversationIsFoundThere(t *testing.T) {
	h := openSearch(t, search.Options{})
	mustSearch(t, h.DB.Update(t.Context(), func(tx *kv.Tx) error {
		r := &books.Record{}
		r.ID, r.Title, r.State, r.ConversationID, r.Passages = "b", "Talked", "ready", "c", 1
		p := &books.Passage{}
		p.Text = "A heron was here."
		if err := books.Passages.Put(tx, books.Key("b", 0), p); err != nil {
			return err
		}
		return books.Records.Put(tx, "b", r)
	}))
	said := []string{"A heron was here."}
	h.expect(t, "heron", "", none, none)
	h.expect(t, "heron", "other", none, none)
	h.expect(t, "heron", "c", said, said)
	_, err := h.shelf.Publish(t.Context(), h.local, "b")
	mustSearch(t, err)
	h.expect(t, "heron", "", said, said)
}

// TestMEM12_ThePrefixOfAPassage: its vector knows the book and the section.
func TestMEM12_ThePrefixOfAPassage(t *testing.T) {
	h := openSearch(t, search.Options{})
	h.put(t, draft("# Birds\n\n## Herons\n\nThey stand."))
	for d := range h.source.All() {
		if c := d.Chunks(); len(c) != 1 || c[0].Embedded() != "Book: Birds. Section: Birds > Herons.\nThey stand." {
			t.Errorf("%+v", c)
		}
	}
}
