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
// reads texts, as the public form of a document does, is asked neither with the lock of
// the vectors held nor without giving way: documents of which it is not known whether they
// count are taken for such that do, then the filter is asked, and so again until it is
// known of all that the vectors have asked for. So the hits are those of a search that
// asks the filter at once.
func (x *Index) search(ctx context.Context, s *nearSearch) ([]FlatHit, func(id string) text.Doc, error) {
	test := func(id string) text.Doc { return x.allowed(s, id) }
	if !s.public && !s.filter.Slow {
		return s.g.index.Search(s.vector, s.k, func(id string) bool { return test(id) != nil }), test, nil
	}
	known := make(map[string]verdict)
	undecided := make(map[string]bool)
	for most := s.undecided; ; most *= 4 {
		hits := s.g.index.Search(s.vector, s.k, func(id string) bool {
			v, decided := known[id]
			if !decided && len(undecided) < most {
				undecided[id] = true
			}
			return !decided || v.shown != nil
		})
		if len(undecided) == 0 {
			return hits, func(id string) text.Doc {
				if x.src.Get(id) == known[id].stored {
					return known[id].shown
				}
				return test(id) // it was changed meanwhile
			}, nil
		}
		for id := range undecided {
			err := yield.Point(ctx)
			if err != nil {
				return nil, nil, err
			}
			known[id] = verdict{stored: x.src.Get(id), shown: test(id)}
		}
		clear(undecided)
	}
}

// verdict is what a filter said of a document.
type verdict struct {
	stored text.Doc // it was asked about
	shown  text.Doc // to the reader; nil for one that does not count
}

// allowed returns a document that counts, as the reader sees it; nil for any other.
func (x *Index) allowed(s *nearSearch, id string) text.Doc {
	d := x.src.Get(id)
	if d != nil && s.public {
		d = x.src.Public(d)
	}
	if d != nil && s.filter.Keep(d) && x.serves(s.g, id) {
		return d
	}
	return nil
}
