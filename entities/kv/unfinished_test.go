package kv_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// backups is a folder that is not the store's.
var backups, _ = filepath.Abs("/backups")

// TestREL12_KilledAmidBackup kills the process before each operation of a backup on the
// disk: the next start leaves nothing of it but a whole one, and no note.
func TestREL12_KilledAmidBackup(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	if err := d.MkdirAll(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, s, fmt.Sprint(i), "text")
	}
	state := dump(t, s)
	var found []*disk
	d.setHook(func(string, string) error {
		found = append(found, d.restart())
		return nil
	})
	path := filepath.Join(backups, "mine")
	if _, err := s.Backup(ctx, path, kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	d.setHook(nil)
	if left := d.in(backups); !slices.Equal(left, []string{"mine"}) || slices.Contains(d.list(), "unfinished") {
		t.Errorf("a backup leaves %q and %q", left, d.list())
	}
	unfinished, rng := 0, rand.New(rand.NewPCG(12, 7))
	for i, at := range found {
		if slices.ContainsFunc(at.in(backups), func(name string) bool { return strings.HasSuffix(name, ".tmp") }) {
			unfinished++
		}
		cut := at.powerCut(rng) // it may leave anything of the file
		wantState(t, open(t, cut, kv.Options{}), state)
		wantState(t, open(t, at, kv.Options{}), state)
		if slices.Contains(at.list(), "unfinished") || slices.Contains(cut.list(), "unfinished") {
			t.Errorf("operation %d: the note stays", i)
		}
		switch left := at.in(backups); {
		case len(left) == 0:
		case !slices.Equal(left, []string{"mine"}):
			t.Errorf("operation %d: the start leaves %q", i, left)
		default:
			if _, err := kv.ReadBackup(ctx, path, kv.ReadOptions{FS: at}); err != nil {
				t.Errorf("operation %d: %v", i, err)
			}
		}
	}
	if unfinished < 4 {
		t.Errorf("of %d pictures %d have an unfinished backup", len(found), unfinished)
	}
}

const childVariables = "CTXD_TEST_BACKUP_OF CTXD_TEST_BACKUP_TO"

// TestBackupChild is no test: it is the process that is killed amid a backup.
func TestBackupChild(t *testing.T) {
	of, to, _ := strings.Cut(childVariables, " ")
	if os.Getenv(of) == "" {
		t.Skip("run by other tests")
	}
	s, err := kv.Open(os.Getenv(of), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, s, fmt.Sprint(i), "text")
	}
	_, err = s.Backup(ctx, os.Getenv(to), kv.BackupOptions{Progress: func(int64, int64) {
		fmt.Println("amid")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
	}})
	t.Fatalf("the backup ended: %v", err)
}

// killedAmid returns the folder of a store whose process was killed amid a backup, and the
// file that this has left in another folder.
func killedAmid(t *testing.T) (data, left string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	folder := t.TempDir()
	of, to, _ := strings.Cut(childVariables, " ")
	child := exec.Command(os.Args[0], "-test.run=^TestBackupChild$")
	child.Env = append(os.Environ(), of+"="+data, to+"="+filepath.Join(folder, "mine"))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { _ = child.Process.Kill() }) // should it hang
	defer kill.Stop()
	said := ""
	for lines := bufio.NewScanner(out); said != "amid" && lines.Scan(); {
		said = lines.Text()
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	list, err := filepath.Glob(filepath.Join(folder, "mine.*.ctxdbackup.tmp"))
	if err != nil || len(list) != 1 || said != "amid" {
		t.Fatalf("the killed process said %q and left %q, %v", said, list, err)
	}
	return data, list[0]
}

// restarted opens a store, and returns what it has logged.
func restarted(t *testing.T, data string) string {
	t.Helper()
	var log bytes.Buffer
	s, err := kv.Open(data, kv.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(dump(t, s)); n != 3 {
		t.Errorf("the store has %d records", n)
	}
	if _, err := os.Stat(filepath.Join(data, "unfinished")); !os.IsNotExist(err) {
		t.Errorf("the note stays: %v", err)
	}
	return log.String()
}

func TestREL12_StartRemovesAnUnfinishedBackup(t *testing.T) {
	data, left := killedAmid(t)
	other := filepath.Join(filepath.Dir(left), "other.0123456789abcdef.ctxdbackup.tmp")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := restarted(t, data)
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
	if _, err := os.Lstat(other); err != nil {
		t.Errorf("so is another file: %v", err)
	}
	if !strings.Contains(log, "unfinished backup") || strings.Contains(log, filepath.Dir(left)) {
		t.Errorf("the log says %s", log)
	}
}

// TestREL12_StartLeavesWhatIsNotItsBackup: in a folder of a person nothing else is removed,
// whatever has the name.
func TestREL12_StartLeavesWhatIsNotItsBackup(t *testing.T) {
	data, left := killedAmid(t)
	note, err := os.ReadFile(filepath.Join(data, "unfinished"))
	if err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"a text":                   func() error { return os.WriteFile(left, []byte("mine"), 0o600) },
		"a backup of another salt": func() error { return os.WriteFile(left, changedAt(backup, 17), 0o600) },
		"a folder":                 func() error { return os.Mkdir(left, 0o700) },
		"a link to what was left":  func() error { return os.Symlink(elsewhere, left) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
			if err := put(); err != nil {
				t.Skip(err) // links need a right on Windows
			}
			if err := os.WriteFile(filepath.Join(data, "unfinished"), note, 0o600); err != nil {
				t.Fatal(err)
			}
			restarted(t, data)
			if _, err := os.Lstat(left); err != nil {
				t.Error(err)
			}
			if text, err := os.ReadFile(elsewhere); err != nil || !bytes.Equal(text, backup) {
				t.Errorf("where the link leads: %d bytes, %v", len(text), err)
			}
		})
	}
	t.Run("a note that is damaged", func(t *testing.T) {
		if err := os.RemoveAll(left); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left, backup, 0o600); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(data, "unfinished")
		if err := os.WriteFile(at, changedAt(note, len(note)/2), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := kv.Open(data, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := os.Lstat(left); err != nil {
			t.Error(err)
		}
	})
}

// changedAt returns bytes with one of them changed.
func changedAt(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}

func TestREL12_FolderOfAnUnfinishedBackupIsGone(t *testing.T) {
	data, left := killedAmid(t)
	if err := os.RemoveAll(filepath.Dir(left)); err != nil {
		t.Fatal(err)
	}
	if log := restarted(t, data); strings.Contains(log, "level=WARN") {
		t.Errorf("the log says %s", log)
	}
}
