package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// importFataler is a test, a benchmark or a check of rapid.
type importFataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// importWorld is a store of conversations.
type importWorld struct {
	importFataler
	db   *kv.Store
	chat *chat.Store
	view *audience.View
}

var today = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func openImport(t importFataler, dir string, limits chat.Limits) *importWorld {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	mustImport(t, err)
	w := &importWorld{importFataler: t, db: db}
	ents, err := entities.Open(db, entities.Options{})
	mustImport(t, err)
	ns, err := notes.Open(db, ents, notes.Options{})
	mustImport(t, err)
	w.view = audience.Open(db, audience.Stores{Entities: ents, Notes: ns}).View(audience.Local)
	w.chat, err = chat.Open(db, chat.Options{Now: func() time.Time { return today }, Limits: limits})
	mustImport(t, err)
	return w
}

func (w *importWorld) close() { mustImport(w, w.db.Close()) }

func (w *importWorld) read(export string, o transfer.FileImportOptions) *transfer.ImportReport {
	w.Helper()
	r, err := w.tryRead(context.Background(), export, o)
	mustImport(w, err)
	return r
}

func (w *importWorld) tryRead(ctx context.Context, export string, o transfer.FileImportOptions) (*transfer.ImportReport, error) {
	w.Helper()
	r, err := transfer.ImportReader(ctx, w.chat, w.view, strings.NewReader(export), int64(len(export)), o)
	mustImport(w, w.db.View(context.Background(), func(tx *kv.Tx) error {
		problems, err := chat.Check(tx)
		if err == nil && len(problems) > 0 {
			err = errors.New(strings.Join(problems, "\n"))
		}
		return err
	}))
	return r, err
}

// conversations are all that is stored, the one changed last first.
func (w *importWorld) conversations() []*record.Conversation {
	w.Helper()
	list, more, err := w.chat.List(context.Background(), w.view, false, nil, 10_000)
	mustImport(w, err)
	if more {
		w.Fatal("too many conversations")
	}
	return list
}

func (w *importWorld) messages(id string) []*record.ChatMessage {
	w.Helper()
	p, err := w.chat.Messages(context.Background(), w.view, id, "", 0, 200_000)
	mustImport(w, err)
	return p.Messages
}

// told is all that is stored, without what differs from store to store, in an order of its own.
func (w *importWorld) told() []string {
	w.Helper()
	var out []string
	for _, c := range w.conversations() {
		line := fmt.Sprint(c.Title, c.CreatedAt, c.UpdatedAt)
		for _, m := range w.messages(c.ID) {
			line += fmt.Sprint("\n", m.Index, m.Role, m.Content, m.CreatedAt)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func mustImport(t importFataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spoken is a message of an export that a test makes.
type spoken struct {
	id, text string
	at       time.Time
}

// claude writes a conversation as Claude does.
func claude(id, title string, said ...spoken) string {
	var list []map[string]any
	for i, m := range said {
		list = append(list, map[string]any{
			"uuid": m.id, "text": m.text, "sender": []string{"human", "assistant"}[i%2], "created_at": m.at.Format(time.RFC3339Nano),
		})
	}
	data, _ := json.Marshal(map[string]any{ // texts and times can be written
		"uuid": id, "name": title, "created_at": "2025-01-02T03:04:05Z", "chat_messages": list,
	})
	return string(data)
}

// gpt writes a conversation as ChatGPT does.
func gpt(id, title string, said ...spoken) string {
	mapping := make(map[string]any)
	parent, last := "", ""
	for i, m := range said {
		mapping[m.id] = map[string]any{"id": m.id, "parent": parent, "message": map[string]any{
			"id": m.id, "author": map[string]any{"role": []string{"user", "assistant"}[i%2]},
			"create_time": float64(m.at.UnixMilli()) / 1000,
			"content":     map[string]any{"content_type": "text", "parts": []string{m.text}},
		}}
		parent, last = m.id, m.id
	}
	data, _ := json.Marshal(map[string]any{ // as above
		"conversation_id": id, "title": title, "create_time": 1735787045.5, "mapping": mapping, "current_node": last,
	})
	return string(data)
}

func list(conversations ...string) string { return "[" + strings.Join(conversations, ",\n") + "]" }

// spokenTalk is a conversation of some words, a minute apart.
func spokenTalk(words ...string) []spoken {
	var out []spoken
	at := time.Date(2025, 1, 2, 3, 4, 6, 0, time.UTC)
	for i, w := range words {
		out = append(out, spoken{id: fmt.Sprint("m", i+1), text: w, at: at.Add(time.Duration(i) * time.Minute)})
	}
	return out
}

func TestCHAT36_AnImportKeepsTimesAndTitles(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	r := w.read(list(
		claude("a", "On  "+strings.Repeat("boats ", 60), spokenTalk("How do I row?", "With oars.")...),
		gpt("b", "", spokenTalk("What is a keel?", "A beam.", "Thanks.")...),
	), transfer.FileImportOptions{})
	if r.Conversations != 2 || r.Messages != 5 || r.Read.Conversations != 2 {
		t.Errorf("report %+v", r)
	}
	var got []string
	for _, c := range w.conversations() {
		got = append(got, fmt.Sprint(c.Title[:7], len([]rune(c.Title)) <= chat.MaxTitle, " ",
			c.CreatedAt.Format(time.RFC3339Nano), " ", c.UpdatedAt.Format(time.RFC3339)))
		for _, m := range w.messages(c.ID) {
			got = append(got, fmt.Sprint(m.Role, " ", m.CreatedAt.Format("04:05"), " ", m.Content))
		}
	}
	want := []string{
		"What istrue 2025-01-02T03:04:05.5Z 2025-01-02T03:06:06Z",
		"user 04:06 What is a keel?", "assistant 05:06 A beam.", "user 06:06 Thanks.",
		"On boattrue 2025-01-02T03:04:05Z 2025-01-02T03:05:06Z",
		"user 04:06 How do I row?", "assistant 05:06 With oars.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCHAT36_TimesThatNoMessageCanHave(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	words := spokenTalk("One.", "Two.", "Three.")
	words[0].at, words[1].at = time.Time{}, today.AddDate(9, 0, 0)
	w.read(list(claude("a", "Times", words...)), transfer.FileImportOptions{})
	var got []string
	for _, m := range w.messages(w.conversations()[0].ID) {
		got = append(got, m.CreatedAt.Format("15:04:05"))
	}
	if want := "03:04:05 03:04:05 03:06:06"; strings.Join(got, " ") != want {
		t.Errorf("times %s, want %s", got, want)
	}
}

func TestCHAT36_ALaterExportAddsWhatIsNew(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	words := spokenTalk("One.", "Two.", "Three.", "Four.")
	w.read(list(claude("a", "Old title", words[:2]...), claude("b", "Same", words...)), transfer.FileImportOptions{})
	r := w.read(list(claude("a", "New title", words...), claude("b", "Same", words...)), transfer.FileImportOptions{})
	if r.Conversations != 0 || r.Continued != 1 || r.Unchanged != 1 || r.Messages != 2 || r.Known != 6 {
		t.Errorf("report %+v", r)
	}
	fresh := openImport(t, kv.InMemory, chat.Limits{})
	defer fresh.close()
	fresh.read(list(claude("a", "Old title", words...), claude("b", "Same", words...)), transfer.FileImportOptions{})
	if got, want := w.told(), fresh.told(); !slices.Equal(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
}

func TestCHAT36_WhatDoesNotFitIsCounted(t *testing.T) {
	limits := chat.Limits{Content: 20, Messages: 3}
	export := list(
		claude("a", "A", spokenTalk("One.", strings.Repeat("x", 21), "Three.", "Four.", "Five.")...),
		claude("b", "B", spokenTalk(strings.Repeat("x", 21))...),
		claude("a", "A", spokenTalk("One.", "", "Three.", "Four.", "Five.", "Six.")...),
	)
	var reports []*transfer.ImportReport
	for _, dry := range []bool{true, false} {
		w := openImport(t, kv.InMemory, limits)
		r := w.read(export, transfer.FileImportOptions{DryRun: dry})
		reports = append(reports, r)
		if n := len(w.conversations()); (n == 0) != dry {
			t.Errorf("dry run %v: %d conversations", dry, n)
		}
		w.close()
	}
	if r := reports[1]; r.Conversations != 1 || r.Messages != 3 || r.TooLarge != 2 || r.Full != 3 || r.Known != 3 || r.Unchanged != 1 {
		t.Errorf("report %+v", r)
	}
	if !reflect.DeepEqual(reports[0], reports[1]) {
		t.Errorf("a dry run reports %+v, the import %+v", reports[0], reports[1])
	}
}

func TestCHAT36_PrivateConversations(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	w.read(list(claude("a", "A", spokenTalk("One.")...)), transfer.FileImportOptions{Private: true})
	if c := w.conversations()[0]; !c.Private {
		t.Errorf("conversation %+v", c)
	}
}

func TestCHAT36_FilesThatAreNone(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	mustImport(t, os.WriteFile(text, []byte("Dear diary"), 0o600))
	for path, kind := range map[string]fault.Kind{
		filepath.Join(dir, "none"): fault.NotFound, dir: fault.Invalid, text: fault.Invalid,
	} {
		_, err := transfer.ImportFile(t.Context(), w.chat, w.view, path, transfer.FileImportOptions{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != kind || f.Hint == "" {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	good := filepath.Join(dir, "conversations.json")
	mustImport(t, os.WriteFile(good, []byte(list(claude("a", "A", spokenTalk("One.")...))), 0o600))
	done := int64(0)
	r, err := transfer.ImportFile(t.Context(), w.chat, w.view, good,
		transfer.FileImportOptions{Progress: func(at, _ int64) { done = at }})
	mustImport(t, err)
	if info, err := os.Stat(good); err != nil || r.Messages != 1 || done != info.Size() {
		t.Errorf("report %+v after %d bytes, %v", r, done, err)
	}
}

func TestCHAT36_ADamagedFileKeepsWhatIsWhole(t *testing.T) {
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	whole := list(claude("a", "A", spokenTalk("One.", "Two.")...), gpt("b", "B", spokenTalk("Three.")...), claude("c", "C", spokenTalk("Four.")...))
	r, err := w.tryRead(t.Context(), whole[:len(whole)-20], transfer.FileImportOptions{})
	if fault.KindOf(err) != fault.Invalid || r.Conversations != 2 || r.Messages != 3 || len(w.conversations()) != 2 {
		t.Errorf("of a file that was cut: %+v, %v", r, err)
	}
	damaged := strings.Replace(whole, `"mapping"`, `"mapping`, 1)
	r = w.read(damaged, transfer.FileImportOptions{})
	if r.Conversations != 1 || r.Known != 2 || len(r.Read.Problems) != 1 || len(w.conversations()) != 3 {
		t.Errorf("of a damaged file: %+v", r)
	}
}

func TestCHAT36_ALongConversationIsStoredInParts(t *testing.T) {
	var words []string
	for i := range 2500 {
		words = append(words, fmt.Sprint("Message ", i, strings.Repeat(" word", 200)))
	}
	export := list(claude("a", "A", spokenTalk("One.")...), claude("b", "B", spokenTalk(words...)...), claude("c", "C", spokenTalk("Two.")...))
	w := openImport(t, kv.InMemory, chat.Limits{})
	defer w.close()
	ctx, cancel := context.WithCancel(t.Context())
	w.db.OnCommit(func(cs *kv.ChangeSet) {
		if cs.Seq == 2 {
			cancel()
		}
	})
	r, err := w.tryRead(ctx, export, transfer.FileImportOptions{})
	if !errors.Is(err, context.Canceled) || r.Messages == 0 || r.Messages > 2400 || r.Conversations != 2 {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	rest := w.read(export, transfer.FileImportOptions{})
	if rest.Messages+r.Messages != 2502 || rest.Conversations != 1 || rest.Continued != 1 {
		t.Errorf("again: %+v after %+v", rest, r)
	}
	for _, c := range w.conversations() {
		if c.Title != "B" {
			continue
		}
		for i, m := range w.messages(c.ID) {
			if m.Content != words[i] || m.Index != i+1 {
				t.Fatalf("message %d is %d: %.20s", i+1, m.Index, m.Content)
			}
		}
	}
}

// drawn is an export of a few conversations, some of which stand in it twice or have messages in common.
func drawn(t *rapid.T) string {
	var out []string
	for range rapid.IntRange(1, 8).Draw(t, "conversations") {
		id := rapid.SampledFrom([]string{"a", "b", "c", "a/b", strings.Repeat("long", 60), ""}).Draw(t, "id")
		var said []spoken
		for i := range rapid.IntRange(0, 6).Draw(t, "messages") {
			said = append(said, spoken{
				id:   rapid.SampledFrom([]string{fmt.Sprint("m", i), fmt.Sprint("n", i), "b/m", ""}).Draw(t, "message"),
				text: rapid.SampledFrom([]string{"Yes.", "No.", "It is long enough to be too large.", " "}).Draw(t, "text"),
				at:   time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "at"), 0),
			})
		}
		write := claude
		if rapid.Bool().Draw(t, "form") {
			write = gpt
		}
		out = append(out, write(id, rapid.SampledFrom([]string{"", "Title"}).Draw(t, "title"), said...))
	}
	return list(out...)
}

func TestCHAT36_ImportedTwiceIsImportedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := chat.Limits{Content: 30, Messages: 8}
		first, export := drawn(t), drawn(t)
		w := openImport(t, kv.InMemory, limits)
		defer w.close()
		_, err := w.tryRead(context.Background(), first, transfer.FileImportOptions{})
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		seq := w.db.Seq()
		dry, _ := w.tryRead(context.Background(), export, transfer.FileImportOptions{DryRun: true})
		if w.db.Seq() != seq {
			t.Fatal("a dry run wrote")
		}
		did, _ := w.tryRead(context.Background(), export, transfer.FileImportOptions{})
		if !reflect.DeepEqual(dry, did) {
			t.Fatalf("a dry run reports %+v, the import %+v", dry, did)
		}
		if did.Messages+did.Known+did.TooLarge+did.Full != did.Read.Messages {
			t.Fatalf("of %d messages: %+v", did.Read.Messages, did)
		}
		once := w.told()
		seq = w.db.Seq()
		again, _ := w.tryRead(context.Background(), export, transfer.FileImportOptions{})
		if again.Messages != 0 || w.db.Seq() != seq || !slices.Equal(w.told(), once) {
			t.Fatalf("imported twice: %+v after %+v", again, did)
		}
	})
}

func TestCHAT36_AnImportThatEndsEarlyIsCompletedByTheNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		export := drawn(t)
		w, other := openImport(t, kv.InMemory, chat.Limits{}), openImport(t, kv.InMemory, chat.Limits{})
		defer w.close()
		defer other.close()
		_, _ = other.tryRead(context.Background(), export, transfer.FileImportOptions{})
		cut := rapid.IntRange(0, len(export)).Draw(t, "cut")
		_, _ = w.tryRead(context.Background(), export[:cut], transfer.FileImportOptions{})
		_, _ = w.tryRead(context.Background(), export, transfer.FileImportOptions{})
		if got, want := w.told(), other.told(); !slices.Equal(got, want) {
			t.Fatalf("in two steps\n%s\nin one\n%s", strings.Join(got, "\n\n"), strings.Join(want, "\n\n"))
		}
	})
}

func FuzzCHAT36_Import(f *testing.F) {
	f.Add([]byte(list(claude("a", "A", spokenTalk("One.", "Two.")...), gpt("b", "B", spokenTalk("Three.")...))))
	f.Add([]byte(`[{"uuid":"\ud800","name":"\u0000","chat_messages":[{"sender":"human","text":"\u2028"}]}]`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, export []byte) {
		w := openImport(t, kv.InMemory, chat.Limits{})
		defer w.close()
		dry, _ := w.tryRead(t.Context(), string(export), transfer.FileImportOptions{DryRun: true})
		did, err := w.tryRead(t.Context(), string(export), transfer.FileImportOptions{})
		if !reflect.DeepEqual(dry, did) {
			t.Errorf("a dry run reports %+v, the import %+v", dry, did)
		}
		if kind := fault.KindOf(err); err != nil && kind != fault.Invalid {
			t.Errorf("error %v", err)
		}
		told := w.told()
		again, _ := w.tryRead(t.Context(), string(export), transfer.FileImportOptions{})
		if again.Messages != 0 || !slices.Equal(w.told(), told) {
			t.Errorf("imported twice: %+v", again)
		}
		if bytes.Contains([]byte(strings.Join(told, "")), []byte{0}) {
			t.Error("a NUL is stored")
		}
	})
}
