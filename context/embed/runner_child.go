package embed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lastWords is how much of what a runner wrote to stderr is kept.
const lastWords = 8 << 10

// runnerError is the end of a runner.
type runnerError struct {
	reason  string // in words, without paths and texts
	words   string // what it wrote last
	crashed bool   // of itself, over what it was doing
	err     error
}

func (e *runnerError) Error() string {
	s := "the model runner failed: " + e.reason
	if e.err != nil {
		s += ": " + e.err.Error()
	}
	if e.words != "" {
		s += "; its last words: " + e.words
	}
	return s
}

func (e *runnerError) Unwrap() error { return e.err }

// refusedError is a text that the model can't embed; the runner lives.
type refusedError struct{ what string }

func (e *refusedError) Error() string { return e.what }

// runnerChild is one life of the process. A nil child is one that is not there.
type runnerChild struct {
	cmd   *exec.Cmd
	conn  net.Conn
	in    *bufio.Reader
	space []byte
	hello RunnerHello
	born  time.Time
	words *tail
	last  uint64        // id of a request
	dead  chan struct{} // closed when the process has been reaped; then exit is set
	exit  error
	once  sync.Once
}

// spawnRunner starts a process and waits for its hello. announce hears of the
// child before that, so that somebody else can kill it while it loads the model. It also gives the child
// that failed.
func spawnRunner(opt RunnerOptions, closing <-chan struct{}, announce func(*runnerChild)) (*runnerChild, error) {
	c := &runnerChild{words: &tail{}, born: time.Now(), dead: make(chan struct{})}
	c.cmd = exec.Command(opt.Path, append(append([]string{}, opt.Args...), runnerFlags(opt)...)...)
	c.cmd.Stdout, c.cmd.Stderr = c.words, c.words
	c.cmd.WaitDelay = time.Second // for what a process of its own holds open
	c.cmd.Env = runnerEnvironment(opt)
	connect, err := prepareRunner(c.cmd)
	if err != nil {
		return nil, &runnerError{reason: "no socket for it", err: err}
	}
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		return nil, errors.Join(&runnerError{reason: "it could not be started", err: err}, connect.close())
	}
	deadline := time.Now().Add(opt.StartTimeout)
	c.conn, err = connect.accept(deadline, c.dead)
	if err != nil {
		return c, c.failed("it did not connect", err)
	}
	c.in = bufio.NewReaderSize(c.conn, 64<<10)
	announce(c)
	greeted := make(chan struct{})
	defer close(greeted)
	go func() { // a close does not wait for a model that loads
		select {
		case <-closing:
			c.kill()
		case <-greeted:
		}
	}()
	kind, body, space, err := readFrame(c.in, nil, func() { c.setDeadline(deadline) })
	if err != nil {
		return c, c.failed("it did not say hello", err)
	}
	c.space = space
	if kind != frameHello {
		return c, c.failed("it did not say hello", broken("a frame of kind %q", kind))
	}
	c.hello, err = parseHello(body)
	if err == nil && c.hello.Ranks != opt.rank {
		err = broken("a model for another task")
	}
	if err != nil {
		return c, c.failed("it did not say hello as it should", err)
	}
	return c, nil
}

func runnerFlags(opt RunnerOptions) []string {
	threads := opt.Threads
	if threads <= 0 {
		// Threads that spin while they wait for each other, as those of llama.cpp
		// do, take a hundred times as long if others want their cores.
		threads = max(1, min(4, runtime.NumCPU()/2))
	}
	layers := opt.GPULayers
	if layers == "" {
		layers = "auto"
	}
	flags := []string{
		"-model", opt.ModelFile, "-gpu-layers", layers, "-device", opt.Device, "-threads", strconv.Itoa(threads),
	}
	if opt.rank {
		flags = append(flags, "-rank")
	}
	return append(flags, "-socket", runnerSocketName)
}

// runnerEnvironment is ours without what looks like a secret: native code has
// no business with it.
func runnerEnvironment(opt RunnerOptions) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		secret := false
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
			secret = secret || strings.Contains(name, word)
		}
		if !secret {
			env = append(env, v)
		}
	}
	if opt.Library != "" {
		env = append(env, "CTXD_LLAMA_DIR="+opt.Library)
	}
	// A failed assertion would start a debugger otherwise.
	return append(append(env, "GGML_NO_BACKTRACE=1"), opt.Env...)
}

// live starts the process and reaps it. It keeps its thread: Linux takes the end
// of the thread that started a child for the end of the parent.
func (c *runnerChild) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	closeRunnerSide(c.cmd)
	started <- err
	if err == nil {
		c.exit = c.cmd.Wait()
		close(c.dead)
	}
}

// gone is closed when the process has ended; nil, which waits for ever, if
// there is none.
func (c *runnerChild) gone() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.dead
}

// kill ends the process with all that it started and reaps it.
func (c *runnerChild) kill() {
	if c == nil {
		return
	}
	c.once.Do(func() { killRunner(c.cmd) })
	<-c.dead
	if c.conn != nil {
		c.conn.Close() //nolint:errcheck // nobody listens any more
	}
}

// stop lets the process end by itself, for a second.
func (c *runnerChild) stop() {
	if c == nil {
		return
	}
	if c.conn != nil {
		c.conn.Close() //nolint:errcheck // the runner ends by it
	}
	select {
	case <-c.dead:
	case <-time.After(time.Second):
	}
	c.kill()
}

// failed kills the process and says why it has to go, in words of its own if it
// went before.
func (c *runnerChild) failed(why string, err error) error {
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
	if ended { // its end may reach us by the socket first
		select {
		case <-c.dead:
		case <-time.After(time.Second):
		}
	}
	select {
	case <-c.dead:
		return c.obituary(why)
	default:
	}
	c.kill()
	var protocol *ProtocolError
	return &runnerError{
		reason: why, words: c.words.String(), err: err,
		crashed: errors.As(err, &protocol) || errors.Is(err, errTooLong),
	}
}

// obituary says how a process ended.
func (c *runnerChild) obituary(why string) error {
	e := &runnerError{words: c.words.String(), err: c.exit}
	state := c.cmd.ProcessState
	switch {
	case state == nil:
		e.reason = why
	case killedFromOutside(state):
		e.reason = fmt.Sprintf("%s: %s", why, state)
	case c.hello.Protocol == 0 && state.ExitCode() == ExitNotReady:
		e.reason = "the library or the model is missing or can't be loaded"
	default:
		e.reason, e.crashed = fmt.Sprintf("%s: %s", why, state), true
	}
	return e
}

// ExitNotReady is the exit code of a runner that says on stderr what it
// lacks.
const ExitNotReady = 3

var errTooLong = errors.New("it took too long over one text")

func (c *runnerChild) setDeadline(t time.Time) {
	c.conn.SetDeadline(t) //nolint:errcheck // a connection that is closed says so when it is used
}

// exchange has a batch embedded, or scored against a question. It fails with a runnerError, after which the
// child is dead, or with a refusedError.
func (c *runnerChild) exchange(query string, texts []string, opt RunnerOptions) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	c.last++
	c.setDeadline(time.Now().Add(opt.Stall))
	request, answers, check := appendRequest(nil, frameEmbed, c.last, texts), byte(frameVectors), checkVector
	if opt.rank {
		asked := append([]string{query}, texts...)
		request, answers, check = appendRequest(nil, frameRank, c.last, asked), frameScores, checkScore
	}
	if _, err := c.conn.Write(request); err != nil {
		return nil, c.failed("it does not listen", err)
	}
	done, progress := 0, time.Now()
	for {
		kind, body, space, err := readFrame(c.in, c.space, func() { c.setDeadline(time.Now().Add(opt.Stall)) })
		c.space = space
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, c.failed("it gave no sign of life for "+opt.Stall.String(), err)
		case err != nil:
			return nil, c.failed("it ended at work", err)
		}
		switch kind {
		case answers:
			vectors, err := parseVectors(body, c.last, c.hello.Dims, len(texts), check)
			if err != nil {
				return nil, c.failed("its answer is wrong", err)
			}
			return vectors, nil
		case frameRefused:
			what, err := parseRefused(body, c.last)
			if err != nil {
				return nil, c.failed("its answer is wrong", err)
			}
			return nil, &refusedError{what}
		case frameBeat:
			n, err := parseBeat(body, c.last)
			if err != nil || n < done || n > len(texts) {
				return nil, c.failed("its answer is wrong", cmpErr(err, "beats that go backwards"))
			}
			if n > done {
				done, progress = n, time.Now()
			}
			if time.Since(progress) > opt.CallTimeout {
				return nil, c.failed("it took longer than "+opt.CallTimeout.String()+" over one text", errTooLong)
			}
		default:
			return nil, c.failed("its answer is wrong", broken("a frame of kind %q", kind))
		}
	}
}

func cmpErr(err error, what string) error {
	if err != nil {
		return err
	}
	return broken("%s", what)
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
	if len(t.data) > 2*lastWords {
		t.data = append(t.data[:0], t.data[len(t.data)-lastWords:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.data
	if len(data) > lastWords {
		data = data[len(data)-lastWords:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data), "?"))
}
