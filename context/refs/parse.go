package refs

import (
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names/fold"
)

// MaxText is how many bytes a text may have.
const MaxText = 1 << 20

// Kind says how a text refers to a record.
type Kind string

// The kinds of references.
const (
	MemoryID     Kind = "memoryId"     // @memory:UUID, @mem:UUID
	Number       Kind = "number"       // #42, @claim_42
	Handle       Kind = "handle"       // @handle, of whatever has one
	Conversation Kind = "conversation" // @conversation_HANDLE_message_3: one message
	Note         Kind = "note"         // [[Title]]
)

// Ref is one place of a text that refers to a record. Places are half open.
type Ref struct {
	Kind Kind   `json:"kind" enum:"memoryId,number,handle,conversation,note" jsonschema:"what it refers by"`
	Raw  string `json:"raw" jsonschema:"as it is written, marks included"`
	// ID is the same however it is written: a handle in NFC and lower case, claim_42 for a
	// number, the target of a wikilink.
	ID    string `json:"id" jsonschema:"what it refers to: id, claim_N, handle in lower case, or title of a note"`
	Start int    `json:"start" jsonschema:"where it begins, in the unit that was asked for"`
	End   int    `json:"end" jsonschema:"where it ends"`
}

// Unit is what places in a text are counted in.
type Unit string

// The units.
const (
	UTF16 Unit = "utf16"
	Char  Unit = "char" // code points
	Byte  Unit = "byte" // of UTF-8
)

// Result is what a message refers to. The lists hold each target once, in the order in
// which they are mentioned first; Refs holds every mention.
type Result struct {
	CleanText string   `json:"cleanText" jsonschema:"the text without the references; notes by their names"`
	MemoryIDs []string `json:"memoryIds" jsonschema:"ids of memories"`
	Handles   []string `json:"handles" jsonschema:"handles, numbers of memories as claim_N, and messages"`
	Notes     []string `json:"notes" jsonschema:"titles or paths of notes"`
	Refs      []Ref    `json:"refs" jsonschema:"every reference, in the order of the text"`
}

// Parse returns the references of a text, with places in a unit, UTF16 where that is "".
// It knows no store, so CleanText is without all handles, those of entities and of nothing
// included. Errors: fault.TooLarge for a text of more than MaxText bytes, fault.Invalid for
// another unit. O(length of the text).
func Parse(text string, unit Unit) (*Result, error) {
	if len(text) > MaxText {
		return nil, fault.TooLarge("text", len(text), MaxText, "bytes")
	}
	if unit == "" {
		unit = UTF16
	}
	if unit != UTF16 && unit != Char && unit != Byte {
		return nil, fault.Field("unit", "a unit is %s, %s or %s", UTF16, Char, Byte).WithHint("leave it out for %s", UTF16)
	}
	found := Find(text)
	out := &Result{
		CleanText: Clean(text, found, nil), MemoryIDs: []string{}, Handles: []string{}, Notes: []string{}, Refs: found,
	}
	if len(found) == 0 {
		out.Refs = []Ref{}
	}
	type target struct {
		list   *[]string
		folded string
	}
	seen := make(map[target]bool, len(found))
	for _, r := range found {
		list := &out.Handles
		switch r.Kind {
		case MemoryID:
			list = &out.MemoryIDs
		case Note:
			list = &out.Notes
		}
		t := target{list, fold.Name(r.ID)}
		if !seen[t] {
			seen[t] = true
			*list = append(*list, r.ID)
		}
	}
	convert(text, out.Refs, unit)
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
			from := at
			for at < end && text[at] < utf8.RuneSelf {
				at++
			}
			units += at - from
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
