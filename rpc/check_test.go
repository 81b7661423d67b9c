package rpc_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestCheckOfAWholeStore(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	defer d.watch()()
	d.populate()
	before := d.answers()
	out := d.do("admin.check", `{}`)
	d.want(out, "ok", true)
	d.want(out, "compared", true)
	d.want(out, "drift", "[]")
	d.want(out, "problems", "[]")
	if files := out["files"].([]any); len(files) < 2 {
		t.Errorf("files: %v", files)
	}
	d.want(out, "records", at(d.do("admin.health", `{}`), "store.records"))
	d.wantAnswers("after a check", before)
	d.do("notes.put", `{"id":"later","title":"Later"}`)
	d.want(d.do("admin.check", `{}`), "ok", true)
}

// A record that was asked for and that nothing refers to is no drift.
func TestCheckOfWhatWasAskedFor(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.seed()
	d.do("notes.put", `{"id":"alone","title":"Alone"}`)
	d.do("graph.neighbors", `{"ref":"alone"}`)
	d.want(d.do("admin.check", `{}`), "drift", "[]")
}

// What was served and is not in the records is found, and gone afterwards.
func TestCheckRepairsDrift(t *testing.T) {
	stray := ""
	d := startOn(t, t.TempDir(), rpc.Options{OpenRooms: func(db *kv.Store) (*rpc.Deps, error) {
		rooms, err := roomsOver(db)
		if err != nil || stray != "" {
			return rooms, err
		}
		// The notes and books are those of a store that has one more.
		other, err := kv.Open(kv.InMemory, kv.Options{})
		if err != nil {
			return nil, err
		}
		strange, err := roomsOver(other)
		if err != nil {
			return nil, err
		}
		n, err := strange.Notes.Put(context.Background(), notes.Draft{ID: "stray", Title: "Stray", Body: "#lost"}, nil)
		must(t, err)
		_, _, err = strange.Books.Put(context.Background(), strange.Audience.View(audience.Local),
			books.Draft{ID: "stray", Content: []byte("Lost."), Name: "stray.txt"}, nil)
		stray = n.ID
		rooms.Notes, rooms.Books = strange.Notes, strange.Books
		return rooms, err
	}})
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"eve","type":"Person","name":"Eve"}`)
	out := d.do("admin.check", `{}`)
	d.want(out, "ok", false)
	d.want(out, "problems", "[]")
	var views []string
	for _, drift := range out["drift"].([]any) {
		views = append(views, at(drift, "view").(string))
		d.want(drift, "found", 1)
		d.want(drift, "repaired", true)
		if id := at(drift, "ids.0"); id != "stray" && id != "lost" {
			t.Errorf("drift of %v", id)
		}
	}
	if got := strings.Join(views, " "); got != "notes links tags graph books" {
		t.Errorf("drift in %s", got)
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
	if _, err := d.try("notes.get", `{"ref":"stray"}`); err == nil {
		t.Error("the stray note is still there")
	}
	d.do("entities.get", `{"ref":"eve"}`)
}

// A damaged file is found while the store is open, and the store stays so: it
// has what the file has lost.
func TestCheckOfADamagedFile(t *testing.T) {
	data := t.TempDir()
	d := startOn(t, data, rpc.Options{})
	d.seed()
	before := d.answers()
	journals, err := filepath.Glob(filepath.Join(data, "journal-*"))
	must(t, err)
	whole, err := os.ReadFile(journals[0])
	must(t, err)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	must(t, os.WriteFile(journals[0], damaged, 0o600))
	rooms := d.srv.Rooms()
	out := d.do("admin.check", `{}`)
	d.want(out, "ok", false)
	d.want(out, "compared", false)
	if text := out["problems"].([]any); len(text) < 2 || !strings.Contains(text[0].(string), filepath.Base(journals[0])+" is damaged at byte ") ||
		!strings.Contains(text[len(text)-1].(string), "make a backup") {
		t.Errorf("problems: %q", text)
	}
	if d.srv.Rooms() != rooms {
		t.Error("the store was opened anew")
	}
	d.wantAnswers("with a damaged file", before)

	// The backup that it asks for has everything.
	file := filepath.Join(t.TempDir(), "b")
	d.do("admin.backup", `{"path":"`+filepath.ToSlash(file)+`"}`)
	other := startOn(t, t.TempDir(), rpc.Options{})
	other.do("admin.restore", `{"path":"`+filepath.ToSlash(file)+`"}`)
	other.wantAnswers("restored", before)
	must(t, os.WriteFile(journals[0], whole, 0o600)) // so that it ends well
}

// TestREL16_CheckMendsWhatItFinds in the records, and says so once. What nobody can mend it says how to be rid of.
func TestREL16_CheckMendsWhatItFinds(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.add", `{"id":"a","statement":"I have 25 days of leave."}`)
	d.do("memory.add", `{"id":"b","statement":"The rent is 950 euros."}`)
	d.do("books.add", `{"id":"book","content":"`+base64.StdEncoding.EncodeToString([]byte("Two passages."))+`","name":"one.txt"}`)
	d.want(d.do("admin.check", `{}`), "ok", true)
	d.spoil(func(tx *kv.Tx) error {
		return errors.Join(
			memory.Records.Delete(tx, "a"), // as a pair that was written beside its deletion, and a handle
			raw("learn-pair").Put(tx, "a/b", &map[string]any{"state": "queued", "at": "2026-03-04T12:00:00Z"}),
			raw("learn-shown").Local().Put(tx, "local/c", &map[string]any{"at": "2026-03-04T12:00:00Z", "hits": []any{map[string]any{"kind": "memories", "id": "a"}}}),
			books.Passages.Delete(tx, books.Key("book", 0)),
			personality.Choices.Put(tx, "active", &personality.Choice{ID: "lost"}),
		)
	})
	out := d.do("admin.check", `{}`)
	d.want(out, "ok", false)
	d.want(out, "problems", "[]")
	for _, of := range []string{"a pair of facts names memory a", "memory a was shown", "book book has 0 passages of 1", "active personality lost", "a handle leads to memory a"} {
		if !strings.Contains(fmt.Sprint(out["mended"]), of) {
			t.Errorf("%q is not mended: %v", of, out["mended"])
		}
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
	if b := d.do("books.get", `{"ref":"book"}`); at(b, "book.state") != "failed" || !strings.Contains(at(b, "book.reason").(string), "add its file once more") {
		t.Errorf("%v", b)
	}

	d.spoil(func(tx *kv.Tx) error {
		return raw("memory-synonym").Put(tx, "alone", &map[string]any{"id": "alone", "words": []string{"one"}})
	})
	for range 2 {
		out = d.do("admin.check", `{}`)
		d.want(out, "ok", false)
		d.want(out, "mended", "[]")
		d.want(out, "problems", "[synonyms alone are filed as alone, with 1 words]")
		if hint, _ := out["hint"].(string); !strings.Contains(hint, "ctxd restore") {
			t.Errorf("hint: %q", hint)
		}
	}
}

// raw is a collection whose records a test writes by itself.
func raw(name string) kv.Collection[map[string]any] { return kv.NewCollection[map[string]any](name) }

// spoil writes what no room writes.
func (d *daemon) spoil(fn func(tx *kv.Tx) error) {
	d.t.Helper()
	must(d.t, d.srv.Rooms().KV.Update(context.Background(), fn))
}

func TestCheckInMemory(t *testing.T) {
	d := start(t)
	d.seed()
	var e *client.Error
	if _, err := d.try("admin.check", `{}`); !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || e.Data.Hint == "" {
		t.Errorf("%v", err)
	}
	d.do("notes.get", `{"ref":"kickoff"}`)
}
