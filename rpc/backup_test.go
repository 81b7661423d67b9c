package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// startOn is a daemon over a store on disk.
func startOn(t *testing.T, dir string, opts rpc.Options) *daemon {
	t.Helper()
	opts.DataDir, opts.Format = dir, 1
	opts.OpenStore = func() (*kv.Store, error) { return kv.Open(dir, kv.Options{Format: 1}) }
	d := launch(t, opts)
	must(t, d.srv.Load(context.Background()))
	return d
}

// populate fills a store with records of every sort.
func (d *daemon) populate() {
	d.t.Helper()
	d.seed()
	d.do("notes.put", `{"id":"gone","title":"Archived one","body":"kept apart"}`)
	d.do("notes.archive", `{"id":"gone"}`)
	d.do("entities.put", `{"id":"trashed","type":"Person","name":"Nobody"}`)
	d.do("entities.archive", `{"id":"trashed"}`)
	vault := filepath.Join(d.t.TempDir(), "Vault")
	must(d.t, fixtures.CopyVault(vault))
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
}

// questions are calls whose answers depend on everything in a store.
var questions = [][2]string{
	{"notes.list", `{"limit":1000}`},
	{"notes.list", `{"archived":true}`},
	{"notes.get", `{"ref":"kickoff"}`},
	{"notes.get", `{"ref":"projects/alpha.md"}`},
	{"notes.get", `{"ref":"gone"}`},
	{"notes.links", `{"ref":"kickoff"}`},
	{"notes.links", `{"ref":"alpha"}`},
	{"notes.complete", `{"prefix":"pro","limit":50}`},
	{"notes.resolve", `{"link":"Kickoff#Goals"}`},
	{"notes.search", `{"query":"project meeting","limit":50}`},
	{"tags.list", `{"limit":1000}`},
	{"types.list", `{}`},
	{"types.get", `{"ref":"Person"}`},
	{"entities.list", `{"limit":1000}`},
	{"entities.list", `{"archived":true}`},
	{"entities.get", `{"ref":"alice","resolve":4}`},
	{"entities.complete", `{"prefix":"a","limit":50}`},
	{"wql.query", `{"query":"SELECT p FROM Person WHERE p.team = {this} ORDER BY p.name","this":"core"}`},
	{"wql.query", `{"query":"SELECT COUNT(*) FROM Person"}`},
	{"wql.check", `{"query":"SELECT p FROM Person WHERE p.nothing = 1","type":"Person"}`},
	{"graph.stats", `{}`},
	{"graph.neighbors", `{"ref":"core","depth":4}`},
	{"graph.path", `{"from":"bob","to":"alice"}`},
	{"context.assemble", `{"text":"What does @Alice do in [[Kickoff]]?","audience":"local","searchNotes":5}`},
	{"vault.list", `{}`},
	{"vault.status", `{}`},
	{"vault.problems", `{}`},
	{"notes.get", `{"ref":"there is none"}`},
}

var measured = regexp.MustCompile(`"ms":[0-9.]+`)

// answers asks all of them and returns the answers as they came over the socket,
// but for how long stages took.
func (d *daemon) answers() (list []string) {
	d.t.Helper()
	p := d.peer()
	for i, q := range questions {
		p.call(i, q[0], q[1])
		list = append(list, measured.ReplaceAllString(p.line(), `"ms":0`))
	}
	_ = p.nc.Close()
	return list
}

func (d *daemon) wantAnswers(when string, want []string) {
	d.t.Helper()
	got := d.answers()
	for i := range want {
		if got[i] != want[i] {
			d.t.Errorf("%s, %s %s answers\n%.1000s\nand did\n%.1000s", when, questions[i][0], questions[i][1], got[i], want[i])
		}
	}
}

// wipe removes most of what is in a store, and puts something else.
func (d *daemon) wipe() {
	d.t.Helper()
	for _, v := range d.do("vault.list", `{}`)["vaults"].([]any) {
		d.do("vault.forget", fmt.Sprintf(`{"vault":%q}`, v.(map[string]any)["vault"]))
	}
	d.do("notes.delete", `{"id":"kickoff"}`)
	d.do("notes.put", `{"id":"alpha","title":"Another","body":"with other words"}`)
	d.do("entities.put", `{"id":"alice","type":"Person","name":"Someone else","fields":{"role":"Lead"}}`)
	d.do("types.delete", `{"name":"Team","force":true}`)
}

func TestREL12_RestoredAnswersAreTheSame(t *testing.T) {
	campaign.Only(t)
	data := t.TempDir()
	d := startOn(t, data, rpc.Options{})
	defer d.watch()()
	d.populate()
	before := d.answers()
	file := filepath.Join(t.TempDir(), "notes.ctxdbackup")
	params := fmt.Sprintf(`{"path":%q}`, file)
	m := d.do("admin.backup", params)
	wantPrivate(t, file)
	d.wantAnswers("after a backup", before)
	seq := at(d.do("admin.health", `{}`), "store.seq")
	d.want(m, "seq", seq)
	d.want(m, "program", "ctxd 0.0.0")

	d.wipe()
	wiped := d.answers()
	if slices.Equal(wiped, before) {
		t.Fatal("nothing was wiped")
	}
	dry := d.do("admin.restore", fmt.Sprintf(`{"path":%q,"dryRun":true}`, file))
	d.want(dry, "restored", false)
	d.want(dry, "checksum", m["checksum"])
	d.want(dry, "records", m["records"])
	d.want(dry, "current.notes", 2)
	d.wantAnswers("after a dry run", wiped)

	l := d.listen("notes.changed", "entities.changed")
	out := d.do("admin.restore", fmt.Sprintf(`{"path":%q,"checksum":%q}`, file, strings.ToUpper(m["checksum"].(string))))
	d.want(out, "restored", true)
	d.want(out, "dryRun", false)
	d.want(out, "current.notes", 2)
	d.wantAnswers("after a restore", before)
	l.want("notes.changed many ", "entities.changed many ")
	d.do("notes.put", `{"id":"later","title":"Later"}`)
	l.want("notes.changed put later")
	d.do("notes.delete", `{"id":"later"}`)

	// What was there before is kept, and restored in the same way.
	previous := out["previous"].(string)
	wantPrivate(t, previous)
	again := d.do("admin.restore", fmt.Sprintf(`{"path":%q}`, previous))
	d.wantAnswers("with what was before back", wiped)
	if kept := replacedFiles(t, data); len(kept) != 1 || kept[0] != again["previous"] {
		t.Errorf("kept are %v, want %v alone", kept, again["previous"])
	}

	// A daemon that never had any of it.
	other := startOn(t, t.TempDir(), rpc.Options{})
	other.do("admin.restore", params)
	other.wantAnswers("in another daemon", before)
}

// watch asks how the daemon is all the while, until it is told that it is enough.
func (d *daemon) watch() (enough func()) {
	c := d.listen()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			default:
			}
			var h protocol.Health
			if err := c.Call(context.Background(), "admin.health", nil, &h); err != nil || h.Status == protocol.Failing {
				d.t.Errorf("asked how it is: %v %+v", err, h)
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func wantPrivate(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
	}
}

func replacedFiles(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "replaced-*"))
	must(t, err)
	return list
}

// A restored store is what a start finds.
func TestREL12_RestoredStoreStartsAnew(t *testing.T) {
	campaign.Only(t)
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "b")
	d := startOn(t, data, rpc.Options{})
	d.populate()
	before := d.answers()
	d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, file))
	d.wipe()
	d.do("admin.restore", fmt.Sprintf(`{"path":%q}`, file))
	must(t, d.Close())
	must(t, d.srv.Shutdown(t.Context()))
	d.srv.Wait()
	must(t, d.srv.CloseStore())
	startOn(t, data, rpc.Options{}).wantAnswers("after a start", before)
}

// wantRefused checks that a call is refused with a code, and that the store is
// as it was.
func (d *daemon) wantRefused(method, params string, code int, field string) {
	d.t.Helper()
	var before, after any
	// What was done before may still be written in the background: a refused method that writes does so each time.
	for try := 0; try == 0 || try < 5 && !reflect.DeepEqual(before, after); try++ {
		answers := d.answers()
		before = at(d.do("admin.health", `{}`), "store.seq")
		_, err := d.try(method, params)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != code || e.Data.Field != field || e.Data.Hint == "" {
			d.t.Errorf("%s %.200s: %v %+v, want code %d, field %q and a hint", method, params, err, e, code, field)
		}
		d.wantAnswers("after "+method+" was refused", answers)
		after = at(d.do("admin.health", `{}`), "store.seq")
	}
	if !reflect.DeepEqual(before, after) {
		d.t.Errorf("%s %.200s: store.seq is %v, want %v", method, params, after, before)
	}
	if kept := replacedFiles(d.t, d.data); len(kept) > 0 {
		d.t.Errorf("a copy is left: %v", kept)
	}
}

func TestREL12_DamagedBackupIsRefusedWhole(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.seed()
	dir := t.TempDir()
	file := filepath.Join(dir, "whole")
	m := d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, file))
	d.do("notes.put", `{"id":"since","title":"Since"}`)
	whole, err := os.ReadFile(file)
	must(t, err)
	damaged := filepath.Join(dir, "damaged")
	refuse := func(what string, content []byte, code int) {
		t.Helper()
		must(t, os.WriteFile(damaged, content, 0o600))
		for _, dry := range []bool{true, false} {
			d.wantRefused("admin.restore", fmt.Sprintf(`{"path":%q,"dryRun":%v}`, damaged, dry), code, "path")
		}
		if t.Failed() {
			t.Fatalf("with %s", what)
		}
	}
	for off := 0; off < len(whole); off += 1 + len(whole)/16 {
		flipped := bytes.Clone(whole)
		flipped[off] ^= 1 << (off % 8)
		refuse(fmt.Sprintf("a bit at %d flipped", off), flipped, protocol.CodeInvalidParams)
		refuse(fmt.Sprintf("%d of %d bytes", off, len(whole)), whole[:off], protocol.CodeInvalidParams)
	}
	refuse("something behind it", append(bytes.Clone(whole), 0), protocol.CodeInvalidParams)

	d.wantRefused("admin.restore", fmt.Sprintf(`{"path":%q,"checksum":"00"}`, file), protocol.CodeInvalidParams, "checksum")
	d.wantRefused("admin.restore", fmt.Sprintf(`{"path":%q}`, dir), protocol.CodeInvalidParams, "path")
	d.wantRefused("admin.restore", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "none")), protocol.CodeNotFound, "")
	d.wantRefused("admin.restore", `{"path":"whole"}`, protocol.CodeInvalidParams, "path")
	must(t, os.WriteFile(damaged, whole, 0o600))
	d.want(d.do("admin.restore", fmt.Sprintf(`{"path":%q,"checksum":%q}`, damaged, m["checksum"])), "restored", true)
}

var marks = kv.NewCollection[string]("mark")

// A backup with records of a newer format is refused, also when it is only to be
// looked at.
func TestREL13_NewerBackupIsRefused(t *testing.T) {
	newer, err := kv.Open(filepath.Join(t.TempDir(), "newer"), kv.Options{Format: 7})
	must(t, err)
	file := filepath.Join(t.TempDir(), "b")
	must(t, newer.Update(t.Context(), func(tx *kv.Tx) error { return marks.Put(tx, "one", new(string)) }))
	_, err = newer.Backup(t.Context(), file, kv.BackupOptions{})
	must(t, errors.Join(err, newer.Close()))
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.seed()
	for _, dry := range []bool{true, false} {
		d.wantRefused("admin.restore", fmt.Sprintf(`{"path":%q,"dryRun":%v}`, file, dry), protocol.CodeUnavailable, "")
	}
}

func TestBackupWhere(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	d := startOn(t, data, rpc.Options{})
	d.seed()
	file := filepath.Join(dir, "b")
	for _, c := range []struct {
		path, field string
		code        int
	}{
		{"b", "path", protocol.CodeInvalidParams},
		{filepath.Join(data, "b"), "path", protocol.CodeInvalidParams},
		{filepath.Join(data, "log", "b"), "path", protocol.CodeInvalidParams},
		{filepath.Join(data, "..", filepath.Base(data), "b"), "path", protocol.CodeInvalidParams},
		{filepath.Join(dir, "none", "b"), "", protocol.CodeNotFound},
	} {
		d.wantRefused("admin.backup", fmt.Sprintf(`{"path":%q}`, c.path), c.code, c.field)
	}
	if err := os.Symlink(data, filepath.Join(dir, "link")); err == nil { // Windows may not let us
		d.wantRefused("admin.backup", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "link", "b")), protocol.CodeInvalidParams, "path")
	}
	first := d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, file))
	d.wantRefused("admin.backup", fmt.Sprintf(`{"path":%q}`, file), protocol.CodeConflict, "")
	d.do("notes.put", `{"id":"since","title":"Since"}`)
	second := d.do("admin.backup", fmt.Sprintf(`{"path":%q,"overwrite":true}`, file))
	if first["checksum"] == second["checksum"] {
		t.Error("the file was not replaced")
	}
}

// A restore that waits for calls can be withdrawn, and changes nothing then.
func TestRestoreCanBeWithdrawn(t *testing.T) {
	levers := newLevers(t)
	d := startOn(t, t.TempDir(), rpc.Options{Methods: levers.methods()})
	levers.letGo()
	d.seed()
	file := filepath.Join(t.TempDir(), "b")
	d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, file))
	before := d.answers()
	p := d.peer()
	p.call("w", "test.write", `{"name":"slow"}`)
	levers.begun("slow")
	p.call("restore", "admin.restore", fmt.Sprintf(`{"path":%q}`, file))
	until(t, "calls wait", func() bool { return d.do("admin.health", "{}")["loading"] != nil })
	p.cancel("restore")
	p.wantError(`"restore"`, protocol.CodeCancelled)
	levers.open("slow")
	p.wantResult(`"w"`, "")
	d.wantAnswers("after a restore was withdrawn", before)
}

// fullDisk has no room for snapshots while it is full.
type fullDisk struct {
	kv.FS
	full atomic.Bool
}

func (d *fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (kv.File, error) {
	if d.full.Load() && strings.HasPrefix(filepath.Base(name), "snapshot-") {
		return nil, errors.New("no space left on device")
	}
	return d.FS.OpenFile(name, flag, perm)
}

// A restore that the disk refuses halfway changes nothing, and leaves nothing.
func TestREL12_RestoreOnAFullDisk(t *testing.T) {
	disk := &fullDisk{FS: kv.OS()}
	data := t.TempDir()
	d := launch(t, rpc.Options{DataDir: data, OpenStore: func() (*kv.Store, error) { return kv.Open(data, kv.Options{FS: disk}) }})
	must(t, d.srv.Load(t.Context()))
	d.seed()
	file := filepath.Join(t.TempDir(), "b")
	params := fmt.Sprintf(`{"path":%q}`, file)
	d.do("admin.backup", params)
	d.do("notes.put", `{"id":"since","title":"Since"}`)
	disk.full.Store(true)
	d.wantRefused("admin.restore", params, protocol.CodeUnavailable, "")
	d.do("notes.put", `{"id":"since","title":"Since then"}`)
	disk.full.Store(false)
	d.want(d.do("admin.restore", params), "restored", true)
}

// faultyRooms can't be opened while they are to fail.
type faultyRooms struct{ fail int }

func (f *faultyRooms) open(db *kv.Store) (*rpc.Deps, error) {
	if f.fail > 0 {
		f.fail--
		return nil, errors.New("these records can't be used")
	}
	return roomsOver(db)
}

// When the rooms can't be opened over a backup, what was before is put back.
func TestRestoreOfRecordsThatCantBeUsed(t *testing.T) {
	faulty := &faultyRooms{}
	data := t.TempDir()
	d := startOn(t, data, rpc.Options{OpenRooms: faulty.open})
	d.seed()
	file := filepath.Join(t.TempDir(), "b")
	params := fmt.Sprintf(`{"path":%q}`, file)
	d.do("admin.backup", params)
	d.do("notes.put", `{"id":"since","title":"Since"}`)
	before := d.answers()
	faulty.fail = 1
	_, err := d.try("admin.restore", params)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || !strings.Contains(e.Data.Hint, "the previous state was restored") {
		t.Errorf("%v %+v", err, e)
	}
	d.wantAnswers("with what was before back", before)
	d.want(d.do("admin.health", "{}"), "status", protocol.Healthy)

	// And when that fails too, nobody is told that there is a store.
	faulty.fail = 2
	_, err = d.try("admin.restore", params)
	if !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || !strings.Contains(e.Data.Hint, "restart the daemon") {
		t.Errorf("%v %+v", err, e)
	}
	if _, err := d.try("notes.list", "{}"); !errors.As(err, &e) || e.Code != protocol.CodeUnavailable {
		t.Errorf("a call: %v", err)
	}
	d.want(d.do("admin.health", "{}"), "status", protocol.Failing)
	if kept := replacedFiles(t, data); len(kept) == 0 {
		t.Error("what was before is not kept")
	}
}

// A backup of an older format whose records can't be brought into today's, for
// lack of room perhaps: what was before is back, also after a restart.
func TestREL12_BackupThatCantBeUpgraded(t *testing.T) {
	old := startOn(t, t.TempDir(), rpc.Options{}) // of format 1
	old.seed()
	file := filepath.Join(t.TempDir(), "b")
	old.do("admin.backup", fmt.Sprintf(`{"path":%q}`, file))

	dir := t.TempDir()
	open := func() (*kv.Store, error) {
		return kv.Open(dir, kv.Options{Format: 2, Upgrade: func(*kv.Tx, int) error { return errors.New("no room") }})
	}
	asIs := func() (*kv.Store, error) { return kv.Open(dir, kv.Options{Format: 2}) }
	d := launch(t, rpc.Options{DataDir: dir, Format: 2, OpenStore: open, OpenAsIs: asIs})
	must(t, d.srv.Load(context.Background()))
	d.seed()
	before := d.answers()
	_, err := d.try("admin.restore", fmt.Sprintf(`{"path":%q}`, file))
	var e *client.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || e.Data.Hint == "" {
		t.Errorf("refused with %+v", err)
	}
	d.wantAnswers("before", before)
	_ = d.Close()
	must(t, d.srv.Shutdown(t.Context()))
	d.srv.Wait()
	must(t, d.srv.CloseStore())
	db, err := open()
	must(t, err)
	must(t, db.Close())
}
