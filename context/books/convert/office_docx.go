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
	"cmp"
	"context"
	"encoding/xml"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
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
	if r.footnotes, err = footnotesOf(ctx, a, "footnote"); err != nil {
		return err
	}
	if r.endnotes, err = footnotesOf(ctx, a, "endnote"); err != nil {
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
		b.SetLabels(r.labels)
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
	level  int // of a heading; 0: none
	code   bool
	title  bool
	hidden bool // its text is not shown
	broken bool // it begins a page
	based  string
}

var headingName = text.Pattern(`(?i)^heading ([1-9])$`)

// codeNames are what styles of code are called.
var codeNames = text.Pattern(`(?i)^(source ?code|preformatted text|html preformatted|code|code block|listing|verbatim|plain text)$`)

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
			if m := headingName().FindStringSubmatch(value); m != nil {
				now.level, _ = strconv.Atoi(m[1])
			}
			now.code = codeNames().MatchString(value)
			now.title = strings.EqualFold(value, "title")
		case "vanish":
			now.hidden = isOn(value)
		case "pageBreakBefore":
			now.broken = isOn(value)
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
			s.code, s.hidden, s.broken = s.code || all[base].code, s.hidden || all[base].hidden, s.broken || all[base].broken
		}
		all[id] = s
	}
	return all, nil
}

// isOn reports what a property that is there says: on, unless its value is off.
func isOn(value string) bool {
	return value != "0" && value != "false" && value != "off" && value != "none"
}

// footnotesOf reads the footnotes, or the endnotes, by their ids.
func footnotesOf(ctx context.Context, a *zipArchive, kind string) (map[string]string, error) {
	data, err := a.Read("word/"+kind+"s.xml", maxSide)
	if err != nil || data == nil {
		return nil, err
	}
	all := make(map[string]string)
	id, in, hidden := "", "", false
	var text strings.Builder
	err = walkXML(ctx, bytes.NewReader(data), func(e xml.StartElement) error {
		switch in = e.Name.Local; in {
		case kind:
			id = xmlAttr(e, "id")
		case "r":
			hidden = false
		case "vanish":
			hidden = isOn(xmlAttr(e, "val"))
		}
		return nil
	}, func(name string) error {
		in = ""
		if name == "p" {
			text.WriteByte(' ')
		}
		if name == kind {
			all[id] = text.String()
			text.Reset()
		}
		return nil
	}, func(s string) error {
		if in == "t" && !hidden {
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
	endnotes  map[string]string

	wordParagraph
	outer []wordParagraph // those that the open one stands within, as text of a box
	in    string          // the element whose text is read
	skip  int             // elements that are open of one that is left out

	page    int
	written int // breaks that were written by hand, and whose page the program has not marked yet
	labels  []string
	section int // the page that the section begins on; 0: not known yet
	number  int // what the page before the section has printed on it
	count   pageNumbers
	ends    bool // the section ends with the paragraph that is open

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

// wordParagraph is a paragraph that is open.
type wordParagraph struct {
	open   bool
	text   bytes.Buffer
	at     int // the page that it began on
	style  style
	hidden bool // the run that is open is not shown
	raised bool // and this one stands higher
	noted  int  // where the number of a footnote ends in text that the last run was
}

// pageNumbers are how a section numbers its pages.
type pageNumbers struct {
	said   bool
	start  int // -1: it goes on
	format string
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

// leftOut are elements whose text is not shown: what was deleted, what stands there a second time, what a tracked change was before,
// the readings of characters.
var leftOut = map[string]bool{
	"Fallback": true, "del": true, "moveFrom": true, "rt": true, "pPrChange": true, "rPrChange": true, "sectPrChange": true,
	"tblPrChange": true, "trPrChange": true, "tcPrChange": true, "tblPrExChange": true, "tblGridChange": true,
}

func (r *wordReader) start(e xml.StartElement) error {
	name := e.Name.Local
	if err := r.b.fits(r.text.Len() + r.cell.Len() + r.code.Len()); err != nil {
		return err
	}
	if r.skip > 0 || leftOut[name] {
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
		r.openParagraph()
	case "pPr":
		r.props = true
	case "pStyle":
		if r.style = r.styles[value]; r.style.broken {
			r.breakBefore()
		}
	case "pageBreakBefore":
		if isOn(value) && r.props && !r.style.broken {
			r.breakBefore()
		}
	case "r":
		r.hidden, r.raised = r.style.hidden, false
	case "rStyle":
		r.hidden = !r.props && (r.hidden || r.styles[value].hidden)
	case "vanish":
		r.hidden = !r.props && isOn(value)
	case "vertAlign":
		r.raised = !r.props && value == "superscript"
	case "pgNumType":
		r.count = pageNumbers{said: true, start: -1, format: xmlAttr(e, "fmt")}
		if n, err := strconv.Atoi(xmlAttr(e, "start")); err == nil {
			r.count.start = n
		}
	case "outlineLvl":
		if n, err := strconv.Atoi(value); err == nil && r.props && n >= 0 && n < 9 {
			r.style.level = n + 1
		}
	case "tab":
		if !r.props && !r.hidden {
			r.text.WriteByte('\t')
		}
	case "cr", "noBreakHyphen":
		if !r.hidden {
			r.text.WriteString(map[string]string{"cr": "\n", "noBreakHyphen": "-"}[name])
		}
	case "br":
		switch {
		case xmlAttr(e, "type") == "page":
			r.written++
			r.breaks()
		case !r.hidden:
			r.text.WriteByte('\n')
		}
	case "lastRenderedPageBreak":
		if r.written > 0 {
			r.written-- // the page that the break by hand began
		} else {
			r.breaks()
		}
	case "footnoteReference":
		r.note(r.footnotes[xmlAttr(e, "id")])
	case "endnoteReference":
		r.note(r.endnotes[xmlAttr(e, "id")])
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

// breakBefore begins the page of a paragraph, unless it is the first.
func (r *wordReader) breakBefore() {
	if r.b.Len() > 0 && r.depth == 0 && len(r.outer) == 0 {
		r.written++
		r.breaks()
	}
}

// openParagraph begins a paragraph. One within another one, as the text of a box, leaves what stands before it.
func (r *wordReader) openParagraph() {
	var text bytes.Buffer
	if r.open {
		r.outer = append(r.outer, r.wordParagraph)
	} else {
		text = r.text
		text.Reset()
	}
	r.wordParagraph = wordParagraph{open: true, at: r.page, text: text}
}

// note writes a footnote where it is referred to.
func (r *wordReader) note(text string) {
	if text = strings.TrimSpace(text); text != "" && !r.hidden {
		r.text.WriteString(" (" + text + ")")
	}
}

// endSection gives the pages of a section their numbers. A page that two sections share has that of the first.
func (r *wordReader) endSection() {
	count, begin := r.count, cmp.Or(r.section, r.page)
	r.count, r.section, r.ends = pageNumbers{}, 0, false
	for len(r.labels) < begin-1 {
		r.number++
		r.labels = append(r.labels, strconv.Itoa(r.number))
	}
	if count.said && count.start >= 0 {
		r.number = count.start - 1
	}
	for len(r.labels) < r.page {
		r.number++
		r.labels = append(r.labels, numbered(r.number, count.format))
	}
}

// numbered is the number of a page in a format of Word.
func numbered(n int, format string) string {
	if n <= 0 || n > 3999 {
		return strconv.Itoa(n)
	}
	letter := strings.Repeat(string(rune('a'+(n-1)%26)), (n-1)/26+1)
	switch format {
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "lowerLetter":
		return letter
	case "upperLetter":
		return strings.ToUpper(letter)
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	var b strings.Builder
	for _, d := range []struct {
		value int
		sign  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.sign)
		}
	}
	return b.String()
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
	if r.skip > 0 || r.in != "t" || r.hidden {
		return nil
	}
	if strings.TrimSpace(s) != "" {
		r.written = 0
	}
	switch before := r.text.Bytes(); {
	case r.raised && r.noted > 0 && r.noted == len(before) && isNote("the", s): // of a number in several runs
		r.text.Truncate(r.noted - 1)
		r.text.WriteString(s + "]")
	case r.raised && r.math == 0 && isNote(string(before[max(0, len(before)-4*noteReach):]), s):
		r.text.WriteString(" [" + s + "]")
	default:
		r.text.WriteString(s)
		return nil
	}
	r.noted = r.text.Len()
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
	case "sectPr":
		if r.ends = r.props; !r.ends {
			r.endSection()
		}
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
	r.open = false
	if n := len(r.outer); n > 0 {
		defer func(p wordParagraph) { r.wordParagraph = p }(r.outer[n-1])
		r.outer = r.outer[:n-1]
	}
	if r.ends {
		defer r.endSection()
	}
	if r.section == 0 && strings.TrimSpace(text) != "" {
		r.section = r.at
	}
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
