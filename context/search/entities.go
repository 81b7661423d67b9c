package search

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxEntityWords is how many words and phrases EntityTest tells apart.
const maxEntityWords = 32

// EntityTest returns the test of MATCHES in WQL (see wql.Options.Match): an entity
// is found when its name, its text fields and its own note together hold every
// word of the query, and nothing that is excluded. Filters of the query count for
// the note. It is Unavailable while the index is being made: an answer without
// some of the notes would look like one that is right. The test asks the notes of
// the moment when it was made. O(notes that hold a word) to make it, O(text of
// the entity) to ask it. The index must be one of notes. For a public test private notes,
// and what others hide, do not exist; get gives the entities as their reader sees them,
// nil for one that is hidden.
func (x *Index) EntityTest(ctx context.Context, ents *entities.Store, words string,
	get func(id string) *entities.Entity, public bool,
) (func(id string) bool, error) {
	q, err := x.parse(ctx, &Request{Query: words + " ", Public: public})
	if err != nil {
		return nil, err
	}
	want := make([][]string, 0, len(q.words)+len(q.phrases))
	for _, w := range q.words {
		want = append(want, []string{w})
	}
	for _, p := range q.phrases {
		if len(p) > 1 {
			want = append(want, p)
		}
	}
	needed := len(want)
	want = append(want, q.without...)
	if len(want) > maxEntityWords {
		return nil, fault.New(fault.Limit, "MATCHES looks for %d words and phrases at most", maxEntityWords)
	}
	held, err := x.holders(ctx, want, public)
	if err != nil {
		return nil, err
	}
	all := uint32(1)<<needed - 1
	stem := x.words.Stem
	return func(id string) bool {
		e := get(id)
		if e == nil {
			return false
		}
		has := held[e.NoteID]
		eachText(ents, e, func(text string) {
			for i, phrase := range want {
				if has&(1<<i) == 0 && stemsIn(text, phrase, stem) {
					has |= 1 << i
				}
			}
		})
		if has&all != all || has>>needed != 0 {
			return false
		}
		if len(q.filters) == 0 {
			return len(want) > 0
		}
		note := x.src.Get(e.NoteID)
		if note != nil && public {
			note = x.src.Public(note)
		}
		for _, f := range q.filters {
			if note == nil || f.test(note) == f.not {
				return false
			}
		}
		return true
	}, nil
}

// holders returns which of the phrases each document holds, as bits, by its id.
func (x *Index) holders(ctx context.Context, want [][]string, public bool) (map[string]uint32, error) {
	words := make([]string, len(want))
	for i, phrase := range want {
		if len(phrase) == 1 {
			words[i] = phrase[0]
		}
	}
	held, why := x.words.Holders(words, public)
	if why != "" {
		return nil, &fault.Error{Kind: fault.Unavailable, Msg: why, Hint: "ask again in a moment", Retryable: true}
	}
	for i, phrase := range want {
		if len(phrase) == 1 {
			continue
		}
		res, err := x.Search(ctx, Request{
			Query: `"` + strings.Join(phrase, " ") + `"`, Limit: x.words.Most(),
			Keep: func(text.Doc) bool { return true }, Public: public, exact: true,
		})
		if err != nil {
			return nil, err
		}
		for _, h := range res.Hits {
			held[h.Doc.ID()] |= 1 << i
		}
	}
	return held, nil
}

// eachText gives the name and the texts of an entity.
func eachText(ents *entities.Store, e *entities.Entity, visit func(string)) {
	visit(e.Name)
	for _, alias := range e.Aliases {
		visit(alias)
	}
	t := ents.TypeOf(e)
	if t == nil {
		return
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.IsRef() || f.Type.IsComputed() {
			continue
		}
		switch v := e.Fields[f.Name].(type) {
		case string:
			visit(v)
		case []string:
			for _, s := range v {
				visit(s)
			}
		}
	}
}

// stemsIn reports whether a text holds the words of a phrase one behind the
// other; one word alone also in another form.
func stemsIn(where string, phrase []string, stem func(string) string) bool {
	var split text.Splitter
	if len(phrase) > 1 {
		return split.HasPhrase(where, phrase)
	}
	want, found := stem(phrase[0]), false
	split.Split(where, func(t text.Token) {
		found = found || len(t.Text) > 0 && t.Text[0] == want[0] && stem(string(t.Text)) == want
	})
	return found
}
