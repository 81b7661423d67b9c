package exchange

import (
	"bytes"
	"strings"

	"github.com/ctxd/ctxd/context/memory"
)

// Parse reads a text as a format, "" for the one that it seems to have.
func Parse(format, text string) (rows []memory.Row, err error) {
	if format == "" {
		if format, err = detectIn(newReader(strings.NewReader(text))); err != nil {
			return nil, err
		}
	}
	err = parsers[format](newReader(strings.NewReader(text)), func(r memory.Row) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// Line is what is written of a row.
func Line(r memory.Row) (string, error) {
	var buf bytes.Buffer
	line, other := lineOf(&r)
	err := appendLine(&buf, line, other)
	return buf.String(), err
}
