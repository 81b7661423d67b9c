package rpc

import (
	"encoding/base64"
	"sort"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// mark is where a page ended: the name and id of its last record. The next page
// begins after it, also when that record is gone by then.
type mark struct{ name, id string }

func (m mark) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(m.id + "\x00" + m.name))
}

func parseMark(cursor string) (mark, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	id, name, ok := strings.Cut(string(text), "\x00")
	if err != nil || !ok {
		return mark{}, badCursor()
	}
	return mark{name, id}, nil
}

func badCursor() error {
	return fault.Field("cursor", "cursor is not one that a list gave").
		WithHint("give the nextCursor of the page before, or leave it out for the first")
}

// paginate returns a page of a sorted list and the cursor of the next, ""
// after the last. compare orders an item against a mark.
func paginate[T any](list []T, p protocol.Page, of func(T) mark, compare func(T, mark) int) ([]T, string, error) {
	if p.Cursor != "" {
		m, err := parseMark(p.Cursor)
		if err != nil {
			return nil, "", err
		}
		list = list[sort.Search(len(list), func(i int) bool { return compare(list[i], m) > 0 }):]
	}
	if len(list) <= p.Limit {
		return list, "", nil
	}
	return list[:p.Limit], of(list[p.Limit-1]).cursor(), nil
}
