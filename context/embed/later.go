package embed

import (
	"context"
	"sync/atomic"
)

// BuiltinWhenAsked gives the model of Builtin, which is read when it is asked
// first: a program that starts need not wait for it.
func BuiltinWhenAsked() Embedder { return new(later) }

// later is the built-in model, read or not.
type later struct{ read atomic.Pointer[Static] }

func (l *later) table() (*Static, error) {
	if s := l.read.Load(); s != nil {
		return s, nil
	}
	s, err := Builtin()
	if err == nil {
		l.read.Store(s)
	}
	return s, err
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
	if s := l.read.Load(); s != nil {
		return s.Status()
	}
	return Status{Kind: "builtin", State: Idle, Device: "cpu"}
}

// Close does nothing: the table belongs to the program.
func (l *later) Close() error { return nil }
