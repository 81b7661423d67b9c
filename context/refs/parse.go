package refs

import (
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// MaxText is how many bytes a text may have.
const MaxText = 1 << 20

// What clients see of references is declared in entities/record.

type (
	// Kind says how a text refers to a record.
	Kind = record.RefKind
	// Ref is one place of a text that refers to a record. Places are half open.
	Ref = record.Ref
	// Result is what a message refers to.
	Result = record.Refs
)

// The kinds of references.
const (
	MemoryID     Kind = "memoryId"     // @memory:UUID, @mem:UUID
	Number       Kind = "number"       // #42, @claim_42
	Handle       Kind = "handle"       // @handle, of whatever has one
	Conversation Kind = "conversation" // @conversation_HANDLE_message_3: one message
	Note         Kind = "note"         // [[Title]]
)

// Unit is what places in a text are counted in.
type Unit string

// The units.
const (
	UTF16 Unit = "utf16"
	Char  Unit = "char" // code points
	Byte  Unit = "byte" // of UTF-8
)

// Parse returns the references of a text, with places in a unit, UTF16 where that is "".
// It knows no store, so CleanText is without all handles, those of entities and of nothing
// included. Errors: fault.TooLarge for a text of more than MaxText bytes, fault.Invalid for
// another unit. O(length of the text).
func Parse(s string, unit Unit) (*Result, error) {
	if len(s) > MaxText {
		return nil, fault.TooLarge("text", len(s), MaxText, "bytes")
	}
	if unit == "" {
		unit = UTF16
	}
	if unit != UTF16 && unit != Char && unit != Byte {
		return nil, fault.Field("unit", "a unit is %s, %s or %s", UTF16, Char, Byte).WithHint("leave it out for %s", UTF16)
	}
	found := Find(s)
	out := &Result{
		CleanText: Clean(s, found, nil), MemoryIDs: []string{}, Handles: []string{}, Notes: []string{}, Refs: found,
	}
	if len(found) == 0 {
		out.Refs = []Ref{}
	}
	seen := sets.Get().(set)
	for _, r := range found {
		list, bit := &out.Handles, uint8(1)
		switch r.Kind {
		case MemoryID:
			list, bit = &out.MemoryIDs, 2
		case Note:
			list, bit = &out.Notes, 4
		}
		// Most are not new, and need no folding to be known by.
		if seen.add(r.ID, bit) {
			if folded := text.Fold(r.ID); folded == r.ID || seen.add(folded, bit) {
				*list = append(*list, r.ID)
			}
		}
	}
	seen.free()
	convert(s, out.Refs, unit)
	return out, nil
}

// convert turns the places of references from bytes into a unit. O(length of the text).
func convert(text string, refs []Ref, unit Unit) {
	if unit == Byte {
		return
	}
	at, units := 0, 0
	to := func(end int) int {
		for at < end {
			plain := asciiLen(text[at:end])
			at, units = at+plain, units+plain
			if at == end {
				break
			}
			r, size := utf8.DecodeRuneInString(text[at:])
			at += size
			units++
			if unit == UTF16 && r > 0xFFFF {
				units++
			}
		}
		return units
	}
	for i := range refs {
		refs[i].Start = to(refs[i].Start)
		refs[i].End = to(refs[i].End)
	}
}

// asciiLen returns how many bytes of ASCII a text begins with.
func asciiLen(text string) int {
	n := 0
	for ; n+8 <= len(text); n += 8 { // eight at a time: nearly all texts have long runs of them
		eight := text[n : n+8]
		if (eight[0]|eight[1]|eight[2]|eight[3]|eight[4]|eight[5]|eight[6]|eight[7])&utf8.RuneSelf != 0 {
			break
		}
	}
	for n < len(text) && text[n] < utf8.RuneSelf {
		n++
	}
	return n
}
