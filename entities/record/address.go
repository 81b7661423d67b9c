package record

import (
	"net/url"
	"strings"
)

// Addresses begin so. They name records to programs outside: in the resources of ctxd mcp, in what chat.references
// gives, and on the command line of ctxd open.
const (
	Addresses     = "ctxd://"
	NoteAddress   = Addresses + "note/"
	EntityAddress = Addresses + "entity/"
)

// Address is what a ctxd:// address names: ctxd://note/ID#Heading.
type Address struct {
	Kind string // NoteAddress or EntityAddress
	ID   string // id of the record; readers of addresses also take its title or name
	Part string // of a note: a heading, or a block behind '^'; "" for all of it
}

// String writes the address.
func (a Address) String() string {
	out := a.Kind + url.PathEscape(a.ID)
	if a.Part != "" {
		u := url.URL{Fragment: a.Part}
		out += "#" + u.EscapedFragment()
	}
	return out
}

// ParseAddress reads an address. A wrong escape is taken as it stands. ok is false for what is no address.
func ParseAddress(text string) (a Address, ok bool) {
	for _, kind := range []string{NoteAddress, EntityAddress} {
		rest, is := strings.CutPrefix(text, kind)
		if !is {
			continue
		}
		id, part, _ := strings.Cut(rest, "#")
		a = Address{Kind: kind, ID: unescaped(id), Part: unescaped(part)}
		return a, a.ID != ""
	}
	return Address{}, false
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
