package concepts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM62_ConceptsAreWhatMemoriesAndMessagesShare(t *testing.T) {
	h := open(t)
	h.want(h.local, "")
	h.fact("My roof leaks at the chimney.")
	h.want(h.local, "") // one text alone makes no concept of a phrase
	h.say("", "Who can mend the roof?", "A roofer looks at the chimneys.")
	h.want(h.local, "chimney 2/1, roof 2/1")
	h.fact("I sing in a choir.", "music/choir")
	h.want(h.local, "chimney 2/1, roof 2/1, choir 1/1, music 1/1") // a tag is one from the beginning
	c := h.get(h.local, "CHIMNEYS")
	if c.Label != "chimney" || c.Kind != record.ConceptPhrase || !slices.Equal(c.Aliases, []string{"chimneys"}) {
		t.Errorf("the concept is %+v", c.Concept)
	}
	if !c.FirstSeen.Before(c.LastSeen) || c.AverageQuality != 0.49 {
		t.Errorf("it was seen from %v to %v, with a quality of %v", c.FirstSeen, c.LastSeen, c.AverageQuality)
	}
	if got := edgesOf(c.Edges); !slices.Equal(got, []string{"chimney--roof 1"}) {
		t.Errorf("it has the edges %v", got)
	}
	if len(c.Examples) != 2 || c.Examples[0].Kind != concepts.Messages || c.Examples[0].Index != 2 || c.Examples[1].Kind != concepts.Memories {
		t.Errorf("its examples are %+v", c.Examples)
	}
}

func TestMEM62_EntitiesAndSynonymsAreOneConcept(t *testing.T) {
	h := open(t)
	h.entity("e1", "Maren Holt", false, nil, "Maren")
	h.entity("e2", "Ida", false, map[string]any{"mother": "e1"})
	h.remember(memory.Draft{Statement: "Maren picks up Ida.", EntityIDs: []string{"e1", "e2"}})
	h.say("", "Does Maren know?", "I told Maren Holt.")
	h.want(h.local, "Maren Holt 3/1, Ida 1/1")
	c := h.get(h.local, "Maren")
	if c.EntityID != "e1" || c.Kind != record.ConceptEntity || !slices.Contains(c.Aliases, "Maren") {
		t.Errorf("the concept is %+v", c.Concept)
	}
	if got := edgesOf(c.Edges); !slices.Equal(got, []string{"Ida-mother-Maren Holt 1"}) {
		t.Errorf("its edges are %v", got)
	}
	_, err := h.Entities.Put(ctx(), entities.Entity{ID: "e1", Type: "Person", Name: "Maren Berg", Aliases: []string{"Maren"}}, nil)
	must(t, err)
	h.want(h.local, "Maren Berg 2/1, Ida 1/1") // Maren Holt is a phrase of one text now
	h.fact("I like the operating system of the laptop.")
	h.say("", "What is the OS of it?", "The OS of the laptop is fine.")
	if got := h.list(h.local); strings.Contains(got, "operating") {
		t.Fatalf("before they mean the same there are %s", got)
	}
	_, err = h.mem.PutSynonyms(ctx(), h.local, []string{"OS", "operating system"}, false)
	must(t, err)
	c = h.get(h.local, "operating system")
	if c.Label != "OS" || c.Mentions != 3 || !slices.Contains(c.Aliases, "operating system") {
		t.Errorf("the joined concept is %+v", c.Concept)
	}
}

func TestMEM62_TiersSayWhatHelped(t *testing.T) {
	h := open(t)
	a := h.remember(memory.Draft{Statement: "The router needs a restart.", Tier: record.TierHistory})[0]
	b := h.remember(memory.Draft{Statement: "The router stands in the hall.", Tier: record.TierBank})[0]
	h.use(a, 3, 1)
	h.use(b, 0, 2)
	c := h.get(h.local, "router")
	if len(c.Tiers) != 2 || c.Tiers[0] != (record.ConceptTier{Tier: record.TierHistory, Uses: 4, Worked: 3, Failed: 1, Wilson: 0.3}) ||
		c.Tiers[1].Failed != 2 || c.Tiers[1].Wilson != 0 {
		t.Errorf("the tiers are %+v", c.Tiers)
	}
	_, err := h.mem.Archive(ctx(), h.local, a, nil)
	must(t, err)
	h.fact("The router is loud.")
	if c = h.get(h.local, "router"); len(c.Tiers) != 2 || c.Mentions != 2 {
		t.Errorf("what an archived one was worth is forgotten, or it is counted: %+v", c.Concept)
	}
}

func TestMEM62_NothingOutlivesItsRecord(t *testing.T) {
	h := open(t)
	a := h.fact("My roof leaks at the chimney.")
	b := h.fact("The roof has a chimney.", "house")
	c := h.say("", "What of the roof?", "The chimney is fine.")
	h.want(h.local, "chimney 3/2, roof 3/2, house 1/1")
	must(t, h.mem.Delete(ctx(), h.local, b, true, nil))
	h.want(h.local, "chimney 2/1, roof 2/1")
	_, err := h.chat.Delete(ctx(), h.local, c)
	must(t, err)
	h.want(h.local, "")
	_, err = h.mem.Retract(ctx(), h.local, a, nil)
	must(t, err)
	known, err := h.x.Known(ctx())
	must(t, err)
	if len(known) > 0 {
		t.Errorf("of records that are gone is known %q", known)
	}
}

func TestMEM62_PathsLeadOverDocuments(t *testing.T) {
	h := open(t)
	for _, s := range []string{
		"The roof is above the kitchen.", "The kitchen has a stove.", "The stove burns the wood.", "The wood is from the forest.",
		"The forest has a lake.", "The lake has a boat.", "The boat has a sail.", "The sail is from the harbour.", "The harbour has an inn.",
		"The roof is above the kitchen, too.", "An inn stands at the harbour.",
	} {
		h.fact(s)
	}
	path, edges, err := h.x.Path(ctx(), h.local, "roof", "boat")
	must(t, err)
	var labels []string
	for _, c := range path {
		labels = append(labels, c.Label)
	}
	if got := strings.Join(labels, " "); got != "roof kitchen stove wood forest lake boat" || len(edges) != 6 {
		t.Errorf("the path is %s over %d edges", got, len(edges))
	}
	if len(edges) > 1 && edges[1].From != "kitchen" || edges[1].To != "stove" || edges[1].Example.ID == "" {
		t.Errorf("the second edge is %+v", edges[1])
	}
	if path, _, err = h.x.Path(ctx(), h.local, "roof", "inn"); err != nil || len(path) > 0 {
		t.Errorf("a path of more than six edges: %v, %v", path, err)
	}
	_, _, err = h.x.Path(ctx(), h.local, "roof", "roofs")
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("the path from a concept to itself: %v", err)
	}
	if _, _, err = h.x.Path(ctx(), h.local, "moon", "roof"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a path from nothing: %v", err)
	}
}

func TestMEM62_ListsAreSortedAndFiltered(t *testing.T) {
	h := open(t)
	h.fact("A duck swims in the pond.")
	h.now = h.now.Add(24 * time.Hour)
	since := h.now
	h.fact("A duck sleeps at the pond.", "late")
	h.fact("A duck sits beside the shed.")
	for _, c := range []struct {
		filter concepts.Filter
		want   string
	}{
		{concepts.Filter{}, "duck pond late"},
		{concepts.Filter{Sort: concepts.ByRecency}, "duck pond late"},
		{concepts.Filter{Sort: concepts.ByAge}, "duck pond late"},
		{concepts.Filter{Since: since}, "duck late"},
		{concepts.Filter{Limit: 1}, "duck"},
	} {
		list, _, _, err := h.x.List(ctx(), h.local, c.filter)
		must(t, err)
		var got []string
		for _, c := range list {
			got = append(got, c.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v gives %s, want %s", c.filter, s, c.want)
		}
	}
	for _, f := range []concepts.Filter{{Sort: "x"}, {Limit: -1}, {Limit: concepts.MaxLimit + 1}} {
		if _, _, _, err := h.x.List(ctx(), h.local, f); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestPRIV6_PrivateRecordsMakeNoConcepts(t *testing.T) {
	h := open(t)
	h.entity("e1", "Sorrel", true, nil)
	h.fact("The garden has a gate.")
	h.remember(memory.Draft{Statement: "The garden of Sorrel has a well.", Private: true, Tags: []string{"secret"}, EntityIDs: []string{"e1"}})
	h.append(chat.AppendRequest{Messages: []chat.Draft{{Role: "user", Content: "Who is at the gate of the garden?", Private: true}}})
	h.want(h.remote, "")
	h.want(h.local, "garden 3/2, gate 2/1, Sorrel 1/1, secret 1/1")
	h.fact("I sit in the garden with @Sorrel at the gate.")
	h.want(h.remote, "garden 2/2, gate 2/2")
	for _, label := range []string{"Sorrel", "secret", "well"} {
		if _, err := h.x.Get(ctx(), h.remote, label); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a remote reader asks for %s: %v", label, err)
		}
	}
	_, err := h.Entities.Put(ctx(), entities.Entity{ID: "e1", Type: "Person", Name: "Sorrel"}, nil)
	must(t, err)
	h.want(h.remote, "garden 2/2, gate 2/2, Sorrel 1/1") // what is public now is in the public form of the text again
}
