package convert

// This file and pdf_*.go convert PDF files into the neutral form of a book: the text of each page, with headings,
// paragraphs, tables and code as far as they can be told from where the letters stand.
//
// The text comes from PDFium, the reader of Chromium, by github.com/klippa-app/go-pdfium. It runs as WebAssembly inside
// of wazero, which is pure Go: without cgo, without files, with a bound on its memory, and so that it can be stopped in
// the middle of a page. The libraries in Go that could be had lost up to a quarter of the words of a file that Chromium
// prints, and none of them can be stopped.
//
// An engine compiles PDFium when it first needs it, which takes about 3 s of processor time and 200 MiB of memory that
// Close gives back. Close it when nothing is left to convert. An engine converts one file at a time; the next one
// waits.
//
// Headings are the outline of the file; in one without an outline the short lines in larger letters. What most pages
// have in the same place, but for its digits, is left out as head or foot of a page. Lines whose words stand in the
// same columns are rows of a table. Lines in a font of one width are code.
//
// Errors are Invalid for a broken or encrypted file, Limit for one that has too many pages or needs too much memory,
// and that of a context that has ended. Time is linear in the number of letters.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	edgeLines  = 2    // at the top and the bottom of a page that may be its head or foot
	edgeShare  = 0.5  // of the pages that have the same
	edgePages  = 3    // at least
	larger     = 1.12 // times the size of most letters: a heading
	maxHeading = 150  // letters
	paragraph  = 1.25 // times the distance of most lines: a gap between paragraphs
	shortLine  = 0.75 // of the width of the page: a line that ends its paragraph when a sentence ends there
)

// build makes blocks of the lines.
func (f *file) build(b *Builder) error {
	f.columned()
	f.dropEdges()
	b.SetAuthor(f.author)
	b.SetPages(f.pages)
	b.SetEmpty(f.emptyPages())
	b.SetLabels(f.labels)
	p := &pageBuilder{b: b, lines: f.lines}
	p.outline(f.outline)
	p.leading()
	if len(f.outline) == 0 {
		p.sizes()
	}
	err := p.all()
	b.SetTitle(f.title)
	return err
}

// emptyPages returns the pages that no line is on, from 1.
func (f *file) emptyPages() (list []int) {
	has := make(map[int]bool)
	for i := range f.lines {
		has[f.lines[i].page] = true
	}
	for n := 1; n <= f.pages; n++ {
		if !has[n] {
			list = append(list, n)
		}
	}
	return list
}

// dropEdges leaves out the heads and feet of pages.
func (f *file) dropEdges() {
	if f.pages < edgePages {
		return
	}
	type place struct {
		text   string
		at     int // from the top, or below 0 from the bottom
		height int // on the page
	}
	where := make(map[int]place) // by line
	count := make(map[place]int)
	for start := 0; start < len(f.lines); {
		end := start
		for end < len(f.lines) && f.lines[end].page == f.lines[start].page {
			end++
		}
		order := make([]int, 0, end-start)
		for i := start; i < end; i++ {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.lines[b].top, f.lines[a].top) })
		for n, i := range order {
			at := n
			if n >= edgeLines {
				at = n - len(order)
			}
			if at < edgeLines && at >= -edgeLines {
				pl := place{digitless(f.lines[i].text), at, int(f.lines[i].bottom / 3)}
				where[i] = pl
				count[pl]++
			}
		}
		start = end
	}
	least := max(edgePages, int(math.Ceil(edgeShare*float64(f.pages))))
	var kept []line
	for i, l := range f.lines {
		if pl, ok := where[i]; ok && count[pl] >= least {
			continue
		}
		kept = append(kept, l)
	}
	if len(kept) > 0 { // else each page has one line
		f.lines = kept
	}
}

// digitless is a text with all numbers alike.
func digitless(s string) string {
	var b strings.Builder
	number := false
	for _, r := range s {
		if unicode.IsDigit(r) {
			number = true
			continue
		}
		if number {
			b.WriteByte('0')
		}
		number = false
		b.WriteRune(r)
	}
	if number {
		b.WriteByte('0')
	}
	return b.String()
}

// pageBuilder makes blocks of lines.
type pageBuilder struct {
	b     *Builder
	lines []line
	level map[int]int        // of headings, by line
	join  map[int]int        // how many lines more a heading has
	above map[int][]entry    // entries of the outline that no line has, before the first line of their page
	width map[int][2]float64 // left and right end of the text of a page
	lead  float64            // the distance of most lines, in sizes of their font

	text strings.Builder // of the paragraph that is open
	from int             // its page
	code []string        // lines of code that are open

	hyphens *hyphens // nil: not collected yet
}

// outline finds the lines that the entries of an outline lead to.
func (p *pageBuilder) outline(list []entry) {
	p.level, p.join, p.above = make(map[int]int), make(map[int]int), make(map[int][]entry)
	first := make(map[int]int) // line of each page
	for i := len(p.lines) - 1; i >= 0; i-- {
		first[p.lines[i].page] = i
	}
	for _, e := range list {
		start, ok := first[e.page]
		if e.title == "" || !ok {
			continue
		}
		found := false
		for i := start; i < len(p.lines) && p.lines[i].page == e.page && !found; i++ {
			text := ""
			if !strings.ContainsFunc(p.lines[i].text, isWord) {
				continue
			}
			for n := 0; n < 3 && i+n < len(p.lines); n++ {
				text = strings.TrimSpace(text + " " + p.lines[i+n].text)
				if p.level[i] == 0 && same(text, e.title) {
					p.level[i], p.join[i], found = e.level, n, true
					break
				}
			}
		}
		if !found {
			p.above[start] = append(p.above[start], e)
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isPlainLetter reports a letter or a digit that is no sign beside one, such as ˆ.
func isPlainLetter(r rune) bool { return isWord(r) && !unicode.Is(unicode.Lm, r) }

// same compares a line with an entry of an outline, which may be without its number.
func same(text, title string) bool {
	fold := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if isWord(r) {
				return r
			}
			return -1
		}, s))
	}
	a, b := fold(text), fold(title)
	return a != "" && b != "" && (a == b || len(a) > len(b) && strings.HasSuffix(a, b) && strings.Trim(a[:len(a)-len(b)], "0123456789") == "")
}

// sizes finds headings by the size of their letters.
func (p *pageBuilder) sizes() {
	weight := make(map[float64]int)
	round := func(size float64) float64 { return math.Round(size*2) / 2 }
	for _, l := range p.lines {
		weight[round(l.size)] += len(l.text)
	}
	body, most := 0.0, 0
	for size, n := range weight {
		if n > most || n == most && size < body {
			body, most = size, n
		}
	}
	isHeading := func(l *line) bool {
		return body > 0 && l.size >= larger*body && utf8.RuneCountInString(l.text) <= maxHeading && len(l.cells) == 1 &&
			strings.ContainsFunc(l.text, isPlainLetter) && !isItem(l.text)
	}
	var all []float64
	for i := range p.lines {
		if size := round(p.lines[i].size); isHeading(&p.lines[i]) && !slices.Contains(all, size) {
			all = append(all, size)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	for i := 0; i < len(p.lines); i++ {
		l := &p.lines[i]
		if !isHeading(l) {
			continue
		}
		p.level[i] = min(slices.Index(all, round(l.size))+1, maxHeadingLevel)
		for n := i + 1; n < len(p.lines) && p.join[i] < 2; n++ { // one of several lines
			next := &p.lines[n]
			if next.page != l.page || math.Abs(next.size-l.size) > 0.3 || l.top-next.top > paragraph*p.lead*l.size*float64(n-i) {
				break
			}
			p.join[i]++
		}
		i += p.join[i]
	}
}

// leading measures the distance of lines.
func (p *pageBuilder) leading() {
	var all []float64
	for i := 1; i < len(p.lines); i++ {
		a, b := &p.lines[i-1], &p.lines[i]
		if a.page == b.page && a.size > 0 && a.size == b.size && a.top > b.top && a.right > b.left {
			all = append(all, (a.top-b.top)/a.size)
		}
	}
	if p.lead = 1.3; len(all) > 0 {
		slices.Sort(all)
		p.lead = all[len(all)/3] // gaps between paragraphs are larger than most
	}
}

// all makes the blocks.
func (p *pageBuilder) all() error {
	p.width = make(map[int][2]float64)
	for _, l := range p.lines {
		w, ok := p.width[l.page]
		if !ok {
			w = [2]float64{l.left, l.right}
		}
		p.width[l.page] = [2]float64{min(w[0], l.left), max(w[1], l.right)}
	}
	for i := 0; i < len(p.lines); {
		next, err := p.next(i)
		if err != nil {
			return err
		}
		i = next
	}
	return p.end()
}

// next takes in the line i, and those that belong to it, and returns the one behind.
func (p *pageBuilder) next(i int) (int, error) {
	l := &p.lines[i]
	for _, e := range p.above[i] {
		if err := p.heading(e.title, e.level, e.page); err != nil {
			return 0, err
		}
	}
	if level := p.level[i]; level > 0 {
		text := l.text
		for n := range p.join[i] {
			text = joined(text, p.lines[i+n+1].text)
		}
		return i + 1 + p.join[i], p.heading(text, level, l.page)
	}
	if end := p.tableEnd(i); end > i {
		if err := p.end(); err != nil {
			return 0, err
		}
		return end, p.table(p.lines[i:end])
	}
	if l.fixed {
		if len(p.code) == 0 {
			if err := p.end(); err != nil {
				return 0, err
			}
			p.from = l.page
		}
		p.code = append(p.code, l.text)
		return i + 1, nil
	}
	if len(p.code) > 0 || i > 0 && p.parts(&p.lines[i-1], l) {
		if err := p.end(); err != nil {
			return 0, err
		}
	}
	if p.text.Len() == 0 {
		p.from = l.page
		p.text.WriteString(l.text)
	} else {
		text := joined(p.text.String(), l.text)
		p.text.Reset()
		p.text.WriteString(text)
	}
	return i + 1, nil
}

// whole is a text with the words whole that were taken apart at the ends of lines.
func (p *pageBuilder) whole(text string) string {
	if !strings.Contains(text, hyphen) {
		return text
	}
	if p.hyphens == nil {
		p.hyphens = hyphensOf(func(yield func(string) bool) {
			for i := range p.lines {
				if !yield(p.lines[i].text) {
					return
				}
			}
		})
	}
	parts := strings.Split(text, hyphen)
	var b strings.Builder
	b.WriteString(parts[0])
	for i, rest := range parts[1:] {
		b.WriteString(p.hyphens.between(parts[i], rest))
		b.WriteString(rest)
	}
	return b.String()
}

// joined joins two lines; of a word that was taken apart the hyphen stays between, see whole.
func joined(a, b string) string {
	if strings.HasSuffix(a, hyphen) {
		return a + b
	}
	return a + " " + b
}

func (p *pageBuilder) heading(text string, level, page int) error {
	if err := p.end(); err != nil {
		return err
	}
	return p.b.Add(Block{Kind: HeadingBlock, Level: level, Text: p.whole(strings.TrimSuffix(text, hyphen)), Page: page})
}

// parts reports whether a paragraph ends between two lines.
func (p *pageBuilder) parts(a, b *line) bool {
	if a.page != b.page || a.size == 0 || b.size == 0 || math.Abs(a.size-b.size) > 0.1*a.size {
		return true
	}
	gap := a.top - b.top
	if gap > paragraph*p.lead*a.size || gap < -a.em || isItem(b.text) { // above it: another column
		return true
	}
	w := p.width[a.page]
	return endsSentence(a.text) && a.right < w[0]+shortLine*(w[1]-w[0])
}

func endsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?:;…。！？", r)
}

// isItem reports a line that begins an item of a list.
func isItem(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("•◦▪‣–—*", r) && strings.HasPrefix(s[size:], " ")
}

// end adds the paragraph or the code that is open.
func (p *pageBuilder) end() error {
	if len(p.code) > 0 {
		code := strings.Join(p.code, "\n")
		p.code = nil
		if err := p.b.Add(Block{Kind: CodeBlock, Text: code, Page: p.from}); err != nil {
			return err
		}
	}
	text := strings.TrimSuffix(p.text.String(), hyphen)
	p.text.Reset()
	return p.b.Add(Block{Text: p.whole(text), Page: p.from})
}
