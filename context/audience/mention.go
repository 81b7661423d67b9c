package audience

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes/markdown"
)

// MentionAt returns what a text behind an @ begins with: the entities that are
// meant, and the length of what names them, which is 0 for none.
func (v *View) MentionAt(text string) (found []*entities.Entity, size int) {
	return v.mentionAt(text, v.skipEntity())
}

func (v *View) mentionAt(text string, skip entities.Skip) (found []*entities.Entity, size int) {
	if inner, size, ok := markdown.BracketedName(text); ok {
		return v.entities.Named(inner, skip), size
	}
	name, found := v.longestName(text, skip)
	if handle := names.HandleAt(text); len(handle) > len(name) {
		if of := v.entities.Handled(handle, skip); len(of) > 0 {
			return of, len(handle)
		}
	}
	return found, len(name)
}

// longestName returns the longest name or alias that the text begins with and
// that ends at a word boundary (UAX 29), as it is written there, and the
// entities of that name. It looks no further than names go: O(longest name).
func (v *View) longestName(text string, skip entities.Skip) (name string, found []*entities.Entity) {
	name = LongestMatch(text, func(fold string) (whole, beginning bool) { return v.entities.MatchName(fold, skip) })
	if name == "" {
		return "", nil
	}
	return name, v.entities.Named(name, skip)
}

// LongestMatch is longestName for names that match knows by their folds: whole is true
// for one of them, beginning while a longer text may be one.
func LongestMatch(text string, match func(fold string) (whole, beginning bool)) string {
	if text == "" {
		return ""
	}
	if !isWordByte(text[0]) {
		// Before anything that costs more: a text may be of nothing but @.
		first := graphemes.FromString(text)
		first.Next()
		if _, beginning := match(entities.Fold(first.Value())); !beginning {
			return ""
		}
	}
	if len(text) > markdown.MaxMention {
		end := markdown.MaxMention
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	longest := 0
	plain := foldedStart(text)
	try := func(end int) bool {
		var fold string
		if end <= len(plain) {
			fold = plain[:end]
		} else {
			fold = entities.Fold(text[:end])
		}
		whole, beginning := match(fold)
		if whole {
			longest = end
		}
		return beginning
	}
	nameEnds(text, try)
	return text[:longest]
}

// nameMarks are the marks that may stand between an @ and a name, and behind it:
// emphasis, quotes and brackets. maxMarks are the bytes of them that are stepped over.
const (
	nameMarks = "*~=`_\\\"'“”‘’„‚«»‹›()[]{}<>"
	maxMarks  = 16
)

// privateName reports whether a text begins with a name or handle of none but private
// records, maybe behind marks, and how long that is.
func (l *linkLook) privateName(text string) (size int, private bool) {
	size, private = l.privateNameAt(text)
	if private {
		return size, true
	}
	marks, behind := behindMarks(text)
	if marks == 0 {
		return 0, false
	}
	size, private = l.privateNameAt(behind)
	return marks + size, private
}

// behindMarks returns how many bytes of marks a text behind an @ begins with, and what
// may be a name behind them.
func behindMarks(text string) (marks int, behind string) {
	head := text[:min(len(text), maxMarks)]
	marks = len(head) - len(strings.TrimLeft(head, nameMarks))
	behind = text[marks:]
	if strings.IndexByte(text[:marks], '_') >= 0 {
		behind = beforeUnderscore(behind)
	}
	return marks, behind
}

// beforeUnderscore returns a text up to the first '_' behind which a word ends: in a name
// it is a letter, behind one it may be a mark.
func beforeUnderscore(text string) string {
	text = text[:min(len(text), markdown.MaxMention)]
	for at := range len(text) {
		if text[at] != '_' {
			continue
		}
		after, _ := utf8.DecodeRuneInString(text[at+1:])
		if at+1 == len(text) || !unicode.IsLetter(after) && !unicode.IsDigit(after) {
			return text[:at]
		}
	}
	return text
}

// privateNameAt is privateName for a text without marks. Of an entity and a note the one
// with the longer name is meant, of one length the entity whose own name it is.
func (l *linkLook) privateNameAt(text string) (size int, private bool) {
	found, size := l.v.mentionAt(text, nil)
	if len(found) == 0 {
		size = 0
	}
	name := text[:size]
	inner, _, bracketed := markdown.BracketedName(text)
	if bracketed {
		name = inner
	}
	least := size // how long another name must be
	if size > 0 && l.v.ownedByPublic(found, name) {
		least++
	}
	note := LongestMatch(text, l.v.notes.MatchPrivate)
	private = note != "" && len(note) >= least && l.private(note)
	was := wasMentioned(l.v.entities.Past(), text)
	if was != "" && (len(was) > max(size, len(note)) || !private && len(was) >= least) {
		private = entities.IsFormerHandle(l.v.entities.Past(), was) || l.v.hidesContext(was) || l.private(was)
		note = was
	}
	hidden := l.v.hiddenAt(text)
	if size == 0 && !private && hidden == 0 {
		if id := idAt(text); l.v.hidesID(id) {
			return len(id), true
		}
	}
	switch {
	case private:
		return max(len(note), hidden), true
	case hidden > 0 && hidden >= size: // a handle comes before a name of its length
		return hidden, true
	}
	return size, size > 0 && l.v.ownedByPrivate(found, name)
}

// idAt returns what may be an id at the head of a text; "" for nothing.
func idAt(text string) string {
	const longest = 64
	n := 0
	for n < min(len(text), longest+1) && (isWordByte(text[n]) || text[n] == '-' || text[n] == '_') {
		n++
	}
	if n > longest {
		return ""
	}
	return text[:n]
}

// ownedByPublic reports whether a name that leads to entities is the own one of a public
// one that is made from a file, which it does not have from a link.
func (v *View) ownedByPublic(list []*entities.Entity, name string) bool {
	return slices.ContainsFunc(list, func(e *entities.Entity) bool {
		source := v.entitySource(e)
		return !e.Private && e.VaultBacked && ownName(name, e.Name, e.Aliases, source, len(source(e.Name)) == 0)
	})
}

// calledPrivate reports whether a name in brackets behind an @ is that of none but
// private records.
func (l *linkLook) calledPrivate(name string) bool {
	plain := spelling(name)
	for _, name := range [...]string{name, plain, strings.Trim(plain, nameMarks)} {
		if l.v.allPrivate(name) || l.v.hidesID(strings.TrimPrefix(name, "id:")) || l.v.hidesHandle(name) || l.v.hidesContext(name) {
			return true
		}
		whole, _ := l.v.notes.MatchPrivate(entities.Fold(strings.TrimSpace(name)))
		meant := whole || nameIsPast(l.v.entities.Past(), name)
		if meant && !l.v.ownedByPublic(l.v.entities.Named(name, nil), name) && l.private(name) {
			return true
		}
	}
	return false
}

// foldedStart returns the fold of the ASCII that a text begins with, as far as
// most names go. It is as long as that, so the fold of a beginning is a beginning
// of the fold.
func foldedStart(text string) string {
	const most = 96
	n := 0
	for n < min(len(text), most) && text[n] < utf8.RuneSelf {
		n++
	}
	return entities.Fold(text[:n])
}

// isWordByte reports whether a byte is a letter or digit of ASCII.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isLineEnd(r rune) bool { return r == '\r' || r == '\n' }

// nameEnds calls try with the places where a name at the head of a text may
// end, from left to right, until it returns false or the line ends.
func nameEnds(text string, try func(end int) bool) {
	for w := words.FromString(text); w.Next(); {
		if isLineEnd(rune(w.Value()[0])) {
			return
		}
		if w.Value() == " " {
			continue // no name ends with a blank
		}
		// UAX 29 keeps "Alice's" and "Alice.Then" whole; a name may end there.
		for at, r := range w.Value() {
			if at > 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' {
				if !try(w.Start() + at) {
					return
				}
			}
		}
		if !try(w.End()) {
			return
		}
	}
}
