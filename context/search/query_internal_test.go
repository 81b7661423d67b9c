package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
)

// What a query of any length makes of work is bounded: no part of it counts
// twice, and of what every note is held against only so much does.
func TestSRCH2_LongQueriesAreBounded(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, format+" ", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text                       string
		phrases, without, filters, asked int
	}{
		{"a word again and again", strings.Repeat("word ", 20_000), 0, 0, 0, maxAsked},
		{"a phrase again and again", strings.Repeat(`"some words" `, 2000), 1, 0, 0, maxAsked},
		{"an exclusion again and again", strings.Repeat("-word ", 2000), 0, 1, 0, 0},
		{"a filter again and again", strings.Repeat("tag:a -tag:a ", 2000), 0, 0, 2, 0},
		{"phrases", many(`"words w%d"`), maxParts, 0, 0, maxAsked},
		{"exclusions", many("-w%d"), 0, maxParts, 0, 0},
		{"more than is read", strings.Repeat("é", maxQuery) + ` tag:a "some words"`, 0, 0, 0, maxQuery},
		{"filters", many("tag:w%d"), 0, 0, maxParts, 0},
	} {
		q := parse(notedoc.New(nil, notedoc.Options{}), c.text, false)
		if len(q.phrases) != c.phrases || len(q.without) != c.without || len(q.filters) != c.filters {
			t.Errorf("%s: %d phrases, %d exclusions, %d filters", c.name, len(q.phrases), len(q.without), len(q.filters))
		}
		if n := len(q.text); n < c.asked || n > c.asked+64 {
			t.Errorf("%s: %d bytes have a meaning", c.name, n)
		}
	}
}
