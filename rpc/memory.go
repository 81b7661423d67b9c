package rpc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/similar"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/resolved"
)

// memoryKeeper is the room of memories: whatever it reads and writes, it does for the reader of a View.
type memoryKeeper interface {
	Add(ctx context.Context, v *audience.View, drafts []memory.Draft) ([]memory.Added, error)
	Get(v *audience.View, ref string) (*record.Memory, error)
	List(ctx context.Context, v *audience.View, f memory.Filter, after *memory.Place,
		limit int) (page []*record.Memory, total int, more bool, err error)
	Versions(ctx context.Context, v *audience.View, id string) ([]memory.Version, error)
	Update(ctx context.Context, v *audience.View, p memory.Patch, ifVersion *int) (*record.Memory, error)
	Archive(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error)
	Restore(ctx context.Context, v *audience.View, id string, version int, ifVersion *int) (*record.Memory, error)
	Retract(ctx context.Context, v *audience.View, id string, ifVersion *int) (*record.Memory, error)
	resolved.Memories
	Delete(ctx context.Context, v *audience.View, id string, force bool, ifVersion *int) error
	Stemming(v *audience.View, o memory.Origin) (*memory.Stemming, error)
	Forget(ctx context.Context, v *audience.View, o memory.Origin, progress func(done, total int)) (memory.Forgotten, error)
	RecordUse(ctx context.Context, v *audience.View, ids []string) (int, error)
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

// memoryFinder finds memories by their vectors, for the reader of a View.
type memoryFinder interface {
	To(ctx context.Context, v *audience.View, id string, limit int) (*similar.Result, error)
	Like(ctx context.Context, v *audience.View, m *record.Memory, limit int) (*similar.Result, error)
	Indexed(id string) string
	Queue(v *audience.View) int
}

// drafted takes of a memory what a client may write. source names the client when it does not say
// where the memory comes from.
func (c scope) drafted(s *Session, d protocol.MemoryDraft, prefix string) (memory.Draft, error) {
	if d.ID != "" && c.view.Hides() {
		return memory.Draft{}, chosenID("memory", d.ID, prefix+"id")
	}
	out := memory.Draft{
		ID: d.ID, Handle: d.Handle, Tier: d.Tier, Kind: d.Kind, Statement: d.Statement, Summary: d.Summary,
		Questions: d.Questions, Domains: d.Domains, Tags: d.Tags, Contexts: d.Contexts,
		EntityIDs: d.EntityIDs, NoteIDs: d.NoteIDs, Importance: d.Importance, Confidence: d.Confidence,
		Pinned: d.Pinned, AlwaysInject: d.AlwaysInject, Private: d.Private,
		ValidFrom: d.ValidFrom, ValidTo: d.ValidTo, Supersedes: d.Supersedes,
		Source: record.MemorySource{Kind: "client", Client: s.Client().Name},
	}
	if d.Source != nil {
		out.Source = *d.Source
	}
	if d.CreatedAt != nil {
		out.CreatedAt = *d.CreatedAt
	}
	return out, nil
}

// listedSimilar is how many memories memory.add shows that say much the same.
const listedSimilar = 3

func (c scope) memoryAdd(ctx context.Context, s *Session, p protocol.MemoryAdd) (out protocol.MemoryAdded, err error) {
	d, err := c.drafted(s, p.MemoryDraft, "")
	if err != nil {
		return out, err
	}
	list, err := c.memory.Add(ctx, c.view, []memory.Draft{d})
	if err != nil {
		return out, err
	}
	out.Memory, out.Duplicate = list[0].Memory, list[0].Duplicate
	if !p.Similar || out.Duplicate {
		return out, nil
	}
	res, err := c.similar.Like(ctx, c.view, out.Memory, listedSimilar)
	if err != nil {
		return out, nil //nolint:nilerr // the memory is written: what the search lacks is no error of the call
	}
	for _, hit := range res.Hits {
		out.Similar = append(out.Similar, protocol.SimilarMemory(hit))
	}
	return out, nil
}

func (c scope) memoryAddMany(ctx context.Context, s *Session, p protocol.MemoryAddMany) (out protocol.MemoryAddedMany, err error) {
	drafts := make([]memory.Draft, len(p.Memories))
	for i, d := range p.Memories {
		if drafts[i], err = c.drafted(s, d, fmt.Sprintf("memories[%d].", i)); err != nil {
			return out, err
		}
	}
	list, err := c.memory.Add(ctx, c.view, drafts)
	if err != nil {
		if len(drafts) == 1 {
			err = fault.Under("memories[0]", err)
		}
		return out, err
	}
	out.Memories = make([]protocol.MemoryAdded, len(list))
	for i, added := range list {
		out.Memories[i] = protocol.MemoryAdded{Memory: added.Memory, Duplicate: added.Duplicate}
	}
	return out, nil
}

func (c scope) memoryGet(_ context.Context, _ *Session, p protocol.MemoryRef) (*record.Memory, error) {
	m, err := c.memory.Get(c.view, p.Ref)
	if err == nil {
		m.Indexed = c.similar.Indexed(m.ID)
	}
	return m, err
}

// memoryMark is where a page of memories ends: what it is sorted by, and the number.
func memoryMark(by string, m *record.Memory) mark {
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
	return mark{key, strconv.FormatInt(m.Number, 10)}
}

// placeAt returns the place that a cursor names; nil for none.
func placeAt(by, cursor string) (*memory.Place, error) {
	if cursor == "" {
		return nil, nil
	}
	at, err := parseMark(cursor)
	if err != nil {
		return nil, err
	}
	var p memory.Place
	var bad error
	p.Number, bad = strconv.ParseInt(at.id, 10, 64)
	switch by {
	case memory.ByCreated:
		p.Created, err = time.Parse(time.RFC3339Nano, at.name)
	case memory.ByQuality:
		p.Quality, err = strconv.ParseFloat(at.name, 64)
	case memory.ByUse:
		p.Uses, err = strconv.Atoi(at.name)
	default:
		p.Updated, err = time.Parse(time.RFC3339Nano, at.name)
	}
	if errors.Join(err, bad) != nil {
		return nil, badCursor()
	}
	return &p, nil
}

func (c scope) memoryList(ctx context.Context, _ *Session, p protocol.MemoryFilter) (out protocol.MemoryPage, err error) {
	f := memory.Filter{
		Tiers: p.Tiers, Kinds: p.Kinds, Status: p.Status, Tags: p.Tags, Contexts: p.Contexts, EntityIDs: p.EntityIDs,
		Pinned: p.Pinned, SortBy: p.SortBy,
	}
	if p.After != nil {
		f.After = *p.After
	}
	if p.Before != nil {
		f.Before = *p.Before
	}
	if err := f.Check(); err != nil {
		return out, err
	}
	after, err := placeAt(p.SortBy, p.Cursor)
	if err != nil {
		return out, err
	}
	list, total, more, err := c.memory.List(ctx, c.view, f, after, p.Limit)
	if err != nil {
		return out, err
	}
	for _, m := range list {
		m.Indexed = c.similar.Indexed(m.ID)
	}
	out.Memories, out.Total = list, total
	if more {
		out.NextCursor = memoryMark(p.SortBy, list[len(list)-1]).cursor()
	}
	return out, nil
}

func (c scope) memorySimilar(ctx context.Context, _ *Session, p protocol.MemorySimilar) (protocol.SimilarMemories, error) {
	res, err := c.similar.To(ctx, c.view, p.ID, p.Limit)
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

func (c scope) memoryVersions(ctx context.Context, _ *Session, p protocol.MemoryID) (protocol.MemoryVersions, error) {
	list, err := c.memory.Versions(ctx, c.view, p.ID)
	return protocol.MemoryVersions{Versions: list}, err
}

func (c scope) memoryUpdate(ctx context.Context, _ *Session, p protocol.MemoryUpdate) (*record.Memory, error) {
	id, err := c.meantMemory(ctx, p.ID, p.Match)
	if err != nil {
		return nil, err
	}
	patch := memory.Patch{
		ID: id, Tier: p.Tier, Kind: p.Kind, Statement: p.Statement, Summary: p.Summary.Pointer(),
		Questions: p.Questions.Pointer(), Domains: p.Domains.Pointer(), Tags: p.Tags.Pointer(),
		Contexts: p.Contexts.Pointer(), EntityIDs: p.EntityIDs.Pointer(), NoteIDs: p.NoteIDs.Pointer(),
		Importance: p.Importance, Confidence: p.Confidence, Pinned: p.Pinned, AlwaysInject: p.AlwaysInject,
		Private: p.Private, ValidFrom: momentOf(p.ValidFrom), ValidTo: momentOf(p.ValidTo), Source: p.Source, Status: p.Status,
	}
	return c.memory.Update(ctx, c.view, patch, p.IfVersion)
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

func (c scope) memoryPin(ctx context.Context, _ *Session, p protocol.MemoryPin) (*record.Memory, error) {
	return c.memory.Update(ctx, c.view, memory.Patch{ID: p.ID, Pinned: &p.Pinned}, nil)
}

func (c scope) memoryArchive(ctx context.Context, _ *Session, p protocol.ByID) (*record.Memory, error) {
	return c.memory.Archive(ctx, c.view, p.ID, p.IfVersion)
}

func (c scope) memoryRestore(ctx context.Context, _ *Session, p protocol.MemoryRestore) (*record.Memory, error) {
	return c.memory.Restore(ctx, c.view, p.ID, p.Version, p.IfVersion)
}

func (c scope) memoryRetract(ctx context.Context, _ *Session, p protocol.ByID) (*record.Memory, error) {
	return c.memory.Retract(ctx, c.view, p.ID, p.IfVersion)
}

func (c scope) memoryDelete(ctx context.Context, _ *Session, p protocol.MemoryDelete) (protocol.Deleted, error) {
	return protocol.Deleted{ID: p.ID}, c.memory.Delete(ctx, c.view, p.ID, p.Force, p.IfVersion)
}

// listedForgotten is how many ids memory.forget names.
const listedForgotten = 1000

func (c scope) memoryForget(ctx context.Context, _ *Session, p protocol.MemoryForget) (out protocol.MemoryForgotten, err error) {
	from := memory.Origin{ConversationID: p.ConversationID, NoteID: p.NoteID, Client: p.Client, All: p.All}
	list, err := c.memory.Stemming(c.view, from)
	if err != nil {
		return out, err
	}
	ids := list.Memories
	out.Total, out.IDs = len(ids), append([]string{}, ids[:min(len(ids), listedForgotten)]...)
	if p.DryRun {
		out.Contexts, out.Synonyms = len(list.Contexts), len(list.Synonyms)
		return out, nil
	}
	gone, err := c.memory.Forget(ctx, c.view, from,
		func(done, total int) { Report(ctx, "forget", int64(done), int64(total)) })
	out.Forgotten, out.Contexts, out.Synonyms = gone.Memories, gone.Contexts, gone.Synonyms
	return out, err
}

func (c scope) memoryRecordUse(ctx context.Context, _ *Session, p protocol.MemoryUsed) (protocol.Counted, error) {
	n, err := c.memory.RecordUse(ctx, c.view, p.IDs)
	return protocol.Counted{Counted: n}, err
}

func (c scope) memoryProfile(_ context.Context, _ *Session, p protocol.MemoryProfile) (protocol.MemoryList, error) {
	return protocol.MemoryList{Memories: c.memory.Profile(c.view, p.Limit)}, nil
}

func (c scope) memoryStats(_ context.Context, _ *Session, _ protocol.ReadAll) (protocol.MemoryStats, error) {
	st := c.memory.Stats(c.view)
	return protocol.MemoryStats{
		Total: st.Total, Tiers: st.Tiers, Kinds: st.Kinds, Status: st.Status, Bank: st.Bank, MaxBank: st.MaxBank,
		Queue: c.similar.Queue(c.view), MostUsed: st.MostUsed, OldestUnused: st.OldestUnused,
	}, nil
}

func (c scope) synonymsPut(ctx context.Context, _ *Session, p protocol.SynonymsPut) (*memory.Synonyms, error) {
	return c.memory.PutSynonyms(ctx, c.view, p.Words, p.Private)
}

func (c scope) synonymsList(_ context.Context, _ *Session, _ protocol.ReadAll) (protocol.SynonymsList, error) {
	return protocol.SynonymsList{Synonyms: c.memory.Synonyms(c.view)}, nil
}

func (c scope) synonymsDelete(ctx context.Context, _ *Session, p protocol.SynonymsDelete) (protocol.SynonymsDeleted, error) {
	n, err := c.memory.DeleteSynonyms(ctx, c.view, p.Words)
	return protocol.SynonymsDeleted{Deleted: n}, err
}

func (c scope) contextsPut(ctx context.Context, _ *Session, p protocol.ContextPut) (*memory.Context, error) {
	if p.ID != "" && c.view.Hides() {
		if _, _, _, err := c.memory.GetContext(c.view, p.ID); err != nil {
			return nil, chosenID("context", p.ID, "id")
		}
	}
	return c.memory.PutContext(ctx, c.view, memory.ContextDraft{
		ID: p.ID, Handle: p.Handle, Name: p.Name, Description: p.Description, ParentID: p.ParentID, Private: p.Private,
	}, p.IfVersion)
}

func (c scope) contextsGet(_ context.Context, _ *Session, p protocol.ContextRef) (*protocol.ContextFull, error) {
	found, below, _, err := c.memory.GetContext(c.view, p.Ref)
	if err != nil {
		return nil, err
	}
	counted := c.memory.Counted(c.view, []*memory.Context{found})
	return &protocol.ContextFull{CountedContext: counted[0], Children: c.memory.Counted(c.view, below)}, nil
}

func (c scope) contextsList(_ context.Context, _ *Session, p protocol.ContextFilter) (protocol.ContextList, error) {
	if p.Tree {
		if p.ParentID != "" {
			return protocol.ContextList{}, fault.Field("tree", "tree lists all contexts, so it goes without parentId").
				WithHint("leave out one of the two")
		}
		return protocol.ContextList{Contexts: c.memory.Counted(c.view, c.memory.AllContexts(c.view))}, nil
	}
	list, err := c.memory.Contexts(c.view, p.ParentID)
	return protocol.ContextList{Contexts: c.memory.Counted(c.view, list)}, err
}

func (c scope) contextsDelete(ctx context.Context, _ *Session, p protocol.ContextDelete) (protocol.ContextDeleted, error) {
	moved, unlinked, err := c.memory.DeleteContext(ctx, c.view, p.ID, p.Subtree)
	return protocol.ContextDeleted{ID: p.ID, Moved: moved, Unlinked: unlinked}, err
}

func (c scope) contextsLink(ctx context.Context, _ *Session, p protocol.ContextLink) (protocol.Linked, error) {
	n, err := c.memory.Link(ctx, c.view, p.ID, p.MemoryIDs, true)
	return protocol.Linked{Added: n}, err
}

func (c scope) contextsUnlink(ctx context.Context, _ *Session, p protocol.ContextLink) (protocol.Unlinked, error) {
	n, err := c.memory.Link(ctx, c.view, p.ID, p.MemoryIDs, false)
	return protocol.Unlinked{Removed: n}, err
}
