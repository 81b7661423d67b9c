package rpc

import (
	"encoding/base64"
	"sort"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// pageMark is where a page ended: the name and id of its last record. The next page
// begins after it, also when that record is gone by then.
type pageMark struct{ Name, ID string }

// Cursor is the mark for the wire.
func (m pageMark) Cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(m.ID + "\x00" + m.Name))
}

// parsePageMark reads a cursor. The error is BadCursor.
func parsePageMark(cursor string) (pageMark, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	id, name, ok := strings.Cut(string(text), "\x00")
	if err != nil || !ok {
		return pageMark{}, badCursorError()
	}
	return pageMark{Name: name, ID: id}, nil
}

// badCursorError is what a caller is told whose cursor no list gave.
func badCursorError() error {
	return fault.Field("cursor", "cursor is not one that a list gave").
		WithHint("give the nextCursor of the page before, or leave it out for the first")
}

// paginate returns a page of a sorted list and the cursor of the next, ""
// after the last. compare orders an item against a mark.
func paginate[T any](list []T, p protocol.Page, of func(T) pageMark, compare func(T, pageMark) int) ([]T, string, error) {
	if p.Cursor != "" {
		m, err := parsePageMark(p.Cursor)
		if err != nil {
			return nil, "", err
		}
		list = list[sort.Search(len(list), func(i int) bool { return compare(list[i], m) > 0 }):]
	}
	if len(list) <= p.Limit {
		return list, "", nil
	}
	return list[:p.Limit], of(list[p.Limit-1]).Cursor(), nil
}
