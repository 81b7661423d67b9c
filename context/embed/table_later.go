package embed

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/fault"
)

// LazyBuiltinTable gives the model of Builtin, which is read when it is asked
// first: a program that starts need not wait for it.
func LazyBuiltinTable() Embedder { return LazyTable("", nil) }

// LazyTable gives the table of a file, see [OpenTable], which is read when it
// is asked first. Where the file can't be used, the built-in table serves in its
// place until the program ends; the log and Status().Why say so. No path is the
// built-in table.
func LazyTable(path string, log *slog.Logger) Embedder { return &later{path: path, log: log} }

// later is a table, read or not.
type later struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex // held while it is read
	read atomic.Pointer[chosen]
}

// chosen is a table and why it is not the one that was asked for.
type chosen struct {
	table *StaticTable
	why   string
}

func (l *later) table() (*StaticTable, error) {
	if c := l.read.Load(); c != nil {
		return c.table, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.read.Load(); c != nil {
		return c.table, nil
	}
	c, err := l.choose()
	if err != nil {
		return nil, err
	}
	l.read.Store(c)
	return c.table, nil
}

func (l *later) choose() (*chosen, error) {
	if l.path == "" {
		s, err := BuiltinTable()
		return &chosen{table: s}, err
	}
	s, err := OpenTable(l.path)
	if err == nil {
		return &chosen{table: s}, nil
	}
	l.log.Warn("the built-in table serves in the place of the one of embedding.table", "file", l.path, "error", err)
	c := &chosen{why: fault.Message(err)}
	c.table, err = BuiltinTable()
	return c, err
}

// Model reads the table.
func (l *later) Model(ctx context.Context) (Model, error) {
	s, err := l.table()
	if err != nil {
		return Model{}, err
	}
	return s.Model(ctx)
}

// Embed is that of the table.
func (l *later) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	s, err := l.table()
	if err != nil {
		return Model{}, nil, err
	}
	return s.Embed(ctx, p, texts)
}

// Status says that the table is idle until it is read.
func (l *later) Status() Status {
	c := l.read.Load()
	if c == nil {
		return Status{Kind: KindBuiltin, State: Idle, Device: "cpu"}
	}
	st := c.table.Status()
	st.Why = c.why
	return st
}

// Close does nothing: the table belongs to the program.
func (l *later) Close() error { return nil }
