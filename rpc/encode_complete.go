package rpc

import (
	"reflect"
	"strconv"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// What completes a text is asked for at every key, so its items are written without
// looking each member up by reflection. They look as if they were.

var (
	noteItemType   = reflect.TypeFor[protocol.NoteItem]()
	entityItemType = reflect.TypeFor[protocol.EntityItem]()
)

func appendNoteItem(b []byte, v reflect.Value) ([]byte, error) {
	item := addressed[protocol.NoteItem](v)
	b = appendText(append(b, `{"id":`...), item.ID)
	b = appendText(append(b, `,"title":`...), item.Title)
	if item.Path != "" {
		b = appendText(append(b, `,"path":`...), item.Path)
	}
	return append(appendRanges(append(b, `,"match":`...), item.Match), '}'), nil
}

func appendEntityItem(b []byte, v reflect.Value) ([]byte, error) {
	item := addressed[protocol.EntityItem](v)
	b = appendText(append(b, `{"id":`...), item.ID)
	b = appendText(append(b, `,"name":`...), item.Name)
	b = appendText(append(b, `,"type":`...), item.Type)
	return append(appendRanges(append(b, `,"match":`...), item.Match), '}'), nil
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
