package refs

// An [Index] (index*.go) finds handles by what a person has typed of them: all handles of the
// store, of memories, contexts, conversations, entities, tags and domains.
//
// Complete returns what a beginning may mean, best first (REF-16). Near returns what a
// handle may have meant that nobody has. Lookup returns who has a handle, now or before.
//
// # Structure
//
// Each kind has three lists of starts, which are sorted by text: of handles from their
// beginning, of handles from their later words, of names; memories have one of numbers
// as well. A list lies in pieces, and each piece knows the best of its starts. A prefix
// is a range of a list: Complete looks at the best of each piece of the range, and then
// into those pieces only whose best is among the best. This is what a table of the best
// for each short prefix would do, for prefixes of any length, and there is nothing to
// fill again when the best of a prefix is deleted.
//
// Near looks at each handle and name once. The lengths and the sets of characters rule
// nearly all of them out; the edit distance (Levenshtein, in code points) of the others
// is computed within a band.
//
// # Readers
//
// An entry counts differently for who sees private records and for who does not, and may
// not exist for the latter. A [SkipEntry] leaves out what else a reader does not see. What is
// skipped takes no place within a limit and changes no other's.
//
// # Who may call it
//
// It is made from the records, and made again at each start: nothing of it is stored.
// context/gather, which follows the commits of the store, keeps one. It is not safe for concurrent use;
// Complete, Near and Lookup may run beside each other.

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Entry is a record that has a handle.
type Entry struct {
	Kind   HandleKind
	ID     string
	Handle string
	Former []string // handles that it had before: they lead to it, and are completed as names are
	Names  []string // what it is called: they are completed behind handles
	Number uint64   // of a memory; 0 for none
	Label  string   // what it is shown as; the index does not look at it

	// Used is when it was last used or updated. Public is the same as somebody knows who
	// does not see private records; zero: it is private.
	Used, Public time.Time
}

// reader is whose completions they are.
type reader int

const (
	everybody  reader = iota
	publicOnly        // who does not see private records
	readers
)

// number is the place of an entry in Index.list.
type number = uint32

// item is what the Index knows of an entry.
type item struct {
	// own is texts[handleText]. Most comparisons look at it, and each look at what lies elsewhere is a wait for
	// memory (BenchmarkREF16_Complete).
	own string
	Entry
	// texts are the forms that are compared: the handle, then the number or "", then the
	// names, then former handles.
	texts []string
	near  int32 // place of its first text in Index.near
}

// Places in item.texts.
const (
	handleText = iota
	numberText
	nameTexts
)

type key struct {
	kind HandleKind
	id   string
}

// Index finds entries by their handles. New makes one.
type Index struct {
	byKey    map[key]number
	byHandle map[string][]number // by fold, former handles included
	list     []item
	free     []number
	ranks    [readers][]uint64 // by number; see rankOf

	handles, words, names [handleKinds]list
	numbers               list

	near []nearText
	dead int // of near
}

// handleKinds is how many kinds there are.
const handleKinds = int(DomainHandle) + 1

// NewIndex returns an empty Index.
func NewIndex() *Index {
	return &Index{byKey: make(map[key]number), byHandle: make(map[string][]number)}
}

// Len is how many entries there are.
func (x *Index) Len() int { return len(x.byKey) }

// Put enters a record, or changes what is known of it. O(log n) for each of its words, and
// a move of some kilobytes.
func (x *Index) Put(e Entry) {
	texts := textsOf(&e)
	k := key{e.Kind, e.ID}
	at, known := x.byKey[k]
	if known && len(e.Names) == len(x.list[at].Names) && slices.Equal(x.list[at].texts, texts) {
		x.renew(at, e)
		return
	}
	if known {
		x.Delete(e.Kind, e.ID)
	}
	at = x.enter(e, texts)
	for s := range x.starts(at) {
		x.listOf(s).insert(x, s)
	}
}

// enter takes an entry in, but for its starts.
func (x *Index) enter(e Entry, texts []string) number {
	at := number(len(x.list))
	if last := len(x.free) - 1; last >= 0 {
		at, x.free = x.free[last], x.free[:last]
	} else {
		x.list = append(x.list, item{})
		for who := range x.ranks {
			x.ranks[who] = append(x.ranks[who], 0)
		}
	}
	x.list[at] = item{own: texts[handleText], Entry: e, texts: texts}
	x.rank(at)
	x.byKey[key{e.Kind, e.ID}] = at
	for _, text := range x.list[at].handles() {
		x.byHandle[text] = append(x.byHandle[text], at)
	}
	x.enterNear(at)
	return at
}

// Load enters many records into an empty Index: faster than Put of each. O(n log n).
func (x *Index) Load(entries iter.Seq[Entry]) {
	all := make(map[*list][]start)
	for e := range entries {
		k := key{e.Kind, e.ID}
		if _, twice := x.byKey[k]; twice {
			continue
		}
		at := x.enter(e, textsOf(&e))
		for s := range x.starts(at) {
			l := x.listOf(s)
			all[l] = append(all[l], s)
		}
	}
	for l, starts := range all {
		l.fill(x, starts)
	}
}

// renew takes new values for an entry whose texts are as they were.
func (x *Index) renew(at number, e Entry) {
	m := &x.list[at]
	m.Entry = e
	before := [readers]uint64{x.ranks[everybody][at], x.ranks[publicOnly][at]}
	x.rank(at)
	if before == [readers]uint64{x.ranks[everybody][at], x.ranks[publicOnly][at]} {
		return
	}
	for s := range x.starts(at) {
		x.listOf(s).rerank(x, s)
	}
}

// Delete takes a record out. O(log n) for each of its words.
func (x *Index) Delete(kind HandleKind, id string) {
	k := key{kind, id}
	at, ok := x.byKey[k]
	if !ok {
		return
	}
	for s := range x.starts(at) {
		x.listOf(s).remove(x, s)
	}
	delete(x.byKey, k)
	for _, text := range x.list[at].handles() {
		left := slices.DeleteFunc(x.byHandle[text], func(n number) bool { return n == at })
		x.byHandle[text] = left
		if len(left) == 0 {
			delete(x.byHandle, text)
		}
	}
	x.leaveNear(at)
	x.list[at] = item{}
	for who := range x.ranks {
		x.ranks[who][at] = 0
	}
	x.free = append(x.free, at)
}

// Get returns the entry of a record. O(1).
func (x *Index) Get(kind HandleKind, id string) (Entry, bool) {
	at, ok := x.byKey[key{kind, id}]
	if !ok {
		return Entry{}, false
	}
	return x.list[at].Entry, true
}

// Lookup returns the entries that have a handle, or had it, those that have it first, then by
// kind and id. O(1) and for each of them.
func (x *Index) Lookup(ref string) []Entry {
	text := FoldHandle(ref)
	found := slices.Clone(x.byHandle[text])
	former := func(n number) int {
		if x.list[n].own == text {
			return 0
		}
		return 1
	}
	slices.SortFunc(found, func(a, b number) int {
		return cmp.Or(former(a)-former(b), x.compareKeys(a, b))
	})
	entries := make([]Entry, len(found))
	for i, n := range found {
		entries[i] = x.list[n].Entry
	}
	return entries
}

// textsOf returns item.texts of an entry.
func textsOf(e *Entry) []string {
	texts := make([]string, nameTexts, nameTexts+len(e.Names)+len(e.Former))
	texts[handleText] = FoldHandle(e.Handle)
	if e.Number > 0 {
		texts[numberText] = strconv.FormatUint(e.Number, 10)
	}
	for _, name := range e.Names {
		texts = append(texts, foldName(name))
	}
	for _, former := range e.Former {
		texts = append(texts, FoldHandle(former))
	}
	return texts
}

// handles returns the folds of the handle and of former ones, each once.
func (m *item) handles() []string {
	all := []string{m.own}
	for _, text := range m.texts[nameTexts+len(m.Names):] {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if m.own == "" {
		return all[1:]
	}
	return all
}

// foldName returns the form in which names are compared: that of handles, with one _ for
// each run of blanks, - and _, as people type them behind an @.
func foldName(name string) string {
	folded := FoldHandle(name)
	var out strings.Builder
	out.Grow(len(folded))
	for i, word := range strings.FieldsFunc(folded, isJoint) {
		if i > 0 {
			out.WriteByte('_')
		}
		out.WriteString(word)
	}
	return out.String()
}

// foldTyped is foldName for the beginning of a name: what joins words at its end stays.
func foldTyped(typed string) string {
	folded := foldName(typed)
	last, _ := utf8.DecodeLastRuneInString(typed)
	if folded != "" && isJoint(last) {
		folded += "_"
	}
	return folded
}

func isJoint(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) }

// rank keeps what an entry counts for each reader.
func (x *Index) rank(at number) {
	e := &x.list[at].Entry
	x.ranks[everybody][at] = rankOf(e, e.Used)
	x.ranks[publicOnly][at] = rankOf(e, e.Public)
}

// rankOf returns what an entry counts among those that match equally well: more for a later
// time, to the microsecond, then for a shorter handle. 0 is for one that is not there.
func rankOf(e *Entry, used time.Time) uint64 {
	if used.IsZero() {
		return 0
	}
	const lengths = 8 // bits
	micros := min(max(used.UnixMicro(), 0), 1<<(64-lengths)-1)
	length := min(utf8.RuneCountInString(e.Handle), 1<<lengths-2)
	return uint64(micros)<<lengths | uint64(1<<lengths-1-length)
}

// compare orders two entries that match equally well, the better one first: the last used,
// then the shorter, then by the alphabet. No two are equal.
func (x *Index) compare(who reader, a, b number) int {
	if byRank := cmp.Compare(x.ranks[who][b], x.ranks[who][a]); byRank != 0 {
		return byRank
	}
	if a == b {
		return 0
	}
	byText := strings.Compare(x.list[a].own, x.list[b].own)
	if byText != 0 {
		return byText
	}
	return x.compareKeys(a, b)
}

func (x *Index) compareKeys(a, b number) int {
	m, n := &x.list[a], &x.list[b]
	return cmp.Or(cmp.Compare(m.Kind, n.Kind), strings.Compare(m.ID, n.ID))
}
