package background

import (
	"context"
	"strings"
	"sync"
	"weak"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Line is Of with the usual limit, for what is kept: source is what of the note it was made of, with its marks. The error
// is why a note could not be read. What was found of the last notes is remembered where no model is asked: a message
// refers to what those before it referred to, and to mask a note takes longer than all else of a reference
// (BenchmarkCHAT20).
func (s *SummaryStore) Line(ctx context.Context, v *audience.View, noteID string) (text, source string, err error) {
	n := v.Note(noteID)
	if n == nil {
		return "", "", nil
	}
	key, meanings := lineKey{weak.Make(n), v.Reader()}, v.Meanings() // before the text is masked
	asks := s.opts.Maker.asks()
	if known, ok := s.lines.get(key); ok && known.meanings == meanings && !asks {
		return known.text, known.source, nil
	}
	text, reason := s.Of(ctx, v, noteID, 0)
	switch {
	case text == "" && reason != ReasonNoNote && reason != ReasonNoText:
		return "", "", fault.New(fault.Internal, "%s", reason)
	case asks: // a model has read more than a paragraph
		return text, n.Body, nil
	case text != "":
		source = strings.Clone(paragraphSource(n.Body)) // no part of the note is kept
	}
	s.lines.put(key, madeLine{strings.Clone(text), source, meanings})
	return text, source, nil
}

// paragraphSource returns the text that paragraph puts into a line.
func paragraphSource(body string) (source string) {
	for text, item := range markdown.Paragraphs(body[:min(len(body), searched)]) {
		switch {
		case item && source != "" || prose(text, item) == "":
		case !item:
			return text
		default:
			source = text
		}
	}
	return source
}

// lineKey is a note as it was, which never changes, and who reads it.
type lineKey struct {
	note weak.Pointer[notes.Note]
	by   audience.Reader
}

// madeLine holds while the meanings of what the note names do.
type madeLine struct {
	text, source string
	meanings     uint64
}

// madeLines are the lines of the last notes.
type madeLines struct {
	mu            sync.Mutex
	recent, older map[lineKey]madeLine
}

const keptLines = 512 // in each of both

func (m *madeLines) get(key lineKey) (madeLine, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.recent[key]
	if !ok {
		l, ok = m.older[key]
	}
	return l, ok
}

func (m *madeLines) put(key lineKey, l madeLine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil || len(m.recent) >= keptLines {
		m.recent, m.older = make(map[lineKey]madeLine), m.recent
	}
	m.recent[key] = l
}
