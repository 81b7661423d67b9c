package background_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

const (
	long      = "The bridge over the brook was built in May by people of the village, who had waited for it for years. It carries forty tons."
	firstOnly = "The bridge over the brook was built in May by people of the village, who had waited for it for…"
	said      = "A bridge over a brook."
)

func TestCHAT14_AShortParagraphStandsAsItIs(t *testing.T) {
	w := openSummaries(t, settings{})
	w.put(notes.Draft{ID: "short", Title: "S", Body: "# S\n\nSee [[Plan|the plan]].\n\nMore."})
	w.put(notes.Draft{ID: "long", Title: "L", Body: long})
	w.put(notes.Draft{ID: "code", Title: "C", Body: "# C\n\n```\nx\n```\n"})
	w.wants(w.local, "short", "See the plan.")
	w.asked(0)
	for id, want := range map[string]string{"code": background.ReasonNoText, "gone": background.ReasonNoNote} {
		if text, reason := w.summaries.Of(t.Context(), w.local, id, 0); text != "" || reason != want {
			t.Errorf("%s: %q because of %q, want %q", id, text, reason, want)
		}
	}
	if text, _ := w.summaries.Of(t.Context(), w.local, "long", 1000); text != long {
		t.Errorf("within 1,000 characters it is %q", text)
	}
	w.asked(0)
}

func TestCHAT14_WithoutAModelItIsTheFirstSentence(t *testing.T) {
	for _, none := range []bool{true, false} {
		w := openSummaries(t, settings{none: none})
		w.does(func(_ *provider.Request, to *provider.Reply) { to.Text("null") })
		w.put(notes.Draft{ID: "n", Title: "N", Body: long})
		for range 2 {
			w.wants(w.local, "n", firstOnly)
		}
		want := 1 // it is asked once, whatever comes of it
		if none {
			want = 0
		}
		w.asked(want)
	}
}

func TestCHAT14_ThePromptHasTheFirst1000Characters(t *testing.T) {
	w := openSummaries(t, settings{})
	w.put(notes.Draft{ID: "n", Title: "N", Body: "---\nsecret: yaml\n---\n" + long + "\n\n" + strings.Repeat("ö", 2000)})
	w.wants(w.local, "n", firstOnly)
	w.asked(1)
	r := w.model.Requests()[0]
	asked := r.Last()
	if n := strings.Count(asked, "ö"); n < 800 || n > 1000 || strings.Contains(asked, "yaml") {
		t.Errorf("the model was shown %d letters: %.200q", n, asked)
	}
	if !strings.Contains(r.Body, `"max_tokens":50`) && !strings.Contains(r.Body, `"max_completion_tokens":50`) {
		t.Errorf("the request does not bound the answer: %.300s", r.Body)
	}
	rows := w.providers.Ledger().Rows()
	if len(rows) != 1 || !rows[0].Background || rows[0].Requests != 1 {
		t.Errorf("CHAT-38: spending %+v", rows)
	}
}

func TestCHAT15_ItIsMadeInTheBackgroundOnceAndKept(t *testing.T) {
	w := openSummaries(t, settings{dir: filepath.Join(t.TempDir(), "store")})
	w.put(notes.Draft{ID: "n", Title: "N", Body: long})
	w.asked(0) // nobody has asked for it
	w.wants(w.local, "n", firstOnly)
	w.wants(w.local, "n", said)
	w.wants(w.remote, "n", said) // who sees the same text
	w.asked(1)
	w.restart()
	w.says("Something else.")
	w.wants(w.local, "n", said)
	w.asked(1)

	// Another name is no other text; another text is.
	title := "Another"
	_, err := w.notes.Patch(t.Context(), notes.Patch{ID: "n", Title: &title}, nil)
	w.must(err)
	w.wants(w.local, "n", said)
	w.asked(1)
	w.put(notes.Draft{ID: "n", Title: "N", Body: long + " Indeed."})
	w.wants(w.local, "n", firstOnly)
	w.wants(w.local, "n", "Something else.")
	w.asked(2)

	// Another limit is another summary.
	if text, _ := w.summaries.Of(t.Context(), w.local, "n", 20); text != "The bridge over the…" {
		t.Errorf("within 20 characters it is %q", text)
	}
	w.maker.Wait()
	if text, _ := w.summaries.Of(t.Context(), w.local, "n", 20); text != "Something else." {
		t.Errorf("within 20 characters the model says %q", text)
	}
	w.asked(3)
}

func TestCHAT15_NobodyWaitsForTheModel(t *testing.T) {
	w := openSummaries(t, settings{})
	begun := make(chan struct{})
	w.does(func(_ *provider.Request, to *provider.Reply) {
		close(begun)
		<-to.Gone()
	})
	w.put(notes.Draft{ID: "n", Title: "N", Body: long})
	for range 3 {
		if text, _ := w.summaries.Of(t.Context(), w.local, "n", 0); text != firstOnly {
			t.Errorf("it is %q", text)
		}
		<-begun
	}
	w.maker.Close()
	w.asked(1)
}

func TestCHAT15_WhatFailsIsNotAskedAgain(t *testing.T) {
	for name, answer := range map[string]func(*provider.Request, *provider.Reply){
		"refused": func(_ *provider.Request, to *provider.Reply) { to.Status(400, "no") },
		"null":    func(_ *provider.Request, to *provider.Reply) { to.Text("null") },
		"aloud":   func(_ *provider.Request, to *provider.Reply) { to.Reasoning("A bridge.") },
		"long":    func(_ *provider.Request, to *provider.Reply) { to.Text(strings.Repeat("bridge ", 10_000)) },
		"call":    func(_ *provider.Request, to *provider.Reply) { to.Call("read_note", "{}") },
	} {
		t.Run(name, func(t *testing.T) {
			w := openSummaries(t, settings{})
			w.does(answer)
			w.put(notes.Draft{ID: "n", Title: "N", Body: long})
			for range 3 {
				w.wants(w.local, "n", firstOnly)
			}
			w.asked(1)
		})
	}
}

func TestCHAT15_WhatWasSaidGoesWithTheText(t *testing.T) {
	w := openSummaries(t, settings{dir: filepath.Join(t.TempDir(), "store")})
	w.says("About the zqcanary.")
	for _, id := range []string{"deleted", "changed"} {
		w.put(notes.Draft{ID: id, Title: id, Body: long + " " + id})
		w.wants(w.local, id, firstOnly)
		w.wants(w.local, id, "About the zqcanary.")
	}
	w.must(w.db.Compact(t.Context(), nil))
	if !w.stored("zqcanary") {
		t.Fatal("the canary is in no file, so the test shows nothing")
	}
	_, err := w.notes.Delete(t.Context(), "deleted", nil)
	w.must(err)
	w.put(notes.Draft{ID: "changed", Title: "changed", Body: "Short."})
	w.must(w.db.Compact(t.Context(), nil))
	if w.stored("zqcanary") {
		t.Error("what was said of a text that is gone is still in a file")
	}
}

// A text that goes while the model is asked about it leaves nothing either.
func TestCHAT15_NothingIsKeptOfATextThatHasGoneMeanwhile(t *testing.T) {
	for name, goes := range map[string]func(w *summaryWorld) error{
		"deleted": func(w *summaryWorld) error { _, err := w.notes.Delete(w.Context(), "n", nil); return err },
		"changed": func(w *summaryWorld) error {
			_, err := w.notes.Put(w.Context(), notes.Draft{ID: "n", Title: "N", Body: "Short."}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openSummaries(t, settings{dir: filepath.Join(t.TempDir(), "store")})
			w.does(func(_ *provider.Request, to *provider.Reply) {
				if err := goes(w); err != nil {
					t.Error(err)
				}
				to.Text("About the zqcanary.")
			})
			w.put(notes.Draft{ID: "n", Title: "N", Body: long})
			w.wants(w.local, "n", firstOnly)
			w.asked(1)
			w.must(w.db.Compact(t.Context(), nil))
			if w.stored("zqcanary") {
				t.Error("what was said of it is in a file")
			}
		})
	}
}

// stored reports whether a file of the store holds a text.
func (w *summaryWorld) stored(text string) bool {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	w.must(err)
	for _, name := range files {
		content, err := os.ReadFile(name)
		w.must(err)
		if strings.Contains(string(content), text) {
			return true
		}
	}
	return false
}

func TestCHAT15_WhatIsKeptIsBounded(t *testing.T) {
	w := openSummaries(t, settings{dir: filepath.Join(t.TempDir(), "store")})
	w.put(notes.Draft{ID: "n", Title: "N", Body: long})
	for limit := 10; limit < 40; limit++ {
		w.says(fmt.Sprintf("zqsaid%d", limit))
		_, _ = w.summaries.Of(t.Context(), w.local, "n", limit)
		w.maker.Wait()
	}
	w.must(w.db.Compact(t.Context(), nil))
	kept := 0
	for limit := 10; limit < 40; limit++ {
		if w.stored(fmt.Sprintf("zqsaid%d", limit)) {
			kept++
		}
	}
	if kept != 8 {
		t.Errorf("%d sentences are kept of one note, want 8", kept)
	}
}

func TestCHAT38_ASummaryWaitsForTheBudget(t *testing.T) {
	w := openSummaries(t, settings{budget: llm.Budget{RequestsPerMinute: 1}})
	for _, id := range []string{"a", "b"} {
		w.put(notes.Draft{ID: id, Title: id, Body: long + id})
		w.wants(w.local, id, firstOnly)
		w.wants(w.local, id, said)
	}
	w.asked(2)
	if w.slept == 0 {
		t.Error("it did not wait")
	}
}

func TestPRIV4_ARemoteModelIsNotAskedAboutPrivateText(t *testing.T) {
	for _, local := range []bool{false, true} {
		w := openSummaries(t, settings{local: local})
		w.put(notes.Draft{ID: "zx", Title: "Zanzibar papers", Body: "x", Private: true})
		w.put(notes.Draft{ID: "private", Title: "P", Body: long + " Private.", Private: true})
		w.put(notes.Draft{ID: "names", Title: "N", Body: long + " See [[Zanzibar papers]]."})
		for _, id := range []string{"private", "names"} {
			w.wants(w.local, id, firstOnly)
		}
		if !local {
			w.asked(0)
			w.wants(w.remote, "names", firstOnly)
			w.asked(1)
			if asked := w.model.Requests()[0].Last(); strings.Contains(asked, "Zanzibar") {
				t.Errorf("the model was shown %q", asked)
			}
			w.wants(w.remote, "names", said)
			w.wants(w.local, "names", firstOnly)
			continue
		}
		w.asked(2)
		for _, id := range []string{"private", "names"} {
			w.wants(w.local, id, said)
		}
		// What was made of a text that he does not see is not shown to a remote reader.
		w.says("What all may know.")
		w.wants(w.remote, "names", firstOnly)
		w.wants(w.remote, "names", "What all may know.")
		w.wants(w.local, "names", said)
		w.wants(w.remote, "private", "")
	}
}

// A note that becomes private, or one that a text names, takes what was said of it away from remote readers.
func TestPRIV4_ASummaryIsNotShownAnyMoreOnceItsTextIsPrivate(t *testing.T) {
	w := openSummaries(t, settings{})
	w.says("It is about Zanzibar papers.")
	w.put(notes.Draft{ID: "zx", Title: "Zanzibar papers", Body: "x"})
	w.put(notes.Draft{ID: "n", Title: "N", Body: long + " See [[Zanzibar papers]]."})
	w.wants(w.remote, "n", firstOnly)
	w.wants(w.remote, "n", "It is about Zanzibar papers.")
	private := true
	_, err := w.notes.Patch(t.Context(), notes.Patch{ID: "zx", Private: &private}, nil)
	w.must(err)
	w.says("null")
	w.wants(w.remote, "n", firstOnly)
	_, err = w.notes.Patch(t.Context(), notes.Patch{ID: "n", Private: &private}, nil)
	w.must(err)
	w.wants(w.remote, "n", "")
}

// What a private note is told to a remote reader is what a note that is not there is.
func TestPRIV6_APrivateNoteIsNone(t *testing.T) {
	w := openSummaries(t, settings{})
	w.put(notes.Draft{ID: "p", Title: "P", Body: "Short.", Private: true})
	_, private := w.summaries.Of(t.Context(), w.remote, "p", 0)
	_, none := w.summaries.Of(t.Context(), w.remote, "none", 0)
	if private != none || private != background.ReasonNoNote {
		t.Errorf("%q and %q", private, none)
	}
}

func TestCHAT15_AStoreThatHasLostTransactionsForgets(t *testing.T) {
	w := openSummaries(t, settings{dir: filepath.Join(t.TempDir(), "store")})
	w.put(notes.Draft{ID: "n", Title: "N", Body: long})
	w.wants(w.local, "n", firstOnly)
	w.wants(w.local, "n", said)
	backup := filepath.Join(t.TempDir(), "b")
	_, err := w.db.Backup(t.Context(), backup, kv.BackupOptions{})
	w.must(err)
	_, err = w.db.Restore(t.Context(), backup, kv.RestoreOptions{})
	w.must(err)
	w.restart() // as after a loss: rooms mend what they can't be sure of
	w.wants(w.local, "n", firstOnly)
	w.wants(w.local, "n", said)
	w.asked(2)
}

// A line for a reference comes with what it was made of, and is the one of now.
func TestCHAT14_ALineForAReference(t *testing.T) {
	w := openSummaries(t, settings{none: true})
	line := func(id string) (text, source string) {
		t.Helper()
		text, source, err := w.summaries.Line(t.Context(), w.remote, id)
		w.must(err)
		return text, source
	}
	w.put(notes.Draft{ID: "zx", Title: "Zanzibar papers", Body: "x"})
	w.put(notes.Draft{ID: "n", Title: "N", Body: "# N\n\n- an item\n\nSee [[Zanzibar papers|the papers]]."})
	w.put(notes.Draft{ID: "list", Title: "L", Body: "- an *item*\n- two"})
	w.put(notes.Draft{ID: "code", Title: "C", Body: "```\nx\n```\n"})
	for id, want := range map[string][2]string{
		"n": {"See the papers.", "See [[Zanzibar papers|the papers]]."}, "list": {"an item", "- an *item*"}, "code": {}, "gone": {},
	} {
		for range 2 {
			if text, source := line(id); text != want[0] || strings.TrimSpace(source) != want[1] {
				t.Errorf("%s: %q of %q, want %q", id, text, source, want)
			}
		}
	}
	private := true
	_, err := w.notes.Patch(t.Context(), notes.Patch{ID: "zx", Private: &private}, nil)
	w.must(err)
	if text, _ := line("n"); text != "See (private)." {
		t.Errorf("when it names what is private: %q", text)
	}
	w.put(notes.Draft{ID: "n", Title: "N", Body: "Another."})
	if text, _ := line("n"); text != "Another." {
		t.Errorf("when it was changed: %q", text)
	}
}

// TestPRIV8_ASummaryIsNotAskedForAgainOfWhatBecamePrivate: what the text names becomes private while the provider is busy.
func TestPRIV8_ASummaryIsNotAskedForAgainOfWhatBecamePrivate(t *testing.T) {
	w := openSummaries(t, settings{})
	w.put(notes.Draft{ID: "zx", Title: "Zanzibar papers", Body: "x"})
	w.put(notes.Draft{ID: "names", Title: "N", Body: long + " See [[Zanzibar papers]]."})
	private := true
	w.does(func(_ *provider.Request, to *provider.Reply) {
		_, err := w.notes.Patch(context.Background(), notes.Patch{ID: "zx", Private: &private}, nil)
		w.must(err)
		to.Status(503, "busy")
	})
	w.wants(w.local, "names", firstOnly)
	w.asked(1)
}
