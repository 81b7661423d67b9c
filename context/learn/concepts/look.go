package concepts

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
)

// look is one question of a reader. It holds x.mu for reading.
type look struct {
	x    *Index
	v    *audience.View
	side int  // of doc.said
	bit  bits // of what the reader sees
	sets map[string][]string
}

// joins are which keys of phrases mean the same by the synonyms that a reader sees, as of a number of changes.
type joins struct {
	made  bool
	words uint64
	sets  map[string][]string
}

// look begins a question. Call done behind it.
func (x *Index) look(v *audience.View) *look {
	l := &look{x: x, v: v, bit: local}
	if v.Hides() {
		l.side, l.bit = 1, remote
	}
	l.sets = x.synonyms(v, l.side)
	x.mu.RLock()
	return l
}

func (l *look) done() { l.x.mu.RUnlock() }

// synonyms returns the keys that mean the same as others.
func (x *Index) synonyms(v *audience.View, side int) map[string][]string {
	x.noting.Lock()
	now, kept := x.words, x.joined[side]
	x.noting.Unlock()
	if kept.made && kept.words == now {
		return kept.sets
	}
	sets := make(map[string][]string)
	for _, set := range x.opts.Store.Synonyms(v) {
		var keys []string
		for _, w := range set.Words {
			keys = append(keys, learn.PhraseKey(w))
		}
		for _, key := range keys {
			sets[key] = append(sets[key], keys...)
		}
	}
	x.noting.Lock()
	x.joined[side] = joins{true, now, sets}
	x.noting.Unlock()
	return sets
}

// sees returns the document of a posting, nil when the reader does not see the term there.
func (l *look) sees(p posting) *doc {
	if p.bits&l.bit == 0 {
		return nil
	}
	return l.x.docs[p.doc]
}

// joined is what is one concept: terms that an entity or synonyms join.
type joined struct {
	terms  []uint32
	entity *entities.Entity // nil for none
	keys   []string         // of the terms and of what joins them
}

// mostForms is how many forms of a phrase are looked up as names.
const mostForms = 8

// join returns the concept that a key belongs to, and the names that it may have.
func (l *look) join(key string, names ...string) joined {
	var j joined
	queue := []string{key}
	for len(queue) > 0 && len(j.keys) < 256 {
		key := queue[0]
		queue = queue[1:]
		if key == "" || slices.Contains(j.keys, key) {
			continue
		}
		term, known := l.x.terms[key]
		if id, is := strings.CutPrefix(key, aboutEntity); is {
			e := l.entity(id)
			if e == nil {
				continue
			}
			j.entity = cmp.Or(j.entity, e)
			for _, name := range append([]string{e.Name}, e.Aliases...) {
				queue = append(queue, learn.PhraseKey(name))
			}
		} else {
			queue = append(queue, l.sets[key]...)
			for _, name := range append(names, l.forms(key)...) {
				if e := l.named(name); e != nil {
					queue = append(queue, aboutEntity+e.ID)
				}
			}
			names = nil
		}
		j.keys = append(j.keys, key)
		if known {
			j.terms = append(j.terms, term)
		}
	}
	return j
}

// entity returns an entity as the reader sees it, nil for one that is not there for him.
func (l *look) entity(id string) *entities.Entity {
	e := l.v.Entity(id)
	if e == nil || e.ArchivedAt != nil {
		return nil
	}
	return l.v.ShownEntity(e)
}

// named returns the entity of a name, nil for none or several.
func (l *look) named(name string) *entities.Entity {
	var only *entities.Entity
	for _, e := range l.v.Named(name) {
		if e.ArchivedAt != nil {
			continue
		}
		if only != nil {
			return nil
		}
		only = e
	}
	return only
}

// forms returns some of the forms in which the reader sees a phrase, in order.
func (l *look) forms(key string) []string {
	term, ok := l.x.terms[key]
	if !ok {
		return nil
	}
	seen := make(map[uint32]bool)
	last := ^uint32(0)
	for _, p := range l.x.postings[term] {
		if p.shown != last && l.sees(p) != nil {
			seen[p.shown], last = true, p.shown
		}
	}
	list := make([]string, 0, len(seen))
	for n := range seen {
		list = append(list, l.x.shown[n])
	}
	slices.Sort(list)
	list = slices.CompactFunc(list, strings.EqualFold)
	return list[:min(mostForms, len(list))]
}

// each gives the documents of a concept that the reader sees and that count from a time on, each once.
func (l *look) each(j joined, visit func(*doc, posting)) {
	if len(j.terms) == 1 {
		for _, p := range l.x.postings[j.terms[0]] {
			if d := l.sees(p); d != nil {
				visit(d, p)
			}
		}
		return
	}
	at := make(map[uint32]int)
	var list []posting
	for _, term := range j.terms {
		for _, p := range l.x.postings[term] {
			if l.sees(p) == nil {
				continue
			}
			if i, ok := at[p.doc]; ok {
				list[i].bits |= p.bits
				continue
			}
			at[p.doc] = len(list)
			list = append(list, p)
		}
	}
	for _, p := range list {
		visit(l.x.docs[p.doc], p)
	}
}

// form counts how often a phrase is written in a way.
type form struct {
	shown     uint32
	sure, all int
}

// everything is the time since which all documents count.
const everything int64 = math.MinInt64

// counted is what is counted of a concept.
type counted struct {
	docs, sure, memories int
	declared             bool
	first, last          int64
	quality              int    // hundredths
	forms                []form // those in which it is surely written most often first
	tiers                map[string]*record.ConceptTier
}

// manyPostings is of how many documents a term is at least of which it is kept what was counted.
const manyPostings = 16

// count counts what the documents of a concept from a time on say. What it returns is not to be changed.
func (l *look) count(j joined, since int64) *counted {
	if len(j.terms) != 1 || since != everything || len(l.x.postings[j.terms[0]]) < manyPostings {
		return l.countNow(j, since)
	}
	x, term := l.x, j.terms[0]
	x.keeping.Lock()
	c := x.counts[l.side][term]
	x.keeping.Unlock()
	if c == nil {
		c = l.countNow(j, since)
		x.keeping.Lock()
		x.counts[l.side][term] = c
		x.keeping.Unlock()
	}
	return c
}

func (l *look) countNow(j joined, since int64) *counted {
	c := &counted{tiers: make(map[string]*record.ConceptTier)}
	l.each(j, func(d *doc, p posting) {
		if d.at < since {
			return
		}
		c.tally(d)
		if d.current&l.bit == 0 {
			return
		}
		c.docs++
		if p.bits&sure != 0 {
			c.sure++
		}
		if !d.message {
			c.memories++
			c.quality += memory.ToHundredths(d.quality[l.side])
		}
		c.declared = c.declared || p.bits&declared != 0
		if c.docs == 1 || d.at < c.first {
			c.first = d.at
		}
		c.last = max(c.last, d.at)
	})
	for _, term := range j.terms {
		c.written(l, term)
	}
	slices.SortFunc(c.forms, func(a, b form) int {
		return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(b.all, a.all), cmp.Compare(l.x.shown[a.shown], l.x.shown[b.shown]))
	})
	return c
}

// written counts in which forms a term is written.
func (c *counted) written(l *look, term uint32) {
	at := make(map[uint32]int)
	last := -1 // of c.forms: documents that follow each other mostly have the same
	for _, p := range l.x.postings[term] {
		d := l.sees(p)
		if d == nil || d.current&l.bit == 0 || l.x.shown[p.shown] == "" {
			continue
		}
		if last < 0 || c.forms[last].shown != p.shown {
			i, ok := at[p.shown]
			if !ok {
				i = len(c.forms)
				at[p.shown] = i
				c.forms = append(c.forms, form{shown: p.shown})
			}
			last = i
		}
		c.forms[last].all++
		if p.bits&sure != 0 {
			c.forms[last].sure++
		}
	}
}

// tally adds what became of a memory.
func (c *counted) tally(d *doc) {
	u := &d.use
	if d.message || u.Uses+u.Worked+u.Failed+u.Partial == 0 {
		return
	}
	t := c.tiers[d.tier]
	if t == nil {
		t = &record.ConceptTier{Tier: d.tier}
		c.tiers[d.tier] = t
	}
	t.Uses, t.Worked, t.Failed, t.Partial = t.Uses+u.Uses, t.Worked+u.Worked, t.Failed+u.Failed, t.Partial+u.Partial
}

// is reports whether what was counted is a concept: an entity, a tag, or a phrase that several texts share.
func (c *counted) is(j joined) bool {
	return c.docs > 0 && (j.entity != nil || c.declared) || c.docs > 1 && learn.CountsAsPhrase(c.sure, c.docs)
}

// mostAliases is how many other names of a concept are told.
const mostAliases = 16

// concept makes a concept of what is joined; nil where the reader sees none, or not by what it would be called.
func (l *look) concept(j joined, since int64) *record.Concept {
	c := l.count(j, since)
	if !c.is(j) {
		return nil
	}
	label, aliases := l.names(j, c.forms)
	if label == "" {
		return nil
	}
	out := &record.Concept{
		Label: label, Kind: record.ConceptPhrase, Aliases: aliases, Mentions: c.docs, Memories: c.memories,
		FirstSeen: time.Unix(0, c.first).UTC(), LastSeen: time.Unix(0, c.last).UTC(), Tiers: []record.ConceptTier{},
	}
	switch {
	case j.entity != nil:
		out.Kind, out.EntityID = record.ConceptEntity, j.entity.ID
	case c.declared:
		out.Kind = record.ConceptTag
	}
	if c.memories > 0 {
		out.AverageQuality = memory.FromHundredths((c.quality + c.memories/2) / c.memories)
	}
	for _, tier := range record.Tiers {
		if t := c.tiers[tier]; t != nil {
			tier := *t
			tier.Wilson = memory.FromHundredths(memory.WilsonBound(t.Worked, t.Failed))
			out.Tiers = append(out.Tiers, tier)
		}
	}
	return out
}

// names returns what a concept is called, "" when the reader may not see that, and its other names.
func (l *look) names(j joined, forms []form) (label string, aliases []string) {
	var names []string
	if j.entity != nil {
		names = append(append(names, l.v.NameOf(j.entity)), j.entity.Aliases...)
	}
	for _, f := range forms {
		names = append(names, l.x.shown[f.shown])
	}
	aliases = []string{}
	folds := make(map[string]bool)
	for i, name := range names {
		fold := entities.Fold(name)
		if folds[fold] {
			continue
		}
		folds[fold] = true
		hidden := l.v.TextOf("", name) != name
		switch {
		case hidden && i == 0:
			return "", nil
		case hidden:
		case i == 0:
			label = name
		case len(aliases) < mostAliases:
			aliases = append(aliases, name)
		}
	}
	return label, aliases
}

// place names a document for the reader.
func (l *look) place(d *doc) record.ConceptPlace {
	p := record.ConceptPlace{Kind: Memories, ID: d.id, At: time.Unix(0, d.at).UTC()}
	if d.message {
		said := &d.said[l.side]
		p.Kind, p.ID, p.ConversationID, p.Index = Messages, said.ID, said.Conversation, said.Index
	}
	return p
}

// later reports whether a document was written after another one: equals by id.
func later(a, b *doc) bool {
	return b == nil || a.at > b.at || a.at == b.at && compareRefs(a.ref, b.ref) > 0
}

// asking makes the index as new as the records, and begins a question.
func (x *Index) asking(ctx context.Context, v *audience.View) (*look, error) {
	if err := x.Ready(ctx); err != nil {
		return nil, err
	}
	return x.look(v), nil
}
