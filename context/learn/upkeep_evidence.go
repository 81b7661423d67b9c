package learn

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// space has the vectors of some texts of one model.
type space struct {
	model  embed.Model
	levels search.Levels
	index  *vectors.FlatIndex // nil: there are no vectors
	hits   map[string][]hit   // by fact, at most inReserve; nil until somebody asks
}

// nearest is how many texts are looked at that are near to a fact.
const nearest = 16

// inReserve is how many are found at once: those behind the nearest come into sight where some of these go.
const inReserve = 2 * nearest

// minTextLikeness is how alike two texts are at least that are compared by their words, see search.Levels.
const minTextLikeness = 0.4

// vector is that of a text, nil for none.
func (s *space) vector(id string) []float32 {
	if s.index == nil {
		return nil
	}
	return s.index.Vector(id)
}

// put adds a vector.
func (s *space) put(id string, v []float32) error {
	_, err := s.index.Put(vectors.Item{ID: id, Parts: []vectors.TextKey{{1}}, New: [][]float32{v}}, nil)
	return err
}

// hit is a text that is near to a fact.
type hit struct {
	id   string
	like float64
}

func (s *space) search(v []float32, most int, allowed func(id string) bool) (list []hit) {
	if s == nil || s.index == nil || v == nil {
		return nil
	}
	return s.alike(s.index.Search(v, most, allowed))
}

func (s *space) alike(found []vectors.FlatHit) (list []hit) {
	for _, h := range found {
		if like := s.levels.Likeness(float64(h.Score)); like >= minTextLikeness {
			list = append(list, hit{h.ID, like})
		}
	}
	return list
}

// leastCosine is a little under the cosine of minTextLikeness.
func (s *space) leastCosine() float32 { return float32(s.levels.Cosine(minTextLikeness)) - 1e-6 }

// findNear looks for the memories that are near to each fact, once in a run.
func (r *run) findNear() error {
	s := r.near
	if s.index == nil || s.hits != nil {
		return nil
	}
	hits := make(map[string][]hit, len(r.order))
	wanted := func(id string) bool { return r.facts[id] != nil }
	pause := func() error { return yield.Point(r.ctx) }
	err := s.index.Neighbours(inReserve, s.leastCosine(), wanted, pause, func(id string, found []vectors.FlatHit) {
		hits[id] = s.alike(found)
	})
	if err == nil {
		s.hits = hits
	}
	return err
}

// nearTo returns the memories that are near to a fact and that it may have to do with. One that has become a fact meanwhile is looked
// for alone.
func (r *run) nearTo(f *fact) []hit {
	list, ok := r.near.hits[f.m.ID]
	left := make([]hit, 0, nearest)
	for _, h := range list {
		if len(left) < nearest && r.inSight(f, h.id) {
			left = append(left, h)
		}
	}
	if len(left) == nearest || ok && len(list) < inReserve {
		return left
	}
	list = r.near.search(r.near.vector(f.m.ID), inReserve, func(id string) bool { return r.inSight(f, id) })
	if r.near.hits != nil {
		r.near.hits[f.m.ID] = list
	}
	return list[:min(nearest, len(list))]
}

// inSight reports whether a memory stands, as far as the run has come, and is no private one beside a public fact.
func (r *run) inSight(f *fact, id string) bool {
	if other := r.facts[id]; other != nil {
		return stands(other.m) && (f.hidden || !other.hidden)
	}
	m := r.keeper.opts.Memory.Stored(id)
	return m != nil && stands(m) && (f.hidden || !r.keeper.hides(m))
}

// vectors reads the vectors of all memories that are relied on, and of facts.
func (r *run) vectors() error {
	r.near = &space{}
	if r.keeper.opts.Index == nil {
		r.skip("there are no vectors: facts of one topic alone are compared")
		return nil
	}
	missing := 0
	i := 0
	for m := range r.keeper.opts.Memory.All() {
		if i++; yield.Every(r.ctx, 64, i) != nil {
			return r.ctx.Err()
		}
		if !stands(m) {
			continue
		}
		l, ok := r.keeper.opts.Index.Stored(m.ID)
		if !ok {
			missing++
			continue
		}
		if r.near.index == nil {
			r.near.model, r.near.levels = l.Model, search.LevelsOf(l.Model.Name)
			r.near.index = vectors.NewCoarseIndex(l.Model.Dims)
		}
		if l.Model != r.near.model {
			missing++
			continue
		}
		if err := r.near.put(m.ID, l.Vectors[0]); err != nil {
			return err
		}
	}
	if missing > 0 {
		r.skip("some memories have no vectors yet: they are compared where they share a topic alone")
	}
	return nil
}

// source is what supports a fact.
type source struct {
	id string
	at time.Time
}

// said is what the person said in messages that have vectors. Few facts are ever said again: which messages have the words
// for it is found in words, and only for such a fact are the vectors read and compared.
type said struct {
	index    FactVectors // of all messages
	space    *space      // nil until somebody asks
	model    embed.Model
	levels   search.Levels
	list     []FactMessage
	messages map[string]FactMessage
	words    map[string][]int32 // places in list by wordStart
	read     map[string][]*Statement
	upTo     time.Time // of the newest that was looked at
}

// evidence counts what supports facts.
func (r *run) evidence() error {
	if r.near.index == nil {
		return nil
	}
	if err := r.findNear(); err != nil {
		return err
	}
	heard, err := r.heard()
	if err != nil {
		return err
	}
	var list []planned
	for _, f := range r.order {
		if err := yield.Point(r.ctx); err != nil {
			return err
		}
		said, err := heard.supports(f, r.near)
		if err != nil {
			return err
		}
		sources := append(r.repeated(f), said...)
		if len(sources) == 0 {
			continue
		}
		list = append(list, planned{
			kind: record.LearnedEvidence, why: "it was said again", silent: true, hidden: f.hidden,
			parts: []part{r.quietly(f, r.supported(sources))},
		})
		if len(list) == maxTxMemories {
			if err := r.apply(list); err != nil {
				return err
			}
			list = nil
		}
	}
	if err := r.apply(list); err != nil {
		return err
	}
	if heard.upTo.After(r.last.LookedAt) {
		r.last.LookedAt = heard.upTo
		return r.note()
	}
	return nil
}

// isNew reports whether something that was said then supports a fact that has not counted it yet.
func isNew(m *memory.Record, at time.Time) bool {
	return at.After(m.CreatedAt) && (m.EvidenceUpTo == nil || at.After(*m.EvidenceUpTo))
}

// stands reports whether a memory was not taken back. One that has faded was said all the same.
func stands(m *memory.Record) bool { return m.Current() || m.Status == record.MemoryDeprecated }

// repeated are newer memories that say what a fact says. What was taken out of messages is left out: those count.
func (r *run) repeated(f *fact) (list []source) {
	near := r.nearTo(f)
	if len(near) == 0 || near[len(near)-1].id == f.farthest {
		return nil // nothing has come into sight since they were looked at
	}
	f.farthest = near[len(near)-1].id
	for _, h := range near {
		m := r.keeper.opts.Memory.Stored(h.id)
		if m == nil || m.ID == f.m.ID || !isNew(f.m, m.CreatedAt) || m.CreatedAt.After(r.at) ||
			len(m.Source.MessageIDs) > 0 && r.keeper.opts.Messages != nil {
			continue
		}
		if r.mayRepeat(f, m) && supported(f, ReadSentences(m.Statement)) {
			list = append(list, source{m.ID, m.CreatedAt})
		}
	}
	return list
}

// mayRepeat reports whether a memory has all that a fact is about. Of each one the beginnings of its things are kept: all that is read
// of it would take many times as much memory, and few are ever read again.
func (r *run) mayRepeat(f *fact, m *memory.Record) bool {
	const end = "\n"
	starts, ok := r.starts[m.ID]
	if !ok {
		starts = end
		for _, s := range ReadSentences(m.Statement) {
			for _, thing := range s.things {
				starts += wordStart(thing) + end
			}
		}
		r.starts[m.ID] = starts
	}
	return !slices.ContainsFunc(f.said.things, func(thing string) bool { return !strings.Contains(starts, end+wordStart(thing)+end) })
}

// supported reports whether a sentence says what a fact says.
func supported(f *fact, sentences []*Statement) bool {
	return slices.ContainsFunc(sentences, func(s *Statement) bool { return SupportsFact(f.said, s) })
}

// sentences reads those of a message, and keeps them.
func (s *said) sentences(m *FactMessage) []*Statement {
	list, ok := s.read[m.Key]
	if !ok {
		list = ReadSentences(m.Text)
		s.read[m.Key] = list
	}
	return list
}

// heard reads what the person said since the last run.
func (r *run) heard() (*said, error) {
	s := &said{
		messages: make(map[string]FactMessage), words: make(map[string][]int32), read: make(map[string][]*Statement),
		model: r.near.model, levels: r.near.levels, index: r.keeper.opts.MessageIndex,
	}
	o := &r.keeper.opts
	if o.Messages == nil || o.MessageIndex == nil {
		return s, nil
	}
	var unread time.Time // of the oldest message without a vector
	i := 0
	for m := range o.Messages(r.last.LookedAt) {
		if i++; yield.Every(r.ctx, 64, i) != nil {
			return nil, r.ctx.Err()
		}
		if m.At.After(r.at) {
			continue
		}
		l, ok := o.MessageIndex.Stored(m.Key)
		if !ok || l.Model != r.near.model {
			if unread.IsZero() || m.At.Before(unread) {
				unread = m.At
			}
			continue
		}
		s.add(m)
		if m.At.After(s.upTo) {
			s.upTo = m.At
		}
	}
	if r.near.index.Len() < len(r.order) { // those are looked at when they have vectors
		s.upTo = time.Time{}
	}
	if !unread.IsZero() && !unread.After(s.upTo) {
		s.upTo = unread.Add(-time.Millisecond)
	}
	return s, nil
}

func (s *said) add(m FactMessage) {
	at := int32(len(s.list))
	s.list = append(s.list, m)
	s.messages[m.Key] = m
	for _, sentence := range ReadSentences(m.Text) {
		for _, thing := range sentence.things {
			start := wordStart(thing)
			if of := s.words[start]; len(of) == 0 || of[len(of)-1] != at {
				s.words[start] = append(of, at)
			}
		}
	}
}

// wordStart is what two things begin with that are the same or forms of one word, see sameStem.
func wordStart(thing string) string {
	if thing[0] == '@' {
		return thing
	}
	return thing[:min(len(thing), shortestStem-1)]
}

// says reports whether any message says what a fact says, as SupportsFact has it: one that has all that it is about.
func (s *said) says(f *fact) bool {
	var lists [][]int32
	for _, thing := range f.said.things {
		lists = append(lists, s.words[wordStart(thing)])
	}
	if len(lists) == 0 {
		return false
	}
	slices.SortFunc(lists, func(a, b []int32) int { return cmp.Compare(len(a), len(b)) })
	return slices.ContainsFunc(lists[0], func(at int32) bool {
		for _, of := range lists[1:] {
			if _, has := slices.BinarySearch(of, at); !has {
				return false
			}
		}
		return supported(f, s.sentences(&s.list[at]))
	})
}

// supports are the messages that support a fact.
func (s *said) supports(f *fact, near *space) (list []source, err error) {
	if !s.says(f) {
		return nil, nil
	}
	if s.space == nil {
		if err := s.vectors(); err != nil {
			return nil, err
		}
	}
	for _, h := range s.space.search(near.vector(f.m.ID), nearest, nil) {
		m := s.messages[h.id]
		if !isNew(f.m, m.At) || m.Private && !f.hidden || slices.Contains(f.m.Source.MessageIDs, m.ID) {
			continue
		}
		if supported(f, s.sentences(&m)) {
			list = append(list, source{m.ID, m.At})
		}
	}
	return list, nil
}

// vectors reads those of all messages.
func (s *said) vectors() error {
	s.space = &space{model: s.model, levels: s.levels, index: vectors.NewCoarseIndex(s.model.Dims)}
	for _, m := range s.list {
		if l, ok := s.index.Stored(m.Key); ok && l.Model == s.model {
			if err := s.space.put(m.Key, l.Vectors[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	// perSource is the share of what a fact is unsure of that a source takes away.
	perSource = 0.05
	// maxEvidence is how many sources a fact names, the last ones.
	maxEvidence = 20
)

// supported returns what becomes of a fact by what supports it: each source counts at its time, so that it does not
// matter when they are counted.
func (r *run) supported(sources []source) func(*memory.Record) {
	slices.SortFunc(sources, func(a, b source) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	return func(m *memory.Record) {
		evidence := slices.Clone(m.Evidence)
		for _, s := range sources {
			at := s.at
			m.Confidence = memory.ConfidenceAt(&m.MemoryRecord, at)
			m.Confidence += perSource * (1 - m.Confidence)
			if at.After(m.ConfidenceAt) {
				m.ConfidenceAt = at
			}
			m.LastEvidenceAt, m.EvidenceUpTo = &at, &at
			m.EvidenceCount++
			evidence = append(evidence, s.id)
		}
		m.Evidence = evidence[max(0, len(evidence)-maxEvidence):]
		m.Status = relied(m, r.sure(m))
	}
}
