package cites

// An ExcerptFinder finds the excerpts of notes that an answer stood on, in the notes as they are now (CHAT-35).
//
// A tool that gives a model passages of a note leaves their places in the reference to it: UTF-16 code units,
// half-open, of the body that the asker saw, with the SHA-256 of that body. [ExcerptFinder.Of] reads these places in
// the body as its reader sees it. Where the body is another one by now the item is stale and has no text. A remote
// reader never sees private records. The error for a message that he does not see is NotFound.
//
// Asking takes O(bytes of the notes).

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
)

// maxText is how many bytes of excerpts one answer has at most: what tools show of all notes of a turn is less.
const maxText = 1 << 20

// ExcerptFinder finds excerpts. New makes one.
type ExcerptFinder struct {
	chats  *chat.Store
	cites  *Index
	remote *audience.View
}

// NewExcerptFinder returns the Finder of a store of conversations and of what their messages refer to. remote is the View of remote
// readers.
func NewExcerptFinder(chats *chat.Store, cites *Index, remote *audience.View) *ExcerptFinder {
	return &ExcerptFinder{chats, cites, remote}
}

// Of returns the excerpts that a message stood on. conversation is the id of its conversation, "" for whichever has
// such a message. The error is NotFound, under "messageId".
func (f *ExcerptFinder) Of(ctx context.Context, v *audience.View, messageID, conversation string) (*turn.ChatHighlights, error) {
	keys := slices.DeleteFunc(f.cites.Keys(messageID), func(key string) bool {
		return conversation != "" && chat.ConversationOf(key) != conversation
	})
	found, err := f.chats.Found(ctx, v, keys)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(m *chat.FoundMessage) bool { return m != nil })
	if i < 0 {
		err := fault.Missing("message", messageID)
		err.Field, err.Hint = "messageId", "chat.get gives the ids of the messages of a conversation"
		return nil, err
	}
	m := found[i].Message
	out := &turn.ChatHighlights{ConversationID: m.ConversationID, MessageID: m.ID, Index: m.Index, Items: []turn.ChatHighlight{}}
	left := maxText
	for j := range m.References {
		r := &m.References[j]
		if r.NoteID == "" || len(r.Ranges) == 0 {
			continue
		}
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		item, err := f.item(ctx, v, r, &left)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// item reads the excerpts of one note, and takes their bytes off what is left.
func (f *ExcerptFinder) item(ctx context.Context, v *audience.View, r *record.ChatReference, left *int) (turn.ChatHighlight, error) {
	item := turn.ChatHighlight{NoteID: r.NoteID, Path: r.Path, Wikilink: r.Wikilink, Ranges: r.Ranges}
	stale := func(why string) turn.ChatHighlight {
		item.Stale, item.Why = true, why
		return item
	}
	n := v.Note(r.NoteID)
	if n == nil {
		return stale(turn.HighlightGone), nil
	}
	item.Path, item.Title = n.Path, v.TitleOf(n)
	shown, err := v.ShownNote(ctx, n)
	if err != nil {
		return item, err
	}
	places := bytesOf(shown.Body, r.Ranges)
	if hashOf(shown.Body) != r.Hash {
		if places, err = f.masked(ctx, v, n, r, shown.Body); err != nil {
			return item, err
		}
		item.Ranges = unitsOf(shown.Body, places, r.Ranges)
	}
	if places == nil {
		return stale(turn.HighlightChanged), nil
	}
	for _, p := range places {
		*left -= p[1] - p[0]
	}
	if *left < 0 {
		item.Why = turn.HighlightTooLong
		return item, nil
	}
	lines := linesOf(shown.Body)
	for _, p := range places {
		line, _ := slices.BinarySearch(lines, p[0])
		item.Excerpts = append(item.Excerpts, turn.ChatExcerpt{Line: line + 1, Text: shown.Body[p[0]:p[1]]})
	}
	return item, nil
}

// masked returns the places in a body of passages that a remote model was shown, where links that are not for it are
// withheld; nil if it was shown another body, or passages with something withheld.
func (f *ExcerptFinder) masked(ctx context.Context, v *audience.View, n *notes.Note, r *record.ChatReference, body string) ([][2]int, error) {
	if v.Hides() || f.remote.Note(n.ID) == nil {
		return nil, nil
	}
	shown, err := f.remote.ShownNote(ctx, n)
	if err != nil || hashOf(shown.Body) != r.Hash {
		return nil, err
	}
	var out [][2]int
	from := 0
	for _, p := range bytesOf(shown.Body, r.Ranges) {
		passage := shown.Body[p[0]:p[1]]
		i := strings.Index(body[from:], passage)
		if i < 0 {
			return nil, nil
		}
		out = append(out, [2]int{from + i, from + i + len(passage)})
		from += i
	}
	return out, nil
}

func hashOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// bytesOf returns places in bytes of places in UTF-16 code units; nil if one of them is no place in the text.
func bytesOf(text string, ranges [][2]int) [][2]int {
	ends := make([]int, 0, 2*len(ranges))
	for _, r := range ranges {
		if r[0] < 0 || r[0] >= r[1] {
			return nil
		}
		ends = append(ends, r[0], r[1])
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	at := make(map[int]int, len(ends))
	unit := 0
	for i, c := range text {
		if len(ends) == 0 {
			break
		}
		if unit == ends[0] {
			at[unit], ends = i, ends[1:]
		}
		unit += width(c)
	}
	if len(ends) > 0 && unit == ends[0] {
		at[unit], ends = len(text), ends[1:]
	}
	if len(ends) > 0 { // behind the end, or in the middle of a character
		return nil
	}
	out := make([][2]int, len(ranges))
	for i, r := range ranges {
		out[i] = [2]int{at[r[0]], at[r[1]]}
	}
	return out
}

// unitsOf returns places in UTF-16 code units of places in bytes, which are in their order; for nil those that are given
// instead.
func unitsOf(text string, places, instead [][2]int) [][2]int {
	if places == nil {
		return instead
	}
	at, unit := 0, 0
	units := func(part string) (n int) {
		for _, c := range part {
			n += width(c)
		}
		return n
	}
	out := make([][2]int, len(places))
	for i, p := range places {
		unit += units(text[at:p[0]])
		at = p[0]
		out[i] = [2]int{unit, unit + units(text[p[0]:p[1]])}
	}
	return out
}

// linesOf returns where the ends of the lines of a text are.
func linesOf(text string) (ends []int) {
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// width is how many UTF-16 code units a character takes.
func width(c rune) int {
	if c > 0xffff {
		return 2
	}
	return 1
}
