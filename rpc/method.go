package rpc

import (
	"context"
	"reflect"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Method is one entry of the method table: how a call of that name is decoded, run
// and encoded. Define makes one.
type Method = jsonrpc.Method

var (
	decoder = jsonrpc.Decoder{Reserved: protocol.ProgressToken, StringLists: reflect.TypeFor[entities.Values]()}
	encoder = jsonrpc.NewEncoder(map[reflect.Type]jsonrpc.AppendFunc{
		reflect.TypeFor[protocol.NoteItem]():   appendNoteItem,
		reflect.TypeFor[protocol.EntityItem](): appendEntityItem,
		reflect.TypeFor[prompt.Item]():         appendItem,
		reflect.TypeFor[prompt.Dropped]():      appendDropped,
	})
)

// Define makes a Method of a typed handler. The params are decoded strictly into a
// P; what does not fit is answered -32602 and never reaches fn. fn runs as its mode
// says, when the rooms are open; ctx ends when a read or job is cancelled.
func Define[P, R any](name string, mode protocol.Mode, fn func(context.Context, *Session, P) (R, error)) Method {
	return define(name, mode, func(ctx context.Context, k *jsonrpc.Call, params P) (R, error) {
		return fn(ctx, sessionOf(k.Conn()), params)
	})
}

// DefineJob is Define for a job of a kind.
func DefineJob[P, R any](name string, kind protocol.JobKind, fn func(context.Context, *Session, P) (R, error)) Method {
	m := Define(name, protocol.Job, fn)
	m.Kind = kind
	return m
}

type callKey struct{}

// Deltas starts a Stream of the job that ctx is of, about subjects. It ends with the
// job, before its reply is sent.
func Deltas[D any](ctx context.Context, feed *jsonrpc.Feed[D], subjects ...string) *jsonrpc.Stream[D] {
	return feed.Open(ctx.Value(callKey{}).(*jsonrpc.Call), subjects...)
}

// Follow has a session get the deltas about a subject from now on, until its end.
func Follow[D any](s *Session, feed *jsonrpc.Feed[D], subject string) { feed.Follow(s.conn, subject) }

// Unfollow takes Follow back.
func Unfollow[D any](s *Session, feed *jsonrpc.Feed[D], subject string) {
	feed.Unfollow(s.conn, subject)
}

func define[P, R any](name string, mode protocol.Mode, fn func(context.Context, *jsonrpc.Call, P) (R, error)) Method {
	desc := protocol.Lookup(name) // nil for a method that is none of the contract
	var needs []string
	if desc != nil {
		needs = desc.Needs()
	}
	title := name
	if desc != nil {
		title = desc.Title()
	}
	decoder.Prepare(reflect.TypeFor[P]()) // a type that can't be decoded shows at the start
	return Method{Name: name, Mode: mode, Run: func(ctx context.Context, k *jsonrpc.Call) (*jsonrpc.Buffer, error) {
		r := roomsOf(k)
		if r != nil && r.refused != nil {
			return nil, r.refused
		}
		var params P
		s := sessionOf(k.Conn())
		if desc != nil && desc.LocalOnly() && s.Reader() == audience.Remote {
			return nil, localOnly(desc)
		}
		if err := s.srv.switchedOff(name, needs...); err != nil {
			return nil, err
		}
		token, err := decoder.Decode(k.Params(), &params, s.srv.textBytes)
		if err != nil {
			return nil, err
		}
		if k.Mode() == protocol.Job {
			ctx = context.WithValue(ctx, callKey{}, k)
		}
		var p *callProgress
		if token != nil {
			p, ctx = beginProgress(ctx, k, token, title)
		}
		result, err := fn(ctx, k, params)
		if p != nil {
			p.End(ctx)
		}
		if err != nil {
			return nil, err
		}
		return k.Encode(ctx, encoder, result)
	}}
}

// roomsOf returns the rooms that a call runs in; nil when it needs none.
func roomsOf(k *jsonrpc.Call) *rooms {
	r, _ := k.Storage().(*rooms)
	return r
}

// method makes the Method of a handler of records, which is called with what its
// reader may see of the rooms of the moment.
func method[P, R any](name string, fn func(scope, context.Context, *Session, P) (R, error)) Method {
	_, names := any(new(P)).(protocol.AudienceParams)
	said := saidIn(reflect.TypeFor[P]())
	return describe(protocol.UsesStore,
		define(name, "", func(ctx context.Context, k *jsonrpc.Call, params P) (result R, err error) {
			s := sessionOf(k.Conn())
			asked := ""
			if names {
				asked = any(&params).(protocol.AudienceParams).AskedAudience()
			}
			c, err := roomsOf(k).scopeOf(s, audience.Reader(asked))
			if err != nil {
				return result, err
			}
			if said.private(ctx, c, s, reflect.ValueOf(params)) {
				ctx = outbound.KeepHere(ctx)
			}
			if asked := said.asked(reflect.ValueOf(params)); asked != "" {
				ctx = outbound.Asking(ctx, asked)
			}
			return fn(c, ctx, s, params)
		}))
}

// places are the fields of params that say in which conversation something is said, and whether it is private.
type places struct{ conversations, marks, texts [][]int }

func saidIn(t reflect.Type) (p places) {
	if t.Kind() != reflect.Struct {
		return p
	}
	for _, name := range []string{"ConversationID", "InConversation"} {
		if f, ok := t.FieldByName(name); ok && f.Type.Kind() == reflect.String {
			p.conversations = append(p.conversations, f.Index)
		}
	}
	for _, name := range []string{"Query", "Text"} {
		if f, ok := t.FieldByName(name); ok && f.Type.Kind() == reflect.String {
			p.texts = append(p.texts, f.Index)
		}
	}
	if f, ok := t.FieldByName("Private"); ok && f.Type.Kind() == reflect.Bool {
		p.marks = append(p.marks, f.Index)
	}
	return p
}

// asked returns what a call asks, as it was written; "" for nothing.
func (p places) asked(params reflect.Value) string {
	for _, at := range p.texts {
		if text := params.FieldByIndex(at).String(); text != "" {
			return text
		}
	}
	return ""
}

// private reports whether what a call asks is private as a whole: it is said to be, or of a conversation that is private as
// the client sees it, whoever reads the answer.
func (p places) private(ctx context.Context, c scope, s *Session, params reflect.Value) bool {
	for _, at := range p.marks {
		if params.FieldByIndex(at).Bool() {
			return true
		}
	}
	for _, at := range p.conversations {
		if ref := params.FieldByIndex(at).String(); ref != "" && c.chat.IsPrivate(ctx, c.audiences.View(s.Reader()), ref) {
			return true
		}
	}
	return false
}

// of makes the Method of a handler that needs no more of a call than its callReader: a method of a type that room makes
// of the scope.
func of[H, P, R any](name string, room func(scope) H, fn func(H, context.Context, callReader, P) (R, error)) Method {
	return method(name, func(c scope, ctx context.Context, s *Session, params P) (R, error) {
		return fn(room(c), ctx, c.by(s), params)
	})
}

// wholeStore makes the Method of a handler that counts, copies or changes all records,
// which is called with the rooms of the moment.
func wholeStore[P, R any](name string, fn func(*Deps, context.Context, *Session, P) (R, error)) Method {
	m := figures(name, fn)
	if !protocol.Lookup(name).WholeStore {
		panic("rpc: the handler of " + name + " is given the whole store, which the contract does not say")
	}
	return m
}

// figures makes the Method of a handler that tells of the daemon and leaves the counts
// of records out for a remote reader.
func figures[P, R any](name string, fn func(*Deps, context.Context, *Session, P) (R, error)) Method {
	return describe(protocol.UsesStore,
		define(name, "", func(ctx context.Context, k *jsonrpc.Call, params P) (R, error) {
			return fn(roomsOf(k).Deps, ctx, sessionOf(k.Conn()), params)
		}))
}

// storeless makes the Method of a handler that needs no store, and is called with
// the gate open or closed.
func storeless[P, R any](name string, fn func(context.Context, *Session, P) (R, error)) Method {
	return describe(protocol.Storeless, Define(name, "", fn))
}

// replacing makes the Method of a handler that waits for the store by itself,
// because it replaces it.
func replacing[P, R any](name string, fn func(context.Context, *Session, P) (R, error)) Method {
	return describe(protocol.ReplacesStore, Define(name, "", fn))
}

// last marks the method after which a connection accepts no further call.
func last(m Method) Method {
	m.Last = true
	return m
}

// describe gives a method what the contract says of it. The kind of its handler must
// be that of the contract, which every start would show.
func describe(handler protocol.StoreUse, m Method) Method {
	desc := protocol.Lookup(m.Name)
	if desc == nil {
		panic("rpc: " + m.Name + " is not a method of the protocol")
	}
	if desc.Store != handler {
		panic("rpc: the handler of " + m.Name + " is not of the kind that the contract says")
	}
	m.Mode, m.Kind, m.Early, m.Storeless = desc.Mode, desc.Kind, desc.Early, desc.Store != protocol.UsesStore
	return m
}
