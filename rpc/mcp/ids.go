package mcp

// This file shortens the ids of answers, and reads what it has shortened.

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/text"
)

const (
	leastPrefix = 8      // characters of an id that name a record (API-1)
	mostIDs     = 50_000 // that are remembered; further ones are shown whole
)

// shownIDs are the ids that hosts were shown, by the prefix that stood for each. A prefix never means another id later,
// so that it may be given back whatever was written meanwhile; it says nothing of records that no host was shown. The
// daemon takes prefixes too, for those of another process.
type shownIDs struct {
	mu     sync.Mutex          // guards what follows
	ids    map[string]string   // by prefix
	prefix map[string]string   // by id
	alike  map[string][]string // by the first leastPrefix characters
}

func newShownIDs() *shownIDs {
	return &shownIDs{ids: make(map[string]string), prefix: make(map[string]string), alike: make(map[string][]string)}
}

// short returns what stands for an id: the shortest part of its beginning that stands for no other.
func (s *shownIDs) short(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.prefix[id]; ok {
		return p
	}
	if len(s.ids) >= mostIDs {
		return id
	}
	n := leastPrefix
	alike := s.alike[id[:n]]
	for n < len(id) && slices.ContainsFunc(alike, func(other string) bool { return strings.HasPrefix(other, id[:n]) }) {
		n++
	}
	s.ids[id[:n]], s.prefix[id] = id, id[:n]
	s.alike[id[:leastPrefix]] = append(alike, id)
	return id[:n]
}

// whole returns the id that a prefix stands for, and what is none as it is.
func (s *shownIDs) whole(name string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "[id:"), "]")
	prefix, passage, _ := strings.Cut(inner, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.ids[strings.ToLower(prefix)]
	switch {
	case ok:
		return strings.TrimSuffix(id+"."+passage, ".")
	case partOfID().MatchString(inner):
		return inner // in brackets the daemon takes it for a whole one
	}
	return name
}

// longID finds the ids that the daemon made, where answers have the id of a record.
var longID = text.Pattern(`\[id:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.[0-9]+)?\]`)

// partOfID matches what may be a prefix of such an id.
var partOfID = text.Pattern(`^[0-9a-f]{8}[0-9a-f-]{0,27}$`)

// shorten shortens the ids of an answer, but for those in the text of notes, which is given as it is.
func (s *shownIDs) shorten(in any, answer string) string {
	switch in := in.(type) {
	case editInput:
		return answer
	case readManyInput:
		parts := strings.SplitAfter(answer, "\n"+noteBar)
		for i := range parts {
			parts[i] = s.shortenHead(parts[i])
		}
		return strings.Join(parts, "")
	case readInput:
		return s.shortenHead(answer)
	case coreReadInput:
		if in.Note != "" {
			return s.shortenHead(answer)
		}
	}
	if changesNothing(in) {
		return answer
	}
	return s.shortenAll(answer)
}

// shortenHead shortens what stands above the first empty line.
func (s *shownIDs) shortenHead(answer string) string {
	head, text, ok := strings.Cut(answer, "\n\n")
	if !ok {
		return s.shortenAll(answer)
	}
	return s.shortenAll(head) + "\n\n" + text
}

func (s *shownIDs) shortenAll(answer string) string {
	return longID().ReplaceAllStringFunc(answer, func(found string) string {
		id, passage, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(found, "[id:"), "]"), ".")
		return "[id:" + strings.TrimSuffix(s.short(id)+"."+passage, ".") + "]"
	})
}

// namesRecords are the arguments that name records, or lists of them.
var namesRecords = []string{
	"note", "entity", "memory", "book", "record", "from", "to", "this",
	"notes", "entities", "memories", "supersedes", "related",
}

// lengthen puts ids in the place of the prefixes among arguments.
func (s *shownIDs) lengthen(given map[string]json.RawMessage) {
	for name, raw := range given {
		if !slices.Contains(namesRecords, name) {
			continue
		}
		var one string
		var list []string
		var now any
		switch {
		case json.Unmarshal(raw, &one) == nil:
			now = s.whole(one)
		case json.Unmarshal(raw, &list) == nil:
			for i := range list {
				list[i] = s.whole(list[i])
			}
			now = list
		default:
			continue
		}
		if out, err := json.Marshal(now); err == nil {
			given[name] = out
		}
	}
}
