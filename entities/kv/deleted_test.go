package kv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// remove deletes the files of the store whose names begin so, as somebody else would.
func (d *disk) remove(prefix string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.names {
		if strings.HasPrefix(filepath.Base(name), prefix) {
			delete(d.names, name)
			delete(d.durable, name)
		}
	}
}

// wantNotes checks that the next start after a crash finds n notes, and misses nothing.
func (d *disk) wantNotes(t *testing.T, n int) {
	t.Helper()
	s := open(t, d.restart(), kv.Options{SnapshotAfter: -1})
	if st := s.Status(); st.Recovered.Lost > 0 || len(st.Recovered.Damaged) > 0 {
		t.Errorf("the start found %+v", st.Recovered)
	}
	err := s.View(ctx, func(tx *kv.Tx) error {
		for i := range n {
			note, err := notes.Get(tx, fmt.Sprint("n", i))
			if err != nil {
				return err
			}
			if note == nil {
				t.Errorf("n%d was acknowledged and is not there", i)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Files that somebody deletes under a running store are missed and made anew, and nothing
// that was acknowledged before or after is lost.
func TestREL1_DeletedFiles(t *testing.T) {
	for name, gone := range map[string][]string{
		"journal": {"journal-"}, "snapshot": {"snapshot-"}, "both": {"journal-", "snapshot-"}, "everything": {""},
	} {
		for _, snapshots := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(name, " after ", snapshots), func(t *testing.T) {
				d := newDisk()
				s := open(t, d, kv.Options{SnapshotAfter: -1})
				n := 0
				write := func() {
					put(t, s, fmt.Sprint("n", n), "text")
					n++
				}
				write()
				for range snapshots {
					if err := s.Snapshot(ctx); err != nil {
						t.Fatal(err)
					}
					write()
				}
				if err := s.CheckFiles(ctx); err != nil || s.Status().Deleted != nil {
					t.Fatalf("with all files there: %+v, %v", s.Status().Deleted, err)
				}
				for _, prefix := range gone {
					d.remove(prefix)
				}
				write() // it is acknowledged, and missed at once when the journal is gone
				if err := s.CheckFiles(ctx); err != nil {
					t.Fatal(err)
				}
				missed := s.Status().Deleted
				if name == "snapshot" && snapshots == 0 {
					if missed != nil {
						t.Errorf("nothing was deleted: %+v", missed)
					}
				} else if missed == nil || !missed.Whole || len(missed.Files) == 0 {
					t.Fatalf("the status says %+v", missed)
				}
				d.wantNotes(t, n)
				write()
				d.wantNotes(t, n)
				for range 3 {
					if err := s.Snapshot(ctx); err != nil {
						t.Fatal(err)
					}
					write()
				}
				d.wantNotes(t, n)
				if err := s.CheckFiles(ctx); err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				d.wantNotes(t, n)
			})
		}
	}
}

// While no new journal can be begun, writes are refused: what nobody finds is not durable.
func TestREL3_NoWriteGoesIntoADeletedJournal(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	put(t, s, "n0", "text")
	d.setHook(func(op, name string) error {
		if op == "open" && strings.HasPrefix(name, "journal-") {
			return syscall.ENOSPC
		}
		return nil
	})
	d.remove("")
	put(t, s, "n1", "text") // the flush misses the journal
	err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "refused", &record{Text: "text"}) })
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || !e.Retryable || !strings.Contains(e.Msg, "deleted") || !strings.Contains(e.Msg, "the disk is full") {
		t.Errorf("a write without a journal: %v", err)
	}
	if err := s.CheckFiles(ctx); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the store without room: %v", err)
	}
	if missed := s.Status().Deleted; missed == nil || missed.Whole {
		t.Errorf("the status says %+v", missed)
	}
	d.setHook(nil)
	put(t, s, "n2", "text")
	if err := s.CheckFiles(ctx); err != nil {
		t.Error(err)
	}
	if missed := s.Status().Deleted; missed == nil || !missed.Whole {
		t.Errorf("the status says %+v", missed)
	}
	put(t, s, "n3", "text")
	d.wantNotes(t, 4)
}

// The same with a real folder, which goes as a whole, lock included.
func TestREL1_DeletedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open can't be deleted there")
	}
	dir := filepath.Join(t.TempDir(), "data")
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "n0", "text")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	put(t, s, "n1", "text")
	if err := s.CheckFiles(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, s, "n2", "text")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	if _, err := kv.Open(dir, kv.Options{}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the folder has no lock: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if st := s.Status(); st.Records != 3 || !st.Recovered.Clean {
		t.Errorf("the start found %+v", st)
	}
}
