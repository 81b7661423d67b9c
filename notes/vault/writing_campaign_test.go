//go:build unix

package vault_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// Environment of the process that writes: the folder of its vault and of its store, and a number that begins its tokens.
const (
	writerVault = "CTXD_TEST_WRITER_VAULT"
	writerStore = "CTXD_TEST_WRITER_STORE"
	writerRun   = "CTXD_TEST_WRITER_RUN"
)

// shared are the files that ctxd, an editor and a synchroniser write.
var shared = []string{"a.md", "Sub/b.md", "Sub/c d.md"}

// TestSRCH60_WriterProcess is the process that the campaign kills: it writes until somebody does so, or it does so itself
// between two steps of a write. It says each write that was acknowledged.
func TestSRCH60_WriterProcess(t *testing.T) {
	dir := os.Getenv(writerVault)
	if dir == "" {
		t.Skip("the process of the campaign")
	}
	run, err := strconv.Atoi(os.Getenv(writerRun))
	must(t, err)
	random := rand.New(rand.NewPCG(uint64(run), 60))
	w := open(t, os.Getenv(writerStore))
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Write: everywhere})
	w.start(t)
	w.imports(t, vault.ImportRequest{Path: dir, Name: "V", Watch: run%2 == 0})
	defer vault.SetWriteStep(func(s string) error {
		switch n := random.IntN(300); {
		case n < 2:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case n < 12:
			return &fs.PathError{Op: s, Path: "x", Err: syscall.ENOSPC}
		}
		return nil
	})()
	var made []string
	for i := 0; ; i++ {
		token := fmt.Sprintf("ctxd-%d-%d\n", run, i)
		var n *notes.Note
		p := shared[random.IntN(len(shared))]
		for each := range w.notes.All() {
			if each.Path == p {
				n = w.notes.Get(each.ID)
			}
		}
		var out *vault.FileWritten
		var err error
		switch op := random.IntN(10); {
		case op == 0:
			p = fmt.Sprintf("New/%d-%d.md", run, i)
			out, err = w.im.Write(ctx, vault.FileWrite{Path: p, Text: token, By: local})
			if err == nil {
				made = append(made, out.Note.ID)
			}
		case op == 1 && len(made) > 0:
			p = ""
			out, err = w.im.Trash(ctx, made[0], nil, false, local)
			made = made[1:]
		case n == nil: // a synchroniser has just taken it away
			must2(w.im.Import(ctx, vault.ImportRequest{Path: dir}))(t)
			continue
		case op < 6:
			out, err = w.im.Append(ctx, local, n.ID, token)
		default:
			out, err = w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: n.Body + token, IfHash: notes.HashOf(n.Body), By: local})
		}
		switch kind := fault.KindOf(err); {
		case err == nil && p == "":
			fmt.Printf("ack %s - -\n", out.ID)
		case err == nil:
			fmt.Printf("ack %s %s %s\n", out.ID, strings.TrimSpace(token), strings.ReplaceAll(p, " ", "_"))
		case kind == fault.Conflict, kind == fault.Unavailable, kind == fault.NotFound:
			fmt.Printf("refused %v\n", kind)
		default:
			fmt.Printf("broken %v\n", err)
		}
	}
}

// saved is what a program that is not ctxd did with a file: it has read a text, and written it with a line more.
type saved struct {
	path, base, token string
	at                time.Time
}

// others are the programs that write the same files. They take turns, so that what is lost is lost between them and ctxd.
type others struct {
	dir     string
	mu      sync.Mutex // guards what follows
	log     []saved
	nvim    string // an editor, "" for none
	backups string // its folder for them
	turns   int
}

// turn has one of them change a file.
func (o *others) turn(random *rand.Rand) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turns++
	p := shared[random.IntN(len(shared))]
	file := filepath.Join(o.dir, p)
	base, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := saved{path: p, base: string(base), token: fmt.Sprintf("other-%d", o.turns), at: time.Now()}
	text := []byte(s.base + s.token + "\n")
	replace := func(temp string) error {
		return errors.Join(os.WriteFile(temp, text, 0o644), os.Rename(temp, file))
	}
	switch how := random.IntN(5); {
	case how == 0: // an editor that saves in place
		err = os.WriteFile(file, text, 0o644)
	case how == 1: // and one that renames
		err = replace(file + "~")
	case how == 2: // a synchroniser, with a copy of what it replaces
		err = errors.Join(os.WriteFile(strings.TrimSuffix(file, ".md")+".sync-conflict-20260101-101010-ABCDEFG.md", base, 0o644), replace(filepath.Join(filepath.Dir(file), ".syncthing.tmp")))
	case how == 3: // a checkout
		err = errors.Join(os.Remove(file), os.WriteFile(file, text, 0o644))
	case o.nvim != "" && o.turns%4 == 0:
		// It saves into the file, or renames it and writes a new one.
		saves := "set backup backupcopy=" + []string{"auto", "yes", "no"}[random.IntN(3)] + " backupdir=" + o.backups
		out, failed := exec.Command(o.nvim, "--headless", "-n", "-u", "NONE", "--cmd", saves, file, "+normal Go"+s.token, "+wq").CombinedOutput()
		if failed != nil {
			err = fmt.Errorf("%w: %s", failed, out)
		}
		s.base = "" // what it has read is not known
	default:
		f, failed := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if failed != nil {
			return failed
		}
		_, failed = f.WriteString(s.token + "\n")
		err = errors.Join(failed, f.Close())
	}
	o.log = append(o.log, s)
	return err
}

// TestSRCH60_NothingIsLostAndNothingIsHalf has ctxd, editors and a synchroniser write the same files, while ctxd is killed
// again and again, and its disk is full at times. What another program saved is never lost to ctxd, be it in a copy; what ctxd has
// acknowledged is lost only to a program that has saved over it what it had read before.
func TestSRCH60_NothingIsLostAndNothingIsHalf(t *testing.T) {
	campaign.Only(t)
	const want = 300 // of a round, whose texts do not grow longer than those of people
	for round := range campaign.Figure(1, 34) {
		t.Run(strconv.Itoa(round), func(t *testing.T) { writeTogether(t, round, want) })
	}
}

func writeTogether(t *testing.T, round, want int) {
	dir, store := t.TempDir(), t.TempDir()
	for _, p := range shared {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte("start\n"), 0o644))
	}
	o := &others{dir: dir, backups: t.TempDir()}
	o.nvim, _ = exec.LookPath("nvim")
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		random := rand.New(rand.NewPCG(uint64(round), 60))
		for {
			select {
			case <-stop:
				done <- nil
				return
			case <-time.After(time.Duration(random.IntN(30)) * time.Millisecond):
			}
			if err := o.turn(random); err != nil {
				done <- err
				return
			}
		}
	}()
	type ack struct {
		id, token, path string
		at              time.Time
	}
	var acks []ack
	counts := make(map[string]int)
	for run := 0; len(acks) < want; run++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSRCH60_WriterProcess$", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), writerVault+"="+dir, writerStore+"="+store, writerRun+"="+strconv.Itoa(round*1000+run))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		began := time.Now()
		for n := 0; lines.Scan(); n++ {
			kind, rest, _ := strings.Cut(lines.Text(), " ")
			counts[kind]++
			switch kind {
			case "ack":
				part := strings.Fields(rest)
				acks = append(acks, ack{part[0], part[1], strings.ReplaceAll(part[2], "_", " "), began})
				began = time.Now()
			case "refused":
			default:
				t.Error(lines.Text())
			}
			if n == 40+run%50 || len(acks) >= want {
				must(t, cmd.Process.Kill()) // in whatever it does
			}
		}
		_ = cmd.Wait()
		counts["killed"]++
		if run > want {
			t.Fatalf("after %d processes there are %d writes: %v", run, len(acks), counts)
		}
	}
	close(stop)
	must(t, <-done)

	// The next start ends what was under way.
	w := open(t, store)
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Write: everywhere})
	w.imports(t, vault.ImportRequest{Path: dir, Name: "V"})
	must2(w.im.Append(ctx, local, w.at(t, "a.md").ID, "end"))(t)
	texts := contents(t, dir)
	whole := regexp.MustCompile(`^(start\n)((ctxd-\d+-\d+|other-\d+|end)\n)*$|^(ctxd-\d+-\d+\n)$`)
	kept := make(map[string]string) // by the path of its file: where two others saved in the last moment
	for p, text := range texts {
		if strings.HasSuffix(p, ".tmp") && strings.Contains(p, ".ctxd-") {
			t.Errorf("%s was left", p)
		}
		if !strings.Contains(p, "conflict") && !whole.MatchString(text) {
			t.Errorf("%s is half: %q", p, text)
		}
		if stem, _, is := strings.Cut(p, " (conflicted copy"); is {
			t.Logf("%s was kept", p)
			kept[stem+".md"] += text
		}
	}
	for _, s := range o.log {
		if !strings.Contains(texts[s.path]+kept[s.path], s.token+"\n") {
			t.Errorf("%s is lost, which another program saved in %s", s.token, s.path)
		}
	}
	overwritten := 0
	for _, a := range acks {
		if a.token == "-" || strings.HasPrefix(a.path, "New/") || strings.Contains(texts[a.path], a.token+"\n") {
			continue
		}
		blind := false
		for _, s := range o.log {
			blind = blind || s.path == a.path && !s.at.Before(a.at.Add(-time.Second)) && !strings.Contains(s.base, a.token)
		}
		if !blind {
			t.Errorf("%s is lost, which ctxd had acknowledged in %s", a.token, a.path)
		}
		overwritten++
	}
	known := make(map[string]bool)
	all, err := w.im.History(ctx, vault.HistoryFilter{})
	must(t, err)
	for _, h := range all {
		known[h.ID] = true
	}
	for _, a := range acks {
		if !known[a.id] && len(all) < 10_000 {
			t.Errorf("the write %s is not in the history", a.id)
		}
	}
	t.Logf("%d writes of ctxd acknowledged, %d refused, %d processes killed; %d saves by other programs, which overwrote %d writes; %d files",
		counts["ack"], counts["refused"], counts["killed"], len(o.log), overwritten, len(texts))
}
