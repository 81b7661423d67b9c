//go:build unix

package shared_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// childKind says in the environment of a child what it is, childOptions what it is given.
const (
	childKind    = "CTXD_CAMPAIGN_CHILD"
	childOptions = "CTXD_CAMPAIGN_CHILD_OPTIONS"
)

// ranAsChild does the work of a child and reports whether this process is one.
func ranAsChild() bool {
	var err error
	switch os.Getenv(childKind) {
	case "daemon":
		err = runDaemon()
	case "server":
		err = runServer()
	default:
		return false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// request is a line that a child reads.
type request struct {
	N       int64         `json:"n"`
	Op      string        `json:"op"`
	Key     string        `json:"key,omitempty"`
	ID      string        `json:"id,omitempty"` // of the operation, another one each time
	Text    string        `json:"text,omitempty"`
	Version int           `json:"version,omitempty"` // that a swap expects
	Member  int           `json:"member,omitempty"`
	Time    time.Duration `json:"time,omitempty"` // of the clock or the disk
}

// Outcomes of an operation.
const (
	done    = "done"
	differs = "differs" // there is nothing to do in the present state
	stale   = "stale"   // as differs, by a daemon that could not ask the others
	refused = "refused" // nothing of it is there
	unknown = "unknown"
	wrong   = "wrong" // what must not happen
)

// reply is a line that a child writes. N is that of the request; 0 is for what nobody has asked.
type reply struct {
	N       int64             `json:"n"`
	Outcome string            `json:"outcome"`
	Error   string            `json:"error,omitempty"`
	Cell    cell              `json:"cell"`
	Seq     uint64            `json:"seq,omitempty"`
	Sum     string            `json:"sum,omitempty"`
	Cells   map[string]cell   `json:"cells,omitempty"`
	Ops     map[string]string `json:"ops,omitempty"`
}

// serveCampaign carries out requests of the parent, each in a goroutine of its own, until the parent
// has gone or asks with a signal. say tells the parent something.
func serveCampaign(begin func(say func(reply)) error, act func(request) reply) error {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	say := func(r reply) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(r) // without a parent there is nobody to tell
	}
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM)
	if err := begin(say); err != nil {
		return err
	}
	say(reply{Outcome: done})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var r request
			if json.Unmarshal(line, &r) != nil {
				return
			}
			go func() {
				answer := act(r)
				answer.N = r.N
				say(answer)
			}()
		}
	}()
	select {
	case <-gone:
	case <-ending:
	}
	return nil
}

// child is a process of the parent's. It may be used concurrently.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	dead chan struct{} // closed when it has ended and everything that it wrote was read
	end  error         // how it has ended; for whom dead is closed

	mu      sync.Mutex // of all below
	last    int64
	waiting map[int64]chan reply
}

// spawn starts a child and returns when it is ready. odd gets what it says without being asked.
func spawn(kind string, options any, log io.Writer, odd func(reply)) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(program), dead: make(chan struct{}), waiting: map[int64]chan reply{}}
	c.cmd.Env = append(os.Environ(), childKind+"="+kind, childOptions+"="+string(text))
	c.cmd.Stderr = log
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in = in
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go c.listen(out, ready, odd)
	select {
	case <-ready:
		return c, nil
	case <-c.dead:
		return nil, fmt.Errorf("a %s has ended before it was ready", kind)
	}
}

func (c *child) listen(out io.Reader, ready chan<- struct{}, odd func(reply)) {
	defer close(c.dead)
	lines := json.NewDecoder(out)
	for {
		var r reply
		if lines.Decode(&r) != nil {
			c.end = c.cmd.Wait()
			return
		}
		if r.N == 0 {
			if ready != nil {
				close(ready)
				ready = nil
			} else {
				odd(r)
			}
			continue
		}
		c.mu.Lock()
		to := c.waiting[r.N]
		delete(c.waiting, r.N)
		c.mu.Unlock()
		to <- r
	}
}

var errDead = errors.New("the process has ended")

// call asks for something and waits for the answer. An error says that the child ended first.
func (c *child) call(r request) (reply, error) {
	to := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	r.N = c.last
	c.waiting[r.N] = to
	line, err := json.Marshal(r)
	if err == nil {
		_, _ = c.in.Write(append(line, '\n')) // it ends when nobody reads
	}
	c.mu.Unlock()
	if err != nil {
		return reply{}, err
	}
	select {
	case answer := <-to:
		return answer, nil
	case <-c.dead:
	}
	select {
	case answer := <-to: // it was said before the end
		return answer, nil
	default:
		return reply{}, errDead
	}
}

// send sends a signal. That the child has ended is no error.
func (c *child) send(s syscall.Signal) {
	select {
	case <-c.dead:
	default:
		_ = c.cmd.Process.Signal(s)
	}
}

// kill ends it at once.
func (c *child) kill() {
	c.send(syscall.SIGKILL)
	<-c.dead
}

// stop asks it to end, and returns an error when it does not do that well.
func (c *child) stop() error {
	c.send(syscall.SIGTERM)
	<-c.dead
	return c.end
}
