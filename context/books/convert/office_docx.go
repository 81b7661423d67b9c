package convert

// This file and office_sheets.go convert documents of Word and sheets of Excel, as those programs, LibreOffice and
// pandoc write them, and CSV, into the neutral form of a book.
//
// Sheets are read by excelize, which formats numbers and dates as the sheet shows them; its limits are set so that it
// unpacks nothing to disk. Documents are read here: of the libraries that could be had one gives the raw XML, one loads
// what it knows and leaves out what it does not, and one has a licence that does not fit. What is needed of a document
// is small: paragraphs with their styles, rows of tables, the page breaks that the program has written down, and
// footnotes, which stand where they are referred to.
//
// Errors are Invalid for a broken or encrypted file and Limit for one that is too large. Time is linear in what is
// unpacked; so is the memory of sheets, while a document is read as a stream. Functions may be called concurrently.

import (
	"bytes"
	"context"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
)

// Bounds of the parts of a document.
const (
	maxMain = 256 << 20 // bytes
	maxSide = 32 << 20  // styles, properties, footnotes
)

// convertWord adds a document of Word.
func convertWord(b *Builder, data []byte) error {
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	ctx := b.Context()
	if !a.Has("word/document.xml") {
		return fault.New(fault.Invalid, "the file is no document of Word: its text is missing").WithHint("give a docx")
	}
	if err := properties(ctx, a, b); err != nil {
		return err
	}
	r := &wordReader{b: b, page: 1}
	if r.styles, err = stylesOf(ctx, a); err != nil {
		return err
	}
	if r.footnotes, err = footnotesOf(ctx, a); err != nil {
		return err
	}
	main, err := a.Reader("word/document.xml", maxMain)
	if err != nil {
		return err
	}
	defer func() { _ = main.Close() }()
	if err := walkXML(ctx, main, r.start, r.end, r.chars); err != nil {
		return err
	}
	if r.page > 1 {
		b.SetPages(r.page)
	}
	return r.endCode()
}

// properties reads title and author.
func properties(ctx context.Context, a *zipArchive, b *Builder) error {
	data, err := a.Read("docProps/core.xml", maxSide)
	if err != nil || data == nil {
		return err
	}
	in := ""
	return walkXML(ctx, bytes.NewReader(data), func(e xml.StartElement) error { in = e.Name.Local; return nil },
		func(string) error { in = ""; return nil },
		func(s string) error {
			switch in {
			case "title":
				b.SetTitle(s)
			case "creator":
				b.SetAuthor(s)
			}
			return nil
		})
}

// style is what a style of paragraphs says.
type style struct {
	level int // of a heading; 0: none
	code  bool
	title bool
	based string
}

var headingName = regexp.MustCompile(`(?i)^heading ([1-9])$`)

// codeNames are what styles of code are called.
var codeNames = regexp.MustCompile(`(?i)^(source ?code|preformatted text|html preformatted|code|code block|listing|verbatim|plain text)$`)

// stylesOf reads the styles by their ids.
func stylesOf(ctx context.Context, a *zipArchive) (map[string]style, error) {
	data, err := a.Read("word/styles.xml", maxSide)
	if err != nil || data == nil {
		return nil, err
	}
	all := make(map[string]style)
	id, now := "", style{}
	err = walkXML(ctx, bytes.NewReader(data), func(e xml.StartElement) error {
		value := xmlAttr(e, "val")
		switch e.Name.Local {
		case "style":
			id, now = xmlAttr(e, "styleId"), style{}
		case "name":
			if m := headingName.FindStringSubmatch(value); m != nil {
				now.level, _ = strconv.Atoi(m[1])
			}
			now.code = codeNames.MatchString(value)
			now.title = strings.EqualFold(value, "title")
		case "basedOn":
			now.based = value
		case "outlineLvl":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 9 {
				now.level = n + 1
			}
		}
		return nil
	}, func(name string) error {
		if name == "style" && id != "" {
			all[id] = now
		}
		return nil
	}, func(string) error { return nil })
	if err != nil {
		return nil, err
	}
	for id, s := range all { // a style is what it is based on, unless it says otherwise
		for base, steps := s.based, 0; base != "" && steps < 10; base, steps = all[base].based, steps+1 {
			if s.level == 0 {
				s.level = all[base].level
			}
			s.code = s.code || all[base].code
		}
		all[id] = s
	}
	return all, nil
}

// footnotesOf reads the footnotes by their ids.
func footnotesOf(ctx context.Context, a *zipArchive) (map[string]string, error) {
	data, err := a.Read("word/footnotes.xml", maxSide)
	if err != nil || data == nil {
		return nil, err
	}
	all := make(map[string]string)
	id, in := "", ""
	var text strings.Builder
	err = walkXML(ctx, bytes.NewReader(data), func(e xml.StartElement) error {
		in = e.Name.Local
		if in == "footnote" {
			id = xmlAttr(e, "id")
		}
		return nil
	}, func(name string) error {
		in = ""
		if name == "p" {
			text.WriteByte(' ')
		}
		if name == "footnote" {
			all[id] = text.String()
			text.Reset()
		}
		return nil
	}, func(s string) error {
		if in == "t" {
			text.WriteString(s)
		}
		return nil
	})
	return all, err
}

// wordReader makes blocks of the elements of a document.
type wordReader struct {
	b         *Builder
	styles    map[string]style
	footnotes map[string]string

	text bytes.Buffer
	in   string // the element whose text is read
	skip int    // elements that are open of one that is left out
	page int
	at   int // the page that the paragraph began on

	style style
	props bool // the properties of a paragraph are open
	code  strings.Builder
	from  int // page of code

	depth int // of tables
	table *TableBuilder
	cells []string
	cell  strings.Builder // the text of the last of cells, which is open
	head  bool
	span  int

	math  int   // formulas that are open
	parts []int // where the parts of a formula that are open begin in text
}

// formula says what stands before a part of a formula when it is written in a line.
var formula = map[string]string{"num": "", "den": "/", "sup": "^", "sub": "_", "rad": "√", "e": "", "deg": "", "d": ""}

// part begins a part of a formula.
func (r *wordReader) part(name string) {
	if before, ok := formula[name]; ok {
		r.text.WriteString(before)
		r.parts = append(r.parts, r.text.Len())
	}
}

// endPart ends a part of a formula. One of several signs is put in brackets where the line would not show its end.
func (r *wordReader) endPart(name string) {
	if _, ok := formula[name]; !ok || len(r.parts) == 0 {
		return
	}
	begin := r.parts[len(r.parts)-1]
	r.parts = r.parts[:len(r.parts)-1]
	if begin > r.text.Len() { // a paragraph began within
		return
	}
	in := string(r.text.Bytes()[begin:])
	if name == "rad" && strings.HasPrefix(in, "[") { // its degree
		begin += strings.IndexByte(in, ']') + 1
		in = string(r.text.Bytes()[begin:])
	}
	alone := utf8.RuneCountInString(in) <= 1 || strings.Trim(in, "0123456789") == ""
	open, shut := "(", ")"
	switch name {
	case "e":
		return
	case "deg":
		open, shut, alone = "[", "]", in == ""
	case "d":
		alone = false
	}
	if !alone {
		r.text.Truncate(begin)
		r.text.WriteString(open + in + shut)
	}
}

func (r *wordReader) start(e xml.StartElement) error {
	name := e.Name.Local
	if err := r.b.fits(r.text.Len() + r.cell.Len() + r.code.Len()); err != nil {
		return err
	}
	if r.skip > 0 || name == "Fallback" || name == "del" || name == "moveFrom" {
		r.skip++
		return nil
	}
	r.in = name
	value := xmlAttr(e, "val")
	if r.math > 0 {
		r.part(name)
	}
	switch name {
	case "oMath":
		r.math++
	case "p":
		r.text.Reset()
		r.style, r.at = style{}, r.page
	case "pPr":
		r.props = true
	case "pStyle":
		r.style = r.styles[value]
	case "outlineLvl":
		if n, err := strconv.Atoi(value); err == nil && r.props && n >= 0 && n < 9 {
			r.style.level = n + 1
		}
	case "tab":
		if !r.props {
			r.text.WriteByte('\t')
		}
	case "cr", "noBreakHyphen":
		r.text.WriteString(map[string]string{"cr": "\n", "noBreakHyphen": "-"}[name])
	case "br":
		if xmlAttr(e, "type") == "page" {
			r.breaks()
		} else {
			r.text.WriteByte('\n')
		}
	case "lastRenderedPageBreak":
		r.breaks()
	case "footnoteReference":
		if note := strings.TrimSpace(r.footnotes[xmlAttr(e, "id")]); note != "" {
			r.text.WriteString(" (" + note + ")")
		}
	case "tbl":
		return r.openTable()
	case "tr":
		if r.depth == 1 {
			r.cells, r.head = nil, false
		}
	case "tblHeader":
		r.head = r.head || r.depth == 1 && value != "0" && value != "false"
	case "gridSpan":
		if n, err := strconv.Atoi(value); err == nil && r.depth == 1 {
			r.span = min(max(n, 1), 100)
		}
	case "tc":
		if r.depth == 1 {
			if len(r.cells) >= maxRowCells {
				return tooWide()
			}
			r.endCell()
			r.cells, r.span = append(r.cells, ""), 1
		}
	}
	return nil
}

// breaks begins a page. A break before the text of a paragraph is one before the paragraph.
func (r *wordReader) breaks() {
	r.page++
	if strings.TrimSpace(r.text.String()) == "" {
		r.at = r.page
	}
}

func (r *wordReader) openTable() error {
	r.depth++
	if r.depth > 1 {
		return nil
	}
	if err := r.endCode(); err != nil {
		return err
	}
	r.table = r.b.Table()
	return nil
}

func (r *wordReader) chars(s string) error {
	if r.skip == 0 && r.in == "t" {
		r.text.WriteString(s)
	}
	return nil
}

func (r *wordReader) end(name string) error {
	if r.skip > 0 {
		r.skip--
		return nil
	}
	r.in = ""
	if r.math > 0 {
		r.endPart(name)
	}
	switch name {
	case "oMath":
		if r.math = max(0, r.math-1); r.math == 0 {
			r.parts = nil
		}
	case "pPr":
		r.props = false
	case "p":
		return r.paragraph()
	case "tc":
		r.endCell()
		if r.depth == 1 && r.head && len(r.cells) > 0 {
			for range r.span - 1 {
				r.cells = append(r.cells, r.cells[len(r.cells)-1])
			}
		}
	case "tr":
		r.endCell()
		if r.depth == 1 && r.table != nil {
			return r.table.Row(r.cells, r.head, r.page)
		}
	case "tbl":
		r.depth = max(0, r.depth-1)
		if r.depth == 0 && r.table != nil {
			t := r.table
			r.table = nil
			return t.Close()
		}
	}
	return nil
}

// paragraph ends a paragraph: it is part of a cell, a line of code, a heading or a text.
func (r *wordReader) paragraph() error {
	text := r.text.String()
	r.text.Reset()
	switch {
	case r.depth > 0:
		if len(r.cells) == 0 {
			return nil
		}
		r.cell.WriteString(text)
		r.cell.WriteByte(' ')
		return nil
	case r.style.code:
		if r.code.Len() == 0 {
			r.from = r.at
		}
		r.code.WriteString(text + "\n")
		return nil
	}
	if err := r.endCode(); err != nil {
		return err
	}
	if r.style.level > 0 {
		return r.b.Add(Block{Kind: HeadingBlock, Level: r.style.level, Text: text, Page: r.at})
	}
	if r.style.title {
		r.b.SetTitle(text)
	}
	return r.b.Add(Block{Text: text, Page: r.at})
}

// endCell gives the text that was gathered to the last cell, unless the table is within a cell.
func (r *wordReader) endCell() {
	if r.depth == 1 && len(r.cells) > 0 && r.cell.Len() > 0 {
		r.cells[len(r.cells)-1] += strings.TrimSuffix(r.cell.String(), " ")
		r.cell.Reset()
	}
}

// endCode adds the lines of code that were gathered.
func (r *wordReader) endCode() error {
	text := r.code.String()
	r.code.Reset()
	if text == "" {
		return nil
	}
	return r.b.Add(Block{Kind: CodeBlock, Text: text, Page: r.from})
}
