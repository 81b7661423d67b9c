package mcp

import (
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// How long the answer of a tool is, in characters.
const (
	standardChars  = 8_000
	standardPrompt = 16_000 // of assemble_context
	leastChars     = 4_000  // room for the longest cursor beside a record
	mostChars      = 200_000
)

// paging are the arguments of a tool whose answer has pages.
type paging struct {
	Cursor   string `json:"cursor,omitempty" jsonschema:"the cursor that the page before ends with"`
	MaxChars int    `json:"maxChars,omitempty" jsonschema:"length of the answer at most, in characters"`
}

// fetched is a page of a list of the daemon.
type fetched struct {
	items []string
	total int
	next  string // cursor of the daemon
}

// pageOf makes the answer of a list that the daemon gives page by page. A cursor is
// the number of records before it and the daemon's cursor.
func pageOf(noun string, in paging, most int, fetch func(protocol.Page) (fetched, error)) (*render.Page, error) {
	l := &render.Page{Noun: noun}
	at := in.Cursor
	if at != "" {
		number, cursor, ok := strings.Cut(at, ".")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 {
			return nil, render.BadCursor()
		}
		l.From, at = n, cursor
	}
	got, err := fetch(protocol.Page{Cursor: at, Limit: most})
	if err != nil {
		return nil, err
	}
	l.Items, l.Total = got.items, max(got.total, l.From+len(got.items))
	l.Next = func(shown int) (string, error) {
		next := got.next
		if shown < len(got.items) { // the page is cut: its end is another
			part, err := fetch(protocol.Page{Cursor: at, Limit: shown})
			if err != nil {
				return "", err
			}
			next = part.next
		}
		if next == "" {
			return "", nil
		}
		return strconv.Itoa(l.From+shown) + "." + next, nil
	}
	return l, nil
}
