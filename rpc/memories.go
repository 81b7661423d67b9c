package rpc

// This file and memories_*.go have the handlers of memory.*, synonyms.* and contexts.*. A handler turns params
// into a call of context/memory, context/memory/document or context/recall, and its answer into the result. Errors are
// those of these rooms.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// memoryHandlers has the handlers of memory.*, synonyms.* and contexts.*. New makes one.
type memoryHandlers struct {
	memory  memoryKeeper
	similar *document.SimilarFinder
	recall  *recall.Ranker
	shows   *learn.Scorer

	noBooks error // why passages of books are not searched; nil: they are
}

// newMemoryHandlers returns the handlers over the rooms of memories.
func newMemoryHandlers(m memoryKeeper, f *document.SimilarFinder, r *recall.Ranker, s *learn.Scorer, noBooks error) *memoryHandlers {
	return &memoryHandlers{memory: m, similar: f, recall: r, shows: s, noBooks: noBooks}
}

// memoryKeeper is the room of memories: no handler has the Store, which reads without a View (PRIV-2).
type memoryKeeper interface {
	Add(ctx context.Context, v *audience.View, drafts []memory.Draft) ([]memory.Added, error)
	Get(v *audience.View, ref string) (*record.Memory, error)
	Shown(v *audience.View, ids []string) []*record.Memory
	List(ctx context.Context, v *audience.View, f memory.Filter, after *memory.Place,
		limit int) (page []*record.Memory, total int, more bool, err error)
	Versions(ctx context.Context, v *audience.View, id string) ([]memory.Version, error)
	Update(ctx context.Context, v *audience.View, p memory.Patch, ifVersion *int) (*record.Memory, error)
	Archive(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error)
	Restore(ctx context.Context, v *audience.View, id string, version int, ifVersion *int) (*record.Memory, error)
	Retract(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error)
	Rename(ctx context.Context, v *audience.View, id, handle string) (*record.Memory, error)
	RenameContext(ctx context.Context, v *audience.View, id, handle string) (*record.Context, error)
	Delete(ctx context.Context, v *audience.View, id string, force bool, ifVersion *int) error
	Stemming(ctx context.Context, v *audience.View, o memory.Origin) (*memory.Stemming, error)
	Forget(ctx context.Context, v *audience.View, o memory.Origin, progress func(done, total int)) (memory.Forgotten, error)
	Use(ctx context.Context, v *audience.View, ids []string) (int, error)
	Profile(v *audience.View, limit int) []*record.Memory
	Stats(v *audience.View) memory.Stats

	PutSynonyms(ctx context.Context, v *audience.View, words []string, private bool) (*memory.Synonyms, error)
	Synonyms(v *audience.View) []*memory.Synonyms
	DeleteSynonyms(ctx context.Context, v *audience.View, words []string) (int, error)

	PutContext(ctx context.Context, v *audience.View, d memory.ContextDraft, ifVersion *int) (*memory.Context, error)
	GetContext(v *audience.View, ref string) (c *memory.Context, below []*memory.Context, memories int, err error)
	Contexts(v *audience.View, parentID string) ([]*memory.Context, error)
	AllContexts(v *audience.View) []*memory.Context
	Counted(v *audience.View, list []*memory.Context) []record.CountedContext
	DeleteContext(ctx context.Context, v *audience.View, id string, subtree bool) (moved, unlinked int, err error)
	Link(ctx context.Context, v *audience.View, id string, memoryIDs []string, belong bool) (int, error)
}

// drafted takes of a memory what a client may write. source names the client when it does not say
// where the memory comes from.
func drafted(by callReader, d protocol.MemoryDraft, prefix string) (memory.Draft, error) {
	if d.ID != "" && by.View.Hides() {
		return memory.Draft{}, chosenIDError("memory", d.ID, prefix+"id")
	}
	out := memory.Draft{
		ID: d.ID, Handle: d.Handle, Tier: d.Tier, Kind: d.Kind, Statement: d.Statement, Summary: d.Summary,
		Questions: d.Questions, Domains: d.Domains, Tags: d.Tags, Contexts: d.Contexts,
		EntityIDs: d.EntityIDs, NoteIDs: d.NoteIDs, Importance: d.Importance, Confidence: d.Confidence,
		Pinned: d.Pinned, AlwaysInject: d.AlwaysInject, Private: d.Private,
		ValidFrom: d.ValidFrom, ValidTo: d.ValidTo, Supersedes: d.Supersedes,
		Source: record.MemorySource{Kind: "client", Client: by.Client},
	}
	if d.Source != nil {
		out.Source = *sourceOf(d.Source)
	}
	if d.CreatedAt != nil {
		out.CreatedAt = *d.CreatedAt
	}
	return out, nil
}

// sourceOf is where a memory comes from, as a client says it; nil for nil.
func sourceOf(d *protocol.MemorySourceDraft) *record.MemorySource {
	if d == nil {
		return nil
	}
	return &record.MemorySource{
		Kind: d.Kind, Client: d.Client, ConversationID: d.ConversationID, MessageIDs: d.MessageIDs, NoteID: d.NoteID,
	}
}

// listedSimilar is how many memories memory.add shows that say much the same.
const listedSimilar = 3

// Add is memory.add.
func (r *memoryHandlers) Add(ctx context.Context, by callReader, p protocol.MemoryAdd) (out protocol.MemoryAdded, err error) {
	d, err := drafted(by, p.MemoryDraft, "")
	if err != nil {
		return out, err
	}
	ctx, call := by.Begin(ctx, "memory.add", &p)
	d.ID, d.CreatedAt = call.ID(d.ID), call.Time(d.CreatedAt)
	list, err := r.memory.Add(ctx, by.View, []memory.Draft{d})
	if err != nil {
		return out, err
	}
	out.Memory, out.Duplicate = protocol.SavedMemory(list[0].Memory, p.Whole()), list[0].Duplicate
	out.Memory.Waits = by.Waits(out.Memory.ID)
	if !p.Similar || out.Duplicate {
		return out, nil
	}
	res, err := r.similar.Like(ctx, by.View, list[0].Memory, listedSimilar)
	if err != nil {
		return out, nil //nolint:nilerr // the memory is written: what the search lacks is no error of the call
	}
	for _, hit := range res.Hits {
		out.Similar = append(out.Similar, protocol.SimilarMemory(hit))
	}
	return out, nil
}

// AddMany is memory.addMany.
func (r *memoryHandlers) AddMany(ctx context.Context, by callReader, p protocol.MemoryAddMany) (out protocol.MemoryAddedMany, err error) {
	drafts := make([]memory.Draft, len(p.Memories))
	for i, d := range p.Memories {
		if drafts[i], err = drafted(by, d, fmt.Sprintf("memories[%d].", i)); err != nil {
			return out, err
		}
	}
	list, err := r.memory.Add(ctx, by.View, drafts)
	if err != nil {
		if len(drafts) == 1 {
			err = fault.Under("memories[0]", err)
		}
		return out, err
	}
	out.Memories = make([]protocol.MemoryAdded, len(list))
	for i, added := range list {
		out.Memories[i] = protocol.MemoryAdded{Memory: protocol.SavedMemory(added.Memory, p.Whole()), Duplicate: added.Duplicate}
	}
	return out, nil
}

// Get is memory.get.
func (r *memoryHandlers) Get(_ context.Context, by callReader, p protocol.MemoryRef) (*record.Memory, error) {
	m, err := r.memory.Get(by.View, p.Ref)
	if err == nil {
		m.Indexed, m.Waits = r.similar.Indexed(m.ID), by.Waits(m.ID)
	}
	return m, fault.In("ref", err)
}

// memoryMark is where a page of memories ends: what it is sorted by, and the number.
func memoryMark(by string, m *record.Memory) pageMark {
	var key string
	switch by {
	case memory.ByCreated:
		key = m.CreatedAt.Format(time.RFC3339Nano)
	case memory.ByQuality:
		key = strconv.FormatFloat(m.Quality, 'g', -1, 64)
	case memory.ByUse:
		key = strconv.Itoa(m.Use.Uses)
	default:
		key = m.UpdatedAt.Format(time.RFC3339Nano)
	}
	return pageMark{Name: key, ID: strconv.FormatInt(m.Number, 10)}
}

// placeAt returns the place that a cursor names; nil for none.
func placeAt(by, cursor string) (*memory.Place, error) {
	if cursor == "" {
		return nil, nil
	}
	at, err := parsePageMark(cursor)
	if err != nil {
		return nil, err
	}
	var p memory.Place
	var bad error
	p.Number, bad = strconv.ParseInt(at.ID, 10, 64)
	switch by {
	case memory.ByCreated:
		p.Created, err = time.Parse(time.RFC3339Nano, at.Name)
	case memory.ByQuality:
		p.Quality, err = strconv.ParseFloat(at.Name, 64)
	case memory.ByUse:
		p.Uses, err = strconv.Atoi(at.Name)
	default:
		p.Updated, err = time.Parse(time.RFC3339Nano, at.Name)
	}
	if errors.Join(err, bad) != nil {
		return nil, badCursorError()
	}
	return &p, nil
}

// List is memory.list.
func (r *memoryHandlers) List(ctx context.Context, by callReader, p protocol.MemoryFilter) (out protocol.MemoryPage, err error) {
	f := memory.Filter{
		Tiers: p.Tiers, Kinds: p.Kinds, Status: p.Status, Tags: p.Tags, Contexts: p.Contexts, EntityIDs: p.EntityIDs,
		Pinned: p.Pinned, Sort: p.Sort,
	}
	f.Holding = p.Validity != protocol.AnyValidity && len(p.Status) == 0
	if p.After != nil {
		f.After = *p.After
	}
	if p.Before != nil {
		f.Before = *p.Before
	}
	if err := f.Check(); err != nil {
		return out, err
	}
	after, err := placeAt(p.Sort, p.Cursor)
	if err != nil {
		return out, err
	}
	list, total, more, err := r.memory.List(ctx, by.View, f, after, p.Limit)
	if err != nil {
		return out, err
	}
	waits := by.Queue.Pending()
	for _, m := range list {
		m.Indexed, m.Pending = r.similar.Indexed(m.ID), waits[m.ID]
	}
	out.Memories, out.Total = list, total
	if more {
		out.NextCursor = memoryMark(p.Sort, list[len(list)-1]).Cursor()
	}
	return out, nil
}

// Similar is memory.similar.
func (r *memoryHandlers) Similar(ctx context.Context, by callReader, p protocol.MemorySimilar) (protocol.SimilarMemories, error) {
	m, err := r.memory.Get(by.View, p.Ref)
	if err != nil {
		return protocol.SimilarMemories{}, fault.In("ref", err)
	}
	res, err := r.similar.To(ctx, by.View, m.ID, p.Limit)
	if err != nil {
		return protocol.SimilarMemories{}, err
	}
	out := protocol.SimilarMemories{Hits: []protocol.SimilarMemory{}}
	for _, hit := range res.Hits {
		out.Hits = append(out.Hits, protocol.SimilarMemory(hit))
	}
	if res.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: "semantic", Why: res.Degraded}
	}
	return out, nil
}

// Versions is memory.versions.
func (r *memoryHandlers) Versions(ctx context.Context, by callReader, p protocol.MemoryRef) (protocol.MemoryVersions, error) {
	m, err := r.memory.Get(by.View, p.Ref)
	if err != nil {
		return protocol.MemoryVersions{}, fault.In("ref", err)
	}
	list, err := r.memory.Versions(ctx, by.View, m.ID)
	return protocol.MemoryVersions{Versions: list}, err
}

// Patch is memory.patch.
func (r *memoryHandlers) Patch(ctx context.Context, by callReader, p protocol.MemoryPatch) (*protocol.MemorySaved, error) {
	id, err := r.meant(ctx, by, p.ID, p.Match)
	if err != nil {
		return nil, err
	}
	patch := memory.Patch{
		ID: id, Tier: p.Tier, Kind: p.Kind, Statement: p.Statement, Summary: p.Summary.Pointer(),
		Questions: p.Questions.Pointer(), Domains: p.Domains.Pointer(), Tags: p.Tags.Pointer(),
		Contexts: p.Contexts.Pointer(), EntityIDs: p.EntityIDs.Pointer(), NoteIDs: p.NoteIDs.Pointer(),
		Importance: p.Importance, Confidence: p.Confidence, Pinned: p.Pinned, AlwaysInject: p.AlwaysInject,
		Private: p.Private, ValidFrom: momentOf(p.ValidFrom), ValidTo: momentOf(p.ValidTo), Source: sourceOf(p.Source), Status: p.Status,
	}
	m, err := r.memory.Update(ctx, by.View, patch, p.IfVersion)
	return protocol.SavedMemory(m, p.Whole()), err
}

// momentOf returns nil for a moment that is absent, and a nil pointer for one that is null.
func momentOf(o protocol.Optional[time.Time]) **time.Time {
	if !o.Set {
		return nil
	}
	var at *time.Time
	if !o.Null {
		at = &o.Value
	}
	return &at
}

// Archive is memory.archive.
func (r *memoryHandlers) Archive(ctx context.Context, by callReader, p protocol.ByID) (*protocol.MemorySaved, error) {
	m, err := r.memory.Archive(ctx, by.View, p.ID, p.IfVersion)
	return protocol.SavedMemory(m, false), err
}

// Restore is memory.restore.
func (r *memoryHandlers) Restore(ctx context.Context, by callReader, p protocol.MemoryRestore) (*protocol.MemorySaved, error) {
	m, err := r.memory.Restore(ctx, by.View, p.ID, p.Version, p.IfVersion)
	return protocol.SavedMemory(m, p.Whole()), err
}

// Retract is memory.retract.
func (r *memoryHandlers) Retract(ctx context.Context, by callReader, p protocol.ByID) (*protocol.MemorySaved, error) {
	m, err := r.memory.Retract(ctx, by.View, p.ID, p.IfVersion)
	return protocol.SavedMemory(m, false), err
}

// Delete is memory.delete.
func (r *memoryHandlers) Delete(ctx context.Context, by callReader, p protocol.MemoryDelete) (protocol.Deleted, error) {
	return protocol.Deleted{ID: p.ID}, r.memory.Delete(ctx, by.View, p.ID, p.Force, p.IfVersion)
}

// Use is memory.use.
func (r *memoryHandlers) Use(ctx context.Context, by callReader, p protocol.MemoryUse) (protocol.Counted, error) {
	n, err := r.memory.Use(ctx, by.View, p.IDs)
	return protocol.Counted{Counted: n}, err
}

// Profile is memory.profile.
func (r *memoryHandlers) Profile(_ context.Context, by callReader, p protocol.MemoryProfile) (protocol.MemoryList, error) {
	return protocol.MemoryList{Memories: r.memory.Profile(by.View, p.Limit)}, nil
}

// Stats is memory.stats.
func (r *memoryHandlers) Stats(_ context.Context, by callReader, _ protocol.ReadAll) (protocol.MemoryStats, error) {
	st := r.memory.Stats(by.View)
	return protocol.MemoryStats{
		Total: st.Total, Tiers: st.Tiers, Kinds: st.Kinds, Status: st.Status, Bank: st.Bank, MaxBank: st.MaxBank,
		Queue: r.similar.Queue(by.View), MostUsed: st.MostUsed, OldestUnused: st.OldestUnused,
	}, nil
}

// PutSynonyms is synonyms.put.
func (r *memoryHandlers) PutSynonyms(ctx context.Context, by callReader, p protocol.SynonymsPut) (*memory.Synonyms, error) {
	return r.memory.PutSynonyms(ctx, by.View, p.Words, p.Private)
}

// Synonyms is synonyms.list.
func (r *memoryHandlers) Synonyms(_ context.Context, by callReader, _ protocol.ReadAll) (protocol.SynonymsList, error) {
	return protocol.SynonymsList{Synonyms: r.memory.Synonyms(by.View)}, nil
}

// DeleteSynonyms is synonyms.delete.
func (r *memoryHandlers) DeleteSynonyms(ctx context.Context, by callReader, p protocol.SynonymsDelete) (protocol.SynonymsDeleted, error) {
	n, err := r.memory.DeleteSynonyms(ctx, by.View, p.Words)
	return protocol.SynonymsDeleted{Deleted: n}, err
}

// PutContext is contexts.put.
func (r *memoryHandlers) PutContext(ctx context.Context, by callReader, p protocol.ContextPut) (*memory.Context, error) {
	if p.ID != "" && by.View.Hides() {
		if found, _, _, err := r.memory.GetContext(by.View, p.ID); err != nil || found.ID != p.ID {
			return nil, chosenIDError("context", p.ID, "id")
		}
	}
	return r.memory.PutContext(ctx, by.View, memory.ContextDraft{
		ID: p.ID, Handle: p.Handle, Name: p.Name, Description: p.Description, ParentID: p.ParentID, Private: p.Private,
	}, p.IfVersion)
}

// GetContext is contexts.get.
func (r *memoryHandlers) GetContext(_ context.Context, by callReader, p protocol.ContextRef) (*protocol.ContextFull, error) {
	found, below, _, err := r.memory.GetContext(by.View, p.Ref)
	if err != nil {
		return nil, fault.In("ref", err)
	}
	counted := r.memory.Counted(by.View, []*memory.Context{found})
	return &protocol.ContextFull{CountedContext: counted[0], Children: r.memory.Counted(by.View, below)}, nil
}

// Contexts is contexts.list.
func (r *memoryHandlers) Contexts(_ context.Context, by callReader, p protocol.ContextFilter) (protocol.ContextList, error) {
	if p.Tree {
		if p.ParentID != "" {
			return protocol.ContextList{}, fault.Field("tree", "tree lists all contexts, so it goes without parentId").
				WithHint("leave out one of the two")
		}
		return protocol.ContextList{Contexts: r.memory.Counted(by.View, r.memory.AllContexts(by.View))}, nil
	}
	list, err := r.memory.Contexts(by.View, p.ParentID)
	return protocol.ContextList{Contexts: r.memory.Counted(by.View, list)}, err
}

// DeleteContext is contexts.delete.
func (r *memoryHandlers) DeleteContext(ctx context.Context, by callReader, p protocol.ContextDelete) (protocol.ContextDeleted, error) {
	moved, unlinked, err := r.memory.DeleteContext(ctx, by.View, p.ID, p.Subtree)
	return protocol.ContextDeleted{ID: p.ID, Moved: moved, Unlinked: unlinked}, err
}

// Link is contexts.link.
func (r *memoryHandlers) Link(ctx context.Context, by callReader, p protocol.ContextLink) (protocol.Linked, error) {
	n, err := r.memory.Link(ctx, by.View, p.ID, p.MemoryIDs, true)
	return protocol.Linked{Added: n}, err
}

// Unlink is contexts.unlink.
func (r *memoryHandlers) Unlink(ctx context.Context, by callReader, p protocol.ContextLink) (protocol.Unlinked, error) {
	n, err := r.memory.Link(ctx, by.View, p.ID, p.MemoryIDs, false)
	return protocol.Unlinked{Removed: n}, err
}
