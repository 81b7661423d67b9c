package books

// The Source of passages says what of one is searched, and by which weight. Those who make an index of passages use it,
// and those who read its hits.
//
// An index asks for documents with locks held. So the Source holds all passages from NewSource until the store is
// closed; their texts are those of the stored records. A document is called by the key of its passage, and is found
// when its book is ready and seen by all. A search that says what to keep finds those of a conversation as well.
//
// A passage is hidden while its book is private, and while there is no record of its book: a book that becomes private
// changes its documents. What names a private record is masked in the public form.
//
// A passage has one vector, or one for each part of about 200 tokens where it is longer, behind the prefix "Book:
// TITLE. Section: SECTION." (MEM-12).

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// The fields of a passage, by their numbers.
const (
	fieldText = iota
	fieldSection
	fieldTitle
)

// fields are the fields of passages; the weights are those of testdata/recall.golden of package books.
var fields = []text.Field{
	fieldText:    {Name: "text", Weight: 2, Counted: true},
	fieldSection: {Name: "section", Weight: 2},
	fieldTitle:   {Name: "title", Weight: 1},
}

// chunksVersion says how passages are split; see notedoc.
const chunksVersion = "passage 1"

// Source is the Source of passages.
type Source struct {
	remote *audience.View
	naming *audience.Namers

	mu       sync.RWMutex // guards what follows
	books    map[string]*book
	docs     int
	bytes    int64
	seq      uint64 // of the commit that Revealed was asked for last; 0: none
	revealed []string
}

// book is what is known of a book.
type book struct {
	record   *Record // nil: nobody knows whether it is private
	passages map[string]*Passage
}

func (b *book) hidden() bool { return b == nil || b.record == nil || b.record.Private }

func (b *book) title() string {
	if b == nil || b.record == nil {
		return ""
	}
	return b.record.Title
}

// NewSource returns the Source of the passages of a store. Open the store and what it stands on before.
// O(passages).
func NewSource(db *kv.Store, rooms *audience.Views) (*Source, error) {
	s := &Source{remote: rooms.View(audience.Remote), books: make(map[string]*book)}
	s.mu.Lock() // what passages name is read in the background meanwhile, and has to wait for all of them
	defer s.mu.Unlock()
	s.naming = rooms.Namers(db, func(yield func(string, []string) bool) {
		for d := range s.each() {
			if !yield(d.key, d.texts()) {
				return
			}
		}
	})
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		for id, r := range Records.All(tx, "") {
			s.of(id).record = r
		}
		for key, p := range Passages.All(tx, "") {
			s.put(key, nil, p)
		}
		return tx.Err()
	})
	if err != nil {
		return nil, err
	}
	rooms.CountPrivacy(func(ch kv.Change) bool {
		old, now, ok := Records.Of(ch)
		return ok && old != nil && now != nil && old.Private != now.Private
	})
	db.OnCommit(s.commit)
	return s, nil
}

// commit takes in what a transaction changed.
func (s *Source) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range cs.Changes {
		if old, now, ok := Passages.Of(ch); ok {
			s.put(ch.ID, old, now)
		}
		if _, now, ok := Records.Of(ch); ok {
			b := s.of(ch.ID)
			b.record = now
			s.tidy(ch.ID, b)
		}
	}
}

// of returns a book that may be new. The caller has the lock.
func (s *Source) of(id string) *book {
	b := s.books[id]
	if b == nil {
		b = &book{passages: make(map[string]*Passage)}
		s.books[id] = b
	}
	return b
}

func (s *Source) put(key string, old, now *Passage) {
	id, _ := parseKey(key)
	b := s.of(id)
	if old != nil {
		s.docs--
		s.bytes -= int64(len(old.Text))
	}
	if now == nil {
		delete(b.passages, key)
		s.tidy(id, b)
		return
	}
	s.docs++
	s.bytes += int64(len(now.Text))
	b.passages[key] = now
}

// tidy forgets a book of which nothing is left.
func (s *Source) tidy(id string, b *book) {
	if b.record == nil && len(b.passages) == 0 {
		delete(s.books, id)
	}
}

// each gives all documents, in no order. The lock is not held meanwhile.
func (s *Source) each() iter.Seq[doc] {
	return func(yield func(doc) bool) {
		s.mu.RLock()
		list := make([]doc, 0, s.docs)
		for _, b := range s.books {
			for key, p := range b.passages {
				list = append(list, doc{p, key, b.title(), b.hidden()})
			}
		}
		s.mu.RUnlock()
		for _, d := range list {
			if !yield(d) {
				return
			}
		}
	}
}

var (
	_ text.Source      = (*Source)(nil)
	_ text.ValueSource = (*Source)(nil)
)

// doc is a passage as it is found.
type doc struct {
	p      *Passage
	key    string
	title  string // of its book
	hidden bool   // from remote readers
}

// passageKey returns the key of the passage that a Doc of a Source of passages is, "" for any other Doc.
func passageKey(d text.Doc) string {
	pd, _ := d.(doc)
	return pd.key
}

// Keep makes a test of Docs of one of the books that they are from.
func (s *Source) Keep(test func(*Record) bool) func(text.Doc) bool {
	return func(d text.Doc) bool {
		id, _ := parseKey(passageKey(d))
		s.mu.RLock()
		b := s.books[id]
		s.mu.RUnlock()
		return b != nil && b.record != nil && test(b.record)
	}
}

// Kind returns what documents are called.
func (*Source) Kind() text.DocKind { return text.DocKind{One: "passage", Many: "passages"} }

// Fields returns the text of a passage, the headings above it, and the title of its book.
func (*Source) Fields() []text.Field { return fields }

// All returns all passages, in no order.
func (s *Source) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for d := range s.each() {
			if !yield(d) {
				return
			}
		}
	}
}

// Get returns a passage by its key.
func (s *Source) Get(key string) text.Doc {
	id, _ := parseKey(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.books[id]
	if b == nil || b.passages[key] == nil {
		return nil
	}
	return doc{b.passages[key], key, b.title(), b.hidden()}
}

// Count counts all passages.
func (s *Source) Count() (docs int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.docs, s.bytes
}

// shown is how a book is shown before a commit and behind it.
type shown struct {
	was, is       bool // hidden
	before, after string
}

// changed returns the books that a commit changes.
func changed(cs *kv.ChangeSet) map[string]shown {
	var list map[string]shown
	for _, ch := range cs.Changes {
		old, now, ok := Records.Of(ch)
		if !ok {
			continue
		}
		if list == nil {
			list = make(map[string]shown)
		}
		c := shown{was: old == nil || old.Private, is: now == nil || now.Private}
		if old != nil {
			c.before = old.Title
		}
		if now != nil {
			c.after = now.Title
		}
		list[ch.ID] = c
	}
	return list
}

// Changes returns what a commit does to passages, those included whose book becomes private or public, or is
// called otherwise. O(changes), and O(passages of the book) for a commit that makes one so.
func (s *Source) Changes(cs *kv.ChangeSet) (list []text.Change) {
	of := changed(cs)
	there := make(map[string]bool)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, ch := range cs.Changes {
		old, now, ok := Passages.Of(ch)
		if !ok {
			continue
		}
		id, _ := parseKey(ch.ID)
		c, ok := of[id]
		if !ok {
			b := s.books[id]
			c = shown{b.hidden(), b.hidden(), b.title(), b.title()}
		}
		x := text.Change{ID: ch.ID}
		if old != nil {
			x.Old = doc{old, ch.ID, c.before, c.was}
		}
		if now != nil {
			x.Now = doc{now, ch.ID, c.after, c.is}
		}
		there[ch.ID] = true
		list = append(list, x)
	}
	for id, c := range of {
		b := s.books[id]
		if b == nil || c.was == c.is && c.before == c.after {
			continue
		}
		for key, p := range b.passages {
			if !there[key] {
				list = append(list, text.Change{ID: key, Old: doc{p, key, c.before, c.was}, Now: doc{p, key, c.after, c.is}})
			}
		}
	}
	return list
}

// Revealed returns the keys of the passages whose masked text a commit may change, and those of books that it
// makes private or public: passages that were added when Changes was asked before the commit are among them.
func (s *Source) Revealed(cs *kv.ChangeSet) []string {
	s.mu.RLock()
	known, revealed := s.seq == cs.Seq, s.revealed
	s.mu.RUnlock()
	if known {
		return revealed
	}
	ids := s.naming.Revealed(cs)
	s.mu.RLock()
	for id, c := range changed(cs) {
		if b := s.books[id]; b != nil && c.was != c.is {
			for key := range b.passages {
				ids[key] = true
			}
		}
	}
	s.mu.RUnlock()
	for _, ch := range cs.Changes {
		if _, now, ok := Passages.Of(ch); ok {
			var texts []string
			if now != nil {
				id, _ := parseKey(ch.ID)
				s.mu.RLock()
				b := s.books[id]
				s.mu.RUnlock()
				texts = doc{now, ch.ID, b.title(), b.hidden()}.texts()
			}
			s.naming.Set(ch.ID, texts)
			delete(ids, ch.ID)
		}
	}
	revealed = slices.Sorted(maps.Keys(ids))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.revealed = cs.Seq, revealed
	return revealed
}

// Public returns a passage as a remote reader sees it. Its book is looked at as it is now.
func (s *Source) Public(d text.Doc) text.Doc {
	pd := d.(doc)
	id, _ := parseKey(pd.key)
	s.mu.RLock()
	hidden := s.books[id].hidden()
	s.mu.RUnlock()
	if hidden {
		return nil
	}
	title, said, same := s.remote.TextOf("", pd.title), s.remote.TextOf("", pd.p.Text), true
	section := make([]string, len(pd.p.Section))
	for i, h := range pd.p.Section {
		section[i] = s.remote.TextOf("", h)
		same = same && section[i] == h
	}
	if same && title == pd.title && said == pd.p.Text {
		return doc{pd.p, pd.key, pd.title, false}
	}
	masked := *pd.p
	masked.Text, masked.Section = said, section
	return doc{&masked, pd.key, title, false}
}

// Usual reports whether the book of a passage is ready and no conversation alone sees it.
func (s *Source) Usual(d text.Doc) bool {
	return s.Keep(func(b *Record) bool { return b.State == record.BookReady && b.ConversationID == "" })(d)
}

// Filters returns the operators for passages: book and format.
func (*Source) Filters() []string { return []string{"book", "format"} }

// Filter returns the test of an operator: a part of the title of a book, or its format.
func (s *Source) Filter(operator, value string) func(text.Doc) bool {
	fold := entities.Fold(value)
	if operator == "book" {
		return func(d text.Doc) bool { return strings.Contains(entities.Fold(d.(doc).title), fold) }
	}
	return func(d text.Doc) bool { return entities.Fold(s.Value(operator, d)) == fold }
}

// Valued returns format.
func (*Source) Valued() []string { return []string{"format"} }

// Value returns the format of the book of a passage.
func (s *Source) Value(_ string, d text.Doc) string {
	id, _ := parseKey(passageKey(d))
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.books[id]; b != nil && b.record != nil {
		return b.record.Format
	}
	return ""
}

func (d doc) ID() string           { return d.key }
func (d doc) Title() string        { return d.title }
func (d doc) Version() uint64      { return 1 } // what a passage says does not change
func (d doc) UpdatedAt() time.Time { return time.Time{} }
func (d doc) Private() bool        { return d.hidden }
func (d doc) Size() int            { return len(d.p.Text) }
func (d doc) Plain() string        { return d.p.Text }

// texts are what of a passage a remote reader may see.
func (d doc) texts() []string {
	if d.hidden {
		return nil
	}
	return append([]string{d.p.Text, d.title}, d.p.Section...)
}

// Fields gives the texts of a passage.
func (d doc) Fields(visit func(int, string) bool) {
	if !visit(fieldText, d.p.Text) {
		return
	}
	for _, h := range d.p.Section {
		if !visit(fieldSection, h) {
			return
		}
	}
	visit(fieldTitle, d.title)
}

// Stored gives the texts that Fields are made of.
func (d doc) Stored(visit func(string)) {
	visit(d.p.Text)
	for _, h := range d.p.Section {
		visit(h)
	}
	visit(d.title)
}

// prefixTokens is how many tokens of a title, or of a section, stand in a prefix.
const prefixTokens = 30

func (d doc) prefix() string {
	b := "Book: " + text.CutTokens(d.title, prefixTokens) + "."
	if len(d.p.Section) > 0 {
		b += " Section: " + text.CutTokens(strings.Join(d.p.Section, " > "), prefixTokens) + "."
	}
	return b
}

// Chunks gives a vector to each part of a passage.
func (d doc) Chunks() (list []text.Chunk) {
	prefix := d.prefix()
	for _, part := range text.Parts(d.p.Text) {
		list = append(list, text.Chunk{Prefix: prefix, Text: part})
	}
	if len(list) == 0 {
		list = append(list, text.Chunk{Prefix: prefix, Text: d.p.Text})
	}
	return list
}

// ChunkedFrom returns the version of Chunks, and what they are made of.
func (d doc) ChunkedFrom() []string {
	return append([]string{chunksVersion, d.title, d.p.Text}, d.p.Section...)
}
