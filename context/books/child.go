package books

// Files are read by a child: a process of its own, in which a library that is led astray takes memory and time of its own, and
// which can be killed. It is this program once more, with ChildCommand as its argument (child_serve.go), and converts files one
// after the other; it is killed when its file is over a bound or its call is cancelled, ends by itself when the Store goes, and
// another one takes its place. What comes out of it is counted and checked as it comes.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// roomOfChildren is what all children may take together, in bytes: two small files at once, or one large one.
	roomOfChildren = convert.MaxMemory
	// childStart is how long a child may take to say hello, on a machine that is busy.
	childStart = 30 * time.Second
	maxStderr  = 8 << 10 // bytes that are kept of what a child has written to its standard error
)

// childGrace is how much longer than a file may take its child lives: it tells by itself before. It is also how long a child may be
// silent once it has told what the file is, when all that is left is to be written.
var childGrace = 10 * time.Second

// children are the processes that read the files of a Store.
type children struct {
	command []string
	room    *semaphore.Weighted

	mu   sync.Mutex // guards idle
	idle *process   // one that waits for a file; nil: there is none
}

// OwnChild is the command line of this program as a child, for Options. The program must run ServeChild when its only argument is
// ChildCommand.
func OwnChild() []string {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // also when another version has taken its place on disk
	}
	return []string{path, ChildCommand}
}

func newChildren(command []string) *children {
	return &children{command: command, room: semaphore.NewWeighted(roomOfChildren)}
}

// process is a child. It belongs to one call at a time.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  *os.File
	words *tail
	dead  chan struct{} // closed when it has been reaped
	space []byte
}

// release ends the child that waits.
func (c *children) release() {
	c.mu.Lock()
	p := c.idle
	c.idle = nil
	c.mu.Unlock()
	if p != nil {
		p.end()
	}
}

// convert has a file of so many bytes converted, and gives what is made of it to a sink. The errors are those of the file, which
// are Invalid or Limit, those of the sink, that of the context, and Unavailable when no child can be started. One of a child that something else has killed has errKilled in it.
func (c *children) convert(ctx context.Context, q request, file io.Reader, to sink) error {
	most := convert.MemoryOf(q.Size)
	if err := c.room.Acquire(ctx, most); err != nil {
		return ctx.Err()
	}
	defer c.room.Release(most)
	p, err := c.take()
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the process that reads files can't be started").
			WithHint("restart the daemon; the file is read then")
	}
	var late atomic.Bool
	limit := convert.TimeoutOf(q.Size)
	timer := time.AfterFunc(limit+childGrace, func() { late.Store(true); p.kill() })
	stop := context.AfterFunc(ctx, p.kill)
	var refused error // by the sink
	take := func(write func() error) error {
		timer.Stop() // our own work is not its time
		defer timer.Reset(childGrace)
		refused = write()
		return refused
	}
	end, err := p.ask(q, file, sink{
		progress: to.progress,
		head:     func(m made) error { return take(func() error { return to.head(m) }) },
		passage:  func(x CutPassage) error { return take(func() error { return to.passage(x) }) },
	})
	inTime, alive := timer.Stop(), stop()
	if err == nil && !end.Last && inTime && alive {
		c.keep(p)
		return end.err()
	}
	var wrong *brokenChild
	killed := false
	if err == nil || refused != nil || errors.As(err, &wrong) {
		p.end() // it lives, or says what is of no use
	} else {
		killed = p.settle()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return refused
	case err == nil:
		return end.err()
	case late.Load():
		return convert.TookTooLong(limit)
	case killed:
		err = errKilled
	}
	return p.exitError(err, most)
}

// take returns the child that waits, or a new one.
func (c *children) take() (*process, error) {
	c.mu.Lock()
	p := c.idle
	c.idle = nil
	c.mu.Unlock()
	if p != nil {
		select {
		case <-p.dead: // somebody has killed it
			p.end()
		default:
			return p, nil
		}
	}
	return startProcess(c.command)
}

// keep has a child wait for the next file, unless another one does.
func (c *children) keep(p *process) {
	c.mu.Lock()
	spare := c.idle != nil
	if !spare {
		c.idle = p
	}
	c.mu.Unlock()
	if spare {
		p.end()
	}
}

// startProcess starts a child and waits for its hello.
func startProcess(command []string) (*process, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(command[0], command[1:]...), pipe: ours, words: &tail{}, dead: make(chan struct{})}
	p.cmd.Args[0] = filepath.Base(os.Args[0]) // by which programs of several names know what they are
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = theirs, p.words, time.Second
	p.cmd.Env = childEnv()
	hideWindow(p.cmd)
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	go func() {
		_ = p.cmd.Wait() // its state says how it ended
		close(p.dead)
	}()
	p.out = bufio.NewReaderSize(ours, 64<<10)
	timer := time.AfterFunc(childStart, p.kill)
	defer timer.Stop()
	protocol := 0
	kind, body, space, err := readFrame(p.out, nil)
	if p.space = space; err == nil && kind == frameHello {
		err = json.Unmarshal(body, &protocol)
	}
	if err != nil || protocol != childProtocol {
		p.end()
		return nil, fmt.Errorf("the child said no hello of protocol %d, but %d: %w; %s", childProtocol, protocol, err, p.words)
	}
	return p, nil
}

// childEnv is the environment of a child. It needs nothing of ours, which may hold secrets, but the place of the cache; what it reads
// comes out of it in no trace.
func childEnv() []string {
	env := []string{"GOTRACEBACK=none"}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ask has a file converted. An error is one after which the process is of no use.
func (p *process) ask(q request, file io.Reader, to sink) (end ending, err error) {
	if err := writeJSON(p.in, frameRequest, q); err != nil {
		return end, err
	}
	if _, err := io.CopyN(p.in, file, q.Size); err != nil {
		return end, err
	}
	var m *made
	passages, most := 0, 4*convert.TextOf(q.Size)
	for {
		kind, body, space, err := readFrame(p.out, p.space)
		if p.space = space; err != nil {
			return end, err
		}
		switch {
		case kind == frameProgress && m == nil:
			var n [2]int
			if err := json.Unmarshal(body, &n); err != nil {
				return end, broken("malformed progress")
			}
			to.progress(n[0], n[1])
		case kind == frameHead && m == nil:
			m = new(made)
			if err := json.Unmarshal(body, m); err != nil || m.Passages < 0 || m.Passages > maxPassages {
				return end, broken("a malformed head")
			}
			if err := to.head(*m); err != nil {
				return end, err
			}
		case kind == framePassage && m != nil:
			x, err := passageOf(body)
			passages++
			if most -= int64(len(body)); err != nil || passages > m.Passages || most < 0 {
				return end, errors.Join(err, broken("more than it has told"))
			}
			if err := to.passage(x); err != nil {
				return end, err
			}
		case kind == frameEnd:
			if err := json.Unmarshal(body, &end); err != nil {
				return end, broken("a malformed end")
			}
			if whole := m != nil && passages == m.Passages; end.Kind == "" && !whole {
				return end, broken("an end before the last passage")
			}
			return end, nil
		default:
			return end, broken("a frame of kind %q", kind)
		}
	}
}

// kill ends the process at once.
func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may be gone

// errKilled is the cause of an error of a child that was killed, by the system for want of memory or by a person: not by us.
var errKilled = errors.New("it was killed")

// settle ends the process, after it has had a second to end by itself: how says what became of its file. It reports whether
// something else has killed it.
func (p *process) settle() (killed bool) {
	timer := time.AfterFunc(time.Second, p.kill)
	_, _ = io.Copy(io.Discard, p.out) // until its output ends
	<-p.dead
	alone := timer.Stop()
	p.end()
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return alone && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// end ends the process and gives back what is held of it.
func (p *process) end() {
	p.kill()
	<-p.dead
	_ = p.in.Close()   // closed with the process
	_ = p.pipe.Close() // only read from
}

// exitError is the error of a file over which its process ended.
func (p *process) exitError(err error, most int64) error {
	words := p.words.String()
	state := p.cmd.ProcessState
	if state.ExitCode() == exitMemory || strings.Contains(words, "out of memory") || strings.Contains(words, "cannot allocate memory") {
		return convert.TakesTooMuch(most)
	}
	e := fault.Wrap(fault.Invalid, fmt.Errorf("%w (%s)", err, state), "the process that read the file ended over it").
		WithHint("add the file once more; if that ends the same, save it anew in the program that made it")
	var wrong *brokenChild
	if errors.As(err, &wrong) {
		e.Msg = "the process that read the file gave no answer that can be used"
	}
	return e
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > maxStderr {
		t.data = append(t.data[:0], t.data[len(t.data)-maxStderr:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "?")
}
