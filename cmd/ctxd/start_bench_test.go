package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// standardNotes is how many notes the standard store has, which starts are
// measured on. CTXD_BENCH_NOTES makes it another number; with -short it is a
// hundredth. To make the store takes half a minute: with CTXD_BENCH_DATA, a folder,
// it is kept there and found again.
const standardNotes = 100_000

// benchData is a prepared store.
type benchData struct {
	dir  string
	text int64 // bytes of all notes
}

// prepared are the stores that this process has made, by the number of notes.
// removeBenchData deletes those that are not to be kept.
var prepared struct {
	mu   sync.Mutex
	data map[int]benchData
	temp []string
}

func removeBenchData() {
	prepared.mu.Lock()
	defer prepared.mu.Unlock()
	for _, dir := range prepared.temp {
		_ = os.RemoveAll(dir) // the system cleans its folder otherwise
	}
}

// benchMain is the tests of this package, with an end.
type benchMain struct{ *testing.M }

func (m benchMain) Run() int {
	defer removeBenchData()
	return m.M.Run()
}

// standardSize is how many notes the standard store has in this run.
func standardSize(b *testing.B) int {
	b.Helper()
	text := os.Getenv("CTXD_BENCH_NOTES")
	switch {
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			b.Fatalf("CTXD_BENCH_NOTES is no number of notes: %q", text)
		}
		return n
	case testing.Short():
		return standardNotes / 100
	}
	return standardNotes
}

// benchFolder returns where prepared stores are kept: CTXD_BENCH_DATA, or a folder that is deleted at the end. Hold
// prepared.mu.
func benchFolder(tb testing.TB) string {
	tb.Helper()
	if parent := os.Getenv("CTXD_BENCH_DATA"); parent != "" {
		return parent
	}
	temp, err := os.MkdirTemp("", "ctxd-bench-")
	if err != nil {
		tb.Fatal(err)
	}
	prepared.temp = append(prepared.temp, temp)
	return temp
}

// standardStore returns a store of n standard notes and a fifth as many entities,
// as a daemon leaves it that made a snapshot and went on for a while. It is made
// once in a process and is not to be changed.
func standardStore(b *testing.B, n int) benchData {
	b.Helper()
	prepared.mu.Lock()
	defer prepared.mu.Unlock()
	if d, ok := prepared.data[n]; ok {
		return d
	}
	d := benchData{dir: filepath.Join(benchFolder(b), fmt.Sprintf("notes-%d-format-%d", n, daemon.StoreFormat))}
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		made := d.dir + ".tmp"
		rooms := openBench(b, made, config.Records{})
		if err := errors.Join(fillStandard(b.Context(), rooms, n), rooms.KV.Close(), os.Rename(made, d.dir)); err != nil {
			b.Fatal(err)
		}
	}
	for doc := range fixtures.StandardDocuments(n) {
		d.text += int64(len(doc.Body))
	}
	if prepared.data == nil {
		prepared.data = make(map[int]benchData)
	}
	prepared.data[n] = d
	return d
}

func openBench(tb testing.TB, dir string, limits config.Records) *rpc.Deps {
	tb.Helper()
	rooms, err := daemon.OpenRooms(dir, slog.New(slog.DiscardHandler), limits)
	if err != nil {
		tb.Fatal(err)
	}
	return rooms
}

// fillStandard writes the standard data, a snapshot, and then every fiftieth
// note once more.
func fillStandard(ctx context.Context, rooms *rpc.Deps, n int) error {
	var ids []string
	var drafts []notes.Draft
	for d := range fixtures.StandardDocuments(n) {
		drafts = append(drafts, notes.Draft{Body: d.Body})
		if len(drafts) == entities.MaxMany || len(ids)+len(drafts) == n {
			stored, err := rooms.Notes.PutMany(ctx, drafts)
			if err != nil {
				return err
			}
			for _, note := range stored {
				ids = append(ids, note.ID)
			}
			drafts = drafts[:0]
		}
	}
	if err := fillThings(ctx, rooms.Entities, n/5); err != nil {
		return err
	}
	if err := rooms.KV.Snapshot(ctx); err != nil {
		return err
	}
	for i := 0; i < n; i += 50 {
		body := rooms.Notes.Get(ids[i]).Body + "Looked at again.\n"
		if _, err := rooms.Notes.Patch(ctx, notes.Patch{ID: ids[i], Body: &body}, nil); err != nil {
			return err
		}
	}
	return nil
}

// fillThings writes the standard entities. Every eighth is a task of the one
// before it, so that there are two types.
func fillThings(ctx context.Context, ents *entities.Store, n int) error {
	fields := []entities.Field{
		{Name: "status", Type: record.Select, Options: []string{"open", "active", "blocked", "done"}},
		{Name: "score", Type: record.Number},
		{Name: "since", Type: record.Date},
		{Name: "done", Type: record.Boolean},
		{Name: "tags", Type: record.TextList},
		{Name: "note", Type: record.Text},
		{Name: "lead", Type: record.EntityRef},
		{Name: "parent", Type: record.EntityRef},
	}
	for _, name := range []string{"Project", "Task"} {
		if _, _, err := ents.PutType(ctx, entities.Type{Name: name, Fields: fields}, nil, false); err != nil {
			return err
		}
	}
	ids := make(map[string]string, n)
	var list []entities.Entity
	for t := range fixtures.StandardThings(n) {
		e := entities.Entity{ID: fmt.Sprintf("thing-%d", len(ids)), Type: "Project", Name: t.Name, Fields: t.Fields}
		if len(ids)%8 == 7 {
			e.Type = "Task"
		}
		for _, ref := range []string{"lead", "parent"} {
			e.Fields[ref] = ids[e.Fields[ref].(string)]
			if e.Fields[ref] == "" {
				delete(e.Fields, ref)
			}
		}
		ids[t.Name] = e.ID
		list = append(list, e)
		if len(list) == entities.MaxMany || len(ids) == n {
			if _, err := ents.PutMany(ctx, list); err != nil {
				return err
			}
			list = list[:0]
		}
	}
	return nil
}

// BenchmarkStart is how long it takes until a store is open: ctxd is all rooms,
// from the disk cache; read is to read the same files and to work out their
// CRC-32C, which no start can do without; daemon is a process of its own, up to
// its first answer to a search, and health-ms up to its first answer at all.
func BenchmarkStart(b *testing.B) {
	d := standardStore(b, standardSize(b))
	b.Run("ctxd", func(b *testing.B) {
		for b.Loop() {
			rooms := openBench(b, d.dir, config.Records{})
			b.StopTimer()
			if err := rooms.KV.Close(); err != nil {
				b.Fatal(err)
			}
			debug.FreeOSMemory() // else the next one finds its memory at hand
			b.StartTimer()
		}
	})
	b.Run("read", func(b *testing.B) {
		files := startFiles(b, d.dir)
		buf := make([]byte, 1<<20)
		for b.Loop() {
			size := int64(0)
			for _, file := range files {
				size += checksum(b, file, buf)
			}
			b.SetBytes(size)
		}
	})
	b.Run("daemon", func(b *testing.B) {
		program := buildProgram(b)
		var health time.Duration
		for b.Loop() {
			start := time.Now()
			p := startProgram(b, program, d.dir)
			health += time.Since(start)
			p.search(b)
			b.StopTimer()
			p.end(b)
			b.StartTimer()
		}
		b.ReportMetric(float64(health.Milliseconds())/float64(b.N), "health-ms")
	})
}

// BenchmarkMemory is what a daemon costs that holds the standard store: its
// resident memory when it has opened the store, after some work, and the most it
// ever had, each in parts of the text too; and the processor time that it takes
// while nobody asks. There are no vectors: those of a run before are removed, and
// nobody answers where new ones are to come from.
func BenchmarkMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("the memory of a process is read from /proc")
	}
	program := buildProgram(b)
	for _, n := range []int{1000, standardSize(b)} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			d := standardStore(b, n)
			report := func(name string, bytes int64) {
				b.ReportMetric(float64(bytes)/(1<<20), name+"-MiB")
				b.ReportMetric(float64(bytes)/float64(d.text), name+"/text")
			}
			for b.Loop() {
				made, err := filepath.Glob(filepath.Join(d.dir, daemon.IndexFolders[0], "vectors*"))
				if err != nil {
					b.Fatal(err)
				}
				for _, name := range made {
					if err := os.Remove(name); err != nil {
						b.Fatal(err)
					}
				}
				p := startProgram(b, program, d.dir, "embedder=http", "embedding.url=http://127.0.0.1:9/v1", "embedding.model=none")
				p.call(b, "tags.list", protocol.TagFilter{}, new(protocol.TagPage)) // it waits for the store
				report("opened", p.status(b, "VmRSS"))
				p.search(b)
				for range 10 {
					p.call(b, "notes.list", protocol.NoteFilter{Page: protocol.Page{Limit: 500}}, new(protocol.NotePage))
				}
				const quiet = 3 * time.Second
				<-time.After(time.Second) // what goes on after an answer is not idleness
				before := p.cpu(b)
				<-time.After(quiet)
				b.ReportMetric(100*(p.cpu(b)-before).Seconds()/quiet.Seconds(), "idle-%cpu")
				report("used", p.status(b, "VmRSS"))
				report("peak", p.status(b, "VmHWM"))
				p.end(b)
			}
		})
	}
}

// startFiles are the files that a start reads: the newest snapshot and the
// segments of the journal after it.
func startFiles(b *testing.B, dir string) []string {
	b.Helper()
	list := func(prefix string) []string {
		files, err := filepath.Glob(filepath.Join(dir, prefix+"-*"))
		if err != nil {
			b.Fatal(err)
		}
		slices.Sort(files)
		return files
	}
	seq := func(file string) string { return strings.Split(filepath.Base(file), "-")[1] }
	files := list("snapshot")
	if len(files) == 0 {
		b.Fatal("there is no snapshot")
	}
	files = files[len(files)-1:]
	for _, segment := range list("journal") {
		if seq(segment) > seq(files[0]) {
			files = append(files, segment)
		}
	}
	return files
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b *testing.B, file string, buf []byte) (size int64) {
	b.Helper()
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	sum := uint32(0)
	for {
		n, err := f.Read(buf)
		sum = crc32.Update(sum, castagnoli, buf[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return size
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// buildProgram builds ctxd: the tests are a larger program.
func buildProgram(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "ctxd")
	if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	return program
}

// measured is a daemon in a process of its own.
type measured struct {
	cmd    *exec.Cmd
	socket string
}

// startProgram starts a daemon over the data and returns when it has answered.
func startProgram(tb testing.TB, path, data string, settings ...string) *measured {
	tb.Helper()
	home, err := os.MkdirTemp("", "ctxd-b-") // short enough for a socket
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(home) })
	args := []string{"serve", "--log-level", "error"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	p := &measured{cmd: exec.CommandContext(tb.Context(), path, args...), socket: filepath.Join(home, "s")}
	p.cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home,
		"XDG_RUNTIME_DIR="+home, "CTXD_SOCKET="+p.socket, "CTXD_DATA="+data)
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.call(tb, "admin.health", nil, new(protocol.Health))
	return p
}

// search has the daemon look for a word that is in some notes, by its index of words.
func (p *measured) search(tb testing.TB) {
	tb.Helper()
	p.call(tb, "notes.search", protocol.NoteSearch{Query: "Prosha", Mode: "lexical"}, new(protocol.SearchResult))
}

// call asks over a connection of its own, as soon as there is a daemon.
func (p *measured) call(tb testing.TB, method string, params, result any) {
	tb.Helper()
	opts := client.Options{Name: "benchmark"}
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, p.socket, opts)
	for err != nil {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			tb.Fatal(err)
		}
		c, err = client.Dial(ctx, p.socket, opts)
	}
	defer c.Close()
	if err := c.Call(ctx, method, params, result); err != nil {
		tb.Fatal(err)
	}
}

func (p *measured) end(tb testing.TB) {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
}

// status is one line of /proc/PID/status in bytes.
func (p *measured) status(tb testing.TB, name string) int64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return n << 10
		}
	}
	tb.Fatalf("no %s", name)
	return 0
}

// cpu is the processor time that the daemon has used.
func (p *measured) cpu(tb testing.TB) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest) // from the third on
	ticks := int64(0)
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // a tick is 1/100 s on Linux
}
