package markdown

import (
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Document is what Parse found in one note. Its strings are slices of the
// source wherever possible, so a Document keeps the source alive. Offsets are
// bytes into the source given to Parse, half-open; lines count from 1 in the
// whole source, frontmatter included.
type Document struct {
	// Title is the frontmatter's title, else the first non-empty level-1
	// heading outside lists and quotes, as plain text; else "". The file name,
	// which comes next, is not known here.
	Title string

	// Frontmatter is nil when there is none or when it could not be read, in
	// which case FrontmatterErr says why, with the line.
	Frontmatter    *Frontmatter
	FrontmatterErr *fault.Error

	Body      string // the source after the frontmatter, line ends as they were
	BodyStart int    // offset of Body in the source
	BodyLine  int    // line on which Body starts

	Links         []Link // wikilinks in order of occurrence, frontmatter first
	MarkdownLinks []MarkdownLink
	Headings      []Heading
	Blocks        []Block  // ^ids that [[Title#^id]] can point at
	Tags          []string // frontmatter, then inline; without '#'; first spelling of each
	Aliases       []string // frontmatter's alias and aliases
}

// Heading is an ATX or setext heading. Start and End enclose its lines,
// without the final line end; setext underlines are included.
type Heading struct {
	Level      int    // 1 to 6
	Text       string // plain text, one line
	Line       int
	Start, End int
}

// Block is a block identifier: "^id" at the end of a line. Start and End
// enclose the paragraph, list item or heading that carries it.
type Block struct {
	ID         string // without '^'
	Line       int    // of the identifier
	Start, End int
}

// MarkdownLink is a [text](x.md) link to a note of the same vault: a relative
// or rooted destination that ends in .md or .markdown, a #fragment apart.
type MarkdownLink struct {
	Text       string // as written, markup included
	Dest       string // as written, without <>, title and #fragment
	Fragment   string // after '#'
	Line       int
	Start, End int
}

// Parse reads a note. It never fails: what is broken stays text, and broken
// frontmatter is reported in FrontmatterErr while the body is still read.
// Time and memory are linear in the length of the source.
func Parse(src string) *Document {
	doc := &Document{}
	front, bodyStart := splitFrontmatter(src)
	doc.Body, doc.BodyStart, doc.BodyLine = src[bodyStart:], bodyStart, 1
	s := newScanner(src)
	defer s.free()
	if front.found {
		doc.BodyLine = 1 + strings.Count(src[:bodyStart], "\n")
		s.frontmatterLinks(front)
		doc.Frontmatter, doc.FrontmatterErr = readFrontmatter(src[front.start:front.end], front.line)
		doc.Aliases = frontmatterAliases(doc.Frontmatter)
		s.frontmatterTags(doc.Frontmatter)
	} else if front.unclosed {
		doc.FrontmatterErr = brokenFrontmatter(1, "the frontmatter is not closed", "end it with a line that holds only ---")
	}
	s.body(bodyStart, doc.BodyLine)
	doc.Links = exact(s.links)
	doc.MarkdownLinks = exact(s.mdLinks)
	doc.Headings = exact(s.headings)
	doc.Blocks = exact(s.blocks)
	doc.Tags = exact(s.tags)
	doc.Title = titleOf(doc.Frontmatter, s.firstH1)
	return doc
}

// Links returns the wikilinks of a text that is not a note, such as a chat
// message: nothing in it is taken for frontmatter.
func Links(text string) []Link {
	s := newScanner(text)
	defer s.free()
	s.body(0, 1)
	return exact(s.links)
}

// titleOf applies the order of sources. Lists, maps and blanks are no titles.
func titleOf(front *Frontmatter, firstH1 string) string {
	if f, ok := front.Get("title"); ok && f.isScalar() {
		if t := oneLine(f.Raw); t != "" && f.Value != nil {
			return t
		}
	}
	return firstH1
}

// oneLine joins the lines of a text with single spaces and trims it.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return strings.TrimSpace(s)
	}
	return strings.Join(strings.Fields(s), " ")
}
