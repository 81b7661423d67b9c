package refs

import (
	"sync"

	"github.com/ctxd/ctxd/notes/markdown"
)

// What is needed only while a text is read lies in memory that is used again: without that, a
// message of 10 KB leaves 49 KB of garbage, and one call in a hundred waits for its collection
// (BenchmarkParse10KB). Nothing in the pools holds on to a text.
var (
	messages = sync.Pool{New: func() any { return new(markdown.Message) }}
	lists    = sync.Pool{New: func() any { return new([]Ref) }}
	texts    = sync.Pool{New: func() any { return new([]byte) }}
	sets     = sync.Pool{New: func() any { return make(set) }}
)

// maxKept is how many references the memory may hold that is kept for the next text: as many as
// a message of 10 KB full of them. maxKeptText is that of texts, in bytes.
const (
	maxKept     = 1024
	maxKeptText = 64 << 10
)

// emptied returns a list for the next text, and none where a long text has made it large.
func emptied(list []Ref) []Ref {
	if cap(list) > maxKept {
		return nil
	}
	clear(list)
	return list[:0]
}

// set holds in which lists of a result a target is, a bit for each, by what it is called.
type set map[string]uint8

// add reports whether a target is not in a list yet, and puts it there.
func (s set) add(name string, list uint8) bool {
	if s[name]&list != 0 {
		return false
	}
	s[name] |= list
	return true
}

// free gives the set back.
func (s set) free() {
	if len(s) > maxKept {
		return
	}
	clear(s)
	sets.Put(s)
}
