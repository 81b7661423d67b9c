package rpc

import (
	"reflect"
	"strconv"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// The items of a report are many and have many fields, so they are written without
// looking each up by reflection (BenchmarkAssemble). encode_test.go holds them against
// encoding/json.

// addressed returns what v holds, without a copy when it can.
func addressed[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	held := v.Interface().(T)
	return &held
}

func appendItem(_ *jsonrpc.Encoder, b []byte, v reflect.Value) ([]byte, error) {
	item := addressed[prompt.Item](v)
	b = jsonrpc.AppendString(append(b, `{"kind":`...), item.Kind)
	if item.ID != "" {
		b = jsonrpc.AppendString(append(b, `,"id":`...), item.ID)
	}
	b = jsonrpc.AppendString(append(b, `,"title":`...), item.Title)
	if item.Vault != "" {
		b = jsonrpc.AppendString(append(b, `,"vault":`...), item.Vault)
	}
	b = strconv.AppendInt(append(b, `,"start":`...), int64(item.Start), 10)
	b = strconv.AppendInt(append(b, `,"end":`...), int64(item.End), 10)
	b = strconv.AppendInt(append(b, `,"chars":`...), int64(item.Chars), 10)
	if cut := item.Cut; cut != nil {
		b = strconv.AppendInt(append(b, `,"cut":{"kept":`...), int64(cut.Kept), 10)
		b = strconv.AppendInt(append(b, `,"of":`...), int64(cut.Of), 10)
		b = append(jsonrpc.AppendString(append(b, `,"unit":`...), string(cut.Unit)), '}')
	}
	if item.Distilled {
		b = append(b, `,"distilled":true`...)
	}
	b = jsonrpc.AppendString(append(b, `,"reason":`...), item.Reason)
	b = strconv.AppendInt(append(b, `,"depth":`...), int64(item.Depth), 10)
	if len(item.Via) > 0 {
		b = append(b, `,"via":`...)
		for i, edge := range item.Via {
			b = jsonrpc.AppendString(append(append(b, listMark(i)), `{"from":`...), edge.From)
			b = append(jsonrpc.AppendString(append(b, `,"field":`...), edge.Field), '}')
		}
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

func appendDropped(e *jsonrpc.Encoder, b []byte, v reflect.Value) ([]byte, error) {
	d := addressed[prompt.Dropped](v)
	b = jsonrpc.AppendString(append(b, `{"kind":`...), d.Kind)
	if d.ID != "" {
		b = jsonrpc.AppendString(append(b, `,"id":`...), d.ID)
	}
	if d.Title != "" {
		b = jsonrpc.AppendString(append(b, `,"title":`...), d.Title)
	}
	if d.Vault != "" {
		b = jsonrpc.AppendString(append(b, `,"vault":`...), d.Vault)
	}
	b = jsonrpc.AppendString(append(b, `,"reason":`...), string(d.Reason))
	if len(d.Candidates) > 0 {
		var err error
		b, err = e.Append(append(b, `,"candidates":`...), reflect.ValueOf(d.Candidates))
		if err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// listMark is what stands before the i-th item of a list.
func listMark(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}
