package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

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
	_, _ = decodeParams(nil, &zero) // a type that can't be decoded shows at the start
	return Method{Name: name, Mode: mode, run: func(ctx context.Context, k *call) (any, error) {
		var params P
		token, err := decodeParams(k.params, &params)
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

// encoder is a buffer that holds a result as JSON.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}}

// encode returns v as JSON on one line. The bytes are valid until release.
func encode(v any) (*encoder, error) {
	e := encoders.Get().(*encoder)
	if err := e.json.Encode(v); err != nil {
		e.release()
		return nil, err
	}
	return e, nil
}

func (e *encoder) bytes() []byte {
	b := e.buf.Bytes()
	return b[:len(b)-1] // without the line feed
}

func (e *encoder) release() {
	if e.buf.Cap() <= pooledBuffer {
		e.buf.Reset()
		encoders.Put(e)
	}
}
