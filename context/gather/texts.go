package gather

import (
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/frontmatter"
	"github.com/ctxd/ctxd/notes/markdown"
)

// texts keeps what was found out of the texts of the notes that were last in a
// prompt: a note that is pinned to a conversation comes again with every turn of
// it. A record never changes, so one that was changed is another.
type texts struct {
	mu     sync.Mutex
	recent map[weak.Pointer[notes.Note]]*noteText
	older  map[weak.Pointer[notes.Note]]*noteText
}

// noteText is what is known of the text of a note.
type noteText struct {
	marks audience.Marks
	plain atomic.Pointer[string] // once it was asked for
}

const (
	keptTexts = 128                     // in each of both
	keptChars = prompt.PinnedChars + 96 // of a text: more than any section shows, and a grapheme
)

// plain returns as much of the plain text of a note as a section can show.
func (t *texts) plain(n *notes.Note) string {
	known := t.of(n)
	if text := known.plain.Load(); text != nil {
		return *text
	}
	text := beginning(n)
	known.plain.Store(&text)
	return text
}

// maxTextBytes is how much of a note is read: the longest frontmatter and much more
// than any section shows.
const maxTextBytes = frontmatter.MaxBytes + 128<<10

// beginning returns as much of the plain text of a note as a section can show.
func beginning(n *notes.Note) string {
	body := n.Body
	if len(body) > maxTextBytes {
		body = strings.ToValidUTF8(body[:maxTextBytes], "")
	}
	return prompt.Beginning(markdown.PlainNote(body), keptChars)
}

// of returns what is known of a note.
func (t *texts) of(n *notes.Note) *noteText {
	key := weak.Make(n)
	t.mu.Lock()
	known := t.recent[key]
	if known == nil {
		known = t.older[key]
		if known != nil {
			t.keep(key, known)
		}
	}
	t.mu.Unlock()
	if known != nil {
		return known
	}
	known = &noteText{marks: audience.MarksOf(n.Body)}
	t.mu.Lock()
	t.keep(key, known)
	t.mu.Unlock()
	return known
}

// keep needs the lock.
func (t *texts) keep(key weak.Pointer[notes.Note], known *noteText) {
	if t.recent == nil || len(t.recent) >= keptTexts {
		t.recent, t.older = make(map[weak.Pointer[notes.Note]]*noteText, keptTexts), t.recent
	}
	t.recent[key] = known
}
