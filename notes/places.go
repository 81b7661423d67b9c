package notes

import (
	"iter"

	"github.com/ctxd/ctxd/entities/kv/codec"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Places says where the wikilinks of a text stand, and the destinations of its Markdown
// links to files, possible ones too, in the form in which it is stored: of most notes,
// nobody asks for the links while the store is open.
type Places string

// Place is where one link stands.
type Place struct {
	Start, End int // byte offsets into the text
	Line       int
}

// placesOf returns the places of links.
func placesOf(links iter.Seq[markdown.Link]) Places {
	var b []byte
	for l := range links {
		b = codec.AppendUint(b, uint64(l.Start))
		b = codec.AppendUint(b, uint64(l.End-l.Start))
		b = codec.AppendUint(b, uint64(l.Line))
	}
	return Places(b)
}

// inOrder joins two sequences of links, each in the order of the text.
func inOrder(a, b iter.Seq[markdown.Link]) iter.Seq[markdown.Link] {
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
func (p Places) All() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for r := (codec.Reader{Rest: string(p)}); r.Rest != ""; {
			at, ok := readPlace(&r)
			if !ok || !yield(at) {
				return
			}
		}
	}
}

// count returns how many places there are.
func (p Places) count() (n int) {
	for range p.All() {
		n++
	}
	return n
}

func readPlace(r *codec.Reader) (at Place, ok bool) {
	start, size, line := r.Int(), r.Int(), r.Int()
	return Place{start, start + size, line}, !r.Bad && start+size >= start
}

// linksIn reports whether the text has a link at each of the places.
func (p Places) linksIn(body string) bool {
	for r := (codec.Reader{Rest: string(p)}); r.Rest != ""; {
		at, ok := readPlace(&r)
		if !ok || at.End > len(body) {
			return false
		}
		if !markdown.IsLink(body[at.Start:at.End]) {
			return false
		}
	}
	return true
}

// shortestLink is the length of x, the destination of a Markdown link.
const shortestLink = 1

// fit reports whether there can be a link at each of the places of a text of that
// length.
func (p Places) fit(length int) bool {
	for r := (codec.Reader{Rest: string(p)}); r.Rest != ""; {
		if at, ok := readPlace(&r); !ok || at.End > length || at.End-at.Start < shortestLink {
			return false
		}
	}
	return true
}

// Links returns the wikilinks of the text, and its Markdown links to files, in its order,
// read anew each time. See markdown.Link.Possible for those that are links only where
// they lead somewhere.
func (n *Note) Links() []markdown.Link {
	var links []markdown.Link
	for l := range n.eachLink() {
		links = append(links, l)
	}
	return links
}

func (n *Note) eachLink() iter.Seq[markdown.Link] {
	return func(yield func(markdown.Link) bool) {
		for at := range n.Places.All() {
			if at.End > len(n.Body) {
				return // somebody has shortened the text
			}
			l := markdown.ReadLink(n.Body[at.Start:at.End])
			l.Start, l.End, l.Line = at.Start, at.End, at.Line
			if !yield(l) {
				return
			}
		}
	}
}

// markdownLinks counts the Markdown links to files, the possible ones too.
func (n *Note) markdownLinks() (count int) {
	for at := range n.Places.All() {
		if at.End <= len(n.Body) && markdown.IsDest(n.Body[at.Start:at.End]) {
			count++
		}
	}
	return count
}
