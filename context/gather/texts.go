package gather

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
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
	marks  audience.Marks
	whole  atomic.Pointer[shownText] // once it was asked for
	masked atomic.Pointer[maskedText]
}

// maskedText is the text of a note as a remote reader was shown it last. It holds
// while the meanings of its links do.
type maskedText struct {
	meanings uint64 // of the View, before the text was masked
	text     *shownText
}

// shownText is a text as prompts show it, as far as a section can.
type shownText struct {
	body       prompt.NoteBody // with the properties before it
	bare       prompt.NoteBody
	properties []prompt.Property
}

const (
	keptTexts = 128                     // in each of both
	keptChars = prompt.PinnedChars + 96 // of a text: what any section shows, and a grapheme
)

// shown returns the text of a note, as far as a section can show it, as the reader of a
// View may see it. The error is that of a context that has ended.
func (t *texts) shown(ctx context.Context, v *audience.View, n *notes.Note) (*shownText, error) {
	known := t.of(n)
	if !v.Hides() {
		return known.wholeOf(n), nil
	}
	meanings := v.Meanings()
	masked := known.masked.Load()
	if masked != nil && masked.meanings == meanings {
		return masked.text, nil
	}
	shown, err := v.Body(ctx, n, known.marks) // before it is cut
	if err != nil {
		return nil, err
	}
	masked = &maskedText{meanings: meanings}
	if shown == n {
		masked.text = known.wholeOf(n)
	} else {
		masked.text = beginning(shown)
	}
	known.masked.Store(masked)
	return masked.text, nil
}

// parts returns parts of a note, in its order, as the reader of a View may see it: what is
// masked is masked before they are looked for, and what is in comments is no part. When
// some are missing there is no text. O(length of the note); nothing of it is kept.
func (t *texts) parts(ctx context.Context, v *audience.View, n *notes.Note, list []markdown.Part) (
	*shownText, []markdown.Part, error,
) {
	if v.Hides() {
		shown, err := v.Body(ctx, n, t.of(n).marks)
		if err != nil {
			return nil, nil, err
		}
		n = shown
	}
	above, text := prompt.SplitProperties(n.Body)
	text = prompt.RenderNote(text)
	spans, missing := markdown.FindParts(text, list)
	if len(missing) > 0 {
		return nil, missing, nil
	}
	var b strings.Builder
	for i, s := range spans {
		if i > 0 {
			b.WriteString("\n\n…\n\n")
		}
		b.WriteString(strings.Trim(text[s.Start:s.End], "\r\n"))
	}
	bare := prompt.NewNoteBody(b.String(), keptChars)
	return &shownText{body: bare.Under(above), bare: bare, properties: above}, nil, nil
}

// passages returns those passages of a note that answer a message, in most characters, as far as the reader of
// a View may see them: what is masked is masked before they are chosen. matched is false where none answers it. O(length of the
// note); nothing of it is kept.
func (t *texts) passages(ctx context.Context, v *audience.View, n *notes.Note, message, near string, most int, fill bool) (
	shown *shownText, matched bool, err error,
) {
	if v.Hides() {
		if n, err = v.Body(ctx, n, t.of(n).marks); err != nil {
			return nil, false, err
		}
	}
	above, text := prompt.SplitProperties(n.Body)
	room := most - prompt.Chars(prompt.WithProperties(above, ""))
	best, matched := search.BestPassages(prompt.RenderNote(text), message, near, room*9/10, fill) // marks take some
	bare := prompt.NewNoteBody(best, keptChars)
	return &shownText{body: bare.Under(above), bare: bare, properties: above}, matched, nil
}

// partOf says of passages of which text they are.
func (t *shownText) partOf(whole *shownText) *shownText {
	bare := t.bare.PartOf(whole.bare)
	return &shownText{body: bare.Under(t.properties), bare: bare, properties: t.properties}
}

// wholeOf returns the text of a note, of which this is known, as far as a section can
// show it.
func (k *noteText) wholeOf(n *notes.Note) *shownText {
	if text := k.whole.Load(); text != nil {
		return text
	}
	text := beginning(n)
	k.whole.Store(text)
	return text
}

// beginning returns the text of a note as far as a section can show it.
func beginning(n *notes.Note) *shownText {
	list, text := prompt.SplitProperties(n.Body)
	for i := range list { // no part of the note is kept with it
		list[i].Key, list[i].Value = strings.Clone(list[i].Key), strings.Clone(list[i].Value)
	}
	bare := prompt.NewNoteBody(prompt.RenderNote(text), keptChars)
	return &shownText{body: bare.Under(list), bare: bare, properties: list}
}

// without returns the text without the properties that an entity has as fields.
func (t *shownText) without(e *entities.Entity) prompt.NoteBody {
	fields := make(map[string]bool, len(e.Fields))
	for name := range e.Fields {
		fields[strings.ToLower(name)] = true
	}
	shows := func(p prompt.Property) bool { return fields[strings.ToLower(p.Key)] }
	if !slices.ContainsFunc(t.properties, shows) {
		return t.body
	}
	return t.bare.Under(slices.DeleteFunc(slices.Clone(t.properties), shows))
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
