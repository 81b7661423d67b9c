package markdown

import (
	"iter"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Document is what Parse found in one note. Its strings are slices of the
// source wherever possible, so a Document keeps the source alive. Offsets are
// bytes into the source given to Parse, half-open; lines count from 1 in the
// whole source, frontmatter included.
type Document struct {
	// Title is the frontmatter's title, else the first non-empty level-1
	// heading outside lists and quotes of at most 64 KiB, as plain text; else "". The file name,
	// which comes next, is not known here.
	Title string

	// Frontmatter is nil when there is none or when it could not be read, in
	// which case FrontmatterErr says why, with the line.
	Frontmatter    *Frontmatter
	FrontmatterErr *fault.Error

	Body      string // the source after the frontmatter, line ends as they were
	BodyStart int    // offset of Body in the source
	BodyLine  int    // line on which Body starts

	Tags    []string // frontmatter, then inline; without '#'; first spelling of each, at most 10,000
	Aliases []string // frontmatter's alias and aliases

	// Sources are of those of Title, Tags and Aliases that have lost marks of
	// references.
	Sources []Source

	src       string
	links     pile[linkPlace] // wikilinks in order of occurrence, frontmatter first
	fileLinks pile[linkPlace] // destinations of Markdown links, in order of occurrence
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

// Parse reads a note. It never fails: what is broken stays text, and broken
// frontmatter is reported in FrontmatterErr while the body is still read.
// Time and memory are linear in the length of the source: a Document and what it is
// made with take at most ten times as much as the source.
func Parse(src string) *Document {
	doc := &Document{src: src}
	front, bodyStart := SplitFrontmatter(src)
	doc.Body, doc.BodyStart, doc.BodyLine = src[bodyStart:], bodyStart, 1
	s := newScanner(src)
	defer s.free()
	if front.Found {
		doc.BodyLine = 1 + strings.Count(src[:bodyStart], "\n")
		s.frontmatterLinks(front)
		doc.Frontmatter, doc.FrontmatterErr = ReadFrontmatter(src[front.Start:front.End], front.Line)
		doc.Aliases, doc.Sources = frontmatterAliases(doc.Frontmatter)
		doc.Sources = append(doc.Sources, s.frontmatterTags(doc.Frontmatter)...)
	} else if front.Unclosed {
		doc.FrontmatterErr = notClosed()
	}
	s.body(bodyStart, doc.BodyLine)
	doc.links, doc.fileLinks = s.links.take(), s.fileLinks.take()
	doc.Tags = exact(s.tags)
	doc.Title = titleOf(doc.Frontmatter, s.firstH1)
	if s.firstH1 != "" && doc.Title == s.firstH1 {
		if source := s.headingSource(s.h1); source != nil {
			doc.Sources = append(doc.Sources, *source)
		}
	}
	return doc
}

// EachLink yields the wikilinks in the order of the source, read anew each time.
func (d *Document) EachLink() iter.Seq[Link] { return eachLink(d.src, &d.links) }

// EachFileLink is EachLink for the Markdown links to files: see Link.Markdown.
func (d *Document) EachFileLink() iter.Seq[Link] { return eachLink(d.src, &d.fileLinks) }

func eachLink(src string, places *pile[linkPlace]) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for i := range places.len() {
			at := places.at(i)
			l := ReadLink(src[at.start:at.end])
			l.Line, l.Start, l.End = int(at.line), int(at.start), int(at.end)
			if l.Line < 0 {
				l.Line, l.InFrontmatter = -l.Line, true
			}
			if !yield(l) {
				return
			}
		}
	}
}

// Links returns the wikilinks of a text that is not a note, such as a chat
// message: nothing in it is taken for frontmatter.
func Links(text string) []Link {
	s := newScanner(text)
	defer s.free()
	s.body(0, 1)
	return slices.Collect(eachLink(text, &s.links))
}

// Headings calls found with each heading of a whole note, in their order.
func Headings(src string, found func(Heading)) { scanFor(src, scanner{onHeading: found}) }

// Blocks calls found with each ^id of a whole note that [[Title#^id]] can point at, in
// their order.
func Blocks(src string, found func(Block)) { scanFor(src, scanner{onBlock: found}) }

// scanFor scans the body of a note for what is asked for.
func scanFor(src string, asked scanner) {
	block, start := SplitFrontmatter(src)
	line := 1
	if block.Found {
		line += strings.Count(src[:start], "\n")
	}
	s := newScanner(src)
	defer s.free()
	s.onHeading, s.onBlock = asked.onHeading, asked.onBlock
	s.body(start, line)
}

// titleOf applies the order of sources. Lists, maps and blanks are no titles.
func titleOf(front *Frontmatter, firstH1 string) string {
	if f, ok := front.Get("title"); ok && f.IsScalar() {
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
