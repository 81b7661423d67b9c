package convert

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/ctxd/ctxd/entities/fault"
)

// convertSheets adds the sheets of an Excel file, each as a section.
func convertSheets(b *Builder, data []byte) error {
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	if !a.Has("xl/workbook.xml") {
		return fault.New(fault.Invalid, "the file is no Excel file: its list of sheets is missing").WithHint("give an xlsx")
	}
	f, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: maxUnpackedBytes, UnzipXMLSizeLimit: maxUnpackedBytes, // equal: nothing goes to a file
	})
	if err != nil {
		return brokenError(err)
	}
	defer func() { _ = f.Close() }()
	if p, err := f.GetDocProps(); err == nil && p != nil {
		b.SetTitle(p.Title)
		b.SetAuthor(p.Creator)
	}
	for _, name := range f.GetSheetList() {
		if err := sheet(b, f, name); err != nil {
			return err
		}
	}
	return nil
}

// sheet adds one sheet. An empty row ends a table.
func sheet(b *Builder, f *excelize.File, name string) error {
	if err := b.Add(Block{Kind: HeadingBlock, Level: 1, Text: name}); err != nil {
		return err
	}
	rows, err := f.Rows(name)
	var chart excelize.ErrSheetNotExist
	if errors.As(err, &chart) {
		return nil // a sheet of charts
	}
	if err != nil {
		return brokenError(err)
	}
	defer func() { _ = rows.Close() }()
	r := tables{b: b}
	for rows.Next() {
		if err := b.Context().Err(); err != nil {
			return err
		}
		cells, err := rows.Columns()
		if err != nil {
			return brokenError(err)
		}
		if err := r.row(cells); err != nil {
			return err
		}
	}
	if err := rows.Error(); err != nil {
		return brokenError(err)
	}
	return r.end()
}

// tables makes tables of the rows of a sheet.
type tables struct {
	b     *Builder
	table *TableBuilder
	n     int
}

func (r *tables) row(cells []string) error {
	r.n++
	empty := true
	for _, c := range cells {
		empty = empty && strings.TrimSpace(c) == ""
	}
	if empty {
		return r.end()
	}
	if r.table == nil {
		r.table = r.b.Table()
		r.table.At(r.n)
	}
	return r.table.Row(cells, false, 0)
}

func (r *tables) end() error {
	if r.table == nil {
		return nil
	}
	t := r.table
	r.table = nil
	return t.Close()
}

// sniffed is how many bytes of a CSV file its delimiter is told from.
const sniffed = 16 << 10

// convertCSV adds the rows of a text of values.
func convertCSV(b *Builder, text string) error {
	comma, text := separated(text)
	if err := narrow(b, text, comma); err != nil {
		return err
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = comma
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	t := b.Table()
	t.values = true
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t.Close()
		}
		if err != nil {
			return brokenError(err)
		}
		if err := t.Row(cells, false, 0); err != nil {
			return err
		}
	}
}

// narrow is an error where a row has more cells than it may: encoding/csv reads a row whole, and a cell of one byte takes fifty there.
// Cells end where they do for that reader, with its LazyQuotes.
func narrow(b *Builder, text string, comma rune) error {
	cells, sign := 1, string(comma)
	for n := 0; text != ""; n++ {
		if n%4096 == 0 && b.Context().Err() != nil {
			return b.Context().Err()
		}
		if quoted, ok := strings.CutPrefix(text, `"`); ok {
			text = behindQuote(quoted, sign)
		}
		end := strings.IndexAny(text, sign+"\n")
		if end < 0 {
			return nil
		}
		if text[end] == '\n' {
			cells = 0
		} else if cells >= maxRowCells {
			return tooWide()
		}
		cells++
		if text[end] == '\n' {
			text = text[end+1:]
		} else {
			text = text[end+len(sign):]
		}
	}
	return nil
}

// behindQuote is what follows the quote that ends a cell: one before a delimiter or a line's end.
func behindQuote(text, sign string) string {
	for {
		at := strings.IndexByte(text, '"')
		if at < 0 {
			return ""
		}
		text = text[at+1:]
		switch {
		case strings.HasPrefix(text, `"`):
			text = text[1:]
		case text == "", text[0] == '\n', strings.HasPrefix(text, "\r\n"), strings.HasPrefix(text, sign):
			return text
		}
	}
}

// separated returns the delimiter of a text of values, and the text without the line by which Excel says it: sep=;
func separated(text string) (rune, string) {
	first, rest, _ := strings.Cut(text, "\n")
	first = strings.Trim(strings.TrimRight(first, "\r"), `"`)
	if len(first) > 4 && strings.EqualFold(first[:4], "sep=") {
		if c, size := utf8.DecodeRuneInString(first[4:]); size == len(first)-4 && c != '\r' && c != '"' && c != utf8.RuneError {
			return c, rest
		}
	}
	return delimiter(text), text
}

// delimiter is the sign that the first lines have most evenly.
func delimiter(text string) rune {
	head := text[:min(len(text), sniffed)]
	lines := strings.Split(strings.TrimSpace(head), "\n")
	if len(lines) > 1 && len(head) < len(text) {
		lines = lines[:len(lines)-1]
	}
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		least := -1
		for _, line := range lines {
			if n := strings.Count(line, string(c)); least < 0 || n < least {
				least = n
			}
		}
		if least > most {
			best, most = c, least
		}
	}
	return best
}
