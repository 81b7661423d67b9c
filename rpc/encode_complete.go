package rpc

import (
	"reflect"
	"strconv"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Completions are asked for at every key, so their items are written without looking
// each field up by reflection (BenchmarkComplete). encode_test.go holds them against
// encoding/json.

func appendNoteItem(_ *jsonrpc.Encoder, b []byte, v reflect.Value) ([]byte, error) {
	item := addressed[protocol.NoteItem](v)
	b = jsonrpc.AppendString(append(b, `{"id":`...), item.ID)
	b = jsonrpc.AppendString(append(b, `,"title":`...), item.Title)
	b = appendOptional(b, `,"insert":`, item.Insert)
	b = appendOptional(b, `,"vault":`, item.Vault)
	b = appendOptional(b, `,"path":`, item.Path)
	return append(appendRanges(append(b, `,"match":`...), item.Match), '}'), nil
}

func appendEntityItem(_ *jsonrpc.Encoder, b []byte, v reflect.Value) ([]byte, error) {
	item := addressed[protocol.EntityItem](v)
	b = jsonrpc.AppendString(append(b, `{"id":`...), item.ID)
	b = jsonrpc.AppendString(append(b, `,"name":`...), item.Name)
	b = jsonrpc.AppendString(append(b, `,"type":`...), item.Type)
	b = appendOptional(b, `,"insert":`, item.Insert)
	b = appendOptional(b, `,"vault":`, item.Vault)
	b = appendOptional(b, `,"path":`, item.Path)
	return append(appendRanges(append(b, `,"match":`...), item.Match), '}'), nil
}

// appendOptional appends a member unless it is empty. key is its name with what stands around it.
func appendOptional(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return jsonrpc.AppendString(append(b, key...), value)
}

func appendRanges(b []byte, ranges [][2]int) []byte {
	if ranges == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, r := range ranges {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '['), int64(r[0]), 10)
		b = strconv.AppendInt(append(b, ','), int64(r[1]), 10)
		b = append(b, ']')
	}
	return append(b, ']')
}
