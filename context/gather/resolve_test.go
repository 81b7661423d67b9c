package gather_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// life fills a world with one record of each kind.
func (w *resolverWorld) life() {
	w.Helper()
	w.people()
	w.entity("alice", "Alice Novak", false)
	_, err := w.notes.Put(w.Context(), notes.Draft{ID: "kick", Title: "Kickoff", Body: "text"}, nil)
	must(w, err)
	w.context("health", "Health Goals", "")
	w.context("sport", "Sport", "health")
	w.add(
		memory.Draft{ID: "run", Handle: "running", Statement: "I run on Mondays", Contexts: []string{"sport"}, Tags: []string{"Fitness/Running"}},
		memory.Draft{ID: "sleep", Handle: "sleeping", Statement: "I sleep eight hours", Contexts: []string{"health"}, Domains: []string{"health"}},
		memory.Draft{ID: "boss", Handle: "the_boss", Statement: "My boss is strict", EntityIDs: []string{"alice"}, Tags: []string{"fitness"}},
		memory.Draft{
			ID: "fact", Handle: "a_fact", Statement: "The bus is late",
			Source: record.MemorySource{Kind: "assistant", ConversationID: "fix"},
		},
	)
}

func TestREF7_WhatReferencesLeadTo(t *testing.T) {
	w := openResolver(t)
	w.life()
	w.leads(w.local, [][2]string{
		{"@conversation_fix_bus_1a2b_message_1", "conversation_message message said1:"},
		{"conv_fix_bus_1a2b_msg_A3F2B1", "conversation_message message said2:"},
		{"run", "memory id run: run"},
		{"@memory:run", "memory id run: run"},
		{"MEM:run", "memory id run: run"},
		{"@memory:health", "not_found"},
		{"health", "context id health: sleep run"},
		{"alice", "entity id alice: boss"},
		{"kick", "note id kick:"},
		{"1", "memory number run: run"},
		{"#2", "memory number sleep: sleep"},
		{"@Claim_3", "memory number boss: boss"},
		{"@RUNNING", "memory handle run: run"},
		{" running ", "memory handle run: run"},
		{"@health_goals_context", "context handle health: sleep run"},
		{"@fix_bus_1a2b", "conversation handle fix: fact"},
		{"@alice_novak_person_entity", "entity computed alice: boss"},
		{"@fitness_tag", "tag computed fitness: boss run"},
		{"@fitness_running_tag", "tag computed Fitness/Running: run"},
		{"@health_domain", "domain computed health: sleep"},
		{"@Alice Novak", "entity name alice: boss"},
		{"@[Alice Novak]", "entity name alice: boss"},
		{"@my_health", "not_found"},
		{"@Health-goals", "context name health: sleep run"},
		{"health   GOALS", "context name health: sleep run"},
		{"[[Kickoff]]", "note name kick:"},
		{"[[Nowhere]]", "not_found"},
		{"@nobody", "not_found"},
		{"#99", "not_found"},
		{"@Alice Novak said", "not_found"},
		{"", "invalid_params"},
		{"@", "invalid_params"},
		{"[[Kickoff]] too", "invalid_params"},
		{strings.Repeat("x", 5000), "limit"},
	})
}

// TestREF7_TheEarlierStepCounts where two of them find something of the same length.
func TestREF7_TheEarlierStepCounts(t *testing.T) {
	w := openResolver(t)
	w.people()
	w.add(memory.Draft{ID: "one", Handle: "two", Statement: "first"}, memory.Draft{ID: "two", Handle: "three", Statement: "second"})
	w.context("ctx", "Three", "")
	w.entity("ent", "Two", false)
	w.leads(w.local, [][2]string{
		{"two", "memory id two: two"}, // before the handle and the name
		{"@three", "memory handle two: two"},
		{"2", "memory number two: two"},
	})
}

func TestREF7_NothingIsGuessed(t *testing.T) {
	w := openResolver(t)
	w.people()
	w.entity("twin", "Work", false)
	w.context("work", "Work", "")
	w.context("top", "Top", "")
	w.context("deep", "Plan", "top")
	w.context("high", "Plan", "")
	w.context("same1", "Same", "top")
	w.context("same2", "same", "top")
	w.entity("john1", "John", false)
	w.entity("john2", "John", false)
	w.add(memory.Draft{ID: "m", Statement: "one", Tags: []string{"x/y", "x-y"}, Contexts: []string{"high"}})
	w.leads(w.local, [][2]string{
		{"@Work", "conflict entity/twin context/work"},
		{"@Plan", "context name high: m"}, // the shallowest
		{"@Same", "conflict context/same1 context/same2"},
		{"@John", "conflict entity/john1 entity/john2"},
		{"@john_person_entity", "conflict entity/john1 entity/john2"},
		{"@x_y_tag", "conflict tag/x-y tag/x/y"},
		{"@x_tag", "tag computed x: m"},
	})
	_, err := w.refs.Resolve(t.Context(), w.local, "@Work", 1)
	var e *fault.Error
	if !errors.As(err, &e) || e.Field != "ref" || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}

// TestREF7_StatusesOfASingleReference: what is no more is given with its status.
func TestREF7_StatusesOfASingleReference(t *testing.T) {
	w := openResolver(t)
	ctx := t.Context()
	w.context("all", "All", "")
	in := []string{"all"}
	w.add(
		memory.Draft{ID: "old", Handle: "old_one", Statement: "I live in Bonn", Contexts: in},
		memory.Draft{ID: "mid", Handle: "mid_one", Statement: "I live in Graz", Contexts: in, Supersedes: []string{"old"}},
		memory.Draft{ID: "new", Handle: "new_one", Statement: "I live in Bern", Contexts: in, Supersedes: []string{"mid"}},
		memory.Draft{ID: "arch", Handle: "arch_one", Statement: "I had a dog", Contexts: in},
		memory.Draft{ID: "wrong", Handle: "wrong_one", Statement: "I hate tea", Contexts: in},
		memory.Draft{ID: "gone", Handle: "gone_one", Statement: "I hate milk", Contexts: in},
		memory.Draft{ID: "depr", Handle: "depr_one", Statement: "I may move", Contexts: in, Confidence: pointerTo(0.1)},
		memory.Draft{ID: "cont", Handle: "cont_one", Statement: "I eat meat", Contexts: in},
		memory.Draft{ID: "merged", Handle: "merged_one", Statement: "I like tea", Contexts: in},
		memory.Draft{ID: "loop", Handle: "loop_one", Statement: "I like loops", Contexts: in},
	)
	_, err := w.mem.Archive(ctx, w.local, "arch", nil)
	must(t, err)
	_, err = w.mem.Retract(ctx, w.local, "wrong", nil)
	must(t, err)
	must(t, w.mem.Delete(ctx, w.local, "gone", true, nil))
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: "cont", Status: pointerTo(record.MemoryContested)}, nil)
	must(t, err)
	mergedInto := func(id, into string) {
		w.store(id, func(m *memory.Record) { m.Status, m.MergedInto = record.MemoryMerged, into })
	}
	mergedInto("merged", "cont")
	mergedInto("loop", "loop")
	w.leads(w.local, [][2]string{
		{"@old_one", "memory handle old: old mid new"},
		{"@arch_one", "memory handle arch: arch"},
		{"@depr_one", "memory handle depr: depr"},
		{"@merged_one", "memory handle cont: cont"},
		{"@loop_one", "not_found"},
		{"@wrong_one", "not_found"},
		{"wrong", "not_found"},
		{"@gone_one", "not_found"},
		{"#6", "not_found"},
		{"@all_context", "context handle all: cont new"}, // groups have what is found by default
	})
	for ref, hint := range map[string]string{"@wrong_one": "memory.get", "#6": "deleted"} {
		_, err := w.refs.Resolve(ctx, w.local, ref, 1)
		var e *fault.Error
		if !errors.As(err, &e) || e.Field != "ref" || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %+v", ref, e)
		}
	}
}

// TestREF7_MergesAreFollowed ten times.
func TestREF7_MergesAreFollowed(t *testing.T) {
	w := openResolver(t)
	for i := range 13 {
		w.add(memory.Draft{ID: fmt.Sprintf("m%02d", i), Statement: fmt.Sprintf("statement %d", i)})
	}
	for i := range 12 {
		w.store(fmt.Sprintf("m%02d", i), func(m *memory.Record) {
			m.Status, m.MergedInto = record.MemoryMerged, fmt.Sprintf("m%02d", i+1)
		})
	}
	w.leads(w.local, [][2]string{{"m02", "memory id m12: m12"}, {"m01", "not_found"}})
}

// TestREF7_GroupsAreOrdered: each memory once, the last changed first, then by id.
func TestREF7_GroupsAreOrdered(t *testing.T) {
	w := openResolver(t)
	w.context("a", "Aa", "")
	w.context("b", "Bb", "a")
	for _, id := range []string{"y", "x", "z"} {
		w.add(memory.Draft{ID: id, Statement: id, Contexts: []string{"a", "b"}, Tags: []string{"t", "t/u"}})
	}
	at := w.now
	w.store("x", func(m *memory.Record) { m.UpdatedAt = at })
	w.store("y", func(m *memory.Record) { m.UpdatedAt = at })
	w.store("z", func(m *memory.Record) { m.UpdatedAt = at.Add(1) })
	w.leads(w.local, [][2]string{
		{"@aa_context", "context handle a: z x y"},
		{"@t_tag", "tag computed t: z x y"},
	})
	got, err := w.refs.Resolve(t.Context(), w.local, "@aa_context", 2)
	must(t, err)
	if len(got.Memories) != 2 || got.Total != 3 || !got.Truncated {
		t.Errorf("%d of %d, truncated: %v", len(got.Memories), got.Total, got.Truncated)
	}
}

// TestREF8_TheTreeHasTenLevels below the context that is named.
func TestREF8_TheTreeHasTenLevels(t *testing.T) {
	w := openResolver(t)
	parent, want := "", ""
	for depth := range 12 {
		id := fmt.Sprintf("c%02d", depth)
		w.context(id, "Level "+id, parent)
		w.add(memory.Draft{ID: fmt.Sprintf("m%02d", depth), Statement: id, Contexts: []string{id}})
		parent = id
		if depth <= 10 {
			want = fmt.Sprintf(" m%02d", depth) + want
		}
	}
	w.leads(w.local, [][2]string{
		{"c00", "context id c00:" + want + " +"},
		{"c01", "context id c01: m11" + strings.TrimSuffix(want, " m00")},
	})
}

// TestREF9_WhatIsPrivateIsMissing for a remote reader, in every form by which it could be named.
func TestREF9_WhatIsPrivateIsMissing(t *testing.T) {
	w := openResolver(t)
	w.people()
	w.entity("spy", "Spy", true)
	w.entity("pub", "Public", false)
	w.put(memory.ContextDraft{ID: "hid", Name: "Hidden", Private: true})
	w.put(memory.ContextDraft{ID: "below", Name: "Below", ParentID: "hid"})
	w.context("open", "Open", "")
	w.put(memory.ContextDraft{ID: "hidlow", Name: "Low", ParentID: "open", Private: true})
	w.context("named", "Spy", "")
	_, err := w.notes.Put(w.Context(), notes.Draft{ID: "secret", Title: "Secret", Body: "text", Private: true}, nil)
	must(t, err)
	w.add(
		memory.Draft{ID: "shh", Handle: "shh_one", Statement: "nobody knows", Private: true, Tags: []string{"both", "own"}, Contexts: []string{"open"}, EntityIDs: []string{"pub"}},
		memory.Draft{ID: "all", Handle: "all_one", Statement: "all know", Tags: []string{"both", "Spy"}, Domains: []string{"Spy"}, Contexts: []string{"open", "hid", "hidlow"}, EntityIDs: []string{"pub"}},
		memory.Draft{ID: "low", Statement: "far below", Contexts: []string{"below"}},
		memory.Draft{ID: "tells", Statement: "[[Secret]] is here"},
		memory.Draft{ID: "next", Handle: "next_one", Statement: "what holds now", Private: true, Supersedes: []string{"tells"}},
	)
	tells, err := w.mem.Get(w.local, "tells")
	must(t, err)
	for _, ref := range []string{
		"shh", "@shh_one", "#1", "@memory:shh", "hid", "@hidden_context", "@Hidden", "spy", "@Spy", "@[Spy]", "@spy_person_entity",
		"secret", "[[Secret]]", "@own_tag", "@spy_domain", "@spy_tag", "@" + tells.Handle, "@next_one", "#5",
	} {
		_, missing := w.refs.Resolve(t.Context(), w.remote, strings.ReplaceAll(strings.ReplaceAll(ref, "5", "99"), "1", "98"), 100)
		_, err := w.refs.Resolve(t.Context(), w.remote, ref, 100)
		var e, m *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.NotFound || len(e.Candidates) > 0 {
			t.Errorf("%s: %+v", ref, e)
			continue
		}
		if errors.As(missing, &m) && (e.Hint != m.Hint || e.Field != m.Field) {
			t.Errorf("%s: %+v, and what is missing: %+v", ref, e, m)
		}
	}
	w.leads(w.remote, [][2]string{
		{"@both_tag", "tag computed both: all"},
		{"@open_context", "context handle open: all"},
		{"@Below", "context name below: low"},
		{"pub", "entity id pub: all"},
		{"tells", "memory id tells: tells"},
	})
	w.leads(w.local, [][2]string{
		{"@both_tag", "tag computed both: all shh"},
		{"@hidden_context", "context handle hid: low all"},
		{"tells", "memory id tells: tells next"},
	})
}

// TestREF14_MessagesOfConversations by number and by hash; their text is cut.
func TestREF14_MessagesOfConversations(t *testing.T) {
	w := openResolver(t)
	w.leads(w.local, [][2]string{
		{"@conv_a_message_3_msg_1", "conversation_message message said1:"}, // the last one counts
		{"@conv_fix_bus_1a2b_msg_0", "not_found"},
		{"@conv_fix_bus_1a2b_msg_3", "not_found"},
		{"@conv_fix_bus_1a2b_msg_zzzzzz", "not_found"},
		{"@conv_nowhere_msg_1", "not_found"},
	})
	_, err := w.refs.Resolve(t.Context(), w.local, "@conv_fix_bus_1a2b_msg_3", 1)
	if err == nil || !strings.Contains(err.Error(), "has 2 messages") {
		t.Errorf("%v does not say how many there are", err)
	}
	got, err := w.refs.Resolve(t.Context(), w.local, "@conv_fix_bus_1a2b_msg_2", 1)
	must(t, err)
	if n := len([]rune(got.Message.Content)); n > 8000 || n < 7900 || !strings.HasSuffix(got.Message.Content, "…") {
		t.Errorf("%d characters", n)
	}
}

// TestREF3_WhatIsLookedUpFollowsTheRecords, and is there again after they were loaded.
func TestREF3_WhatIsLookedUpFollowsTheRecords(t *testing.T) {
	w := openResolver(t)
	w.life()
	ctx := t.Context()
	_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: "run", Tags: pointerTo([]string{"sport"}), EntityIDs: pointerTo([]string{"alice"}), Contexts: pointerTo([]string{"health"})}, nil)
	must(t, err)
	w.put(memory.ContextDraft{ID: "sport", Name: "Games"})
	want := [][2]string{
		{"@fitness_running_tag", "not_found"},
		{"@fitness_tag", "tag computed fitness: boss"},
		{"@sport_tag", "tag computed sport: run"},
		{"alice", "entity id alice: run boss"},
		{"@Games", "context name sport:"},
		{"@Sport", "not_found"},
		{"health", "context id health: run sleep"},
	}
	w.leads(w.local, want)
	w.mem, err = memory.Open(w.db, memory.Options{})
	must(t, err)
	w.refs = gather.NewResolver(gather.ResolverOptions{Memories: w.mem})
	w.leads(w.local, want)
	must(t, w.mem.Delete(ctx, w.local, "boss", true, nil))
	w.leads(w.local, [][2]string{{"@fitness_tag", "not_found"}, {"@the_boss", "not_found"}, {"alice", "entity id alice: run"}})
}

func pointerTo[T any](v T) *T { return &v }
