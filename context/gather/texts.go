package gather

import (
	"sync"
	"weak"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes"
)

// texts keeps the plain texts of the notes that were last in a prompt: a note
// that is pinned to a conversation comes again with every turn of it. A record
// never changes, so one that was changed is another.
type texts struct {
	mu     sync.Mutex
	recent map[weak.Pointer[notes.Note]]string
	older  map[weak.Pointer[notes.Note]]string
}

const (
	keptTexts = 128                     // in each of both
	keptChars = prompt.PinnedChars + 96 // of a text: more than any section shows, and a grapheme
)

// plain returns as much of the plain text of a note as a section can show.
func (t *texts) plain(n *notes.Note) string {
	key := weak.Make(n)
	t.mu.Lock()
	text, ok := t.recent[key]
	if !ok {
		if text, ok = t.older[key]; ok {
			t.keep(key, text)
		}
	}
	t.mu.Unlock()
	if ok {
		return text
	}
	text = prompt.Beginning(n.PlainText(), keptChars)
	t.mu.Lock()
	t.keep(key, text)
	t.mu.Unlock()
	return text
}

// keep needs the lock.
func (t *texts) keep(key weak.Pointer[notes.Note], text string) {
	if t.recent == nil || len(t.recent) >= keptTexts {
		t.recent, t.older = make(map[weak.Pointer[notes.Note]]string, keptTexts), t.recent
	}
	t.recent[key] = text
}
