package concepts

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Orders of a list of concepts.
const (
	ByRelevance = "relevant" // those that most documents speak of first
	ByRecency   = "recent"   // the last mentioned first
	ByAge       = "oldest"   // the first mentioned first
)

// Orders are all orders.
var Orders = []string{ByRelevance, ByRecency, ByAge}

// Bounds of a list.
const (
	DefaultLimit = 50
	MaxLimit     = 500
)

// Filter says which concepts are listed.
type Filter struct {
	Since time.Time // documents before it count for nothing; zero: all count
	Sort  string    // "": ByRelevance
	Limit int       // 0: DefaultLimit
}

func (f *Filter) check() error {
	f.Sort, f.Limit = cmp.Or(f.Sort, ByRelevance), cmp.Or(f.Limit, DefaultLimit)
	if !slices.Contains(Orders, f.Sort) {
		return fault.Field("sort", "sort is none of its values").WithHint("give one of %s", strings.Join(Orders, ", "))
	}
	if f.Limit < 1 || f.Limit > MaxLimit {
		return fault.Field("limit", "limit is %d", f.Limit).WithHint("give 1 to %d", MaxLimit)
	}
	return nil
}

// List returns concepts and how many there are in all, with the edges between those that are returned.
func (x *Index) List(ctx context.Context, v *audience.View, f Filter) (list []*record.Concept, edges []record.ConceptEdge, total int, err error) {
	if err := f.check(); err != nil {
		return nil, nil, 0, err
	}
	l, err := x.asking(ctx, v)
	if err != nil {
		return nil, nil, 0, err
	}
	defer l.done()
	since := everything
	if !f.Since.IsZero() {
		since = f.Since.UnixNano()
	}
	type known struct {
		*record.Concept
		joined
	}
	var all []known
	done := make([]bool, len(x.keys))
	for _, entity := range []bool{true, false} { // those that are joined by an entity are found by it
		for _, key := range l.keys(entity) {
			if err := ctx.Err(); err != nil {
				return nil, nil, 0, err
			}
			if done[x.terms[key]] {
				continue
			}
			j := l.join(key)
			for _, term := range j.terms {
				done[term] = true
			}
			if c := l.concept(j, since); c != nil {
				all = append(all, known{c, j})
			}
		}
	}
	slices.SortFunc(all, func(a, b known) int {
		by := 0
		switch f.Sort {
		case ByRecency:
			by = b.LastSeen.Compare(a.LastSeen)
		case ByAge:
			by = a.FirstSeen.Compare(b.FirstSeen)
		}
		return cmp.Or(by, cmp.Compare(b.Mentions, a.Mentions), cmp.Compare(b.Memories, a.Memories), cmp.Compare(a.Label, b.Label), cmp.Compare(a.EntityID, b.EntityID))
	})
	total = len(all)
	shown := all[:min(f.Limit, total)]
	joins := make([]joined, len(shown))
	list = make([]*record.Concept, len(shown))
	for i, k := range shown {
		list[i], joins[i] = k.Concept, k.joined
	}
	return list, l.between(list, joins, since), total, nil
}

// About is what is known of one concept.
type About struct {
	*record.Concept
	Edges    []record.ConceptEdge  // the nearest first
	Examples []record.ConceptPlace // the last first
}

const (
	mostEdges    = 20
	mostExamples = 10
)

// Get returns the concept of a label: any form of its name, or a synonym. The error is NotFound.
func (x *Index) Get(ctx context.Context, v *audience.View, label string) (*About, error) {
	l, err := x.asking(ctx, v)
	if err != nil {
		return nil, err
	}
	defer l.done()
	j, c, err := l.find("label", label)
	if err != nil {
		return nil, err
	}
	out := &About{Concept: c, Edges: l.edges(j, c), Examples: []record.ConceptPlace{}}
	var docs []*doc
	l.each(j, func(d *doc, _ posting) {
		if d.current&l.bit != 0 {
			docs = append(docs, d)
		}
	})
	slices.SortFunc(docs, func(a, b *doc) int {
		return cmp.Or(cmp.Compare(b.at, a.at), compareRefs(b.ref, a.ref))
	})
	for _, d := range docs[:min(mostExamples, len(docs))] {
		out.Examples = append(out.Examples, l.place(d))
	}
	return out, nil
}

// find returns the concept that a text names.
func (l *look) find(field, label string) (joined, *record.Concept, error) {
	if learn.PhraseKey(label) == "" {
		return joined{}, nil, fault.Field(field, "%s has no word", field).WithHint("give the label of a concept, such as one of concepts.list")
	}
	j := l.join(learn.PhraseKey(label), strings.TrimLeft(label, "@#"))
	c := l.concept(j, everything)
	if c == nil {
		err := fault.Missing("concept", label)
		err.Hint = "concepts.list lists what memories and messages speak of"
		return joined{}, nil, err
	}
	return j, c, nil
}
