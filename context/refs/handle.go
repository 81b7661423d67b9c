package refs

// handle*.go make and check handles: the words by which a person names a memory, a context, a
// conversation, a tag or a domain in a message, as in @prefer_morning_a3f2. They say how handles
// are compared, which references are numbers, and which are messages.
//
// Where a handle is stored, the store that does so asks for another one when the first is in use:
// nothing here knows a store. Handles of entities are made in entities/names, since the index of
// names stands below this package; they are made of the same words, and the reserved words, the
// stopwords and the suffix of entities are declared there, once. The suffixes of the other kinds
// are declared here.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
)

// HandleKind is what a handle names.
type HandleKind uint8

// The kinds. Handles of the first three are stored, and share one namespace; the others
// are computed whenever they are needed.
const (
	MemoryHandle HandleKind = iota
	ContextHandle
	ConversationHandle
	EntityHandle
	TagHandle
	DomainHandle
)

// kinds are the names of the kinds, and what their handles end with.
var kinds = [...]struct{ name, suffix string }{
	MemoryHandle:       {"memory", ""},
	ContextHandle:      {"context", "_context"},
	ConversationHandle: {"conversation", ""},
	EntityHandle:       {"entity", names.HandleSuffix},
	TagHandle:          {"tag", "_tag"},
	DomainHandle:       {"domain", "_domain"},
}

// HandleKinds returns all kinds.
func HandleKinds() []HandleKind {
	return []HandleKind{MemoryHandle, ContextHandle, ConversationHandle, EntityHandle, TagHandle, DomainHandle}
}

// String returns the name of the kind, as it stands in messages.
func (k HandleKind) String() string { return kinds[k].name }

// Suffix returns what the handles of the kind end with, "" where that is nothing certain.
func (k HandleKind) Suffix() string { return kinds[k].suffix }

// Stored reports whether handles of the kind are stored, so that people may choose them.
func (k HandleKind) Stored() bool { return k <= ConversationHandle }

// Sizes of handles, in characters.
const (
	minHandle = 3
	MaxHandle = names.MaxHandle
)

// FoldHandle returns the form in which handles are compared: that of entities/names, with full
// case folding, so that ΣΟΦΟΣ is σοφος. Handles of which it is the same can't both be given.
func FoldHandle(handle string) string {
	if isASCII(handle) {
		return strings.ToLower(handle)
	}
	return norm.NFKC.String(text.Fold(names.FoldHandle(LowerHandle(handle))))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// LowerHandle returns the form in which handles are stored: NFC, lower case. To fold one begins with it, since
// some letters fold otherwise before: a handle is found by what was typed when it was chosen.
func LowerHandle(handle string) string {
	if isASCII(handle) {
		return strings.ToLower(handle)
	}
	return norm.NFC.String(strings.ToLower(norm.NFC.String(handle)))
}

// CheckHandle checks a handle that a person has chosen for a record of the kind, and
// returns it as it is stored: NFC, lower case. Whether it is taken is for the store to say.
func CheckHandle(handle string, kind HandleKind) (stored string, err error) {
	if !kind.Stored() {
		return "", computed(kind)
	}
	stored = LowerHandle(handle)
	if err := checkShape(stored); err != nil {
		return "", err
	}
	if err := checkMeaning(FoldHandle(stored), kind); err != nil {
		return "", err
	}
	return stored, nil
}

// computed is the error for a kind whose handles follow its names.
func computed(kind HandleKind) error {
	article := "a"
	if kind == EntityHandle {
		article = "an"
	}
	e := fault.Clash(fault.State, "the handle of %s %s is computed from its name", article, kind)
	e.Field = field
	return e.WithHint("rename the %s", kind)
}

// field is the parameter that holds a handle.
const field = "handle"

// checkShape checks the characters of a handle: one that passes is read as a whole where
// it stands behind an @.
func checkShape(handle string) error {
	size := utf8.RuneCountInString(handle)
	if size < minHandle || size > MaxHandle {
		return fault.Field(field, "a handle has %d to %d characters, this one has %d", minHandle, MaxHandle, size).
			WithHint("choose a handle of %d to %d characters", minHandle, MaxHandle)
	}
	if first, _ := utf8.DecodeRuneInString(handle); !unicode.IsLetter(first) {
		return fault.Field(field, "a handle begins with a letter").WithHint("put a letter first")
	}
	var last rune
	for _, r := range handle {
		if !inHandle(r) {
			return fault.Field(field, "a handle has letters, their marks, digits, _ and - only").
				WithHint("put _ in place of every other character")
		}
		if last < utf8.RuneSelf && text.IsUnspacedScript(r) && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
			return fault.Field(field, "a handle would end where a script without blanks follows a Latin letter or digit").
				WithHint("put _ between the two")
		}
		last = r
	}
	if last == '_' || last == '-' {
		return fault.Field(field, "a handle does not end with _ or -").WithHint("leave out the last character")
	}
	return nil
}

func inHandle(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// checkMeaning refuses what is read as another sort of reference.
func checkMeaning(folded string, kind HandleKind) error {
	words := names.ReservedWords()
	for _, reserved := range words {
		if folded == reserved {
			return fault.Field(field, "%s are reserved words", strings.Join(words, ", ")).
				WithHint("choose another handle, or add a word to it")
		}
	}
	if number, ok := strings.CutPrefix(folded, numberPrefix); ok && allDigits(number) {
		return fault.Field(field, "%sN means the memory with the number N", numberPrefix).
			WithHint("choose another handle")
	}
	if _, _, ok := SplitMessageRef(folded); ok {
		return fault.Field(field, "a handle of this form means a message of a conversation").
			WithHint("choose a handle that does not begin with conversation_ or conv_")
	}
	for _, other := range HandleKinds() {
		suffix := other.Suffix()
		if other != kind && suffix != "" && strings.HasSuffix(folded, suffix) {
			return fault.Field(field, "a handle that ends with %s means a handle of another kind: %s", suffix, other).
				WithHint("leave out %s", suffix)
		}
	}
	return nil
}
