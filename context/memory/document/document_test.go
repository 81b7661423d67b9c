package document_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// house is a store with an index of its memories.
type house struct {
	searchtest.T
	searchtest.Rooms
	mem           *memory.Store
	local, remote *audience.View
	index         *search.Index
}

func open(t *testing.T) *house { return over(t, searchtest.Open(t, kv.InMemory)) }

func over(t searchtest.T, db *kv.Store) *house {
	h := &house{T: t, Rooms: searchtest.Over(t, db, notes.Options{})}
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	var err error
	h.mem, err = memory.Open(db, memory.Options{Source: noteState, Entity: entities.EntityRecords.Has})
	searchtest.Must(t, err)
	h.index = search.Open(db, document.New(db, h.mem, seen), search.Options{})
	return h
}

func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

func (h *house) add(d memory.Draft) *record.Memory {
	h.Helper()
	list, err := h.mem.Add(context.Background(), h.local, []memory.Draft{d})
	searchtest.Must(h, err)
	return list[0].Memory
}

// finds tells the statements that a search finds, for a remote reader or a local one.
func (h *house) finds(query string, public bool) []string {
	h.Helper()
	res, err := h.index.Search(context.Background(), search.Request{Query: query, Limit: 50, Public: public})
	searchtest.Must(h, err)
	list := []string{}
	for _, hit := range res.Hits {
		list = append(list, hit.Doc.Plain())
	}
	slices.Sort(list)
	return list
}

func (h *house) expect(query string, local, remote []string) {
	h.Helper()
	if got := h.finds(query, false); !slices.Equal(got, local) {
		h.Fatalf("%s: found %q, want %q", query, got, local)
	}
	if got := h.finds(query, true); !slices.Equal(got, remote) {
		h.Fatalf("%s: a remote reader found %q, want %q", query, got, remote)
	}
}

var none = []string{}

func TestMEM8_TheNextCallFindsAMemory(t *testing.T) {
	h := open(t)
	const said = "I swim in the lake on Sundays."
	m := h.add(memory.Draft{
		Statement: said, Summary: "bathing", Questions: []string{"Which sport?"}, Tags: []string{"health/water"},
		Domains: []string{"leisure"},
	})
	for _, word := range []string{"lake", "bathing", "sport", "water", "leisure", "tag:health", "kind:fact lake"} {
		h.expect(word, []string{said}, []string{said})
	}
	h.expect("kind:goal lake", none, none)
	changed := "I row on the river."
	_, err := h.mem.Update(t.Context(), h.local, memory.Patch{ID: m.ID, Statement: &changed}, nil)
	searchtest.Must(t, err)
	h.expect("lake", none, none)
	h.expect("river", []string{changed}, []string{changed})
	_, err = h.mem.Archive(t.Context(), h.local, m.ID, nil)
	searchtest.Must(t, err)
	h.expect("river", none, none)
	searchtest.Must(t, h.mem.Delete(t.Context(), h.local, m.ID, true, nil))
	res, err := h.index.Search(t.Context(), search.Request{
		Query: "river", Limit: 5, Keep: document.Keep(func(*memory.Record) bool { return true }),
	})
	searchtest.Must(t, err)
	if len(res.Hits) > 0 {
		t.Errorf("a deleted memory is found: %v", res.Hits[0].Doc.Plain())
	}
}

func TestPRIV8_ARemoteReaderFindsNoPrivateMemory(t *testing.T) {
	h := open(t)
	h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin."})
	h.add(memory.Draft{Statement: "I own a boat.", Private: true})
	h.add(memory.Draft{Statement: "I take aspirin.", Source: record.MemorySource{Kind: "extraction", NoteID: "n"}})
	h.expect("boat", []string{"I own a boat."}, none)
	h.expect("aspirin", []string{"I take aspirin."}, []string{"I take aspirin."})
	h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin.", Private: true})
	h.expect("aspirin", []string{"I take aspirin."}, none)
	h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin."})
	h.expect("aspirin", []string{"I take aspirin."}, []string{"I take aspirin."})
}

func TestPRIV8_ARemoteReaderFindsNoMemoryByAPrivateName(t *testing.T) {
	h := open(t)
	h.Put(h, notes.Draft{ID: "z", Title: "Zanzibar Project", Body: "Plan."})
	said := "The deadline of [[Zanzibar Project]] is in May."
	m := h.add(memory.Draft{Statement: said})
	h.expect("zanzibar", []string{said}, []string{said})
	h.Put(h, notes.Draft{ID: "z", Title: "Zanzibar Project", Body: "Plan.", Private: true})
	h.expect("zanzibar", []string{said}, none)
	if found := h.finds("deadline", true); len(found) != 1 || strings.Contains(found[0], "Zanzibar") {
		t.Errorf("found %q", found)
	}
	changed := "The deadline of [[Zanzibar Project]] is in June."
	_, err := h.mem.Update(t.Context(), h.local, memory.Patch{ID: m.ID, Statement: &changed}, nil)
	searchtest.Must(t, err)
	h.expect("zanzibar", []string{changed}, none)
	h.Put(h, notes.Draft{ID: "z", Title: "Zanzibar Project", Body: "Plan."})
	h.expect("zanzibar", []string{changed}, []string{changed})
}

// TestMEM12_AsAScanOfTheStore compares what the index finds, for both readers, with the memories that
// hold the word as each of them is shown it.
func TestMEM12_AsAScanOfTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		searchtest.Must(t, err)
		defer func() { searchtest.Must(t, db.Close()) }()
		h := over(t, db)
		names := []string{"alder", "birch", "cedar"}
		note := func(i int, private bool) {
			h.Put(h, notes.Draft{ID: fmt.Sprint("n", i), Title: names[i], Body: "Tree.", Private: private})
		}
		for i := range names {
			note(i, rapid.Bool().Draw(t, "private note"))
		}
		var ids []string
		said := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			i := rapid.IntRange(0, 2).Draw(t, "which")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				d := memory.Draft{
					Statement: fmt.Sprintf("Statement %d about [[%s]].", said, names[i]),
					Private:   rapid.Bool().Draw(t, "private memory"),
				}
				if rapid.Bool().Draw(t, "from a note") {
					d.Source = record.MemorySource{Kind: "extraction", NoteID: fmt.Sprint("n", (i+1)%3)}
				}
				ids = append(ids, h.add(d).ID)
				said++
			case 2, 3:
				note(i, rapid.Bool().Draw(t, "private note"))
			case 4:
				if len(ids) > 0 {
					k := rapid.IntRange(0, len(ids)-1).Draw(t, "deleted")
					searchtest.Must(t, h.mem.Delete(context.Background(), h.local, ids[k], true, nil))
					ids = slices.Delete(ids, k, k+1)
				}
			}
			for _, word := range append(names, "statement") {
				for _, v := range []*audience.View{h.local, h.remote} {
					want := []string{}
					for _, id := range ids {
						m, err := h.mem.Get(v, id)
						if err == nil && strings.Contains(strings.ToLower(m.Statement), word) {
							want = append(want, m.Statement)
						}
					}
					slices.Sort(want)
					if got := h.finds(word, v.Hides()); !slices.Equal(got, want) {
						t.Fatalf("%s, remote %v: found %q, want %q", word, v.Hides(), got, want)
					}
				}
			}
		}
	})
}

func TestPRIV8_ARemoteReaderFindsNoHiddenMemoryByItsMeaning(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	h := over(t, db)
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	bags := &embedtest.Bags{Name: "b", Remote: true}
	index := search.Open(db, document.New(db, h.mem, seen), search.Options{Embedder: bags, Gate: seen.Gate})
	h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin."})
	id := h.add(memory.Draft{
		Statement: "I take aspirin.", Source: record.MemorySource{Kind: "extraction", NoteID: "n"},
	}).ID
	h.add(memory.Draft{Statement: "Aspirin is white."})
	for _, step := range []struct {
		private bool
		want    int
		change  bool // which makes the memory private for good
	}{{false, 2, false}, {true, 1, false}, {false, 2, false}, {true, 1, true}, {false, 1, false}} {
		h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin.", Private: step.private})
		searchtest.Until(t, "vectors", func() bool { return index.Waiting() == 0 })
		res, err := index.Search(t.Context(),
			search.Request{Query: "take aspirin", Mode: search.Semantic, Limit: 5, Public: true})
		searchtest.Must(t, err)
		if len(res.Hits) != step.want {
			t.Errorf("private %v: %d hits, want %d", step.private, len(res.Hits), step.want)
		}
		if step.change {
			bags.Taken()
			changed := "I take aspirin and quinine."
			_, err := h.mem.Update(t.Context(), h.local, memory.Patch{ID: id, Statement: &changed}, nil)
			searchtest.Must(t, err)
			searchtest.Until(t, "vectors", func() bool { return index.Waiting() == 0 })
			if sent := bags.Taken(); len(sent) > 0 {
				t.Errorf("sent to a remote embedder: %q", sent)
			}
		}
	}
}

func TestMEM12_ANoteThatBecomesPrivateChangesItsMemories(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	h := over(t, db)
	src := document.New(db, h.mem, audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes}))
	var told []string
	db.OnCommit(func(cs *kv.ChangeSet) {
		for _, c := range src.Changes(cs) {
			told = append(told, fmt.Sprint(c.ID, " ", c.Old != nil && c.Old.Private(), " ", c.Now.Private()))
		}
	})
	h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin."})
	for id, draft := range map[string]memory.Draft{
		"of the note": {Statement: "One.", Source: record.MemorySource{Kind: "extraction", NoteID: "n"}},
		"private":     {Statement: "Two.", Source: record.MemorySource{Kind: "extraction", NoteID: "n"}, Private: true},
		"of none":     {Statement: "Three."},
	} {
		draft.ID = strings.ReplaceAll(id, " ", "-")
		h.add(draft)
	}
	for _, step := range []struct {
		private bool
		want    []string
	}{{true, []string{"of-the-note false true"}}, {true, nil}, {false, []string{"of-the-note true false"}}} {
		told = nil
		h.Put(h, notes.Draft{ID: "n", Title: "Doctor", Body: "Aspirin.", Private: step.private})
		if !slices.Equal(told, step.want) {
			t.Errorf("private %v: told %q, want %q", step.private, told, step.want)
		}
	}
}

func TestPRIV16_SearchesFindWhatAPrivateMemorySuperseded(t *testing.T) {
	h := open(t)
	said := "The boat lies in Bremen."
	old := h.add(memory.Draft{Statement: said})
	h.expect("Bremen", []string{said}, []string{said})
	now := "The boat lies in Hamburg."
	secret := h.add(memory.Draft{Statement: now, Supersedes: []string{old.ID}, Private: true})
	h.expect("boat", []string{now}, []string{said})
	h.expect("status:active Bremen", none, []string{said})
	h.expect("status:superseded Bremen", none, none)
	public := false
	_, err := h.mem.Update(t.Context(), h.local, memory.Patch{ID: secret.ID, Private: &public}, nil)
	searchtest.Must(t, err)
	h.expect("boat", []string{now}, []string{now})
	public = true
	_, err = h.mem.Update(t.Context(), h.local, memory.Patch{ID: secret.ID, Private: &public}, nil)
	searchtest.Must(t, err)
	h.expect("boat", []string{now}, []string{said})
	searchtest.Must(t, h.mem.Delete(t.Context(), h.local, secret.ID, true, nil))
	h.expect("boat", none, []string{said})
}

func TestPRIV16_SearchesFollowTheNoteOfWhatSuperseded(t *testing.T) {
	h := open(t)
	h.Put(h, notes.Draft{ID: "n", Title: "Harbour", Body: "Hamburg."})
	said, now := "The boat lies in Bremen.", "The boat lies in Hamburg."
	old := h.add(memory.Draft{Statement: said})
	h.add(memory.Draft{
		Statement: now, Supersedes: []string{old.ID}, Source: record.MemorySource{Kind: "extraction", NoteID: "n"},
	})
	h.expect("boat", []string{now}, []string{now})
	h.Put(h, notes.Draft{ID: "n", Title: "Harbour", Body: "Hamburg.", Private: true})
	h.expect("boat", []string{now}, []string{said})
	h.Put(h, notes.Draft{ID: "n", Title: "Harbour", Body: "Hamburg."})
	h.expect("boat", []string{now}, []string{now})
}
