package gather

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/prompt/body"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/frontmatter"
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
	marks  audience.Marks
	whole  atomic.Pointer[body.Body] // once it was asked for
	masked atomic.Pointer[maskedText]
}

// maskedText is the text of a note as a remote reader was shown it last. It holds
// while the meanings of its links do.
type maskedText struct {
	meanings uint64 // of the View, before the text was masked
	body     body.Body
}

const (
	keptTexts = 128                     // in each of both
	keptChars = prompt.PinnedChars + 96 // of a text: what any section shows, and a grapheme
)

// shown returns the text of a note, as far as a section can show it, as the reader of a
// View may see it. The error is that of a context that has ended.
func (t *texts) shown(ctx context.Context, v *audience.View, n *notes.Note) (body.Body, error) {
	known := t.of(n)
	if !v.Hides() {
		return known.wholeOf(n), nil
	}
	meanings := v.Meanings()
	masked := known.masked.Load()
	if masked != nil && masked.meanings == meanings {
		return masked.body, nil
	}
	shown, err := v.Body(ctx, n, known.marks) // before it is cut
	if err != nil {
		return body.Body{}, err
	}
	masked = &maskedText{meanings: meanings}
	if shown == n {
		masked.body = known.wholeOf(n)
	} else {
		masked.body = beginning(shown)
	}
	known.masked.Store(masked)
	return masked.body, nil
}

// wholeOf returns the text of a note, of which this is known, as far as a section can
// show it.
func (k *noteText) wholeOf(n *notes.Note) body.Body {
	if text := k.whole.Load(); text != nil {
		return *text
	}
	text := beginning(n)
	k.whole.Store(&text)
	return text
}

// maxTextBytes is how much of a note is read: the longest frontmatter and much more
// than any section shows.
const maxTextBytes = frontmatter.MaxBytes + 128<<10

// beginning returns the text of a note as far as a section can show it.
func beginning(n *notes.Note) body.Body {
	text := n.Body
	if len(text) > maxTextBytes {
		text = strings.ToValidUTF8(text[:maxTextBytes], "")
	}
	_, start := frontmatter.Split(text)
	return body.New(body.Shown(text[start:]), keptChars)
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
