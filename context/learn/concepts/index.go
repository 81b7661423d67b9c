package concepts

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// Kinds of documents, as everywhere.
const (
	Memories = "memories"
	Messages = "messages"
)

// Said is a message as concepts see it.
type Said struct {
	ID           string
	Conversation string
	Index        int // in its conversation, of which documents of one reader have no other
	Role         string
	At           time.Time
	Tools        []string // that the model called for it
	Memories     []string // ids of those that it stood on or named
}

// Options are what an Index is made of.
type Options struct {
	Store    *memory.Store
	Memories text.Source // of Store
	Messages text.Source // nil: there are none
	// Said returns the message that a Doc of Messages is, numbered as a remote reader sees it if public.
	Said func(d text.Doc, public bool) Said
	// Outcomes gives the outcomes of all answers, and OutcomeOf the one that a change is of. nil: there are none.
	Outcomes  func(ctx context.Context, visit func(conversation, message, outcome string)) error
	OutcomeOf func(ch kv.Change) (conversation, message, outcome string, ok bool)
	// SaidField is the field of Messages that holds what was said.
	SaidField int
}

// Index holds the terms of all documents. Open makes one.
type Index struct {
	opts   Options
	sides  [2]*audience.View // as bits: local, remote
	ctx    context.Context
	cancel context.CancelFunc

	noting  sync.Mutex // guards what follows
	begun   bool       // all documents are in what waits, or are read
	waiting map[ref]struct{}
	scored  map[answer]string // outcomes that were told since all were read
	words   uint64            // counts changes of synonyms
	behind  sync.WaitGroup
	reading bool // in the background

	entering sync.Mutex // held by who reads documents
	told     bool       // outcomes are read; guarded by entering
	reader   learn.PhraseReader
	taken    taken // scratch

	mu       sync.RWMutex // guards what follows
	terms    map[string]uint32
	keys     []string
	postings [][]posting // by term, in the order in which documents were read
	seen     [][2]int    // by term: how many documents that are there each reader sees it in
	shown    []string    // how phrases are written
	written  map[string]uint32
	docs     []*doc // by number; nil for one that is gone
	number   map[ref]uint32
	gone     int                 // of docs
	outcomes map[answer]string   // of messages
	spoken   map[string][]uint32 // numbers of the messages of a conversation; some may be gone

	joined [2]joins // guarded by noting

	keeping sync.Mutex             // guards counts for those who hold mu for reading
	counts  [2]map[uint32]*counted // of terms of many documents, by reader; without those that have changed
}

// ref names a document.
type ref struct {
	message bool
	id      string // in its Source
}

// doc is what is known of a document.
type doc struct {
	ref
	at      int64 // Unix nanoseconds
	public  bool  // a remote reader sees it
	current bits  // the readers for whom it counts: a memory that is active or contested, or a message
	tier    string
	kind    string     // of a memory
	quality [2]float64 // for each side
	use     record.MemoryUse
	said    [2]Said // of a message, for each reader
	terms   []mark
}

// mark is a term of a document: its number, and who sees that it is there.
type mark struct {
	term uint32
	bits
}

// bits say who sees a term in a document, and how sure it is.
type bits uint8

const (
	local    bits = 1 << iota // a local reader sees it
	remote                    // a remote reader does
	sure                      // something says that it is one
	declared                  // it is a tag, or a memory is about the entity
)

// posting is a document of a term.
type posting struct {
	doc   uint32
	shown uint32 // how it is written there
	bits
}

// Open makes the Index of the documents of a store. Open the store and the sources before. O(1): what is in it is read
// when it is asked.
func Open(db *kv.Store, rooms *audience.Views, opts Options) *Index {
	x := &Index{opts: opts, sides: [2]*audience.View{rooms.View(audience.Local), rooms.View(audience.Remote)}}
	x.ctx, x.cancel = context.WithCancel(db.Closing())
	x.outcomes = make(map[answer]string)
	x.empty()
	db.OnCommit(x.commit)
	db.OnClose(func(bool) {
		x.noting.Lock()
		x.cancel()
		x.noting.Unlock()
		x.behind.Wait()
	})
	return x
}

func (x *Index) empty() {
	x.terms, x.keys, x.postings, x.seen = make(map[string]uint32), nil, nil, nil
	x.written, x.shown = make(map[string]uint32), nil
	x.docs, x.number, x.gone, x.spoken = nil, make(map[ref]uint32), 0, make(map[string][]uint32)
	x.counts = [2]map[uint32]*counted{{}, {}}
}

// commit notes what a transaction changes.
func (x *Index) commit(cs *kv.ChangeSet) {
	x.noting.Lock()
	defer x.noting.Unlock()
	for _, ch := range cs.Changes {
		if memory.ChangesSynonyms(ch) {
			x.words++
		}
	}
	if !x.begun {
		return
	}
	for _, ch := range cs.Changes {
		if memory.CountsUse(ch) {
			x.waiting[ref{id: ch.ID}] = struct{}{}
		}
		if x.opts.OutcomeOf == nil {
			continue
		}
		if conversation, message, outcome, ok := x.opts.OutcomeOf(ch); ok {
			x.scored[answer{conversation, message}] = outcome
		}
	}
	x.note(cs, false, x.opts.Memories)
	if x.opts.Messages != nil {
		x.note(cs, true, x.opts.Messages)
	}
}

func (x *Index) note(cs *kv.ChangeSet, message bool, src text.Source) {
	for _, ch := range src.Changes(cs) {
		x.waiting[ref{message, ch.ID}] = struct{}{}
	}
	for _, id := range src.Revealed(cs) {
		x.waiting[ref{message, id}] = struct{}{}
	}
}

// answer names a message.
type answer struct{ conversation, id string }

// begin has all documents wait, once. The error is that of a context that has ended. Hold x.noting.
func (x *Index) begin(ctx context.Context) error {
	if x.begun {
		return nil
	}
	waiting := make(map[ref]struct{})
	take := func(message bool, src text.Source) {
		if src == nil {
			return
		}
		for d := range src.All() {
			if ctx.Err() != nil {
				return
			}
			waiting[ref{message, d.ID()}] = struct{}{}
		}
	}
	take(false, x.opts.Memories)
	take(true, x.opts.Messages)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	x.begun, x.waiting, x.scored = true, waiting, make(map[answer]string)
	return nil
}

// group is how many documents are read at a time.
const group = 64

// next takes some documents that wait.
func (x *Index) next(ctx context.Context) (list []ref, scored map[answer]string, err error) {
	x.noting.Lock()
	defer x.noting.Unlock()
	if err := x.begin(ctx); err != nil {
		return nil, nil, err
	}
	if len(x.scored) > 0 {
		scored, x.scored = x.scored, make(map[answer]string)
	}
	for r := range x.waiting {
		list = append(list, r)
		delete(x.waiting, r)
		if len(list) == group {
			break
		}
	}
	return list, scored, nil
}

// Ready reads what waits, and returns when the Index is as new as the records. Who asks meanwhile reads a part of it. The
// error is that of a context that has ended.
func (x *Index) Ready(ctx context.Context) error {
	for more := true; more; {
		err := yield.Point(ctx)
		if err == nil {
			more, err = x.readSome(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readSome reads some of what waits, and returns false when nothing does.
func (x *Index) readSome(ctx context.Context) (more bool, err error) {
	x.entering.Lock()
	defer x.entering.Unlock()
	if !x.told && x.opts.Outcomes != nil {
		if err := x.tell(ctx); err != nil {
			return false, err
		}
	}
	x.told = true
	list, scored, err := x.next(ctx)
	if err != nil {
		return false, err
	}
	if len(scored) > 0 {
		x.score(scored)
	}
	if len(list) > 0 {
		x.enter(list)
	}
	return len(list) > 0, nil
}

// tell reads the outcomes of all answers. What is told meanwhile is noted, as from begin on. Hold x.entering.
func (x *Index) tell(ctx context.Context) error {
	x.noting.Lock()
	err := x.begin(ctx)
	x.noting.Unlock()
	if err != nil {
		return err
	}
	all := make(map[answer]string)
	err = x.opts.Outcomes(ctx, func(conversation, message, outcome string) { all[answer{conversation, message}] = outcome })
	if err == nil {
		x.score(all)
	}
	return err
}

// score takes in outcomes. Hold x.entering.
func (x *Index) score(list map[answer]string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for a, outcome := range list {
		if outcome == "" {
			delete(x.outcomes, a)
			continue
		}
		x.outcomes[a] = outcome
	}
}

// soon is how many documents are read by who can't wait: some milliseconds.
const soon = 1000

// Soon is Ready for who can't wait: where much is to be read, it has that done in the background and returns false.
func (x *Index) Soon(ctx context.Context) bool {
	x.noting.Lock()
	if !x.begun {
		docs, _ := x.opts.Memories.Count()
		if x.opts.Messages != nil {
			n, _ := x.opts.Messages.Count()
			docs += n
		}
		if docs <= soon {
			_ = x.begin(ctx)
		}
	}
	late := x.reading || !x.begun || len(x.waiting) > soon
	if late && !x.reading && x.ctx.Err() == nil {
		x.reading = true
		x.behind.Go(func() {
			_ = x.Ready(x.ctx)
			x.noting.Lock()
			x.reading = false
			x.noting.Unlock()
		})
	}
	x.noting.Unlock()
	return !late && x.Ready(ctx) == nil
}

// enter reads documents. Hold x.entering.
func (x *Index) enter(list []ref) {
	slices.SortFunc(list, compareRefs)
	type reading struct {
		d     *doc
		found []found
	}
	read := make([]reading, len(list))
	for i, r := range list {
		read[i].d, read[i].found = x.read(r)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, r := range list {
		x.put(r, read[i].d, read[i].found)
	}
	if x.gone > group && x.gone > len(x.docs)/2 {
		x.tidy()
	}
}

// put replaces a document by another version of it, nil for none.
func (x *Index) put(r ref, d *doc, list []found) {
	if n, ok := x.number[r]; ok {
		x.countSeen(x.docs[n], -1)
		x.docs[n] = nil
		x.gone++
		delete(x.number, r)
	}
	if d == nil {
		return
	}
	n := uint32(len(x.docs))
	x.docs, x.number[r] = append(x.docs, d), n
	for _, f := range list {
		term, ok := x.terms[f.key]
		if !ok {
			term = uint32(len(x.keys))
			x.terms[f.key] = term
			x.keys, x.postings, x.seen = append(x.keys, f.key), append(x.postings, nil), append(x.seen, [2]int{})
		}
		shown, ok := x.written[f.shown]
		if !ok {
			shown = uint32(len(x.shown))
			x.written[f.shown] = shown
			x.shown = append(x.shown, f.shown)
		}
		x.postings[term] = append(x.postings[term], posting{n, shown, f.bits})
		d.terms = append(d.terms, mark{term, f.bits})
	}
	x.countSeen(d, 1)
	if d.message {
		of := d.said[0].Conversation
		x.spoken[of] = append(x.spoken[of], n)
	}
}

// countSeen counts a document among those that each reader sees its terms in. What was counted of these holds no more.
func (x *Index) countSeen(d *doc, by int) {
	for _, m := range d.terms {
		for side, bit := range [...]bits{local, remote} {
			delete(x.counts[side], m.term)
			if m.bits&bit != 0 {
				x.seen[m.term][side] += by
			}
		}
	}
}

// tidy makes everything anew of the documents that are there.
func (x *Index) tidy() {
	docs, postings, keys, shown := x.docs, x.postings, x.keys, x.shown
	lists := make([][]found, len(docs))
	for term, list := range postings {
		for _, p := range list {
			if docs[p.doc] != nil {
				lists[p.doc] = append(lists[p.doc], found{keys[term], shown[p.shown], p.bits})
			}
		}
	}
	x.empty()
	for n, d := range docs {
		if d != nil {
			d.terms = nil
			x.put(d.ref, d, lists[n])
		}
	}
}

// Known gives all documents with what is known of each: to compare an Index with another one of the same records. Nobody
// may be in the room.
func (x *Index) Known(ctx context.Context) (map[string][]string, error) {
	if err := x.Ready(ctx); err != nil {
		return nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make(map[string][]string, len(x.number))
	for r, n := range x.number {
		d := x.docs[n]
		all[r.id] = append(all[r.id], d.told()...)
		if r.message {
			all[r.id] = append(all[r.id], x.outcomes[answer{d.said[0].Conversation, d.said[0].ID}])
		}
	}
	for term, list := range x.postings {
		for _, p := range list {
			if d := x.docs[p.doc]; d != nil {
				all[d.id] = append(all[d.id], x.keys[term]+"\x00"+x.shown[p.shown]+"\x00"+string(rune('0'+p.bits)))
			}
		}
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all, nil
}

var _ text.Source = (*document.Source)(nil)
