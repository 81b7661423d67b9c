package search

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// maxEntityWords is how many words and phrases EntityTest tells apart.
const maxEntityWords = 32

// EntityTest returns the test of MATCHES in WQL (see wql.Options.Match): an entity
// is found when its name, its text fields and its own note together hold every
// word of the query, and nothing that is excluded. Filters of the query count for
// the note. It is Unavailable while the index is being made: an answer without
// some of the notes would look like one that is right. The test asks the notes of
// the moment when it was made. O(notes that hold a word) to make it, O(text of
// the entity) to ask it.
func (x *Index) EntityTest(ctx context.Context, ents *entities.Store, words string) (func(id string) bool, error) {
	q := parse(words+" ", false)
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
	held, err := x.holders(ctx, want)
	if err != nil {
		return nil, err
	}
	all := uint32(1)<<needed - 1
	stem := x.stem
	return func(id string) bool {
		e := ents.Get(id)
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
		note := x.notes.Get(e.NoteID)
		for _, f := range q.filters {
			if note == nil || f.test(note, x.notes.EntityType) == f.not {
				return false
			}
		}
		return len(want)+len(q.filters) > 0
	}, nil
}

// holders returns which of the phrases each note holds, as bits, by its id.
func (x *Index) holders(ctx context.Context, want [][]string) (map[string]uint32, error) {
	held := make(map[string]uint32)
	x.mu.RLock()
	degraded := x.degraded()
	for i, phrase := range want {
		if len(phrase) > 1 || degraded != "" {
			continue
		}
		var docs, tfs [blockSize + 1]uint32
		if l, _ := x.x.postings([]byte(phrase[0])); l != nil {
			for _, b := range l.blocks() {
				for _, d := range docs[:b.decode(&docs, &tfs)] {
					held[x.docs[d].ID] |= 1 << i
				}
			}
		}
	}
	x.mu.RUnlock()
	if degraded != "" {
		return nil, &fault.Error{Kind: fault.Unavailable, Msg: degraded, Hint: "ask again in a moment", Retryable: true}
	}
	for i, phrase := range want {
		if len(phrase) == 1 {
			continue
		}
		res, err := x.Search(ctx, Request{Query: `"` + strings.Join(phrase, " ") + `"`, Limit: x.size(), Filter: notes.SearchFilter{Archived: true}, exact: true})
		if err != nil {
			return nil, err
		}
		for _, h := range res.Hits {
			held[h.Note.ID] |= 1 << i
		}
	}
	return held, nil
}

// size returns how many notes there are.
func (x *Index) size() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.docs)
}

// eachText gives the name and the texts of an entity.
func eachText(ents *entities.Store, e *entities.Entity, visit func(string)) {
	visit(e.Name)
	for _, alias := range e.Aliases {
		visit(alias)
	}
	t := ents.Type(e.Type)
	if t == nil {
		return
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.IsRef() || f.Type == entities.Computed {
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
func stemsIn(text string, phrase []string, stem func(string) string) bool {
	if len(phrase) > 1 {
		var s search
		return s.phraseIn(text, phrase)
	}
	want, found := stem(phrase[0]), false
	var s splitter
	s.split(text, func(t token) {
		found = found || len(t.text) > 0 && t.text[0] == want[0] && stem(string(t.text)) == want
	})
	return found
}
