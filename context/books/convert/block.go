package convert

// Blocks are the neutral form of a book: what every converter makes of a file, and what the passages are cut from.
//
// A Document is a list of blocks in reading order: headings, texts, rows of tables, code. Its text is the text of its
// blocks, with an empty line between two blocks and a line end between two rows of one
// table. Offsets count code points of that text.
//
// A Builder is the only way to make a Document. It bounds the text, the blocks and the cells of a row, asks the context
// of the call with each block, and repairs text: invalid UTF-8, control characters and blanks at the ends are gone.
// Over a bound its error is a Limit; a context that has ended is that error. All methods take time linear in what they
// are given.
//
// A Builder belongs to one goroutine, a Document may be read by many.

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// BlockKind says what a block is.
type BlockKind uint8

// Kinds of blocks.
const (
	TextBlock    BlockKind = iota // a paragraph or an item of a list
	HeadingBlock                  // begins a section of its Level
	RowBlock                      // of a table or a sheet
	CodeBlock                     // keeps its line breaks and is not cut
)

// Bounds of a document, whatever its format is.
const (
	maxTextBytes    = 64 << 20 // bytes of text, of the largest file
	maxBlocks       = 400_000  // paragraphs, rows and headings
	maxRowCells     = 1_000    // of one row
	maxHeadingLevel = 6        // of headings
	maxNameChars    = 300      // code points of a title, an author, a heading in a section path or a column name
)

// Block is a part of a book. It never changes.
type Block struct {
	Kind    BlockKind
	Level   int      // of a heading, from 1
	Text    string   // one line, unless it is code
	Cells   []string // of a row that is to be added; then they are in its Text
	Columns []string // the names of these cells; may be shorter, "" names nothing
	Page    int      // that it begins on, from 1; 0: the format has none
	Row     int      // number of the row in its table or sheet, from 1, the row of names included; 0: it is none
}

// row is the text of a row: "name: cell; name: cell".
func (b *Block) row() string {
	var s strings.Builder
	for i, cell := range b.Cells {
		if cell == "" {
			continue
		}
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if i < len(b.Columns) && b.Columns[i] != "" {
			s.WriteString(b.Columns[i])
			s.WriteString(": ")
		}
		s.WriteString(cell)
	}
	return s.String()
}

// Document is a book in the neutral form.
type Document struct {
	Title  string // "" when the file says none
	Author string
	Pages  int   // 0: the format has none
	Empty  []int // pages without text, from 1
	// Labels are what is printed on the pages, from the first: "iv", "85", "" where it is not known. Nil: no page has another
	// than its number.
	Labels []string
	Blocks []Block
}

// Builder makes a Document.
type Builder struct {
	ctx  context.Context
	doc  Document
	text int // bytes
	most int // of them
}

// NewBuilder returns a Builder for one call.
func NewBuilder(ctx context.Context) *Builder { return &Builder{ctx: ctx, most: maxTextBytes} }

// Context is the context of the call.
func (b *Builder) Context() context.Context { return b.ctx }

// SetTitle names the book by what its file says, unless it has a name or that says nothing.
func (b *Builder) SetTitle(title string) {
	if b.doc.Title == "" {
		b.doc.Title = usefulTitle(CleanName(title))
	}
}

// SetAuthor names who wrote it, unless that is known or says nothing.
func (b *Builder) SetAuthor(author string) {
	if b.doc.Author == "" {
		b.doc.Author = CleanName(author)
	}
}

// SetEmpty says which pages have no text: pictures, most of the time.
func (b *Builder) SetEmpty(pages []int) { b.doc.Empty = pages }

// SetLabels says what is printed on the pages.
func (b *Builder) SetLabels(labels []string) { b.doc.Labels = labels }

// SetPages says how many pages there are.
func (b *Builder) SetPages(n int) { b.doc.Pages = n }

// Add appends a block. One that says nothing is left out. The error is that of the context, or a Limit.
func (b *Builder) Add(x Block) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	switch x.Kind {
	case RowBlock:
		if len(x.Cells) > maxRowCells {
			return tooWide()
		}
		for i, cell := range x.Cells {
			x.Cells[i] = oneLine(cell)
		}
		x.Text, x.Cells, x.Columns = x.row(), nil, nil
	case CodeBlock:
		x.Text = lines(x.Text)
	case HeadingBlock:
		x.Text = CleanName(notesApart(x.Text))
		x.Level = min(max(x.Level, 1), maxHeadingLevel)
	default:
		x.Text = notesApart(oneLine(x.Text))
	}
	if x.Text == "" {
		return nil
	}
	b.text += len(x.Text) + 2
	if err := b.fits(0); err != nil {
		return err
	}
	if len(b.doc.Blocks) == maxBlocks {
		return tooMuch(fmt.Sprintf("more than %d paragraphs and rows", maxBlocks))
	}
	b.doc.Blocks = append(b.doc.Blocks, x)
	return nil
}

// fits is an error where the text, with so many bytes more that are to be added, is too large. Who gathers a block asks before it
// is whole.
func (b *Builder) fits(more int) error {
	if b.text+more > b.most {
		return tooMuch(fmt.Sprintf("more than %d MiB of text", b.most>>20))
	}
	return nil
}

// tooWide is the error of a row of too many cells.
func tooWide() error { return tooMuch(fmt.Sprintf("a row of more than %d cells", maxRowCells)) }

func tooMuch(what string) error {
	return fault.New(fault.Limit, "the file has %s", what).WithHint("split it into several files")
}

// Len is how many blocks there are.
func (b *Builder) Len() int { return len(b.doc.Blocks) }

// Document returns what was built. The Builder is not to be used any more.
func (b *Builder) Document() *Document {
	d := b.doc
	d.Labels = cleanLabels(d.Labels, d.Pages)
	for i := range d.Blocks {
		if d.Pages > 0 {
			break
		}
		d.Blocks[i].Page = 0 // a file of one page, or whose pages nobody has counted
	}
	if d.Title == "" {
		d.Title = headingTitle(d.Blocks)
	}
	return &d
}

// headingTitle returns the first heading that names the book: not a part of any book, nor one within a part.
func headingTitle(blocks []Block) string {
	top := maxHeadingLevel
	for i := range blocks {
		x := &blocks[i]
		if x.Kind != HeadingBlock || x.Level > top {
			continue
		}
		top = x.Level
		if !ofChapter().MatchString(x.Text) && !isItem(x.Text) && strings.ContainsFunc(x.Text, isPlainLetter) {
			return x.Text
		}
	}
	return ""
}

// genericParts are the names of parts that any book may have.
const genericParts = `(?:(?:table of )?contents|introduction|abstract|preface|foreword|summary|acknowledg(?:e)?ments|references|` +
	`inhalt(?:sverzeichnis)?|einleitung|vorwort|zusammenfassung|table des matières|sommaire|résumé|índice|introducción|indice|introduzione|` +
	`目次|はじめに|目录|前言)`

// ofChapter matches headings that name a part of a book, and not the book.
var ofChapter = text.Pattern(`(?i)^\s*(?:[0-9]+(?:\.[0-9]+)*[.):]?\s|[ivxlc]+[.)]\s|` +
	`(?:chapter|part|section|appendix|kapitel|teil|anhang|chapitre|capítulo|capitolo)\s+[0-9ivxlc]+\b|` + genericParts + `\s*$)`)

// maxLabelChars is how long the label of a page may be, in code points.
const maxLabelChars = 20

// cleanLabels returns labels of pages as they may stand in a citation; nil when they say nothing but the numbers of the pages.
func cleanLabels(labels []string, pages int) []string {
	out := make([]string, 0, len(labels))
	differ := false
	for i, label := range labels {
		label = oneLine(label)
		strange := strings.ContainsFunc(label, func(r rune) bool { return !isWord(r) && !strings.ContainsRune(" .-–/_", r) })
		if strange || i >= pages || utf8.RuneCountInString(label) > maxLabelChars {
			label = "" // what is printed is short, and no structure
		}
		differ = differ || label != "" && label != strconv.Itoa(i+1)
		out = append(out, label)
	}
	if !differ {
		return nil
	}
	return out
}

// programTitles are what programs call a file that nobody has named.
var programTitles = text.Pattern(`(?i)^(?:untitled|unknown|title|no title|\(anonymous\)|about:.*|(?:new )?(?:microsoft )?(?:word|excel|powerpoint)? ?(?:document|presentation|worksheet|workbook)|` +
	`(?:document|presentation|dokument|präsentation|book|slide|folie|mappe|page|seite) ?[0-9]*|.*\.(?:docx?|odt|html?|tex|pdf|indd|qxd|pptx?|xlsx?|rtf|dvi|md|txt|pages))$`)

// madeBy is what programs put before the name of a file.
var madeBy = text.Pattern(`(?i)^microsoft (?:word|excel|powerpoint) - `)

// sectionNumber is what stands before the title of a part that was saved alone: 1.6.
var sectionNumber = text.Pattern(`^[0-9]+(?:\.[0-9]+)+\.?\s+`)

// plainPart matches a title that names a part of any book, with or without a number before it.
var plainPart = text.Pattern(`(?i)^\s*(?:[0-9]+(?:\.[0-9]+)*[.):]?\s+)?(?:(?:chapter|part|section|appendix|kapitel|teil|anhang|chapitre|capítulo|capitolo)\s+[0-9ivxlc]+|` +
	genericParts + `)\s*$`)

// usefulTitle returns a title that somebody gave, "" for what a program calls its files, or every book has.
func usefulTitle(title string) string {
	title = sectionNumber().ReplaceAllString(madeBy().ReplaceAllString(title, ""), "")
	if programTitles().MatchString(title) || plainPart().MatchString(title) {
		return ""
	}
	return title
}

// CleanName is a text as a title, a heading or the name of a column: one line of MaxName code points at most.
func CleanName(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= maxNameChars {
		return s
	}
	s = string([]rune(s)[:maxNameChars-1])
	if open := strings.LastIndex(s, "["); open > strings.LastIndex(s, "]") {
		s = s[:open] // half of a link would not be masked
	}
	return strings.TrimSpace(s) + "…"
}

// oneLine is a text on one line: any run of blanks, line ends and characters that show nothing is one blank.
func oneLine(s string) string {
	if isLine(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			blank = true
			continue
		case r == utf8.RuneError || r == '\u00AD' || r == '\uFEFF' || r == '\uFFFE':
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// isLine reports ASCII that Line leaves as it is.
func isLine(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7F || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// lines is code without the empty lines around it and without control characters but tabs and line ends.
func lines(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	for strings.TrimSpace(s) != "" {
		first, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(first) != "" {
			break
		}
		s = rest
	}
	return strings.TrimRightFunc(s, unicode.IsSpace)
}
