//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// zone is where the daemon under another clock is: there the clock is put forward and
// back twice a year.
const zone = "Europe/Berlin"

// leap is what befalls a clock.
type leap struct {
	what string
	to   func() time.Time
}

func at(text string) func() time.Time {
	return func() time.Time {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		return t
	}
}

func from(d time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(d) }
}

const aDay = 24 * time.Hour

// leaps come one after the other, and the daemon is killed after every third. After the
// year 2157 a time.Time of Go is no longer measured by what nobody sets.
var leaps = []leap{
	{"a year forward", from(365 * aDay)},
	{"from there to a day back", from(-aDay)},
	{"an hour forward", from(-23 * time.Hour)},
	{"to 1970", at("1970-01-01T00:00:30Z")},
	{"to the first day of that again", at("1970-01-01T00:00:00Z")},
	{"right again", from(0)},
	{"before summer time", at("2027-03-28T00:59:59Z")},
	{"into summer time", at("2027-03-28T01:00:00Z")},
	{"before the hour that comes twice", at("2027-10-31T00:59:58Z")},
	{"into that hour again", at("2027-10-31T01:00:00Z")},
	{"before that", at("2027-10-30T22:00:01Z")},
	{"past what 32 bits hold", at("2038-01-19T03:14:09Z")},
	{"past what they hold without a sign", at("2106-02-07T06:28:16Z")},
	{"right in the end", from(0)},
}

// underClock is a daemon under another clock, and what it has to keep.
type underClock struct {
	*process
	t     *testing.T
	clock *clock
	zone  *time.Location
	opts  launchOptions
	vault string
	c     *client.Client
	life  time.Time // when this daemon was started, by the clock of the machine
	mute  *wire     // a connection to it that is never begun

	written int // transactions that were acknowledged

	changed map[string]record.Entity // as the last answers had it, by id
	note    record.Note
	memory  record.Memory // that changes
	today   []string      // memories of the tier working, written since the last leap
	files   int
	newest  string // snapshot: their names begin with the transaction
}

// TestCampaignREL1_TheClockLeaps sets the clock of a daemon by years, days and hours,
// forward and back, while a client writes. Nothing that was acknowledged is lost, versions
// and times of change only grow, and snapshots, the vault that is followed, lists that
// were begun, answers that depend on the day, vectors, logs, time limits and backups go on
// as if nothing had happened: nothing waits for the time to come again, and nothing is
// done without end.
func TestCampaignREL1_TheClockLeaps(t *testing.T) {
	if figure(true, false) {
		t.Skip("half a minute: runs with CTXD_CAMPAIGN=full")
	}
	home := shortHome(t)
	u := &underClock{t: t, clock: newClock(t, home), vault: filepath.Join(home, "vault"), changed: map[string]record.Entity{}}
	u.zone, _ = time.LoadLocation(zone)
	if u.zone == nil { // nor does the daemon know it
		u.zone = time.UTC
	}
	err := os.Mkdir(u.vault, 0o700)
	if err == nil { // a folder in which nothing is left looks like a disk that is not there
		err = os.WriteFile(filepath.Join(u.vault, "stays.md"), []byte("always"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	u.opts = u.clock.under(launchOptions{
		home: home, env: []string{"TZ=" + zone},
		args: []string{
			"--vault", u.vault, "--log-size", logSize, "--log-keep", strconv.Itoa(logKeep), "--set", "store.snapshotAfter=64KiB",
		},
	})
	u.launch()
	u.begin()
	rounds := figure(1, 5)
	for i := range rounds * len(leaps) {
		u.leap(leaps[i%len(leaps)])
		if i%3 == 2 || rounds > 1 {
			u.wantWhole()
		}
		if i%3 == 2 {
			if rounds > 1 { // it takes a while
				u.wantCut()
			}
			u.process.kill()
			u.launch()
			u.wantWritten()
			u.wantOfToday()
		}
	}
	u.wantCut()
	u.wantWritten()
	u.process.stop()
	u.launch()
	if h := u.await(); !h.Store.Recovered.Clean || len(h.Warnings) > 0 {
		t.Errorf("%+v", h)
	}
	u.wantWritten()
	t.Logf("%d transactions acknowledged over %d leaps; the last snapshot is %s", u.written, rounds*len(leaps), u.newest)
}

const (
	logSize      = "64KiB"
	logSizeBytes = 64 << 10
	logKeep      = 3
)

func (u *underClock) launch() {
	u.process = serve(u.t, u.opts)
	u.life = time.Now()
	u.c = u.client()
	u.mute = u.dial()
}

// begin writes what the leaps change.
func (u *underClock) begin() {
	c := u.c
	ask[any](u.t, c, "types.put", map[string]any{"name": "Day", "fields": []map[string]any{{"name": "due", "type": record.Date}}})
	ask[any](u.t, c, "types.put", map[string]any{"name": "Agenda", "fields": []map[string]any{
		{"name": "today", "type": record.Computed, "query": "SELECT d FROM Day d WHERE d.due = today()"},
	}})
	for _, id := range []string{"agenda", "moved"} {
		ask[any](u.t, c, "entities.put", protocol.EntityPut{EntityRecord: protocol.EntityRecord{ID: id, Type: "Agenda", Name: id}})
	}
	for _, l := range leaps {
		for _, day := range []string{l.to().In(u.zone).Format(time.DateOnly), l.to().Add(aDay).In(u.zone).Format(time.DateOnly)} {
			ask[any](u.t, c, "entities.put", protocol.EntityPut{
				EntityRecord: protocol.EntityRecord{ID: "day-" + day, Type: "Day", Name: "The " + day, Fields: record.Values{"due": day}},
			})
		}
	}
	for i := range 30 {
		ask[any](u.t, c, "notes.put", map[string]any{"id": fmt.Sprintf("page-%02d", i), "body": "one of thirty", "tags": []string{"page"}})
	}
	u.note = ask[record.Note](u.t, c, "notes.put", map[string]any{"id": "note", "body": "0"})
	u.memory = *ask[protocol.MemoryAdded](u.t, c, "memory.add", protocol.MemoryDraft{ID: "memory", Statement: "leap 0"}).Memory.Record()
	u.settles("the vault is followed", func() bool { return len(u.vaults().Vaults) == 1 })
}

func (u *underClock) vaults() protocol.VaultList {
	return ask[protocol.VaultList](u.t, u.c, "vault.list", nil)
}

// leap sets the clock in the middle of writes, and looks at everything afterwards.
func (u *underClock) leap(l leap) {
	u.t.Helper()
	u.t.Logf("%s: %v", l.what, l.to().In(u.zone))
	c := u.c
	first := ask[protocol.NotePage](u.t, c, "notes.list", map[string]any{"limit": 10, "tag": "page"})
	u.writes()
	written := make(chan error, 1)
	go func() {
		for range 10 {
			if err := u.write(); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	u.today = nil
	u.clock.set(l.to())
	if err := <-written; err != nil {
		u.t.Fatalf("%s: a write fails: %v", l.what, err)
	}
	u.writes()
	u.wantRest(first)
	u.wantChanges()
	u.wantMemories()
	u.wantToday()
	u.wantVault()
	u.awaitVectors(c)
	u.wantLogs()
	u.wantQuiet()
}

// slots are how many pairs of notes are written, one after the other and again: a store
// that grows is written anew less often.
const slots = 20

// body is the text of both notes of a transaction.
func (u *underClock) body(n int) string {
	return fmt.Sprintf("%d %s", n, strings.Repeat("text ", 1000))
}

// write is one transaction of two notes.
func (u *underClock) write() error {
	n := u.written
	pair := protocol.NotePutMany{Notes: []protocol.NoteRecord{
		{ID: fmt.Sprintf("w-%d-a", n%slots), Body: u.body(n)}, {ID: fmt.Sprintf("w-%d-b", n%slots), Body: u.body(n)},
	}}
	if err := u.c.Call(u.t.Context(), "notes.putMany", pair, nil); err != nil {
		return err
	}
	u.written++
	return nil
}

// wantWritten reads all that was acknowledged.
func (u *underClock) wantWritten() {
	u.t.Helper()
	for n := max(0, u.written-slots); n < u.written; n++ {
		for _, part := range []string{"a", "b"} {
			id := fmt.Sprintf("w-%d-%s", n%slots, part)
			if note := ask[record.Note](u.t, u.c, "notes.get", protocol.NoteGet{Ref: id}); note.Body != u.body(n) || note.Version != n/slots+1 {
				u.t.Errorf("%s of transaction %d has version %d and %.20q", id, n, note.Version, note.Body)
			}
		}
	}
}

// writes goes on writing until there is a new snapshot.
func (u *underClock) writes() {
	u.t.Helper()
	before := u.newest
	u.settles("a new snapshot", func() bool {
		if err := u.write(); err != nil {
			u.t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(u.data, "snapshot-*"))
		if err != nil {
			u.t.Fatal(err)
		}
		for _, file := range files {
			if name := filepath.Base(file); filepath.Ext(name) == "" { // else it is not done yet
				u.newest = max(u.newest, name)
			}
		}
		return u.newest > before
	})
}

// wantRest reads the rest of a list whose first page is older than the leap.
func (u *underClock) wantRest(page protocol.NotePage) {
	u.t.Helper()
	var ids []string
	for {
		for _, n := range page.Notes {
			ids = append(ids, n.ID)
		}
		if page.NextCursor == "" {
			break
		}
		page = ask[protocol.NotePage](u.t, u.c, "notes.list", map[string]any{"limit": 10, "tag": "page", "cursor": page.NextCursor})
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 30 || len(ids) != 30 {
		u.t.Errorf("a list that was begun before has %v", ids)
	}
}

// wantChanges changes a note and an entity in every way: their versions grow by one, and
// their times of change never shrink.
func (u *underClock) wantChanges() {
	u.t.Helper()
	c := u.c
	n := ask[record.Note](u.t, c, "notes.patch", map[string]any{"id": "note", "body": u.note.Body + "."})
	if n.Version != u.note.Version+1 || n.UpdatedAt.Before(u.note.UpdatedAt) || !n.CreatedAt.Equal(u.note.CreatedAt) {
		u.t.Errorf("a note was %+v and is %+v", u.note, n)
	}
	u.note = n
	for _, method := range []string{"entities.archive", "entities.restore"} {
		ask[any](u.t, c, method, protocol.ByID{ID: "moved"})
		e := ask[record.Entity](u.t, c, "entities.get", protocol.ByID{ID: "moved"})
		if was, ok := u.changed[e.ID]; ok && (e.Version != was.Version+1 || e.UpdatedAt.Before(was.UpdatedAt) || !e.CreatedAt.Equal(was.CreatedAt)) {
			u.t.Errorf("%s: an entity was %+v and is %+v", method, was, e)
		}
		u.changed[e.ID] = e
	}
}

// wantMemories changes a memory in every way, and writes one down that lives for a day: versions grow by
// one, numbers too, times never shrink, and what was just written is not archived.
func (u *underClock) wantMemories() {
	u.t.Helper()
	c := u.c
	for i, change := range []struct {
		method string
		params any
	}{
		{"memory.patch", map[string]any{"id": "memory", "statement": u.memory.Statement + "."}},
		{"memory.archive", protocol.ByID{ID: "memory"}},
		{"memory.restore", protocol.ByID{ID: "memory"}},
	} {
		was, is := u.memory, ask[record.Memory](u.t, c, change.method, change.params)
		archived := is.ArchivedAt != nil && !is.ArchivedAt.Before(was.UpdatedAt)
		if is.Version != was.Version+1 || is.UpdatedAt.Before(was.UpdatedAt) || is.UpdatedAt.Before(is.CreatedAt) ||
			!is.CreatedAt.Equal(was.CreatedAt) || is.Number != was.Number || archived != (i == 1) {
			u.t.Errorf("%s: a memory was %+v and is %+v", change.method, was, is)
		}
		u.memory = is
	}
	made := ask[protocol.MemoryAdded](u.t, c, "memory.add", protocol.MemoryDraft{
		Statement: fmt.Sprint("of the day ", u.memory.Version), Tier: record.TierWorking,
	}).Memory
	u.today = append(u.today, made.ID)
	if want := int64(u.memory.Version-1)/3 + 1; made.Number != want || made.UpdatedAt.Before(made.CreatedAt) {
		u.t.Errorf("a memory is %+v, want the number %d", made, want)
	}
	u.wantOfToday()
}

// wantOfToday reads what was written down since the clock was set: it is not archived, also by the start
// of another daemon.
func (u *underClock) wantOfToday() {
	u.t.Helper()
	for _, id := range u.today {
		if m := ask[record.Memory](u.t, u.c, "memory.get", protocol.MemoryRef{Ref: id}); m.Status != record.MemoryActive || m.Version != 1 {
			u.t.Errorf("what was just written is %+v", m)
		}
	}
}

// wantToday asks what today is: in a query, in a computed field and in a prompt, none of
// which may be of the day before the leap.
func (u *underClock) wantToday() {
	u.t.Helper()
	c := u.c
	for try := 0; ; try++ {
		day := u.clock.now().In(u.zone).Format(time.DateOnly)
		rows := ask[protocol.WQLResult](u.t, c, "wql.query", protocol.WQLQuery{Query: "SELECT d FROM Day d WHERE d.due = today()"})
		prompt := ask[struct {
			System string `json:"system"`
		}](u.t, c, "context.assemble", map[string]any{"text": "@agenda", "mentionedEntityIds": []string{"agenda"}, "maxDepth": 0})
		if day != u.clock.now().In(u.zone).Format(time.DateOnly) && try < 3 {
			continue // it has become another one
		}
		if len(rows.Rows) != 1 || rows.Rows[0].ID != "day-"+day {
			u.t.Errorf("on %s a query has %+v", day, rows.Rows)
		}
		if !strings.Contains(prompt.System, "The "+day) || strings.Count(prompt.System, "The ") != 1 {
			u.t.Errorf("on %s a prompt says\n%s", day, prompt.System)
		}
		return
	}
}

// wantVault makes, changes and removes files of the vault: each is noticed. Their times
// are those of the clock.
func (u *underClock) wantVault() {
	u.t.Helper()
	u.files++
	name := fmt.Sprintf("file-%d.md", u.files)
	file := filepath.Join(u.vault, name)
	read := func() (n record.Note, err error) {
		err = u.c.Call(u.t.Context(), "notes.get", protocol.NoteGet{Ref: name}, &n)
		return n, err
	}
	id := ""
	for i, text := range []string{"one text", "two text", "three, a longer text"} {
		now, fresh := u.clock.now(), filepath.Join(u.home, name) // as an editor saves it
		err := errors.Join(os.WriteFile(fresh, []byte(text), 0o600), os.Chtimes(fresh, now, now), os.Rename(fresh, file))
		if err != nil {
			u.t.Fatal(err)
		}
		var n record.Note
		u.settles("a change of "+name, func() (there bool) {
			var err error
			n, err = read()
			return err == nil && n.Body == text && n.UpdatedAt.Equal(now.UTC().Truncate(time.Millisecond))
		})
		if i > 0 && n.ID != id {
			u.t.Errorf("%s has become another note", name)
		}
		id = n.ID
	}
	if err := os.Remove(file); err != nil {
		u.t.Fatal(err)
	}
	u.settles(name+" is gone", func() bool {
		_, err := read()
		return fault.KindOf(err) == fault.NotFound
	})
	if v := u.vaults().Vaults[0]; v.Stale || !v.Watching || len(v.Errors) > 0 {
		u.t.Errorf("the vault: %+v", v)
	}
}

// wantCut waits until a connection is closed that has never been begun.
func (u *underClock) wantCut() {
	u.t.Helper()
	w := u.mute
	_ = w.nc.SetReadDeadline(time.Now().Add(patience))
	if _, err := w.in.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		u.t.Errorf("a connection that was never begun is not closed: %v", err)
	}
}

// wantWhole has everything compared, and a backup made and read.
func (u *underClock) wantWhole() {
	u.t.Helper()
	u.wantOfToday()
	c := u.c
	if r := ask[protocol.Checked](u.t, c, "admin.check", nil); !r.OK || !r.Compared || len(r.Drift) > 0 {
		u.t.Errorf("%+v", r)
	}
	h := ask[protocol.Health](u.t, c, "admin.health", nil)
	if up := time.Duration(h.UptimeMS) * time.Millisecond; up < 0 || up > time.Since(u.life)+patience {
		u.t.Errorf("up %v, since %v", up, u.life)
	}
	if h.Status != "healthy" || h.Store.Mode != "read-write" {
		u.t.Errorf("%+v", h)
	}
	path := filepath.Join(u.home, "b.ctxdbackup")
	m := ask[kv.Manifest](u.t, c, "admin.backup", protocol.Backup{Path: path, Overwrite: true})
	if at := u.clock.now(); m.Created.After(at.Add(patience)) || m.Created.Before(at.Add(-patience)) {
		u.t.Errorf("at %v a backup is of %v", at, m.Created)
	}
	ask[protocol.Restored](u.t, c, "admin.restore", protocol.Restore{Path: path, DryRun: true})
}

// wantLogs logs until the next file is begun: the log is bounded, and the names of full
// files are of the past.
func (u *underClock) wantLogs() {
	u.t.Helper()
	log := filepath.Join(u.data, "log", "ctxd.log")
	before := u.stat(log)
	u.settles("the next log", func() bool {
		ask[protocol.Health](u.t, u.c, "admin.health", nil)
		return !os.SameFile(before, u.stat(log))
	})
	if size := u.stat(log).Size(); size > logSizeBytes {
		u.t.Errorf("the log has %d bytes", size)
	}
	u.settles("full logs are removed", func() bool { return len(u.fullLogs()) <= logKeep })
	for _, name := range u.fullLogs() {
		if name > "ctxd-"+u.clock.now().UTC().Format("2006-01-02T15-04-05.000") {
			u.t.Errorf("at %v there is %s", u.clock.now(), name)
		}
	}
}

func (u *underClock) stat(file string) os.FileInfo {
	u.t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		u.t.Fatal(err)
	}
	return info
}

func (u *underClock) fullLogs() (names []string) {
	u.t.Helper()
	files, err := filepath.Glob(filepath.Join(u.data, "log", "ctxd-*.log"))
	if err != nil {
		u.t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".log"))
	}
	return names
}

// wantQuiet waits for a moment in which the daemon has nothing to do.
func (u *underClock) wantQuiet() {
	u.t.Helper()
	const look = 50 * time.Millisecond
	u.settles("a daemon at rest", func() bool {
		before, began := u.processor(), time.Now()
		<-time.After(look)
		return u.processor()-before < time.Since(began)/3
	})
}

// processor returns how long the daemon has run on a processor.
func (u *underClock) processor() time.Duration {
	u.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", u.cmd.Process.Pid))
	if err != nil {
		u.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	ticks := 0
	for _, field := range strings.Fields(rest)[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			u.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
