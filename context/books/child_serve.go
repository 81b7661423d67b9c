package books

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
)

// ChildCommand is the argument by which a program is to run ServeChild.
const ChildCommand = "books-child"

// exitMemory is the exit code of a child whose file needs more memory than it may take.
const exitMemory = 4

const (
	childProcs = 2        // cores of a child; one of them sees the end of its parent
	childStack = 64 << 20 // bytes of one goroutine
	childLook  = 2 * time.Millisecond
	// A child that holds more than this between two files ends, and the next one begins anew.
	childKeeps = 160 << 20
	// hardSlack is how much more than the bound the operating system lets a child map: Go maps more than it uses.
	hardSlack = 256 << 20
)

// ServeChild is the child of a Store: it converts the files that come in, one after the other, and ends with its input, which is
// when its parent has gone. It returns the exit code.
func ServeChild(in io.Reader, out io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // they are for the daemon, which ends the input
	runtime.GOMAXPROCS(childProcs)
	debug.SetMaxStack(childStack)
	yieldToOthers()
	w := bufio.NewWriterSize(out, 64<<10)
	if err := errors.Join(writeJSON(w, frameHello, childProtocol), w.Flush()); err != nil {
		return 1
	}
	var c child
	go c.watch()
	type job struct {
		request
		data []byte
	}
	jobs := make(chan job)
	go func() { // reads on while a file is converted, and so sees the end
		r := bufio.NewReader(in)
		for {
			q, data, err := c.take(r)
			if err != nil {
				os.Exit(0) //nolint:forbidigo // the process is a child, and converting may not end in time
			}
			jobs <- job{q, data}
		}
	}()
	for j := range jobs {
		err := c.answer(j.request, j.data, w)
		j.data = nil
		debug.FreeOSMemory()
		c.most.Store(0)
		end := endingOf(err)
		end.Last = memoryInUse() > childKeeps
		if err := errors.Join(writeJSON(w, frameEnd, end), w.Flush()); err != nil || end.Last {
			break
		}
	}
	return 0
}

// child is a process that converts files.
type child struct {
	conv convert.Converter
	most atomic.Int64 // what it may take now; 0: it has no file
}

// take reads a request and its file.
func (c *child) take(r *bufio.Reader) (q request, data []byte, err error) {
	kind, body, _, err := readFrame(r, nil)
	if err == nil && kind != frameRequest {
		err = broken("a frame of kind %q", kind)
	}
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		return q, nil, err
	}
	c.conv.Prepare(q.Format) // before the bound holds: what that takes is not the file's
	c.most.Store(convert.MemoryOf(q.Size))
	debug.SetMemoryLimit(convert.MemoryOf(q.Size) * 3 / 4)
	limitMemory(convert.MemoryOf(q.Size) + hardSlack)
	data = make([]byte, q.Size)
	_, err = io.ReadFull(r, data)
	return q, data, err
}

// answer converts a file and writes what is made of it.
func (c *child) answer(q request, data []byte, w *bufio.Writer) error {
	var failed error
	note := func(err error) { failed = errors.Join(failed, err) }
	err := produce(context.Background(), &c.conv, q.Format, data, sink{
		progress: func(done, total int) {
			note(writeJSON(w, frameProgress, [2]int{done, total}))
			note(w.Flush())
		},
		head: func(m made) error { return writeJSON(w, frameHead, m) },
		passage: func(p CutPassage) error {
			body, err := encode(&Passage{p})
			return errors.Join(err, writeFrame(w, framePassage, []byte(body)))
		},
	})
	if failed != nil {
		return failed
	}
	return err
}

// watch ends the process when it comes near to what it may take, which it would be past before the next look: no error could be
// made of that in time where a library allocates.
func (c *child) watch() {
	for range time.Tick(childLook) {
		if most := c.most.Load(); most > 0 && memoryInUse() > most-most/8 {
			os.Exit(exitMemory) //nolint:forbidigo // a library that allocates does not come back with an error
		}
	}
}

// heldByGo is what the runtime has of the operating system, in bytes.
func heldByGo() int64 {
	list := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(list)
	return int64(list[0].Value.Uint64() - list[1].Value.Uint64())
}

// sink takes what is made of a file.
type sink struct {
	progress func(done, total int)
	head     func(made) error
	passage  func(CutPassage) error
}

// maxPassages is how many one book has at most. A book of as much text as there may be has fewer, unless it is all headings.
const maxPassages = 100_000

// produce converts a file, cuts it, and gives what it has made to a sink.
func produce(ctx context.Context, conv *convert.Converter, format convert.Format, data []byte, to sink) error {
	doc, err := conv.Convert(ctx, format, data, to.progress)
	if err != nil {
		return err
	}
	list, most := CutPassages(doc), 2*convert.TextOf(int64(len(data)))
	if len(list) > maxPassages {
		return fault.New(fault.Limit, "the file makes more than %d passages", maxPassages).WithHint("split it into several files")
	}
	for i := range list {
		for _, h := range list[i].Section {
			most -= int64(len(h))
		}
		if most -= int64(len(list[i].Text)); most < 0 {
			return fault.New(fault.Limit, "the passages of the file have more text than is allowed, with the headings above each").
				WithHint("split it into several files")
		}
	}
	if err := to.head(made{doc.Title, doc.Author, doc.Pages, doc.Empty, len(list)}); err != nil {
		return err
	}
	for _, p := range list {
		if err := to.passage(p); err != nil {
			return err
		}
	}
	return nil
}
