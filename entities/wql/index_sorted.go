package wql

import (
	"encoding/binary"

	"github.com/tidwall/btree"

	"github.com/ctxd/ctxd/entities"
)

// maxSortedText is the number of bytes of the longest text that an index of class
// InOrder holds.
const maxSortedText = 1024

// An index of class InOrder has one entry for each entity. Its text is the value,
// the name and the id, each so written that the order of the bytes is that of
// ORDER BY. Entities without a value stand in a part of their own.
type sortedEntry struct {
	text  string
	value int32 // where the value ends
	id    int32 // where the id begins
}

const (
	valuePart = "\x01" // begins the entries with a value
	nullPart  = "\x02" // begins those without
	afterNull = "\x03"
)

func newSorted() *btree.BTreeG[sortedEntry] {
	return btree.NewBTreeGOptions(func(a, b sortedEntry) bool { return a.text < b.text }, btree.Options{NoLocks: true})
}

// weight is what an entry counts, in entries of other indexes.
func (s *sortedEntry) weight() int { return 1 + len(s.text)/128 }

// entryOf makes the entry of an entity. ok is false for one whose place can't be
// told by bytes: its value is of another kind than its field, or is too long.
func (x *fieldIndex) entryOf(e *entities.Entity) (entry sortedEntry, ok bool) {
	var v datum
	loadField(x.field, e, x.loc, &v)
	if v.Kind != kindNull && v.Kind != x.field.Kind || len(v.Text) > maxSortedText || len(e.Name) > maxSortedText {
		return entry, false
	}
	key := make([]byte, 0, 64+3*len(v.Text)+3*len(e.Name))
	switch v.Kind {
	case kindNull:
		key = append(key, nullPart...)
	case kindNumber:
		key = appendSortedInt(append(key, valuePart...), numberKey(v.Number))
	case kindBool, kindDate, kindInstant:
		key = appendSortedInt(append(key, valuePart...), v.Int)
	case kindText, kindChoice:
		key = appendSortedText(append(key, valuePart...), v.Text)
	default:
		return entry, false
	}
	entry.value = int32(len(key))
	key = appendSortedText(key, e.Name)
	entry.id = int32(len(key))
	entry.text = string(append(key, e.ID...))
	return entry, true
}

func appendSortedInt(key []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(n)^1<<63)
}

// appendSortedText appends a text so that natural order comes first and the text
// itself decides between equals. Neither is the beginning of another.
func appendSortedText(key []byte, s string) []byte {
	var memory [128]byte
	natural := appendNaturalKey(memory[:0], s)
	for _, c := range natural {
		key = appendSortedByte(key, c)
	}
	key = append(key, 0, 1)
	for i := range len(s) {
		key = appendSortedByte(key, s[i])
	}
	return append(key, 0, 1)
}

func appendSortedByte(key []byte, c byte) []byte {
	if c == 0 {
		return append(key, 0, 0xff)
	}
	return append(key, c)
}

// changeSorted takes in that an entity was old and is now; either may be nil.
func (x *fieldIndex) changeSorted(old, now *entities.Entity) {
	var before, after sortedEntry
	var was, is bool
	if old != nil {
		if before, was = x.entryOf(old); !was {
			x.unplaced--
		}
	}
	if now != nil {
		if after, is = x.entryOf(now); !is {
			x.unplaced++
		}
	}
	if was && is && before.text == after.text {
		return
	}
	if was {
		x.sorted.Delete(before)
		x.size -= before.weight()
	}
	if is {
		x.sorted.Set(after)
		x.size += after.weight()
	}
}

// Len is the number of entities in an index of class InOrder. ok is false when it
// cannot tell the order of all.
func (x *fieldIndex) Len() (n int, ok bool) { return x.sorted.Len(), x.unplaced == 0 }

// sortedEntity is an entity in an index of class InOrder.
type sortedEntity struct {
	ID    string
	Value string // the same for equal values and for no others
}

// indexWalk is a way through an index of class InOrder, in pieces between which its
// lock may be free.
type indexWalk struct {
	desc      bool
	parts     []string // that are still to be walked, by their beginnings
	low, high string   // of the values to walk: from low on, below high
	next      string   // where an ascent goes on; empty when none is under way
	end       string   // where it ends
}

// newIndexWalk begins a walk over all entities. Entities with equal values come by name
// and id whatever the direction.
func newIndexWalk(desc, nullsFirst bool) *indexWalk {
	w := &indexWalk{desc: desc, parts: []string{valuePart, nullPart}, low: valuePart, high: nullPart}
	if nullsFirst {
		w.parts = []string{nullPart, valuePart}
	}
	return w
}

// Between restricts the walk to the values of numbers, days or points in time from
// low to high, by their keys in an index of a class with an order.
func (w *indexWalk) Between(low, high int64) {
	w.parts = []string{valuePart}
	w.low = string(appendSortedInt([]byte(valuePart), low))
	w.high = string(appendSortedInt([]byte(valuePart), high)) + "\xff" // behind each entry of that value
}

// Next appends up to n further entities to list. It appends none at the end.
func (w *indexWalk) Next(x *fieldIndex, n int, list []sortedEntity) []sortedEntity {
	for have := len(list); len(list) < have+n; {
		if w.next == "" && !w.ascent(x) {
			return list
		}
		more := false
		x.sorted.Ascend(sortedEntry{text: w.next}, func(entry sortedEntry) bool {
			if entry.text >= w.end {
				return false
			}
			if len(list) == have+n {
				w.next, more = entry.text, true
				return false
			}
			list = append(list, sortedEntity{entry.text[entry.id:], entry.text[:entry.value]})
			return true
		})
		if !more {
			w.next = ""
		}
	}
	return list
}

// ascent begins the next ascent: over all values, over those equal to one, which is
// the highest that is left, or over the entities without a value.
func (w *indexWalk) ascent(x *fieldIndex) bool {
	for len(w.parts) > 0 {
		if w.parts[0] == nullPart {
			w.next, w.end, w.parts = nullPart, afterNull, w.parts[1:]
			return true
		}
		if !w.desc {
			w.next, w.end, w.parts = w.low, w.high, w.parts[1:]
			return true
		}
		found := false
		x.sorted.Descend(sortedEntry{text: w.high}, func(entry sortedEntry) bool {
			if entry.text >= w.low {
				w.next, found = entry.text[:entry.value], true
			}
			return false
		})
		if found {
			w.end, w.high = w.high, w.next
			return true
		}
		w.parts = w.parts[1:]
	}
	return false
}
