package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// Every format that a released program wrote has a folder in fixtures/data,
// with stores as that program left them and answers as it gave them. They are
// never changed; see fixtures/data/README.md.

var writeFormat = flag.Bool("write-format", false, "write fixtures/data/format-N with this program; one that exists is left alone")

const (
	goldenStore   = "store"        // folder of a golden directory: the data
	goldenAnswers = "answers.json" // file beside it
)

// goldenData is where the formats lie.
var goldenData = filepath.Join("..", "..", "fixtures", "data")

// recorded is a call with its reply, without what depends on the clock or on
// the process. Either Result or Code is set.
type recorded struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result,omitempty"`
	Code   int             `json:"code,omitempty"` // of the error
}

// golden is a directory of fixtures/data.
type golden struct {
	name    string // format-1/killed
	format  int
	answers []recorded
}

func goldens(t *testing.T) (list []golden) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldenData, "format-*", "*", goldenAnswers))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden directories in %s: %v", goldenData, err)
	}
	for _, file := range files {
		name, err := filepath.Rel(goldenData, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		g := golden{name: filepath.ToSlash(name)}
		if _, err := fmt.Sscanf(g.name, "format-%d/", &g.format); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &g.answers)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range g.answers {
			g.answers[i].inProtocol2()
		}
		if g.format < 5 {
			for i := range g.answers {
				g.answers[i].Result = withMarkdownLinks(t, g.answers[i].Result)
			}
		}
		list = append(list, g)
	}
	return list
}

// inProtocol2 asks what was asked in protocol 1 as protocol 2 does, and has its answer in the words of today.
func (r *recorded) inProtocol2() {
	if now := protocol.Renamed[r.Method]; now != "" {
		r.Method, _, _ = strings.Cut(now, " ")
	}
	refs := map[string][]string{
		"notes.get": {"id", "path", "title"}, "notes.links": {"id"}, "notes.similar": {"id"}, "entities.get": {"id", "name"}, "types.get": {"name"},
		"graph.neighbors": {"id"}, "memory.versions": {"id"}, "memory.similar": {"id"},
	}
	params := string(r.Params)
	for _, former := range refs[r.Method] {
		params = strings.Replace(params, `{"`+former+`":`, `{"ref":`, 1)
	}
	params = strings.NewReplacer(`"trashed":`, `"archived":`, `"sortBy":`, `"sort":`).Replace(params)
	r.Params = json.RawMessage(params)
	r.Result = bytes.ReplaceAll(r.Result, []byte(`"trashedAt":`), []byte(`"archivedAt":`))
}

// withMarkdownLinks returns an answer of format 4 or older as it is since format 5: the
// links of a vault count its Markdown links too.
func withMarkdownLinks(t *testing.T, answer json.RawMessage) json.RawMessage {
	t.Helper()
	var list struct {
		Vaults []map[string]any `json:"vaults"`
	}
	if !bytes.Contains(answer, []byte(`"markdownLinks"`)) || json.Unmarshal(answer, &list) != nil {
		return answer
	}
	for _, v := range list.Vaults {
		links, _ := v["links"].(float64)
		markdown, _ := v["markdownLinks"].(float64)
		v["links"] = links + markdown
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// copy returns a folder with the store of g in it.
func (g golden) copy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	copyFiles(t, filepath.Join(goldenData, filepath.FromSlash(g.name), goldenStore), dir)
	return dir
}

// A store of an older format opens, answers as it did, and is of this
// program's format from then on.
func TestREL13_EveryFormatOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, g := range campaign.Sample(goldens(t), 5) {
		t.Run(g.name, func(t *testing.T) {
			dir := g.copy(t)
			store := openGolden(t, dir)
			if r := store.rooms.KV.Status().Recovered; r.Lost != 0 || r.TornBytes != 0 || len(r.Damaged) != 0 {
				t.Errorf("opened with %+v", r)
			}
			store.compare(g)
			store.close()
			if g.format < daemon.StoreFormat {
				keepsFormer(t, dir, g)
			}
			before := listing(t, dir)
			if !opensAs(t, dir, daemon.StoreFormat) {
				t.Errorf("the store is not of format %d, although it has been opened", daemon.StoreFormat)
			}
			store = openGolden(t, dir)
			store.compare(g)
			store.close()
			if diff := difference(before, listing(t, dir)); diff != "" {
				t.Errorf("opened again, nothing was to be upgraded, and %s", diff)
			}
			store = openGolden(t, dir)
			store.goesOn()
			store.close()
		})
	}
}

// What a private note was called that is deleted is known since format 4, its id in
// stores of format 3 as well.
func TestREL13_NamesOfThePastAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, g := range goldens(t) {
		if g.format < 3 {
			continue
		}
		dir := g.copy(t)
		for range 2 { // upgraded, and as it is
			store := openGolden(t, dir)
			if !store.rooms.Notes.WasPrivate("b3") || store.rooms.Notes.WasPrivate("b1") {
				t.Errorf("%s: the id of the deleted note is not known", g.name)
			}
			if got := notes.IsFormerTarget(store.rooms.Entities.Past(), "Batch three"); got != (g.format > 3) {
				t.Errorf("%s: the title of the deleted note is known: %v", g.name, got)
			}
			store.close()
		}
	}
}

// The places of Markdown links to files that are no notes are stored since format 6. The
// golden directories have no such link: here is a note as format 5 had it.
func TestREL13_LinksToFilesAreFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := kv.Open(dir, kv.Options{Format: 5})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := notes.Note{Note: record.Note{ID: "n", Title: "N", Body: "a ![](pic.png)", CreatedAt: at, UpdatedAt: at, Version: 1}}
	err = db.Update(t.Context(), func(tx *kv.Tx) error { return notes.Records.Put(tx, n.ID, &n) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	store := openGolden(t, dir)
	defer store.close()
	if _, unresolved := store.rooms.Notes.Outgoing("n"); len(unresolved) != 1 || unresolved[0].Target != "pic.png" {
		t.Errorf("links without a target: %+v", unresolved)
	}
}

// There is no format without a golden directory, this program's included.
func TestREL13_EveryFormatIsKept(t *testing.T) {
	if *writeFormat {
		recordFormat(t)
	}
	has := map[int][]string{}
	for _, g := range goldens(t) {
		has[g.format] = append(has[g.format], filepath.Base(g.name))
		if len(g.answers) < 15 {
			t.Errorf("%s has only %d answers", g.name, len(g.answers))
		}
	}
	for format := 1; format <= daemon.StoreFormat; format++ {
		if !slices.Equal(has[format], []string{"killed", "stopped"}) {
			t.Errorf("format %d: there are %q; write them with: go test ./cmd/ctxd -run TestREL13 -write-format", format, has[format])
		}
	}
}

// keepsFormer checks that the state before the upgrade lies beside the store: in
// its old format, and with all that it held.
func keepsFormer(t *testing.T, dir string, g golden) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(dir, "*.ctxdbackup"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("format %d became %d and the state before is kept as %q, %v", g.format, daemon.StoreFormat, kept, err)
	}
	former := filepath.Join(t.TempDir(), "former")
	db, err := kv.Open(former, kv.Options{Format: g.format})
	if err != nil {
		t.Fatal(err)
	}
	m, err := db.Restore(t.Context(), kept[0], kv.RestoreOptions{})
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	if m.Format != g.format {
		t.Errorf("the state before is kept in format %d", m.Format)
	}
	if !opensAs(t, former, g.format) {
		t.Errorf("a program of format %d can't go back to the state before", g.format)
	}
	store := openGolden(t, former)
	store.compare(g)
	store.close()
}

// A program that is older than the store refuses it, says which formats it is
// about, and leaves it as it is.
func TestREL13_NewerFormatIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			dir := g.copy(t)
			// The upgrade that the next format will have.
			db, err := kv.Open(dir, kv.Options{Format: daemon.StoreFormat + 1, Upgrade: func(*kv.Tx, int) error { return nil }})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before := listing(t, dir)
			rooms, err := daemon.OpenRooms(dir, slog.New(slog.DiscardHandler), config.Records{})
			if err == nil {
				_ = rooms.KV.Close()
				t.Fatal("a store of a newer format was opened")
			}
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Unavailable || e.Hint == "" {
				t.Errorf("refused with %#v", err)
			}
			for _, format := range []int{daemon.StoreFormat, daemon.StoreFormat + 1} {
				if !slices.Contains(digits.FindAllString(err.Error(), -1), strconv.Itoa(format)) {
					t.Errorf("%q does not name format %d", err, format)
				}
			}
			if diff := difference(before, listing(t, dir)); diff != "" {
				t.Errorf("it was refused, and %s", diff)
			}
		})
	}
}

var digits = regexp.MustCompile(`\d+`)

// opensAs says whether the records of a store are of a format: that format
// opens without an upgrade, and the one before is too old.
func opensAs(t *testing.T, dir string, format int) bool {
	t.Helper()
	upgraded := false
	db, err := kv.Open(dir, kv.Options{Format: format, Upgrade: func(*kv.Tx, int) error { upgraded = true; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = kv.Open(dir, kv.Options{Format: format - 1})
	if err == nil {
		_ = db.Close()
	}
	return !upgraded && fault.KindOf(err) == fault.Unavailable
}

// openStore is a store with the rooms over it, served on a socket.
type openStore struct {
	t      *testing.T
	rooms  *rpc.Deps
	server *rpc.Server
	client *client.Client
}

func openGolden(t *testing.T, dir string) *openStore {
	t.Helper()
	rooms, err := daemon.OpenRooms(dir, slog.New(slog.DiscardHandler), config.Records{})
	if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "ctxd-f-") // that of t.TempDir has a long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) }) // the system cleans its folder otherwise
	ln, err := socket.Listen(filepath.Join(short, "s"), socket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &openStore{t: t, rooms: rooms}
	s.server = rpc.New(rpc.Options{
		Methods: rpc.Methods(), Rooms: rooms, DataDir: dir, Format: daemon.StoreFormat,
		OpenStore: func() (*kv.Store, error) { return kv.Open(dir, daemon.StoreOptions(config.Store{})) },
		OpenRooms: func(db *kv.Store) (fresh *rpc.Deps, err error) { // admin.check does
			fresh, err = daemon.RoomsOver(db, config.Records{}, daemon.Finding{}, slog.New(slog.DiscardHandler))
			s.rooms = fresh
			return fresh, err
		},
	})
	go func() { _ = s.server.Serve(ln) }() // it ends with close
	s.client, err = client.Dial(t.Context(), ln.Path(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// close ends it as a daemon ends.
func (s *openStore) close() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfClose)
	defer cancel()
	_ = s.client.Close() // the daemon closes it as well
	if err := errors.Join(s.server.Shutdown(ctx), s.rooms.KV.Close()); err != nil {
		s.t.Fatal(err)
	}
}

const patienceOfClose = hangs

// call returns the reply to a call.
func (s *openStore) call(method string, params json.RawMessage) recorded {
	s.t.Helper()
	r := recorded{Method: method, Params: params}
	err := s.client.Call(s.t.Context(), method, params, &r.Result)
	var wire *client.Error
	switch {
	case errors.As(err, &wire):
		r.Code = wire.Code
	case err != nil:
		s.t.Fatalf("%s: %v", method, err)
	}
	return r
}

// compare asks everything again. What was recorded must still be said; members
// that were not known then may be new.
func (s *openStore) compare(g golden) {
	s.t.Helper()
	for _, want := range g.answers {
		got := s.call(want.Method, want.Params)
		if got.Code != want.Code {
			s.t.Errorf("%s %s: answered with code %d, was %d", want.Method, want.Params, got.Code, want.Code)
			continue
		}
		answer := decoded(s.t, got.Result)
		if g.format < 6 {
			withoutUnresolved(answer)
		}
		was := decoded(s.t, want.Result)
		withoutDecay(was)
		if where := differs(was, answer, ""); where != "" {
			s.t.Errorf("%s %s: %s\nwas %s\nis  %s", want.Method, want.Params, where, want.Result, got.Result)
		}
	}
}

// withoutUnresolved says "deleted" of references that lead nowhere, as the answers of
// format 5 and older do: they are of programs that did not tell the two apart.
func withoutUnresolved(answer any) {
	switch v := answer.(type) {
	case map[string]any:
		if v["state"] == "unresolved" {
			v["state"] = "deleted"
		}
		for _, inner := range v {
			withoutUnresolved(inner)
		}
	case []any:
		for _, inner := range v {
			withoutUnresolved(inner)
		}
	}
}

// withoutDecay leaves out how sure a memory is that decays: that is computed anew when it is read, on whatever day that
// is.
func withoutDecay(answer any) {
	switch v := answer.(type) {
	case map[string]any:
		if source, ok := v["source"].(map[string]any); ok && (source["kind"] == "extraction" || source["kind"] == "assistant") {
			delete(v, "confidence")
			delete(v, "quality")
		}
		for _, inner := range v {
			withoutDecay(inner)
		}
	case []any:
		for _, inner := range v {
			withoutDecay(inner)
		}
	}
}

// decoded returns JSON as maps, lists and its own words for numbers.
func decoded(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if text == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// differs says where got is not what was wanted, "" when it is. A map may have
// more members than that, and a list of nothing was null once.
func differs(want, got any, at string) string {
	switch w := want.(type) {
	case nil:
		if g, ok := got.([]any); got == nil || ok && len(g) == 0 {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for name, v := range w {
			have, ok := g[name]
			if !ok {
				return at + "." + name + " is missing"
			}
			if where := differs(v, have, at+"."+name); where != "" {
				return where
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i, v := range w {
			if where := differs(v, g[i], at+"["+strconv.Itoa(i)+"]"); where != "" {
				return where
			}
		}
		return ""
	default:
		if want == got {
			return ""
		}
	}
	return cmp.Or(at, "the result") + " differs"
}

// goesOn changes what no answer shows: what a client gave a note apart from its
// text outlives another text.
func (s *openStore) goesOn() {
	s.t.Helper()
	var n protocol.NoteFull
	s.read(s.must("notes.patch", `{"id":"hive-log","body":"Another text. #new"}`), &n)
	if !slices.Equal(n.Tags, []string{"weights", "new"}) || !slices.Equal(n.Aliases, []string{"Log of the roof"}) || !n.Private || n.Version != 3 {
		s.t.Errorf("patched, the note is %+v", n.Note)
	}
}

// recordFormat writes the golden directories of this program's format.
func recordFormat(t *testing.T) {
	t.Helper()
	target := filepath.Join(goldenData, fmt.Sprintf("format-%d", daemon.StoreFormat))
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is there already, and is never changed", target)
	}
	t.Run("killed", func(t *testing.T) {
		dir := t.TempDir()
		s := openGolden(t, dir)
		defer s.close()
		s.importVault()
		s.change()
		s.write(filepath.Join(target, "killed"))
		// What is on disk now is what a kill would leave.
		copyFiles(t, dir, filepath.Join(target, "killed", goldenStore))
	})
	t.Run("stopped", func(t *testing.T) {
		dir := t.TempDir()
		s := openGolden(t, dir)
		s.importVault("1-1s", "Attachments", "Customers", "Handbook", "Inbox", "Journal", "Meetings", "OKRs", "Tools", "Vendors")
		s.snapshot()
		s.change()
		s.snapshot()
		s.changeMore()
		s.write(filepath.Join(target, "stopped"))
		s.close()
		copyFiles(t, dir, filepath.Join(target, "stopped", goldenStore))
	})
}

func (s *openStore) snapshot() {
	s.t.Helper()
	if err := s.rooms.KV.Snapshot(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// importVault reads the sample vault without some of its folders.
func (s *openStore) importVault(without ...string) {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "ctxd-vault-") // a short path: it becomes part of the data
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }() // the system cleans its folder otherwise
		err = fixtures.CopyVault(dir)
	}
	for _, folder := range without {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, folder)))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	params, err := json.Marshal(protocol.VaultImport{Path: dir, Name: "Combwright"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.must("vault.import", string(params))
}

// change does what a client does, each kind of it.
func (s *openStore) change() {
	s.t.Helper()
	s.must("types.put", `{"name":"Hive","fields":[{"name":"place","type":"text","required":true},{"name":"weight_kg","type":"number"},{"name":"queen","type":"select","options":["young","old"]},{"name":"keeper","type":"entity_ref","targetType":"Person"},{"name":"log","type":"note_ref"},{"name":"keepers","type":"computed","query":"SELECT p FROM Person WHERE p.team = 'none'"}]}`)
	s.must("notes.put", `{"id":"hive-log","title":"Hive Log","body":"Weighed with the new scale: 31.4 kg, see [[Project Alpha]] and [[Nobody Knows]].\n\nZürich, 蜂, 🐝 and a tab\there. #hives/roof","aliases":["Log of the roof"],"createdAt":"2025-05-01T06:40:00Z"}`)
	s.must("notes.put", `{"title":"Made without an id","body":"","folder":"Scratch"}`)
	s.must("notes.putMany", `{"notes":[{"id":"b1","title":"Batch one","body":"The first of the batch links to [[Batch two]].","path":"Batch/one.md"},{"id":"b2","title":"Batch two","body":"The second."},{"id":"b3","title":"Batch three","body":"To be deleted.","private":true},{"id":"b4","title":"Batch four","body":"To be archived."}]}`)
	s.must("notes.patch", `{"id":"hive-log","tags":["weights"],"private":true,"ifVersion":1}`)
	s.must("notes.patch", `{"id":"b2","title":"Batch second","body":"The second, `+strings.Repeat("written anew and long, ", 60)+`zwetschkenröster."}`)
	s.must("notes.archive", `{"id":"b4"}`)
	s.must("notes.delete", `{"id":"b3"}`)
	s.must("entities.putMany", `{"entities":[{"id":"roof","type":"Hive","name":"Roof hive","aliases":["The roof"],"fields":{"place":"Graz","weight_kg":31.4,"queen":"young","keeper":`+s.ids(`"<Alice Novak>"`)+`,"log":"hive-log"}},{"id":"yard","type":"Hive","name":"Yard hive","fields":{"place":"Linz","weight_kg":0}},{"id":"gone","type":"Hive","name":"Gone hive","fields":{"place":"nowhere"}}]}`)
	s.must("entities.patch", `{"id":"yard","fields":{"weight_kg":1e21,"queen":"old"}}`)
	s.must("entities.archive", `{"id":"gone"}`)
	s.must("contexts.put", `{"id":"bees","name":"Bee Keeping","description":"The roof and the yard"}`)
	s.must("contexts.put", `{"id":"honey","name":"Honey","parentId":"bees","private":true}`)
	s.must("memory.addMany", `{"memories":[{"id":"m1","statement":"I weigh the hives on the first of May","kind":"task","tags":["bees/scale"],"questions":["When do I weigh?"],"contexts":["bees","honey"],"noteIds":["b2"],"entityIds":["roof"],"validFrom":"2025-05-01T00:00:00Z"},{"id":"m2","statement":"I sell honey, see [[Hive Log]]","source":{"kind":"extraction","noteId":"hive-log"}},{"id":"m3","statement":"I buy jars in Graz","pinned":true,"confidence":0.2},{"id":"m4","statement":"Ich heiße Zoë 蜂 🐝","kind":"identity","alwaysInject":true},{"id":"m5","statement":"To be deleted"},{"id":"m6","statement":"I have one hive"}]}`)
	s.must("memory.add", `{"id":"m7","statement":"I have two hives","supersedes":["m6"]}`)
	s.must("memory.add", `{"statement":"i have TWO hives!"}`)
	s.must("memory.patch", `{"id":"m1","statement":"I weigh the hives on the second of May","ifVersion":1}`)
	s.must("memory.use", `{"ids":["m1","m4"]}`)
	s.must("memory.delete", `{"id":"m5","force":true}`)
	s.must("memory.retract", `{"id":"m3"}`)
	s.must("memory.add", `{"id":"m9","statement":"The scale is set to zero first","tier":"history","kind":"lesson"}`)
	s.must("memory.outcome", `{"ids":["m9","m1"],"outcome":"worked"}`)
	s.must("memory.outcome", `{"outcome":"partial","takeaway":"Weigh in the evening"}`)
	s.must("chat.append", `{"title":"Honey prices","messages":[{"role":"user","content":"What do I ask for a jar?","clientMessageId":"k1","createdAt":"2025-05-01T08:00:00Z"},{"role":"assistant","content":"Five euros, says [[Hive Log]]."},{"role":"user","content":"My own note","private":true,"clientMessageId":"k2"}]}`)
	s.must("chat.append", `{"messages":[{"role":"user","content":"To be deleted","clientMessageId":"k3"}]}`)
	s.must("chat.append", `{"private":true,"messages":[{"role":"user","content":"Über die 蜂 🐝","clientMessageId":"k4"}]}`)
	s.must("chat.patch", `{"id":"<chat k4>","title":"Bees"}`)
	s.must("chat.delete", `{"id":"<chat k3>"}`)
}

// changeMore changes what change made.
func (s *openStore) changeMore() {
	s.t.Helper()
	s.must("entities.restore", `{"id":"gone"}`)
	s.must("entities.delete", `{"id":"yard"}`)
	s.must("notes.restore", `{"id":"b4"}`)
	s.must("notes.archive", `{"id":"b1"}`)
	s.must("notes.put", `{"id":"late","title":"Late note","body":"After both snapshots, see [[Hive Log]]."}`)
	s.must("types.put", `{"name":"Hive","fields":[{"name":"place","type":"text"},{"name":"weight_kg","type":"number"},{"name":"log","type":"note_ref"}],"force":true}`)
	s.must("memory.archive", `{"id":"m7"}`)
	s.must("memory.outcome", `{"ids":["m9"],"outcome":"failed"}`)
	s.must("contexts.delete", `{"id":"bees"}`)
	s.must("memory.add", `{"id":"m8","statement":"After both snapshots","source":{"kind":"user","conversationId":"<chat k4>"}}`)
	s.must("chat.append", `{"conversationId":"<chat k1>","messages":[{"role":"assistant","content":"Said after both snapshots"}]}`)
	s.must("chat.archive", `{"id":"<chat k4>"}`)
}

// must calls a method that must succeed.
func (s *openStore) must(method, params string) json.RawMessage {
	s.t.Helper()
	r := s.call(method, json.RawMessage(talks.ReplaceAllStringFunc(params, s.talk)))
	if r.Code != 0 {
		s.t.Fatalf("%s %s: code %d", method, params, r.Code)
	}
	return r.Result
}

// questions are what a format is asked. A name in angle brackets stands for an
// id. Only the members of the result that have to outlive the program are
// recorded: keep, all when absent, without those of drop at any depth.
//
// Prompts and scores are left out: a later program may write and rank
// differently, and has goldens of its own for that.
var questions = []struct {
	method, params string
	keep, drop     []string
}{
	{method: "notes.get", params: `{"ref":"hive-log"}`},
	{method: "notes.get", params: `{"ref":"People/Alice Novak.md"}`},
	{method: "notes.get", params: `{"ref":"b2"}`},
	{method: "notes.get", params: `{"ref":"b3"}`}, // deleted
	{method: "notes.list", params: `{"limit":100}`, drop: []string{"nextCursor"}},
	{method: "notes.list", params: `{"archived":true}`},
	{method: "notes.list", params: `{"tag":"hives"}`},
	{method: "notes.complete", params: `{"prefix":"Project A"}`},
	{method: "notes.resolve", params: `{"link":"[[Log of the roof]]"}`},
	{method: "notes.links", params: `{"ref":"<Projects/Project Alpha.md>"}`},
	{method: "notes.search", params: `{"query":"zwetschkenröster","mode":"lexical"}`, keep: []string{"hits"}, drop: []string{"score", "snippet", "ranges", "signals"}},
	{method: "tags.list", params: `{"limit":100}`, drop: []string{"nextCursor"}},
	{method: "types.list", params: `{}`},
	{method: "types.get", params: `{"ref":"hive"}`},
	{method: "entities.get", params: `{"ref":"roof"}`},
	{method: "entities.get", params: `{"ref":"yard"}`},
	{method: "entities.get", params: `{"ref":"<Alice Novak>","resolve":2}`},
	{method: "entities.list", params: `{"type":"Person","limit":100}`, drop: []string{"nextCursor"}},
	{method: "entities.list", params: `{"type":"Hive","archived":true}`},
	{method: "entities.complete", params: `{"prefix":"roof"}`},
	{method: "wql.query", params: `{"query":"SELECT proj FROM Project WHERE proj.lead = {this} ORDER BY proj.name ASC","this":"<Alice Novak>"}`},
	{method: "wql.query", params: `{"query":"SELECT SUM(p.budget_eur) FROM Project"}`},
	{method: "graph.neighbors", params: `{"ref":"roof","depth":2}`},
	{method: "graph.path", params: `{"from":"roof","to":"<Engineering>"}`},
	{method: "graph.stats", params: `{}`},
	{method: "vault.list", params: `{}`, drop: []string{"path", "watching", "stale", "lastScanAt"}},
	{method: "memory.list", params: `{"sort":"created","status":["active","contested","superseded","deprecated","archived","merged","retracted"]}`},
	{method: "memory.list", params: `{"contexts":["honey"]}`},
	{method: "memory.get", params: `{"ref":"#4"}`},
	{method: "memory.get", params: `{"ref":"m3"}`},
	{method: "memory.get", params: `{"ref":"#5"}`}, // deleted
	{method: "memory.versions", params: `{"ref":"m1"}`},
	{method: "memory.get", params: `{"ref":"m9"}`},
	{method: "memory.events", params: `{}`},
	{method: "memory.profile", params: `{}`},
	{method: "memory.stats", params: `{}`},
	{method: "chat.list", params: `{}`},
	{method: "chat.list", params: `{"archived":true}`},
	{method: "chat.get", params: `{"ref":"<chat k1>"}`},
	{method: "chat.get", params: `{"ref":"<chat k1>","audience":"remote"}`},
	{method: "chat.get", params: `{"ref":"<chat k4>"}`},
	{method: "contexts.list", params: `{"tree":true}`},
	{method: "admin.stats", params: `{}`, keep: []string{"notes", "archived", "entities", "types", "vaults"}},
}

// write asks the questions and writes the answers into a new folder.
func (s *openStore) write(dir string) {
	s.t.Helper()
	var answers []recorded
	for _, q := range questions {
		r := s.call(q.method, json.RawMessage(s.ids(q.params)))
		v := decoded(s.t, r.Result)
		if m, ok := v.(map[string]any); ok && q.keep != nil {
			for name := range m {
				if !slices.Contains(q.keep, name) {
					delete(m, name)
				}
			}
		}
		without(v, q.drop)
		if r.Code == 0 {
			r.Result = marshal(s.t, v)
		}
		answers = append(answers, r)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, goldenAnswers), lines(s.t, answers), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// lines is a JSON list with a line for each item.
func lines(t *testing.T, list []recorded) []byte {
	t.Helper()
	var b bytes.Buffer
	for i, r := range list {
		b.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		b.Write(marshal(t, r))
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// without removes members from v at any depth.
func without(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if slices.Contains(names, name) {
				delete(v, name)
				continue
			}
			without(inner, names)
		}
	case []any:
		for _, inner := range v {
			without(inner, names)
		}
	}
}

var named = regexp.MustCompile(`<([^>]+)>`)

// ids puts ids for the names in angle brackets: paths of notes, names of
// entities.
func (s *openStore) ids(params string) string {
	s.t.Helper()
	return named.ReplaceAllStringFunc(params, func(name string) string {
		if talks.MatchString(name) {
			return s.talk(name)
		}
		name = strings.Trim(name, "<>")
		if strings.HasSuffix(name, ".md") {
			var n struct{ ID string }
			s.read(s.must("notes.get", `{"ref":"`+name+`"}`), &n)
			return n.ID
		}
		var found protocol.EntityItems
		s.read(s.must("entities.complete", `{"prefix":"`+name+`","limit":1}`), &found)
		return found.Items[0].ID
	})
}

// talks are conversations, by what a client called a message of them.
var talks = regexp.MustCompile(`<chat k\d>`)

// talk returns the id of a conversation. What is there already is not written again.
func (s *openStore) talk(name string) string {
	s.t.Helper()
	key := strings.Trim(strings.TrimPrefix(name, "<chat "), ">")
	var told protocol.ChatAppended
	s.read(s.must("chat.append", `{"messages":[{"role":"user","content":"x","clientMessageId":"`+key+`"}]}`), &told)
	return told.ConversationID
}

func (s *openStore) read(text json.RawMessage, into any) {
	s.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		s.t.Fatal(err)
	}
}

// ofProcess are the files of a store that are about who has it.
var ofProcess = []string{"lock", "lock.pid"}

// copyFiles copies the files of one folder into a new one.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range listing(t, from) {
		if err := os.WriteFile(filepath.Join(to, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// listing returns what the files of a folder hold, by name.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() || slices.Contains(ofProcess, e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// difference says how two listings differ, "" when they don't.
func difference(a, b map[string]string) string {
	for name, content := range a {
		now, ok := b[name]
		if !ok {
			return name + " is gone"
		}
		if now != content {
			return name + " was changed"
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			return name + " is new"
		}
	}
	return ""
}
