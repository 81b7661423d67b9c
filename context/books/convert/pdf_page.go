package convert

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

const (
	maxChars   = 400_000 // of one page that are read; real ones have under 20,000
	maxBlanks  = 80      // of one line whose width is looked at
	cellGap    = 0.75    // the least gap between two cells, in heights of the letters
	fixedPitch = 1       // flag of a font whose letters have one width
)

// line is a line of a page. Lengths are in points, from the left and from the bottom.
type line struct {
	text        string
	page        int // from 1
	left, right float64
	top, bottom float64
	size        float64 // of the font, in a unit of the file; 0: not known
	em          float64 // about the height of the letters
	fixed       bool    // in a font of one width
	cells       []cell  // parts with wide gaps between them; one at least
}

// cell is a part of a line.
type cell struct {
	text        string
	left, right float64
}

// page reads the lines of one page. A page that can't be read has none.
func (f *file) page(doc references.FPDF_DOCUMENT, index int) error {
	loaded, err := f.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return nil // the others may be whole
	}
	defer func() { _, _ = f.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	opened, err := f.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &loaded.Page}})
	if err != nil {
		return nil
	}
	text := opened.TextPage
	defer func() { _, _ = f.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text}) }()
	count, err := f.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil || count.Count <= 0 {
		return nil
	}
	f.letters += min(count.Count, maxChars)
	if err := f.b.fits(f.letters); err != nil {
		return err
	}
	got, err := f.in.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text, Count: min(count.Count, maxChars)})
	if err != nil {
		return failed(err)
	}
	p := pageReader{file: f, text: text, page: index + 1}
	units := utf16.Encode([]rune(strings.TrimRight(got.Text, "\x00")))
	for start, i := 0, 0; i <= len(units); i++ {
		if i == len(units) || units[i] == '\n' || units[i] == '\r' {
			p.line(units, start, i)
			start = i + 1
		}
	}
	return nil
}

// pageReader reads the lines of one page.
type pageReader struct {
	*file
	text  references.FPDF_TEXTPAGE
	page  int
	notes []span // numbers of footnotes in the line that is read
}

// span is a part of the letters of a page.
type span struct{ start, end int }

const (
	noteSize = 0.85 // of the letter before it: the number of a footnote is smaller
	noteRise = 0.1  // of its height that its foot stands above that of the letter before it
)

// raised finds the numbers of footnotes in a line: small digits that stand higher than the word that they follow, or that a
// line begins with.
func (p *pageReader) raised(units []uint16, start, end int) (list []span) {
	digit := func(i int) bool { return units[i] >= '0' && units[i] <= '9' }
	for i := start; i < end; i++ {
		if !digit(i) {
			continue
		}
		n := span{i, i + 1}
		for n.end < end && digit(n.end) {
			n.end++
		}
		i = n.end
		beside := n.start - 1
		if n.start == start {
			beside = n.end
		} else if word := units[max(start, n.start-noteReach):n.start]; !isNote(string(utf16.Decode(word)), string(utf16.Decode(units[n.start:n.end]))) {
			continue
		}
		if n.end < end && n.start > start && !isBlank(units[n.end]) && isWord(rune(units[n.end])) || beside >= end || isBlank(units[beside]) {
			continue
		}
		number, ok := p.box(n.start)
		word, also := p.box(beside)
		if !ok || !also {
			continue
		}
		high, of := math.Abs(float64(number.Top-number.Bottom)), math.Abs(float64(word.Top-word.Bottom))
		if high < noteSize*of && math.Min(float64(number.Bottom), float64(number.Top)) > math.Min(float64(word.Bottom), float64(word.Top))+noteRise*of {
			list = append(list, n)
		}
	}
	return list
}

// decode is decode of a part of a line, with the numbers of footnotes apart from their words.
func (p *pageReader) decode(units []uint16, start, end int) string {
	var out []uint16
	at := start
	for _, n := range p.notes {
		if n.start < at || n.end > end {
			continue
		}
		out = append(out, units[at:n.start]...)
		if n.start == start {
			out = append(append(out, units[n.start:n.end]...), ' ')
		} else {
			out = append(append(append(out, ' ', '['), units[n.start:n.end]...), ']')
		}
		at = n.end
	}
	if out == nil {
		return decode(units[start:end])
	}
	return decode(append(out, units[at:end]...))
}

func isBlank(u uint16) bool { return u == ' ' || u == '\t' || u == 0xA0 || u == 0 }

// box returns where a letter stands, with the room above and below it.
func (p *pageReader) box(i int) (structs.FPDF_FS_RECTF, bool) {
	b, err := p.in.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.text, Index: i})
	if err != nil || b.Rect.Right < b.Rect.Left {
		return structs.FPDF_FS_RECTF{}, false
	}
	return b.Rect, true
}

// line reads the line of the letters from start to end.
func (p *pageReader) line(units []uint16, start, end int) {
	for start < end && isBlank(units[start]) {
		start++
	}
	for end > start && isBlank(units[end-1]) {
		end--
	}
	if start == end {
		return
	}
	p.notes = p.raised(units, start, end)
	l := line{text: p.decode(units, start, end), page: p.page}
	first, ok := p.box(start)
	last, also := p.box(end - 1)
	if !ok || !also {
		l.cells = []cell{{text: l.text}}
		p.lines = append(p.lines, l)
		return
	}
	l.left, l.right = float64(first.Left), float64(last.Right)
	l.top, l.bottom = float64(first.Top), float64(first.Bottom)
	l.em = math.Abs(l.top - l.bottom)
	if font, err := p.in.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: p.text, Index: start}); err == nil {
		l.size = font.FontSize
	}
	if info, err := p.in.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: p.text, Index: start}); err == nil {
		name := strings.ToLower(info.FontName)
		l.fixed = info.Flags&fixedPitch != 0 || strings.Contains(name, "mono") || strings.Contains(name, "courier")
	}
	l.cells = p.cells(units, start, end, &l)
	if isMark(l.cells[0].text) { // of an item of a list, which is no column
		l.cells = []cell{{l.text, l.left, l.right}}
	}
	p.lines = append(p.lines, l)
}

// cells parts a line where there are wide gaps.
func (p *pageReader) cells(units []uint16, start, end int, l *line) (cells []cell) {
	from, left, blanks := start, l.left, 0
	for i := start; i < end && blanks < maxBlanks; i++ {
		if !isBlank(units[i]) {
			continue
		}
		next := i
		for isBlank(units[next]) {
			next++
		}
		blanks++
		before, ok := p.box(i - 1)
		after, also := p.box(next)
		if ok && also && float64(after.Left-before.Right) > cellGap*l.em {
			cells = append(cells, cell{p.decode(units, from, i), left, float64(before.Right)})
			from, left = next, float64(after.Left)
		}
		i = next
	}
	return append(cells, cell{p.decode(units, from, end), left, l.right})
}

// hyphen is where PDFium has taken a word apart at the end of a line.
const hyphen = "\u0002"

// drawn are other signs for a hyphen: what a PDF draws is there, also one that is soft or does not end a line.
var drawn = strings.NewReplacer("\uFFFE", hyphen, "\u00AD", "-", "\u2010", "-", "\u2011", "-") // the first is PDFium's own

// decode returns letters as a text, with hyphen at its end if a word goes on in the next line.
func decode(units []uint16) string {
	s := string(utf16.Decode(units))
	cut := strings.TrimRight(s, "\u0002\uFFFE\u00AD\u2010\u2011")
	line := apart(drawn.Replace(cut))
	if last, _ := utf8.DecodeLastRuneInString(line); cut != s && unicode.IsLetter(last) {
		return line + hyphen
	}
	return apart(drawn.Replace(strings.TrimRight(s, "\u0002\uFFFE")))
}

// apart is oneLine of a text in which PDFium has put together two lines: a word that was taken apart keeps the place.
func apart(s string) string {
	parts := strings.Split(s, hyphen)
	for i, p := range parts {
		line := oneLine(p)
		if i > 0 && len(p) > 0 && p[0] == ' ' {
			line = " " + line
		}
		parts[i] = line
	}
	return strings.Join(parts, hyphen)
}

// isMark reports what stands before an item of a list: a sign, or a number or a letter with a dot.
func isMark(s string) bool {
	if utf8.RuneCountInString(s) > 4 {
		return false
	}
	end := s[len(s)-1]
	return !strings.ContainsFunc(s, isWord) || end == '.' || end == ')'
}
