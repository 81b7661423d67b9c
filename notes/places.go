package notes

// LinkPlaces say where the links stand in the text of a note, in the form in which that is stored
// beside the text: three numbers a link, the offset and the length in bytes and the line, counted
// from 1. The store of notes keeps them with each note and reads the links anew from the text when
// somebody asks for them.
//
// LinkPlaces that were stored may not fit a text: LinksIn and Fit say so. All functions are pure
// and take time linear in what they are given.

import (
	"iter"
	"strings"

	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/notes/markdown"
)

// LinkPlaces says where the wikilinks of a text stand, and the destinations of its Markdown
// links to files, possible ones too, in the form in which it is stored: of most notes,
// nobody asks for the links while the store is open.
type LinkPlaces string

// linkPlace is where one link stands.
type linkPlace struct {
	Start, End int // byte offsets into the text
	Line       int
}

// NewLinkPlaces returns the places of links.
func NewLinkPlaces(links iter.Seq[markdown.Link]) LinkPlaces {
	var b []byte
	for l := range links {
		b = disk.AppendUint(b, uint64(l.Start))
		b = disk.AppendUint(b, uint64(l.End-l.Start))
		b = disk.AppendUint(b, uint64(l.Line))
	}
	return LinkPlaces(b)
}

// linksInOrder joins two sequences of links, each in the order of the text.
func linksInOrder(a, b iter.Seq[markdown.Link]) iter.Seq[markdown.Link] {
	return func(yield func(markdown.Link) bool) {
		next, stop := iter.Pull(b)
		defer stop()
		other, more := next()
		for l := range a {
			for more && other.Start < l.Start {
				if !yield(other) {
					return
				}
				other, more = next()
			}
			if !yield(l) {
				return
			}
		}
		for more && yield(other) {
			other, more = next()
		}
	}
}

// All yields the places in the order of the text.
func (p LinkPlaces) All() iter.Seq[linkPlace] {
	return func(yield func(linkPlace) bool) {
		for r := (disk.RecordReader{Rest: string(p)}); r.Rest != ""; {
			at, ok := readPlace(&r)
			if !ok || !yield(at) {
				return
			}
		}
	}
}

// Count returns how many places there are.
func (p LinkPlaces) Count() (n int) {
	for range p.All() {
		n++
	}
	return n
}

func readPlace(r *disk.RecordReader) (at linkPlace, ok bool) {
	start, size, line := r.Int(), r.Int(), r.Int()
	return linkPlace{start, start + size, line}, !r.Bad && start+size >= start
}

// LinksIn reports whether the text has at each of the places a wikilink, or what can be a destination: where that leads is
// not asked, which takes as long as to read the text and is in a writer's turn.
func (p LinkPlaces) LinksIn(body string) bool {
	for r := (disk.RecordReader{Rest: string(p)}); r.Rest != ""; {
		at, ok := readPlace(&r)
		if !ok || at.End > len(body) {
			return false
		}
		if link := body[at.Start:at.End]; link == "" || !markdown.IsDest(link) && !markdown.IsLink(link) {
			return false
		}
	}
	return true
}

// shortestLink is the length of x, the destination of a Markdown link.
const shortestLink = 1

// Fit reports whether there can be a link at each of the places of a text of that
// length.
func (p LinkPlaces) Fit(length int) bool {
	for r := (disk.RecordReader{Rest: string(p)}); r.Rest != ""; {
		if at, ok := readPlace(&r); !ok || at.End > length || at.End-at.Start < shortestLink {
			return false
		}
	}
	return true
}

// Links yields the links of a text that stand at the places, in its order, read anew each time.
func (p LinkPlaces) Links(body string) iter.Seq[markdown.Link] {
	return func(yield func(markdown.Link) bool) {
		for at := range p.All() {
			if at.End > len(body) {
				return // somebody has shortened the text
			}
			l := markdown.ReadLink(body[at.Start:at.End])
			l.Start, l.End, l.Line = at.Start, at.End, at.Line
			if !yield(l) {
				return
			}
		}
	}
}

// Markdown counts those that are Markdown links to files, the possible ones too.
func (p LinkPlaces) Markdown(body string) (count int) {
	for at := range p.All() {
		if at.End <= len(body) && markdown.IsDest(body[at.Start:at.End]) {
			count++
		}
	}
	return count
}

// LinkTarget returns where the target of a link stands in the text that the link was read from: of a Markdown link, the path
// with its escapes. It is empty for a link into its own note, and where the target is written in a way that is not known
// here.
func LinkTarget(l markdown.Link) (start, end int) {
	if l.Markdown {
		path, _, _ := strings.Cut(l.Raw, "#")
		return l.Start, l.Start + len(path)
	}
	open := strings.Index(l.Raw, "[[") + len("[[")
	at := open + strings.IndexFunc(l.Raw[open:], func(r rune) bool { return r != ' ' && r != '\t' && r != '\r' })
	if !strings.HasPrefix(l.Raw[at:], l.Target) {
		return l.Start + open, l.Start + open
	}
	return l.Start + at, l.Start + at + len(l.Target)
}

// LinkPart returns where the heading or the block of a link stands, without '#' and '^'; it is empty for a link without one.
func LinkPart(l markdown.Link) (start, end int) {
	_, after := LinkTarget(l)
	said := l.Heading
	if l.Block != "" {
		said = l.Block
	}
	mark := strings.IndexByte(l.Raw[after-l.Start:], '#')
	if said == "" || mark < 0 {
		return l.End, l.End
	}
	start = after + mark + 1
	if l.Markdown {
		if l.Block != "" {
			start += strings.IndexByte(l.Raw[start-l.Start:], '^') + 1
		}
		return start, l.End
	}
	start += max(0, strings.Index(l.Raw[start-l.Start:], said))
	return start, start + len(said)
}
