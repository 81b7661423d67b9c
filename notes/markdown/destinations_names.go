package markdown

import (
	"html"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// DestNames are what a destination, or the target of a wikilink, may name: each once.
type DestNames []string

// Destination adds what a destination may name: with and without its escapes, a
// fragment, a query and a line number. Of the addresses by which note apps are opened,
// the file is what they name; pages of the web name nothing.
func (n *DestNames) Destination(dest string) {
	if strings.IndexByte(dest, '&') >= 0 {
		dest = html.UnescapeString(dest)
	}
	if n.address(dest) {
		return
	}
	file, _, hasFragment := strings.Cut(dest, "#")
	n.Target(file)
	n.Target(UnescapeDest(file))
	if hasFragment {
		n.Target(UnescapeDest(dest)) // a file may have # in its name
	}
}

// address adds what an address names and reports whether it can name nothing else.
// What looks like one may be the name of a file with a colon in it.
func (n *DestNames) address(dest string) bool {
	if strings.IndexByte(dest, ':') < 0 || hasLineNumber(dest) {
		return false
	}
	u, err := url.Parse(dest)
	if err != nil || len(u.Scheme) < 2 {
		return false
	}
	switch u.Scheme {
	case "http", "https", "mailto":
		return true
	}
	if u.Scheme == "ctxd" {
		n.add("ctxd://" + strings.ToLower(u.Host) + u.Path) // an id names a record only there
	}
	asked, names := u.Query(), len(*n)+mostAsked
	for _, member := range slices.Sorted(maps.Keys(asked)) { // file, path, filepath, page, title, id, uid: each app has its own
		for _, value := range asked[member] {
			if len(*n) < names {
				n.Target(value)
				n.Target(path.Base(value))
			}
		}
	}
	n.Target(path.Base(u.Path))
	n.Target(UnescapeDest(path.Base(u.Opaque)))
	return u.Opaque == ""
}

// mostAsked bounds how many names the query of an address adds, so that a long one costs no more than others.
const mostAsked = 32

// hasLineNumber reports whether a destination is a file with a line number, which reads like
// an address: the file would be its scheme.
func hasLineNumber(dest string) bool {
	if end := strings.IndexAny(dest, "?#"); end >= 0 {
		dest = dest[:end]
	}
	file := withoutLine(dest)
	return len(file) < len(dest) && strings.IndexByte(file, ':') < 0
}

// Target adds a name as it stands, and without what may say which place of the
// record is meant: a query, a block, a line.
func (n *DestNames) Target(name string) {
	n.add(name)
	for _, mark := range [...]byte{'?', '^'} {
		if end := strings.IndexByte(name, mark); end >= 0 {
			n.add(name[:end])
			n.add(withoutLine(name[:end]))
		}
	}
	n.add(withoutLine(name))
}

func (n *DestNames) add(name string) {
	name = strings.TrimSpace(name)
	if name != "" && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// maxPlaces is how many numbers the place in a file may have: a line and a column.
const maxPlaces = 2

// withoutLine returns a name without a line at its end, such as Boss.md:3, :3:7, :L3-L7.
func withoutLine(name string) string {
	for range maxPlaces {
		colon := strings.LastIndexByte(name, ':')
		if colon <= 0 || strings.Trim(name[colon+1:], "0123456789-,LlCc") != "" ||
			!strings.ContainsAny(name[colon+1:], "0123456789") {
			return name
		}
		name = name[:colon]
	}
	return name
}
