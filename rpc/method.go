package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Method is one entry of the method table: how a call of that name is decoded,
// run and encoded. Define makes one.
type Method struct {
	Name  string
	Mode  protocol.Mode
	Early bool // answers before initialize
	run   func(ctx context.Context, k *call) (any, error)
}

// Define makes a Method of a typed handler. The params are decoded strictly
// into a P; what does not fit is answered -32602 and never reaches fn. fn runs
// as its mode says; ctx ends when a read or job is cancelled.
func Define[P, R any](name string, mode protocol.Mode, fn func(context.Context, *Session, P) (R, error)) Method {
	var zero P
	_, _ = decodeParams(nil, &zero, 0) // a type that can't be decoded shows at the start
	return Method{Name: name, Mode: mode, run: func(ctx context.Context, k *call) (any, error) {
		var params P
		token, err := decodeParams(k.params, &params, k.conn.srv.limits.TextBytes)
		if err != nil {
			return nil, err
		}
		if token == nil {
			return fn(ctx, k.conn.session, params)
		}
		p := newProgress(k, token)
		p.send(protocol.ProgressBegin, "", 0, 0)
		result, err := fn(context.WithValue(ctx, progressKey{}, p), k.conn.session, params)
		p.end()
		return result, err
	}}
}

// method is Define for a method of the contract, which says its mode.
func method[P, R any](name string, fn func(context.Context, *Session, P) (R, error)) Method {
	desc := protocol.Lookup(name)
	if desc == nil {
		panic("rpc: " + name + " is not a method of the protocol")
	}
	m := Define(name, desc.Mode, fn)
	m.Early = desc.Early
	return m
}
