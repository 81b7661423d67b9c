package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// Page is an answer that consists of records or lines, page by page.
type Page struct {
	Head  string   // stands first on every page
	Items []string // from the first of this page on, each with its line end
	From  int      // how many stand on the pages before
	Total int      // how many there are on all pages
	Noun  string   // of one item
	Most  int      // items of a page; 0: as many as there is room for
	None  string   // what is said when there are none
	// Next returns the cursor of the page behind the first shown items of this one. When
	// it is nil, a cursor is the number of items before.
	Next func(shown int) (string, error)
}

// Text returns a page of at most limit characters.
func (l *Page) Text(limit int) (string, error) {
	text, _, err := l.Shown(limit)
	return text, err
}

// Shown is Text, and says how many of the items are on the page.
func (l *Page) Shown(limit int) (text string, shown int, err error) {
	head, _ := prompt.Cut(l.Head, limit/4)
	if l.Total == 0 {
		return head + l.None + "\n", 0, nil
	}
	shown = l.fitting(limit - utf8.RuneCountInString(head))
	for {
		foot, err := l.foot(shown)
		if err != nil {
			return "", 0, err
		}
		body := strings.Join(l.Items[:shown], "")
		over := utf8.RuneCountInString(head+body+foot) - limit
		switch {
		case over <= 0:
			return head + body + foot, shown, nil
		case shown > 1:
			shown--
			continue
		}
		// One item that is longer than a page: it is shown as far as there is room.
		body, _ = prompt.Cut(strings.TrimSuffix(body, "\n"), utf8.RuneCountInString(body)-1-over)
		return head + body + "\n" + foot, shown, nil
	}
}

// fitting returns how many items a page may have that has that room for them, at least
// one when there are any.
func (l *Page) fitting(room int) int {
	shown := 0
	for _, item := range l.Items {
		room -= utf8.RuneCountInString(item)
		if shown > 0 && (room < 0 || shown == l.Most) {
			break
		}
		shown++
	}
	return shown
}

// foot says what is not on the page, and how to get it.
func (l *Page) foot(shown int) (string, error) {
	behind := l.From + shown
	if behind >= l.Total {
		return "", nil
	}
	cursor := strconv.Itoa(behind)
	if l.Next != nil {
		var err error
		cursor, err = l.Next(shown)
		if err != nil || cursor == "" { // what was behind went meanwhile
			return "", err
		}
	}
	begin := "" // of a line
	if shown > 0 && !strings.HasSuffix(l.Items[shown-1], "\n") {
		begin = "\n"
	}
	return begin + fmt.Sprintf("%d to %d of %s. For the next, call again with cursor %s\n",
		min(l.From+1, behind), behind, Plural(l.Total, l.Noun), cursor), nil
}

// Skip drops the items that stand on the pages before.
func (l *Page) Skip(cursor string) error {
	if cursor == "" {
		return nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return BadCursor()
	}
	l.From = min(n, len(l.Items))
	l.Items = l.Items[l.From:]
	return nil
}

// SkipUnknown is Skip for at most so many items that are not read yet.
func (l *Page) SkipUnknown(cursor string, most int) error {
	all := Page{Items: make([]string, most)}
	err := all.Skip(cursor)
	l.From = all.From
	return err
}

// BadCursor is the error for a cursor that none of its pages ends with.
func BadCursor() error {
	return fault.Field("cursor", "the cursor is not from this tool").
		WithHint("give the cursor at the end of the previous page, or leave it out for the first page")
}

// longestLine is how long a line of Lines is, in characters: a longer one is several.
const longestLine = 1_000

// Lines makes the answer of the lines of a text.
func Lines(text string) *Page {
	var items []string
	for line := range strings.Lines(text) {
		for utf8.RuneCountInString(line) > longestLine {
			begin, _ := Part(line, 0, longestLine)
			items = append(items, begin)
			line = line[len(begin):]
		}
		items = append(items, line)
	}
	return &Page{Items: items, Total: len(items), Noun: "line"}
}

// Units returns the first UTF-16 code units of a text.
func Units(text string, n int) string {
	at := 0
	for i, r := range text {
		if at >= n {
			return text[:i]
		}
		at += utf16.RuneLen(r)
	}
	return text
}

// Part returns at most limit code points of a text from a UTF-16 offset on, cut
// between graphemes, and the offset of the rest, 0 when there is none.
func Part(text string, offset, limit int) (string, int) {
	begin := Units(text, offset)
	at := 0
	for _, r := range begin {
		at += utf16.RuneLen(r)
	}
	rest := text[len(begin):]
	shown, cut := prompt.Cut(rest, limit)
	if !cut {
		return rest, 0
	}
	shown = strings.TrimSuffix(shown, prompt.Ellipsis)
	if shown == "" { // one grapheme that is longer than the limit
		shown = rest
		for i := range rest {
			if limit == 0 {
				shown = rest[:i]
				break
			}
			limit--
		}
	}
	for _, r := range shown {
		at += utf16.RuneLen(r)
	}
	return shown, at
}
