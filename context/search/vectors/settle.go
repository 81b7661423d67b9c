package vectors

import (
	"context"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/yield"
)

// Filter says which documents may be found.
type Filter struct {
	Keep func(text.Doc) bool
	// Slow is true when Keep reads texts.
	Slow bool
}

// firstUndecided is nearSearch.undecided: about as many as the vectors ask for at least.
const firstUndecided = 1024

// search asks the vectors, and returns what finds the document of a hit. A filter that
// reads texts, as the public form of a document that nobody has looked at does, is asked
// neither with the lock of the vectors held nor without giving way: documents of which it is
// not known whether they count are taken for such that do, then the filter is asked, and so
// again until it is known of all that the vectors have asked for. So the hits are those of a
// search that asks the filter at once.
func (x *Index) search(ctx context.Context, s *nearSearch) ([]FlatHit, func(id string) text.Doc, error) {
	known := make(map[string]verdict)
	undecided := make(map[string]bool)
	for most := s.undecided; ; most *= 4 {
		hits := s.g.index.Search(s.vector, s.k, func(id string) bool {
			v, decided := known[id]
			if !decided {
				v.shown, decided = x.glance(s, id)
			}
			if !decided && len(undecided) < most {
				undecided[id] = true
			}
			return !decided || v.shown != nil
		})
		if len(undecided) == 0 {
			return hits, func(id string) text.Doc {
				if v, decided := known[id]; decided && x.src.Get(id) == v.stored {
					return v.shown
				}
				return x.allowed(s, id) // it was changed meanwhile, or seen at a glance
			}, nil
		}
		for id := range undecided {
			err := yield.Point(ctx)
			if err != nil {
				return nil, nil, err
			}
			known[id] = verdict{stored: x.src.Get(id), shown: x.allowed(s, id)}
		}
		clear(undecided)
	}
}

// verdict is what a filter said of a document.
type verdict struct {
	stored text.Doc // it was asked about
	shown  text.Doc // to the reader; nil for one that does not count
}

// glance is allowed where no text has to be read for it; else decided is false.
func (x *Index) glance(s *nearSearch, id string) (shown text.Doc, decided bool) {
	d := x.src.Get(id)
	if s.public && d != nil {
		if x.known == nil {
			return nil, false
		}
		if d, decided = x.known(d); !decided {
			return nil, false
		}
	}
	if d != nil && s.filter.Slow {
		return nil, false
	}
	return x.counts(s, d), true
}

// allowed returns a document that counts, as the reader sees it; nil for any other.
func (x *Index) allowed(s *nearSearch, id string) text.Doc {
	d := x.src.Get(id)
	if d != nil && s.public {
		d = x.public(d)
	}
	return x.counts(s, d)
}

// counts returns a document, as the reader sees it, if it counts.
func (x *Index) counts(s *nearSearch, d text.Doc) text.Doc {
	if d == nil || !s.filter.Keep(d) || !x.serves(s.g, d.ID()) {
		return nil
	}
	return d
}

// public is Source.Public.
func (x *Index) public(d text.Doc) text.Doc {
	if x.known != nil {
		if public, known := x.known(d); known {
			return public
		}
	}
	return x.src.Public(d)
}
