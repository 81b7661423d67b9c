//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCampaignREL15_HostileFiles adds files that are made to hurt who reads them: one at a time, then four at once, beside a client
// that works. It logs what became of each, and holds the memory of the daemon and of the processes that read them to its bounds.
func TestCampaignREL15_HostileFiles(t *testing.T) {
	files := hostileFiles()
	t.Logf("%d files", len(files))
	if only := os.Getenv("CTXD_HOSTILE"); only != "" {
		files = nil
		for _, f := range hostileFiles() {
			if strings.Contains(f.name, only) {
				files = append(files, f)
			}
		}
	} else {
		files = sampled(files, figure(9, 1))
	}
	h := hostility{t: t, size: figure(2<<20, 48<<20), books: make(map[string]bool)}
	for _, together := range []int{1, 4} {
		if together > 1 { // those that became books would be measured with what the store holds of them
			files = slices.DeleteFunc(files, func(f hostileFile) bool { return h.isBook(f.name) })
		}
		// A daemon of its own: the memory of another one is that of the books that it has held.
		p := serve(t, launchOptions{})
		c := p.client()
		fill(t, c, 500, 500)
		h.p, h.together = p, 1
		h.add(c, hostileFile{"first.txt", func(int) []byte { return []byte("The daemon reads its first book.") }})
		h.together = together
		began := time.Now()
		before := p.resetPeak()
		probe := p.watch()
		var wait sync.WaitGroup
		next := make(chan hostileFile)
		for range together {
			each := p.client()
			wait.Go(func() {
				for f := range next {
					h.add(each, f)
				}
			})
		}
		for _, f := range files {
			next <- f
		}
		close(next)
		wait.Wait()
		most := p.status("VmHWM")
		t.Logf("%d at once: %v; the daemon %s before and %s at most; others %v", together, time.Since(began).Round(time.Second), mib(before),
			mib(most), probe.end())
		if together > 1 && most-before > daemonMayGrow {
			t.Errorf("the daemon grew by %s", mib(most-before))
		}
		if problems := ask[protocol.Checked](t, c, "admin.check", nil); len(problems.Problems) > 0 {
			t.Errorf("check: %v", problems.Problems)
		}
	}
}

// sampled is every nth of a list.
func sampled[E any](all []E, nth int) (some []E) {
	for i := 0; i < len(all); i += nth {
		some = append(some, all[i])
	}
	return some
}

// hostility adds hostile files to a daemon.
type hostility struct {
	t    *testing.T
	p    *process
	size int
	seq  atomic.Int64

	together int
	mu       sync.Mutex      // guards books
	books    map[string]bool // files that were read
}

// daemonMayGrow is by how much the daemon may while files are refused.
const daemonMayGrow = 64 << 20

func (h *hostility) isBook(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.books[name]
}

// add adds one, logs what became of it, and removes the book if there is one.
func (h *hostility) add(c *client.Client, f hostileFile) {
	data := f.make(h.size)
	size := int64(len(data))
	path := filepath.Join(h.p.home, strconv.FormatInt(h.seq.Add(1), 10)+filepath.Ext(f.name))
	if strings.HasSuffix(f.name, ".gz") {
		path = strings.TrimSuffix(path, ".gz") + filepath.Ext(strings.TrimSuffix(f.name, ".gz")) + ".gz"
		size = 64 << 20
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		h.t.Error(err)
		return
	}
	defer func() { _ = os.Remove(path) }()
	before := h.p.status("VmRSS")
	if h.together == 1 {
		before = h.p.resetPeak()
	}
	peak := h.p.watchChildren()
	began := time.Now()
	var out record.BookAdded
	err := c.Call(h.t.Context(), "books.add", record.BooksAdd{Path: path, Name: f.name}, &out)
	took := time.Since(began).Round(10 * time.Millisecond)
	most, grown := peak(), h.p.status("VmHWM")-before
	outcome := "ready"
	var failed *client.Error
	switch {
	case errors.As(err, &failed):
		outcome = fmt.Sprintf("%d %s", failed.Code, failed.Message)
		if failed.Code != -32602 && failed.Code != 1004 {
			h.t.Errorf("%s: %v", f.name, err)
		}
		if failed.Data.Hint == "" {
			h.t.Errorf("%s: no hint", f.name)
		}
	case err != nil:
		h.t.Errorf("%s: %v", f.name, err)
	default:
		outcome = fmt.Sprintf("ready, %d passages", out.Book.Passages)
	}
	h.t.Logf("%-28s %9s %8v  child %9s  daemon +%9s  %s", f.name, mib(size), took, mib(most), mib(grown), outcome)
	if bound := convert.MemoryOf(size) + readerPages + systemAllows; most > bound {
		h.t.Errorf("%s: the process that read it took %s, more than %s", f.name, mib(most), mib(bound))
	}
	if err == nil {
		h.mu.Lock()
		h.books[f.name] = true
		h.mu.Unlock()
		ask[any](h.t, c, "books.delete", record.BookRef{ID: out.Book.ID})
	} else if h.together == 1 && grown > daemonMayGrow {
		h.t.Errorf("%s: the daemon grew by %s", f.name, mib(grown))
	}
}

const (
	readerPages = 96 << 20 // what a process has resident of the program's own file, and what it may grow by between two looks at it
	// systemAllows is by how much more a process may grow before the operating system stops it: it does not look at itself in time
	// where the machine is busy.
	systemAllows = 256 << 20
)

// watchChildren follows the memory of the processes that the daemon starts, until it is asked for the most that one of them had.
func (p *process) watchChildren() func() int64 {
	var most int64
	stop, done := make(chan struct{}), make(chan struct{})
	children := func() []string {
		var list []string
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
		for _, task := range tasks {
			text, _ := os.ReadFile(task) // a thread may have ended
			list = append(list, strings.Fields(string(text))...)
		}
		return list
	}
	for _, pid := range children() {
		_ = os.WriteFile("/proc/"+pid+"/clear_refs", []byte("5"), 0o600) // it may have ended
	}
	go func() {
		defer close(done)
		for {
			for _, pid := range children() {
				if args, _ := os.ReadFile("/proc/" + pid + "/cmdline"); !strings.Contains(string(args), books.ChildCommand) {
					continue // until it runs a program of its own, its memory is the daemon's
				}
				status, _ := os.ReadFile("/proc/" + pid + "/status")
				if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
					n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
					most = max(most, n<<10)
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most
	}
}
