package markdown

import (
	"maps"
	"slices"
)

// ReferenceWork returns how many bytes References looks at in a text.
func ReferenceWork(text string) int {
	work := scanWork(text)
	d := decode(text)
	if d != nil {
		work += len(text) + scanWork(d.text)
	}
	return work
}

func scanWork(text string) int {
	s := newRefScanner(text, func(Reference) bool { return true })
	defer s.free()
	s.scan()
	s.useLabels()
	return len(text) + s.read
}

// URLAttributes returns the attributes of HTML that are looked at, in order.
func URLAttributes() []string { return slices.Sorted(maps.Keys(urlAttributes)) }
