package shared_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/fixtures"
)

// joinedNotes is how many notes a machine that joins takes. CTXD_BENCH_NOTES makes it another
// number.
const joinedNotes = 100_000

var docs = kv.NewCollection[fixtures.Document]("note")

// toJoin is a store on three servers that run in a process of their own, whose machine has
// ended, and a backup of it. It is made once in a process.
type toJoin struct {
	servers *natstest.ServerProcess
	dir     string
	words   string
	backup  string
}

var prepared = sync.OnceValues(func() (*toJoin, error) {
	n := joinedNotes
	if text := os.Getenv("CTXD_BENCH_NOTES"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
	}
	servers, err := natstest.StartProcess()
	if err != nil {
		return nil, err
	}
	preparedDir, err = os.MkdirTemp("", "ctxd-join-")
	if err != nil {
		return nil, err
	}
	p := &toJoin{servers: servers, dir: preparedDir, backup: filepath.Join(preparedDir, "backup")}
	return p, p.make(context.Background(), n)
})

// preparedDir is deleted at the end.
var preparedDir string

func TestMain(m *testing.M) {
	if natstest.RunAsServers() || ranAsChild() {
		return
	}
	code := m.Run()
	if preparedDir != "" {
		_ = os.RemoveAll(preparedDir) // the system cleans its folder otherwise
	}
	os.Exit(code)
}

// make begins a store with so many standard notes, and has a state of it put on the servers.
func (p *toJoin) make(ctx context.Context, notes int) error {
	dir := filepath.Join(p.dir, "first")
	db, err := kv.Open(dir, options)
	if err != nil {
		return err
	}
	err = errors.Join(fill(ctx, db, notes), db.Close())
	if err != nil {
		return err
	}
	id, _, err := shared.Begin(ctx, shared.BeginOptions{Servers: nats.Servers{URL: p.servers.URL}, Dir: dir, Name: "first"})
	if err != nil {
		return err
	}
	p.words = id.Words()
	r, db, err := serve(dir, p.servers.URL, options)
	if err != nil {
		return err
	}
	err = r.Snapshot(ctx, func(int64) {})
	for errors.Is(err, nats.ErrLeased) { // the replica makes one by itself
		<-time.After(10 * time.Millisecond)
		err = r.Snapshot(ctx, func(int64) {})
	}
	if err != nil {
		return err
	}
	_, err = db.Backup(ctx, p.backup, kv.BackupOptions{Shared: true})
	r.Pause()
	err = errors.Join(err, db.Close())
	r.Close()
	return err
}

// fill writes the standard notes.
func fill(ctx context.Context, db *kv.Store, n int) error {
	const together = 1000
	var list []fixtures.Document
	done := 0
	for d := range fixtures.StandardDocuments(n) {
		list = append(list, d)
		if done++; len(list) < together && done < n {
			continue
		}
		err := db.Update(ctx, func(tx *kv.Tx) (err error) {
			for i := range list {
				err = errors.Join(err, docs.Put(tx, fmt.Sprintf("%x", list[i].Path), &list[i]))
			}
			return err
		})
		if err != nil {
			return err
		}
		list = list[:0]
	}
	return nil
}

// BenchmarkSYNC10_Join is a machine that joins a store of a hundred thousand notes, with an
// empty folder, and beside it a restore of a backup of the same store to an empty folder of the
// same disk. Machines that have joined before, up to four, follow the log meanwhile.
func BenchmarkSYNC10_Join(b *testing.B) {
	p, err := prepared()
	if err != nil {
		b.Fatal(err)
	}
	var joins, restores time.Duration
	for b.Loop() {
		dir, err := os.MkdirTemp(p.dir, "joined-")
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := shared.Join(b.Context(), joinOptions(b, p.servers.URL, dir, p.words)); err != nil {
			b.Fatal(err)
		}
		joins += time.Since(start)
		follow(b, dir, p.servers.URL)
		start = time.Now()
		restore(b, filepath.Join(p.dir, "restored"), p.backup)
		restores += time.Since(start)
	}
	b.ReportMetric(joins.Seconds()/float64(b.N), "join-s")
	b.ReportMetric(restores.Seconds()/float64(b.N), "restore-s")
}

const followers = 4

// following are machines that have joined. They end with the process.
var following int

func follow(b *testing.B, dir, url string) {
	b.Helper()
	if following == followers {
		return
	}
	following++
	if _, _, err := serve(dir, url, options); err != nil {
		b.Fatal(err)
	}
}

// serve runs the machine of a folder.
func serve(dir, url string, o kv.Options) (*shared.Replica, *kv.Store, error) {
	r, err := shared.Open(shared.Options{Servers: nats.Servers{URL: url}, Dir: dir, Logger: silent})
	if err != nil {
		return nil, nil, err
	}
	r.Prepare(&o)
	db, err := kv.Open(dir, o)
	if err != nil {
		return nil, nil, err
	}
	db.Replay(func(ctx context.Context, w kv.Waiting) error { return addNew(ctx, db, string(w.Body)) })
	return r, db, r.Serve(db)
}

// restore restores a backup to a folder that is not there.
func restore(b *testing.B, dir, path string) {
	b.Helper()
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	db, err := kv.Open(dir, options)
	if err == nil {
		_, err = db.Restore(b.Context(), path, kv.RestoreOptions{})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}
