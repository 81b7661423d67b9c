package books

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// MaxBytes is the size of a file at most, unless Options say otherwise.
const MaxBytes = 64 << 20

// Options are what a Store needs from elsewhere. The zero value works.
type Options struct {
	Now      func() time.Time // nil: time.Now
	NewID    func() string    // nil: random UUIDs
	MaxBytes int64            // of a file; 0: MaxBytes
	// Child is the command line of a process that runs ServeChild, in which files are read. nil: they are read within this process,
	// where nothing bounds what a library takes: for tests.
	Child []string
	// Dir is the folder that files lie in until they are read; "": they are in memory.
	Dir string
	// Conversation tells whether a conversation is there and whether it is private, inside a transaction.
	// nil: there is none.
	Conversation func(tx *kv.Tx, id string) (private, found bool, err error)
	// Hide is called in the transaction that makes a book private, for what was made of it. nil: nothing was.
	Hide func(tx *kv.Tx, id string) error
}

// Store keeps books. Open makes one.
type Store struct {
	db    *kv.Store
	opts  Options
	spool spool

	children *children // nil: conv converts
	conv     convert.Converter

	admitting sync.Mutex // held while a book is written down, so that none is there twice

	mu   sync.RWMutex // guards what follows
	byID map[string]*Record
	busy map[string]*reading // books that are being read
	idle *time.Timer         // runs while there is none
}

// reading is a book that is being read.
type reading struct {
	done   chan struct{} // closed at its end
	err    error         // of it
	cancel context.CancelCauseFunc
}

// Open loads the books of db and keeps them current from then on. Passages of books that are not whole are
// deleted; books that were being read are pending, and wait for Resume.
func Open(db *kv.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	opts.MaxBytes = cmp.Or(opts.MaxBytes, MaxBytes)
	s := &Store{db: db, opts: opts, spool: spool{dir: opts.Dir}, byID: make(map[string]*Record), busy: make(map[string]*reading)}
	ctx := context.Background()
	if len(opts.Child) > 0 {
		s.children = newChildren(opts.Child)
	}
	orphans := make(map[string]bool)
	err := db.View(ctx, func(tx *kv.Tx) error {
		for id, b := range Records.All(tx, "") {
			s.byID[id] = b
		}
		for key := range Passages.All(tx, "") {
			id, _ := parseKey(key)
			if b := s.byID[id]; b == nil || b.State != record.BookReady {
				orphans[id] = true
			}
		}
		return tx.Err()
	})
	if err != nil {
		return nil, err
	}
	db.OnCommit(s.commit)
	if db.Unmended() {
		if err := s.failIncomplete(ctx); err != nil {
			return nil, err
		}
	}
	for id := range orphans {
		if err := s.dropPassages(ctx, id); err != nil {
			return nil, err
		}
	}
	for id, b := range s.byID {
		if unread(b) {
			s.spool.rename(id)
		}
	}
	s.spool.tidy(func(id string) bool { b := s.byID[id]; return b != nil && unread(b) })
	return s, nil
}

// unread reports whether the file of a book is still to be read.
func unread(b *Record) bool { return b.State == record.BookPending || b.State == record.BookProcessing }

// Close gives back what the readers of files hold. The Store may be used after it.
func (s *Store) Close() error {
	if s.children != nil {
		s.children.release()
	}
	return s.conv.Close()
}

// commit takes in what a transaction changed.
func (s *Store) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range cs.Changes {
		if old, now, ok := Records.Of(ch); ok {
			if now != nil {
				s.byID[ch.ID] = now
			} else if old != nil {
				delete(s.byID, ch.ID)
			}
		}
	}
}

// Stored returns a book as it is stored, nil for none.
func (s *Store) Stored(id string) *Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

// isVisible reports whether a book is there for a reader in a conversation; "" for none.
func isVisible(v *audience.View, b *Record, conversation string) bool {
	return b != nil && v.Sees(b.Private) && (b.ConversationID == "" || b.ConversationID == conversation)
}

// isReadable reports whether a reader in a conversation finds the passages of a book.
func isReadable(v *audience.View, b *Record, conversation string) bool {
	return isVisible(v, b, conversation) && b.State == record.BookReady
}

func missing(id string) error {
	return fault.Missing("book", id).WithHint("books.list names the books, those of a conversation with its conversationId")
}

// find returns a book that a reader sees, in whatever conversation when any says so.
func (s *Store) find(v *audience.View, id, conversation string, anywhere bool) (*Record, error) {
	b := s.Stored(id)
	if b != nil && anywhere {
		conversation = b.ConversationID
	}
	if !isVisible(v, b, conversation) {
		return nil, missing(id)
	}
	return b, nil
}

// Get returns the book that a reader in a conversation means by an id, a title or the beginning of an id. The error is
// NotFound, or a Conflict for several of a title.
func (s *Store) Get(v *audience.View, ref, conversation string) (*record.Book, error) {
	b, err := s.find(v, ref, conversation, false)
	if err == nil {
		return b.shown(v), nil
	}
	list := s.List(v, Filter{Conversation: conversation})
	var titled []*record.Book
	for _, b := range list {
		if text.Fold(b.Title) == text.Fold(strings.TrimSpace(ref)) {
			titled = append(titled, b)
		}
	}
	if len(titled) == 0 {
		found, several := audience.ByIDPrefix(ref, slices.Values(list), func(b *record.Book) (string, bool) { return b.ID, true })
		if found == nil && several == nil {
			several = err
		}
		return found, several
	}
	if len(titled) == 1 {
		return titled[0], nil
	}
	several := fault.Clash(fault.Ambiguous, "%d books have that title", len(titled)).WithHint("give the id of one of the candidates")
	several.Field = "ref"
	for _, b := range titled {
		several.Candidates = append(several.Candidates, fault.Candidate{ID: b.ID, Title: b.Title})
	}
	return nil, several
}

// Filter says which books are listed.
type Filter struct {
	Conversation string // those of this conversation, beside the published ones
	State        string // "" for any
}

// List returns the books that a reader sees, the latest first.
func (s *Store) List(v *audience.View, f Filter) []*record.Book {
	list := []*record.Book{}
	s.mu.RLock()
	for _, b := range s.byID {
		if isVisible(v, b, f.Conversation) && (f.State == "" || b.State == f.State) {
			list = append(list, b.shown(v))
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(list, func(a, b *record.Book) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Bound returns the ids of the books that only a conversation sees, and that a reader finds passages of.
func (s *Store) Bound(v *audience.View, conversation string) []string {
	var ids []string
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, b := range s.byID {
		if conversation != "" && b.ConversationID == conversation && isReadable(v, b, conversation) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Counts are how many books there are for a reader, by their state, and how many passages.
type Counts struct {
	States   map[string]int
	Passages int
}

// Stats counts the books of a reader, those of conversations included.
func (s *Store) Stats(v *audience.View) Counts {
	c := Counts{States: make(map[string]int)}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.byID {
		if v.Sees(b.Private) {
			c.States[b.State]++
			if b.State == record.BookReady {
				c.Passages += b.Passages
			}
		}
	}
	return c
}

// Section is a part of a book under one heading.
type Section struct {
	Path     []string `json:"path" jsonschema:"the headings above its passages and its own, outermost first"`
	Page     int      `json:"page,omitempty" jsonschema:"the page that it begins on"`
	Passages int      `json:"passages" jsonschema:"how many passages it has, without those of sections below it"`
}

// Contents returns the sections of a book in their order.
func (s *Store) Contents(ctx context.Context, v *audience.View, id, conversation string) ([]Section, error) {
	list := []Section{}
	err := s.each(ctx, v, id, conversation, func(p *record.Passage) bool {
		n := len(list) - 1
		if n < 0 || !slices.Equal(list[n].Path, p.Section) {
			list = append(list, Section{Path: p.Section, Page: p.Page})
			n++
		}
		list[n].Passages++
		return true
	})
	return list, err
}

// Read returns the passages of a section of a book, those of sections below it included: the one whose
// headings, joined by " > ", are or end with a text. At most limit from the passage after on; more says that
// there are others. "" is the whole book. The error is NotFound for a section that there is not.
func (s *Store) Read(ctx context.Context, v *audience.View, id, conversation, section string, after, limit int) (list []*record.Passage, more bool, err error) {
	list = []*record.Passage{}
	n, found := 0, false
	err = s.each(ctx, v, id, conversation, func(p *record.Passage) bool {
		if !under(p.Section, section) {
			return true
		}
		found = true
		n++
		if n <= after {
			return true
		}
		if more = len(list) == limit; more {
			return false
		}
		list = append(list, p)
		return true
	})
	if err == nil && !found && section != "" {
		return nil, false, fault.New(fault.NotFound, "the book has no such section").WithHint("books.get without section lists them")
	}
	return list, more, err
}

// under reports whether a passage with these headings is in a section.
func under(path []string, section string) bool {
	want := strings.ToLower(strings.TrimSpace(section))
	if want == "" {
		return true
	}
	for n := len(path); n > 0; n-- {
		have := strings.ToLower(strings.Join(path[:n], " > "))
		if have == want || strings.HasSuffix(have, " > "+want) {
			return true
		}
	}
	return false
}

// each gives the passages of a book as a reader sees them, until it is told to stop.
func (s *Store) each(ctx context.Context, v *audience.View, id, conversation string, visit func(*record.Passage) bool) error {
	b, err := s.find(v, id, conversation, false)
	if err != nil {
		return err
	}
	if b.State != record.BookReady {
		return nil
	}
	type numbered struct {
		key string
		p   *Passage
	}
	var all []numbered
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		for key, p := range Passages.All(tx, id+separator) {
			all = append(all, numbered{key, p})
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	for _, x := range all { // masked when no commit waits
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !visit(renderPassage(v, b, x.key, x.p)) {
			return nil
		}
	}
	return nil
}

// Found returns passages as a reader sees them in a conversation, nil in the place of each that is gone or
// that he does not see.
func (s *Store) Found(ctx context.Context, v *audience.View, conversation string, keys []string) ([]*record.Passage, error) {
	stored := make([]*Passage, len(keys))
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for i, key := range keys {
			var err error
			if stored[i], err = Passages.Get(tx, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*record.Passage, len(keys))
	for i, key := range keys {
		id, _ := parseKey(key)
		if b := s.Stored(id); stored[i] != nil && isReadable(v, b, conversation) {
			out[i] = renderPassage(v, b, key, stored[i])
		}
	}
	return out, nil
}

// All gives all books with their ids, in no order.
func (s *Store) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		s.mu.RLock()
		list := make([]*Record, 0, len(s.byID))
		for _, b := range s.byID {
			list = append(list, b)
		}
		s.mu.RUnlock()
		for _, b := range list {
			if !yield(b) {
				return
			}
		}
	}
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
