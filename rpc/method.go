package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Method is one entry of the method table: how a call of that name is decoded,
// run and encoded. Define makes one.
type Method struct {
	Name     string
	Mode     protocol.Mode
	Early    bool // answers before initialize
	Roomless bool // needs no rooms, or waits for them by itself
	run      func(ctx context.Context, k *call) (any, error)
}

// writes reports whether the method changes anything.
func (m *Method) writes() bool { return m.Mode == protocol.Mutation || m.Mode == protocol.Job }

// Define makes a Method of a typed handler. The params are decoded strictly
// into a P; what does not fit is answered -32602 and never reaches fn. fn runs
// as its mode says, when the rooms are open; ctx ends when a read or job is
// cancelled.
func Define[P, R any](name string, mode protocol.Mode, fn func(context.Context, *Session, P) (R, error)) Method {
	return define(name, mode, func(ctx context.Context, k *call, params P) (R, error) { return fn(ctx, k.conn.session, params) })
}

func define[P, R any](name string, mode protocol.Mode, fn func(context.Context, *call, P) (R, error)) Method {
	var zero P
	_, _ = decodeParams(nil, &zero, 0) // a type that can't be decoded shows at the start
	return Method{Name: name, Mode: mode, run: func(ctx context.Context, k *call) (any, error) {
		if k.rooms != nil && k.rooms.refused != nil {
			return nil, k.rooms.refused
		}
		var params P
		token, err := decodeParams(k.params, &params, k.conn.srv.limits.TextBytes)
		if err != nil {
			return nil, err
		}
		if token == nil {
			return fn(ctx, k, params)
		}
		p := newProgress(k, token)
		p.send(protocol.ProgressBegin, "", 0, 0)
		result, err := fn(context.WithValue(ctx, progressKey{}, p), k, params)
		p.end()
		return result, err
	}}
}

// method makes the Method of a handler of the contract, which is called with the
// rooms of the moment.
func method[P, R any](name string, fn func(*Rooms, context.Context, *Session, P) (R, error)) Method {
	return describe(name, define(name, "", func(ctx context.Context, k *call, params P) (R, error) {
		return fn(k.rooms, ctx, k.conn.session, params)
	}))
}

// roomless makes the Method of a handler of the contract that is called with the
// door open or shut.
func roomless[P, R any](name string, fn func(context.Context, *Session, P) (R, error)) Method {
	m := describe(name, Define(name, "", fn))
	m.Roomless = true
	return m
}

// describe gives a method what the contract says of it.
func describe(name string, m Method) Method {
	desc := protocol.Lookup(name)
	if desc == nil {
		panic("rpc: " + name + " is not a method of the protocol")
	}
	m.Mode, m.Early = desc.Mode, desc.Early
	return m
}
