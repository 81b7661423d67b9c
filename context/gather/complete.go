package gather

// A Completer answers what a person may mean who has typed a part of a handle or of a name behind @ or #: for menus
// (REF-16), and for what to suggest when a reference leads to nothing (REF-7).
//
// It keeps one index of the handles of all records (refs.Index) and follows the commits of the store: a caller that
// writes finds what was written. What records there are, and what each reader is shown of them, is known by sources:
// those of memories, contexts, tags, domains and entities live here; that of conversations lives in package chat.
//
// A remote reader never sees private records: the index counts everything for him by what he may know. What names a
// private record in a public one is looked for when a record would be shown to him, since that is a look at its texts,
// and the answer is kept until the record changes, or what links and names mean (audience.View.Meanings). A local
// reader pays for none of it.
//
// The index is made by Load, or by the first call. Until then commits cost nothing; while it is made they are noted,
// and taken in at its end. It takes some 500 bytes for a handle, and half a second for 100,000 of them (BenchmarkChange
// in context/refs). A Completer may be used concurrently. No text is looked at while the index is locked.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
)

// maxLabel is the longest label, in characters.
const maxLabel = 120

// Completer completes handles. Open makes one.
type Completer struct {
	of      [1 + int(refs.DomainHandle)]HandleSource // by kind; nil: there are no such records
	sources []HandleSource

	loading sync.Mutex // held by who makes the index

	mu      sync.RWMutex // guards what follows, and calls of the Sources
	index   *refs.Index  // nil until it is made
	noting  bool         // while it is made
	noted   []*kv.ChangeSet
	commits uint64 // that the index has taken in
	shown   shownEntries
}

// shownEntries are what a remote reader is shown of entries, while meanings holds.
type shownEntries struct {
	meanings uint64
	known    map[HandleKey]looked
}

// looked is what was seen of an entry when it had a handle and names.
type looked struct {
	EntryVisibility
	handle string
	names  []string
}

func (l *looked) holds(e *refs.Entry) bool {
	return l.handle == e.Handle && slices.Equal(l.names, e.Names)
}

// maxShown is of how many entries it is kept what a remote reader is shown.
const maxShown = 100_000

// OpenCompleter makes Handles of the records of some Sources, and follows the commits of the store.
// Open it after the rooms that the Sources ask.
func OpenCompleter(db *kv.Store, sources ...HandleSource) *Completer {
	h := &Completer{sources: sources}
	for _, s := range sources {
		for _, k := range s.Kinds() {
			h.of[k] = s
		}
	}
	db.OnCommit(h.commit)
	return h
}

// commit takes in what a transaction changed.
func (h *Completer) commit(cs *kv.ChangeSet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.noting:
		h.noted = append(h.noted, cs)
	case h.index != nil:
		h.take(h.index, cs)
	}
}

// take changes the entries that a commit has touched. Hold h.mu.
func (h *Completer) take(x *refs.Index, cs *kv.ChangeSet) {
	for _, s := range h.sources {
		for _, k := range s.Touched(cs) {
			delete(h.shown.known, k)
			h.commits++
			e, ok := s.Entry(k)
			if ok {
				x.Put(e)
			} else {
				x.Delete(k.Kind, k.ID)
			}
		}
	}
}

// Load makes the index if there is none yet. The error is that of a store that cannot be read,
// or of a context that has ended.
func (h *Completer) Load(ctx context.Context) error {
	h.loading.Lock()
	defer h.loading.Unlock()
	h.mu.Lock()
	if h.index != nil {
		h.mu.Unlock()
		return nil
	}
	h.noting = true
	h.mu.Unlock()

	x, err := h.made(ctx)

	h.mu.Lock()
	defer h.mu.Unlock()
	noted := h.noted
	h.noting, h.noted = false, nil
	if err != nil {
		return err
	}
	for _, cs := range noted {
		h.take(x, cs)
	}
	h.index = x
	return nil
}

// made returns an index of all records. Nobody else asks the Sources meanwhile.
func (h *Completer) made(ctx context.Context) (*refs.Index, error) {
	var keys []HandleKey
	for _, s := range h.sources {
		some, err := s.Load(ctx)
		if err != nil {
			return nil, err
		}
		keys = append(keys, some...)
	}
	x := refs.NewIndex()
	x.Load(func(yield func(refs.Entry) bool) {
		for _, k := range keys {
			e, ok := h.of[k.Kind].Entry(k)
			if ok && !yield(e) {
				return
			}
		}
	})
	return x, ctx.Err()
}

// Complete returns the records that a reader may mean who has typed a part of a handle, the
// best first, at most limit. names are those of kinds; of none it returns those of all. See
// index.Index.Complete. The error is Invalid for a kind that there is not.
func (h *Completer) Complete(ctx context.Context, v *audience.View, typed string, names []string, limit int,
) ([]record.RefCompletion, error) {
	kinds := make([]refs.HandleKind, len(names))
	for i, name := range names {
		at := slices.IndexFunc(refs.HandleKinds(), func(k refs.HandleKind) bool { return k.String() == name })
		if at < 0 {
			return nil, fault.Field(fmt.Sprintf("kinds[%d]", i), "no such kind").WithHint("give memory, context, conversation, entity, tag or domain")
		}
		kinds[i] = refs.HandleKinds()[at]
	}
	return h.find(ctx, v, func(x *refs.Index, skip refs.SkipEntry) []refs.Hit {
		return x.Complete(refs.IndexQuery{Typed: typed, Kinds: kinds, Limit: limit, PublicOnly: v.Hides(), Skip: skip})
	})
}

// Near returns the records that a reader may have meant by what is no handle, the nearest
// first, at most limit. See index.Index.Near.
func (h *Completer) Near(ctx context.Context, v *audience.View, ref string, limit int) ([]record.RefCompletion, error) {
	return h.find(ctx, v, func(x *refs.Index, skip refs.SkipEntry) []refs.Hit {
		return x.Near(ref, limit, v.Hides(), skip)
	})
}

// Suggest is Near for the candidates of an error.
func (h *Completer) Suggest(v *audience.View, ref string, limit int) []fault.Candidate {
	items, err := h.Near(context.Background(), v, ref, limit)
	if err != nil {
		return nil // the error that they would be of is told without them
	}
	list := make([]fault.Candidate, len(items))
	for i, item := range items {
		list[i] = fault.Candidate{ID: item.ID, Kind: string(item.Kind), Handle: item.Handle}
		if item.Kind == record.ResolvedEntity || item.Kind == record.ResolvedContext {
			list[i].Name = item.Label
		}
	}
	return list
}

// find returns what ask finds for a reader. What it finds that nobody knows yet whether the
// reader is shown is looked at when the index is not locked; then it is asked again, as often
// as something was found that is not shown.
func (h *Completer) find(ctx context.Context, v *audience.View, ask func(*refs.Index, refs.SkipEntry) []refs.Hit,
) ([]record.RefCompletion, error) {
	err := h.Load(ctx)
	if err != nil {
		return nil, err
	}
	if !v.Hides() {
		h.mu.RLock()
		defer h.mu.RUnlock()
		return localItems(ask(h.index, nil)), nil
	}
	seen := make(map[HandleKey]looked)
	for {
		hits := h.ask(v, seen, ask)
		again, err := h.look(ctx, v, hits, seen)
		switch {
		case err != nil:
			return nil, err
		case !again:
			return remoteItems(hits, seen), nil
		}
	}
}

// ask finds what a remote reader is shown as far as that is known. What it finds is in seen
// then if it is known.
func (h *Completer) ask(v *audience.View, seen map[HandleKey]looked, ask func(*refs.Index, refs.SkipEntry) []refs.Hit) []refs.Hit {
	h.mu.RLock()
	defer h.mu.RUnlock()
	kept := h.shown.known
	if h.shown.meanings != v.Meanings() {
		kept = nil
	}
	return ask(h.index, func(e *refs.Entry, name int) bool {
		k := HandleKey{e.Kind, e.ID}
		l, ok := seen[k]
		if !ok || !l.holds(e) {
			l, ok = kept[k]
			if !ok || !l.holds(e) {
				return false
			}
			seen[k] = l
		}
		return !l.finds(name)
	})
}

// look looks at what was found and is not known, and keeps what it sees. It reports whether
// some of it is not shown.
func (h *Completer) look(ctx context.Context, v *audience.View, hits []refs.Hit, seen map[HandleKey]looked) (again bool, err error) {
	meanings := v.Meanings() // before anything is looked at
	h.mu.RLock()
	commits := h.commits
	h.mu.RUnlock()
	fresh := make(map[HandleKey]looked)
	for i := range hits {
		e := &hits[i].Entry
		k := HandleKey{e.Kind, e.ID}
		if l, ok := seen[k]; ok && l.holds(e) {
			continue
		}
		s, err := h.of[e.Kind].Show(ctx, v, e)
		if err != nil {
			return false, err
		}
		s.Label = line(s.Label)
		l := looked{s, e.Handle, e.Names}
		seen[k], fresh[k] = l, l
		again = again || !s.finds(hits[i].Name)
	}
	if len(fresh) > 0 {
		h.keep(v, fresh, meanings, commits)
	}
	return again, ctx.Err()
}

// keep keeps what a remote reader is shown, unless something has changed meanwhile.
func (h *Completer) keep(v *audience.View, fresh map[HandleKey]looked, meanings, commits uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.commits != commits || v.Meanings() != meanings {
		return
	}
	if h.shown.known == nil || h.shown.meanings != meanings || len(h.shown.known) > maxShown {
		h.shown = shownEntries{meanings, make(map[HandleKey]looked)}
	}
	maps.Copy(h.shown.known, fresh)
}

func localItems(hits []refs.Hit) []record.RefCompletion {
	items := make([]record.RefCompletion, len(hits))
	for i := range hits {
		items[i] = itemOf(&hits[i].Entry, line(hits[i].Label))
	}
	return items
}

func remoteItems(hits []refs.Hit, seen map[HandleKey]looked) []record.RefCompletion {
	items := make([]record.RefCompletion, len(hits))
	for i := range hits {
		e := &hits[i].Entry
		s := seen[HandleKey{e.Kind, e.ID}]
		items[i] = itemOf(e, s.Label)
		if !s.Handle {
			items[i].Handle = fmt.Sprintf("claim_%d", e.Number) // by which it was found
		}
	}
	return items
}

func itemOf(e *refs.Entry, label string) record.RefCompletion {
	return record.RefCompletion{
		Kind: record.ResolvedType(e.Kind.String()), Handle: e.Handle, Label: label, ID: e.ID, Number: e.Number,
	}
}

// line returns the beginning of a text on one line.
func line(text string) string {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~': // it takes a look at more than bytes
			const enough = 16 * maxLabel // bytes of as many characters
			if len(text) > enough {
				text = strings.ToValidUTF8(text[:enough], "")
			}
			return graph.OneLine(text, maxLabel)
		case i == maxLabel:
			return text[:maxLabel] + "…"
		}
	}
	return text
}
