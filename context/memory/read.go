package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Sees reports whether a reader may know of a memory; not of nil.
func Sees(v *audience.View, m *Record) bool {
	return m != nil && v.Sees(m.Private) && !v.HidesNote(m.Source.NoteID)
}

// maxMerges is how many memories are followed to the one that they were merged into.
const maxMerges = 10

// Get returns the memory that a reference names: an id, a handle, or a number as 42, #42 or
// claim_42. One that was merged leads to what it was merged into. One that was retracted is
// found by its id alone. The error is NotFound. O(1).
func (s *Store) Get(v *audience.View, ref string) (*record.Memory, error) {
	list := s.shown(v, func() []*Record { return []*Record{s.find(v, strings.TrimSpace(ref))} })
	if len(list) == 0 {
		id, err := s.idFromPrefix(v, strings.TrimSpace(ref))
		if err != nil {
			return nil, err
		}
		list = s.shown(v, func() []*Record { return []*Record{s.find(v, id)} })
	}
	if len(list) == 0 {
		err := fault.Missing("memory", ref)
		err.Hint = "give an id, a handle such as prefer_morning_workouts_a3f2, or a number such as 42"
		return nil, err
	}
	return list[0], nil
}

// idFromPrefix returns the only id that begins with a text, of the memories that a reader finds by more than their ids.
func (s *Store) idFromPrefix(v *audience.View, prefix string) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m, err := audience.ByIDPrefix(prefix, maps.Values(s.byID), func(m *Record) (string, bool) {
		id, m := m.ID, s.as(v, m)
		return id, m != nil && m.Status != record.MemoryRetracted && m.Status != record.MemoryMerged
	})
	if m == nil {
		return "", err
	}
	return m.ID, nil
}

// find returns the memory that a reader means by a reference, nil for none. Hold s.mu.
func (s *Store) find(v *audience.View, ref string) *Record {
	m, byID := s.byID[ref], true
	if m == nil || !Sees(v, m) { // what else has it as its handle is found as if nothing had the id
		m, byID = nil, false
		bare := strings.TrimPrefix(ref, "@")
		if n, ok := refs.ParseMemoryNumber(bare); ok {
			m = s.byID[s.byNumber[int64(n)]]
		} else if by, ok := s.byHandle[refs.FoldHandle(bare)]; ok && by.Kind == KindMemory {
			m = s.byID[by.ID]
			if m != nil && (hidesHandle(v, m) || v.Hides() && !m.isCalled(bare)) {
				return nil
			}
		}
	}
	m = s.as(v, m)
	for range maxMerges {
		if m == nil || m.Status != record.MemoryMerged {
			break
		}
		m, byID = s.as(v, s.byID[m.MergedInto]), false
	}
	if m == nil {
		return nil
	}
	if m.Status == record.MemoryRetracted && !byID || m.Status == record.MemoryMerged {
		return nil
	}
	return m
}

// shown returns memories as a reader may see them. choose is called while the store is locked, and
// may return nil for one that is not there. Texts are masked behind that: it takes a time that depends
// on the text, and no commit must wait for it.
func (s *Store) shown(v *audience.View, choose func() []*Record) []*record.Memory {
	s.mu.RLock()
	chosen := slices.DeleteFunc(choose(), func(m *Record) bool { return m == nil })
	// They are large: one piece of memory for all of them costs a third of one for each.
	list, out := make([]record.Memory, len(chosen)), make([]*record.Memory, len(chosen))
	for i, m := range chosen {
		chosen[i], out[i] = s.face(v, m), &list[i]
		s.whole(v, chosen[i], out[i])
	}
	s.mu.RUnlock()
	if v.Hides() {
		for i, m := range chosen {
			mask(v, m, &out[i].MemoryRecord)
		}
	}
	return out
}

// whole fills a memory with what is kept apart from it, as far as the reader knows of it. Hold s.mu.
func (s *Store) whole(v *audience.View, m *Record, out *record.Memory) {
	faded := s.faded(m)
	out.MemoryRecord, out.Quality, out.Contexts = faded.MemoryRecord, quality(faded), []string{}
	if u := s.use[m.ID]; u != nil {
		out.Use = *u
	}
	out.Use.Score, out.Use.Wilson = FromHundredths(Score(&out.Use)), wilson(&out.Use)
	for id := range s.groups.Inside(m.ID) {
		if c := s.contexts[id]; c != nil && v.Sees(c.Private) {
			out.Contexts = append(out.Contexts, id)
		}
	}
	slices.Sort(out.Contexts)
	if v.Hides() {
		s.hide(v, m, &out.MemoryRecord)
	}
}

// hide takes out of a memory the ids of those that a reader does not see, and the machine. Hold s.mu.
func (s *Store) hide(v *audience.View, m *Record, out *record.MemoryRecord) {
	out.Source.Machine = ""
	hidden := s.hidden(v)
	out.Supersedes = slices.DeleteFunc(slices.Clone(m.Supersedes), hidden)
	out.Contradicts = slices.DeleteFunc(slices.Clone(m.Contradicts), hidden)
	out.Evidence = slices.DeleteFunc(slices.Clone(m.Evidence), hidden)
	if hidden(m.SupersededBy) {
		out.SupersededBy = ""
	}
	if hidden(m.MergedInto) {
		out.MergedInto = ""
	}
}

// mask takes out of a memory what tells of private entities and notes.
func mask(v *audience.View, m *Record, out *record.MemoryRecord) {
	out.Statement, out.Summary = v.TextOf(m.Source.NoteID, m.Statement), v.TextOf(m.Source.NoteID, m.Summary)
	out.Questions, out.Tags, out.Domains = shownTexts(v, m.Questions), shownTexts(v, m.Tags), shownTexts(v, m.Domains)
	if hidesHandle(v, m) {
		out.Handle, out.Aliases = "", []string{}
	} else {
		out.Aliases, _ = m.OpenHandles.Part(m.Aliases)
	}
	out.EntityIDs = slices.DeleteFunc(slices.Clone(m.EntityIDs), v.HidesEntity)
	out.NoteIDs = slices.DeleteFunc(slices.Clone(m.NoteIDs), v.HidesNote)
	maskSource(v, &out.Source)
}

// maskSource takes out of a source a conversation that was private when it was deleted: while it is there, what comes
// from it is hidden.
func maskSource(v *audience.View, source *record.MemorySource) {
	address := "ctxd://conversation/" + source.ConversationID
	if source.ConversationID != "" && v.TextOf("", address) != address {
		source.ConversationID, source.MessageIDs = "", nil
	}
}

// handleText is what the handle was made of.
func (m *Record) handleText() string { return cmp.Or(m.HandleText, m.Statement) }

// isCalled reports whether a memory that a remote reader sees is known to him by a handle.
func (m *Record) isCalled(handle string) bool {
	return refs.FoldHandle(handle) == refs.FoldHandle(m.Handle) || m.OpenHandles.Has(handle)
}

// hidesHandle reports whether the handle is made of words that the reader is not shown.
func hidesHandle(v *audience.View, m *Record) bool {
	return v.Hides() && v.TextOf("", m.handleText()) != m.handleText()
}

func shownTexts(v *audience.View, list []string) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = v.TextOf("", t)
	}
	return out
}

// wilson is how sure the successes of a memory are.
func wilson(u *Use) float64 { return FromHundredths(WilsonBound(u.Worked, u.Failed)) }

// Orders of a list, each with the latest or best first.
const (
	ByUpdated = "updated"
	ByCreated = "created"
	ByQuality = "quality"
	ByUse     = "use"
)

// Filter says which memories are listed; a member that is empty leaves none out.
type Filter struct {
	Tiers, Kinds, Status []string // Status empty: active and contested
	Tags                 []string // each of them, or a tag below it
	Contexts, EntityIDs  []string // one of them
	Pinned               *bool
	After, Before        time.Time // when it was written down, half-open
	Holding              bool      // without what is active and does not hold now
	Sort                 string    // ByUpdated when empty
}

// listed is a memory with what lists are ordered by.
type listed struct {
	m    *Record
	uses int
}

// List returns a page of the memories that a reader sees and a filter leaves in, how many there are
// on all pages, and whether more follow. The page has limit of them at most, behind the place after,
// nil for the beginning. O(memories), of pinned ones O(what is pinned and the candidates of a profile).
func (s *Store) List(ctx context.Context, v *audience.View, f Filter, after *Place,
	limit int,
) (page []*record.Memory, total int, more bool, err error) {
	now := s.opts.Now()
	s.mu.RLock()
	limit = min(limit, len(s.byID)) // who wants all gives any number
	kept := text.TopList[listed]{Most: limit + 1, Compare: func(a, b listed) int {
		return f.compare(placeOf(a.m, a.uses, now), placeOf(b.m, b.uses, now))
	}}
	from := s.byID
	if f.Pinned != nil && *f.Pinned {
		from = s.standing
	}
	for _, m := range from {
		if m = s.as(v, m); m == nil || !s.wanted(v, m, &f) {
			continue
		}
		total++
		uses := s.uses(m)
		if after == nil || f.compare(placeOf(m, uses, now), *after) > 0 {
			kept.Add(listed{m, uses})
		}
	}
	s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, false, err
	}
	all := kept.Sorted()
	more = len(all) > limit
	all = all[:min(limit, len(all))]
	page = s.shown(v, func() []*Record {
		out := make([]*Record, len(all))
		for i, l := range all {
			out[i] = l.m
		}
		return out
	})
	return page, total, more, ctx.Err()
}

// Place is where a memory stands in lists.
type Place struct {
	Updated, Created time.Time
	Quality          float64
	Uses             int
	Number           int64
}

func placeOf(m *Record, uses int, now time.Time) Place {
	return Place{Updated: m.UpdatedAt, Created: m.CreatedAt, Quality: qualityAt(m, now), Uses: uses, Number: m.Number}
}

// compare orders two places: by what is asked for, then the last written down first.
func (f *Filter) compare(a, b Place) int {
	first := b.Updated.Compare(a.Updated)
	switch f.Sort {
	case ByCreated:
		first = b.Created.Compare(a.Created)
	case ByQuality:
		first = cmp.Compare(b.Quality, a.Quality)
	case ByUse:
		first = cmp.Compare(b.Uses, a.Uses)
	}
	return cmp.Or(first, cmp.Compare(b.Number, a.Number))
}

// Check refuses a filter that names what there is not.
func (f *Filter) Check() error {
	for _, list := range []struct {
		field         string
		asked, values []string
	}{{"tiers", f.Tiers, record.Tiers}, {"kinds", f.Kinds, record.MemoryKinds}, {"status", f.Status, record.MemoryStatuses}} {
		for i, value := range list.asked {
			if !slices.Contains(list.values, value) {
				field := fmt.Sprintf("%s[%d]", list.field, i)
				return fault.Field(field, "%s is none of its values", field).
					WithHint("give some of %s", strings.Join(list.values, ", "))
			}
		}
	}
	return nil
}

// Chooser returns the test of a filter for memories as an index has them. It takes a lock for each, so it
// costs about as much as List.
func (s *Store) Chooser(v *audience.View, f Filter) func(*Record) bool {
	return func(m *Record) bool {
		s.mu.RLock()
		defer s.mu.RUnlock()
		m = s.as(v, m)
		return m != nil && s.wanted(v, m, &f)
	}
}

// Numbered returns the number of a memory that a reader sees, 0 for none. O(1).
func (s *Store) Numbered(v *audience.View, id string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if m := s.byID[id]; Sees(v, m) {
		return m.Number
	}
	return 0
}

// Shown returns memories as a reader sees them, nil for each that is gone or that he does not see.
func (s *Store) Shown(v *audience.View, ids []string) []*record.Memory {
	if len(ids) == 0 {
		return nil
	}
	seen := make([]bool, len(ids))
	list := s.shown(v, func() []*Record {
		list := make([]*Record, 0, len(ids))
		for i, id := range ids {
			if m := s.byID[id]; Sees(v, m) {
				seen[i] = true
				list = append(list, m)
			}
		}
		return list
	})
	if len(list) == len(ids) {
		return list
	}
	out := make([]*record.Memory, len(ids))
	for i := range ids {
		if seen[i] {
			out[i], list = list[0], list[1:]
		}
	}
	return out
}

// wanted reports whether a filter leaves in a memory, which is given as the reader sees it.
func (s *Store) wanted(v *audience.View, m *Record, f *Filter) bool {
	in := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	switch {
	case !in(f.Tiers, m.Tier), !in(f.Kinds, m.Kind):
		return false
	case len(f.Status) == 0 && !m.Current(), !in(f.Status, m.Status):
		return false
	case f.Pinned != nil && *f.Pinned != m.Pinned, f.Holding && m.Current() && !s.holdsNow(m):
		return false
	case !f.After.IsZero() && m.CreatedAt.Before(f.After), !f.Before.IsZero() && !m.CreatedAt.Before(f.Before):
		return false
	}
	for _, tag := range f.Tags {
		if !tagged(m.Tags, tag) && !tagged(m.Domains, tag) {
			return false
		}
	}
	about := func(id string) bool { return slices.Contains(m.EntityIDs, id) && !v.HidesEntity(id) }
	if len(f.EntityIDs) > 0 && !slices.ContainsFunc(f.EntityIDs, about) {
		return false
	}
	seen := s.seesContext(v)
	return len(f.Contexts) == 0 ||
		slices.ContainsFunc(f.Contexts, func(id string) bool { return s.groups.Inside(m.ID)[id] && seen(id) })
}

// holdsNow is record.Memory.Holds without a look at the clock for most.
func (s *Store) holdsNow(m *Record) bool {
	return m.ValidFrom == nil && m.ValidTo == nil || m.Holds(s.opts.Now())
}

// Versions returns what a memory said before, the latest first.
func (s *Store) Versions(ctx context.Context, v *audience.View, id string) ([]Version, error) {
	list := []Version{}
	var source string
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		m, err := s.findTx(tx, v, id)
		if err != nil {
			return err
		}
		source = m.Source.NoteID
		hidden := s.hiddenTx(tx, v, &err)
		for _, was := range versions.All(tx, id+"/") {
			sees, failed := s.seesVersion(tx, v, was)
			if failed != nil {
				return failed
			}
			if !sees {
				continue
			}
			said := *was
			if v.Hides() {
				said.Version, said.UpdatedAt = m.versionFor(was, hidden)
			}
			list = append(list, said)
		}
		return cmp.Or(err, tx.Err())
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	if v.Hides() {
		for i := range list {
			was := &list[i]
			was.Source.Machine = ""
			was.Statement, was.Summary = v.TextOf(source, was.Statement), v.TextOf(source, was.Summary)
			maskSource(v, &was.Source)
		}
	}
	return list, nil
}

// seesVersion reports whether a reader may know what a memory said before that he sees: not what it said while it was
// private, or what came from something private.
func (s *Store) seesVersion(tx *kv.Tx, v *audience.View, was *Version) (bool, error) {
	if !v.Hides() {
		return true, nil
	}
	private, err := s.fromPrivate(tx, &was.Source)
	return err == nil && !private && !was.Private && !v.HidesNote(was.Source.NoteID), err
}

// Stats counts memories.
type Stats struct {
	Total                int
	Tiers, Kinds, Status map[string]int
	Bank, MaxBank        int // active memories of the tier memoryBank, and how many there may be
	MostUsed             []*record.Memory
	OldestUnused         *record.Memory // of those found; nil for none
}

// mostUsed is how many memories Stats names.
const mostUsed = 5

// Stats counts the memories that a reader sees. O(memories).
func (s *Store) Stats(v *audience.View) Stats {
	out := Stats{
		Tiers: make(map[string]int), Kinds: make(map[string]int), Status: make(map[string]int), MaxBank: s.opts.Limits.Bank,
	}
	var oldest *Record
	out.MostUsed = s.shown(v, func() (used []*Record) {
		for _, m := range s.byID {
			if m = s.as(v, m); m == nil {
				continue
			}
			out.Total++
			out.Tiers[m.Tier]++
			out.Kinds[m.Kind]++
			out.Status[m.Status]++
			if inBank(m) {
				out.Bank++
			}
			if !m.Current() {
				continue
			}
			if s.uses(m) > 0 {
				used = append(used, m)
			} else if oldest == nil || m.CreatedAt.Before(oldest.CreatedAt) ||
				m.CreatedAt.Equal(oldest.CreatedAt) && m.Number < oldest.Number {
				oldest = m
			}
		}
		slices.SortFunc(used, func(a, b *Record) int {
			return cmp.Or(cmp.Compare(s.uses(b), s.uses(a)), cmp.Compare(a.Number, b.Number))
		})
		return used[:min(len(used), mostUsed)]
	})
	if list := s.shown(v, func() []*Record { return []*Record{oldest} }); len(list) > 0 {
		out.OldestUnused = list[0]
	}
	return out
}

func (s *Store) uses(m *Record) int {
	if u := s.use[m.ID]; u != nil {
		return u.Uses
	}
	return 0
}

// GetContext returns the context of an id, a handle, a name or the beginning of an id, with those below it and the number
// of its memories, as far as the reader sees them. The error is NotFound, or a Conflict for several of a name.
func (s *Store) GetContext(v *audience.View, ref string) (*Context, []*Context, int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.contexts[ref]
	if c == nil {
		if by, ok := s.byHandle[refs.FoldHandle(strings.TrimPrefix(ref, "@"))]; ok && by.Kind == KindContext {
			c = s.contexts[by.ID]
		}
		if c != nil && (s.shownContext(v, c).Handle == "" || v.Hides() && !c.isCalled(strings.TrimPrefix(ref, "@"))) {
			c = nil
		}
	}
	if c == nil || !v.Sees(c.Private) {
		var err error
		if c, err = s.contextNamed(v, ref); err != nil {
			return nil, nil, 0, err
		}
	}
	return s.shownContext(v, c), s.below1(v, c.ID), s.membersOf(v, c.ID), nil
}

// contextNamed returns the only context of a name, else of the beginning of an id.
func (s *Store) contextNamed(v *audience.View, ref string) (*StoredContext, error) {
	var found *StoredContext
	var named []fault.Candidate
	name := text.Fold(strings.TrimSpace(ref))
	for _, c := range s.contexts {
		if text.Fold(c.Name) != name || !v.Sees(c.Private) {
			continue
		}
		if v.Hides() && v.TextOf("", c.Name) != c.Name {
			continue // the reader is shown another name
		}
		found, named = c, append(named, fault.Candidate{ID: c.ID, Name: c.Name})
	}
	switch len(named) {
	case 0:
		c, err := audience.ByIDPrefix(ref, maps.Values(s.contexts), func(c *StoredContext) (string, bool) { return c.ID, v.Sees(c.Private) })
		if c == nil && err == nil {
			err = fault.Missing("context", ref).WithHint("give an id, a handle or a name; contexts.list has them")
		}
		return c, err
	case 1:
		return found, nil
	}
	slices.SortFunc(named, func(a, b fault.Candidate) int { return strings.Compare(a.ID, b.ID) })
	several := fault.Clash(fault.Ambiguous, "%d contexts have that name", len(named)).
		WithHint("give the id of one of the candidates").WithCandidates(named)
	several.Field = "ref"
	return nil, several
}

func (s *Store) shownContext(v *audience.View, c *StoredContext) *Context {
	out := c.Context
	if !v.Hides() {
		return &out
	}
	if parent := s.contexts[c.ParentID]; parent == nil || !v.Sees(parent.Private) {
		out.ParentID = ""
	}
	out.Name, out.Description = v.TextOf("", c.Name), v.TextOf("", c.Description)
	if !c.ShowsHandle(v) {
		out.Handle, out.Aliases = "", []string{}
	} else {
		out.Aliases, _ = c.OpenHandles.Part(c.Aliases)
	}
	return &out
}

// below1 returns the contexts directly below one, "" for the top, by name.
func (s *Store) below1(v *audience.View, id string) []*Context {
	list := []*Context{}
	for child := range s.groups.Below(id) {
		if c := s.contexts[child]; v.Sees(c.Private) {
			list = append(list, s.shownContext(v, c))
		}
	}
	slices.SortFunc(list, func(a, b *Context) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

func (s *Store) membersOf(v *audience.View, id string) int {
	n := 0
	for m := range s.groups.In(id) {
		if r := s.as(v, s.byID[m]); r != nil && r.Current() {
			n++
		}
	}
	return n
}

// Contexts returns the contexts directly below one, "" for the top, by name. The error is NotFound.
func (s *Store) Contexts(v *audience.View, parentID string) ([]*Context, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if parent := s.contexts[parentID]; parentID != "" && (parent == nil || !v.Sees(parent.Private)) {
		return nil, missingIn("context", parentID, "parentId")
	}
	return s.below1(v, parentID), nil
}

// AllContexts returns all contexts that a reader sees, by name.
func (s *Store) AllContexts(v *audience.View) []*Context {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := []*Context{}
	for _, c := range s.contexts {
		if v.Sees(c.Private) {
			list = append(list, s.shownContext(v, c))
		}
	}
	slices.SortFunc(list, func(a, b *Context) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}
