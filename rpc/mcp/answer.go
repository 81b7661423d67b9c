package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
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

// list is an answer that consists of records or lines, page by page.
type list struct {
	head  string   // stands first on every page
	items []string // from the first of this page on, each with its line end
	from  int      // how many stand on the pages before
	total int      // how many there are on all pages
	noun  string   // of one item
	most  int      // items of a page; 0: as many as there is room for
	none  string   // what is said when there are none
	// next returns the cursor of the page behind the first shown items of this one. When
	// it is nil, a cursor is the number of items before.
	next func(shown int) (string, error)
}

// page returns a page of at most limit characters.
func (l *list) page(limit int) (string, error) {
	head, _ := prompt.Cut(l.head, limit/4)
	if l.total == 0 {
		return head + l.none + "\n", nil
	}
	shown := l.fitting(limit - utf8.RuneCountInString(head))
	for {
		foot, err := l.foot(shown)
		if err != nil {
			return "", err
		}
		body := strings.Join(l.items[:shown], "")
		over := utf8.RuneCountInString(head+body+foot) - limit
		switch {
		case over <= 0:
			return head + body + foot, nil
		case shown > 1:
			shown--
			continue
		}
		// One item that is longer than a page: it is shown as far as there is room.
		body, _ = prompt.Cut(strings.TrimSuffix(body, "\n"), utf8.RuneCountInString(body)-1-over)
		return head + body + "\n" + foot, nil
	}
}

// fitting returns how many items a page may have that has that room for them, at least
// one when there are any.
func (l *list) fitting(room int) int {
	shown := 0
	for _, item := range l.items {
		room -= utf8.RuneCountInString(item)
		if shown > 0 && (room < 0 || shown == l.most) {
			break
		}
		shown++
	}
	return shown
}

// foot says what is not on the page, and how to get it.
func (l *list) foot(shown int) (string, error) {
	behind := l.from + shown
	if behind >= l.total {
		return "", nil
	}
	cursor := strconv.Itoa(behind)
	if l.next != nil {
		var err error
		cursor, err = l.next(shown)
		if err != nil || cursor == "" { // what was behind went meanwhile
			return "", err
		}
	}
	begin := "" // of a line
	if shown > 0 && !strings.HasSuffix(l.items[shown-1], "\n") {
		begin = "\n"
	}
	return begin + fmt.Sprintf("%d to %d of %s. For the next, call again with cursor %s\n",
		min(l.from+1, behind), behind, plural(l.total, l.noun), cursor), nil
}

// skip drops the items that stand on the pages before.
func (l *list) skip(cursor string) error {
	if cursor == "" {
		return nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return badCursor()
	}
	l.from = min(n, len(l.items))
	l.items = l.items[l.from:]
	return nil
}

// longestLine is how long a line of linesOf is, in characters: a longer one is several.
const longestLine = 1_000

// linesOf makes the answer of the lines of a text.
func linesOf(text string) *list {
	var items []string
	for line := range strings.Lines(text) {
		for utf8.RuneCountInString(line) > longestLine {
			begin, _ := part(line, 0, longestLine)
			items = append(items, begin)
			line = line[len(begin):]
		}
		items = append(items, line)
	}
	return &list{items: items, total: len(items), noun: "line"}
}

func badCursor() error {
	return fault.Field("cursor", "the cursor is not from this tool").
		WithHint("give the cursor at the end of the previous page, or leave it out for the first page")
}

// fetched is a page of a list of the daemon.
type fetched struct {
	items []string
	total int
	next  string // cursor of the daemon
}

// pageOf makes the answer of a list that the daemon gives page by page. A cursor is
// the number of records before it and the daemon's cursor.
func pageOf(noun string, in paging, most int, fetch func(protocol.Page) (fetched, error)) (*list, error) {
	l := &list{noun: noun}
	at := in.Cursor
	if at != "" {
		number, cursor, ok := strings.Cut(at, ".")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 {
			return nil, badCursor()
		}
		l.from, at = n, cursor
	}
	got, err := fetch(protocol.Page{Cursor: at, Limit: most})
	if err != nil {
		return nil, err
	}
	l.items, l.total = got.items, max(got.total, l.from+len(got.items))
	l.next = func(shown int) (string, error) {
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
		return strconv.Itoa(l.from+shown) + "." + next, nil
	}
	return l, nil
}
