package recall_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

const (
	notSeen = "(no turn of the conversation was seen since the start)"
	noTurn  = "(no turn of the conversation has ended yet)"
	late    = "(what the last turns find is not there yet; it serves the next message)"
	earlier = "(what was said since then is not looked at yet)"
	changed = "(the conversation has changed its subject)"
	nothing = "(nothing that is remembered is near to the last turns)"
)

// TestMEM42_WhatTheLastTurnsFindWaits: what may wait and what may not, and that it stays until the next turn.
func TestMEM42_WhatTheLastTurnsFindWaits(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	unsure := 0.4
	h.remember(
		factDraft("marathon", "I run the marathon in spring"),
		factDraft("boiler", "Our boiler makes noise"),
		memory.Draft{ID: "unsure", Statement: "I run the marathon in winter", Confidence: &unsure},
		memory.Draft{ID: "today", Statement: "I run the marathon training today", Tier: record.TierWorking},
		factDraft("wrong", "I run the marathon in summer"),
	)
	_, err := h.mem.Retract(t.Context(), h.local, "wrong", nil)
	mustPassive(t, err)
	h.say("", "My knee hurts after the marathon training", "Run less.")
	h.settle()
	id := h.say("", "I train for the marathon", "Then run the marathon slowly in training.")
	h.settle()
	want := "marathon “My knee hurts after the marathon training” today"
	got := strings.Fields(strings.NewReplacer("“", "", "”", "").Replace(h.waiting(h.local, id)))
	for _, w := range strings.Fields(strings.NewReplacer("“", "", "”", "").Replace(want)) {
		if !slices.Contains(got, w) {
			t.Errorf("%s is not in %s", w, got)
		}
	}
	for _, not := range []string{"boiler", "unsure", "wrong", "train"} {
		if slices.Contains(got, not) {
			t.Errorf("%s is in %s", not, got)
		}
	}
	if first, again := h.waiting(h.local, id), h.waiting(h.local, id); first != again {
		t.Errorf("%s waits, and then %s", first, again)
	}
}

// TestMEM42_TheMessageBeingTypedIsNotLookedAt: neither where a conversation begins nor behind a turn.
func TestMEM42_TheMessageBeingTypedIsNotLookedAt(t *testing.T) {
	e := passiveBags()
	h := openPassive(t, e, recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"), factDraft("bees", "My bees sleep in winter"))
	h.settle()
	id := h.say("", "The boiler is loud")
	h.settle()
	h.want(h.local, id, noTurn)
	h.append(chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{{Role: record.RoleAssistant, Content: "Is the boiler loud at night?"}}})
	h.settle()
	h.want(h.local, id, "boiler")
	h.say(id, "My bees sleep in winter")
	h.settle()
	h.want(h.local, id, "boiler")
	for _, text := range e.Taken() {
		if strings.Contains(text, "boiler") && strings.Contains(text, "bees") {
			t.Errorf("%q was embedded", text)
		}
	}
}

// TestMEM42_AChangeOfSubjectDropsWhatWaits, and the next turn about the new one finds something again.
func TestMEM42_AChangeOfSubjectDropsWhatWaits(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"), factDraft("bees", "My bees sleep in winter"))
	h.settle()
	id := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "boiler")
	h.say(id, "My bees sleep in winter", "Bees sleep then.")
	h.settle()
	h.want(h.local, id, changed)
	h.say(id, "Do my bees sleep well", "My bees sleep in winter.")
	h.settle()
	h.want(h.local, id, "bees")
}

// TestMEM42_ALateResultServesTheNextPrompt: until it is there the one before has what an earlier turn left.
func TestMEM42_ALateResultServesTheNextPrompt(t *testing.T) {
	e := passiveBags()
	h := openPassive(t, e, recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"), factDraft("pump", "The boiler has a new pump at night"))
	h.settle()
	gate := make(chan struct{})
	e.Set(func() { e.Gate = gate })
	id := h.say("", "The boiler is loud at night", "Is the boiler loud at night?")
	h.want(h.local, id, late)
	close(gate)
	h.settle()
	h.want(h.local, id, "boiler pump")
	gate = make(chan struct{})
	e.Set(func() { e.Gate = gate })
	h.say(id, "The boiler has a pump that has a new pump at night", "A new pump has the boiler at night.")
	h.want(h.local, id, "boiler pump "+earlier)
	close(gate)
	h.settle()
	h.want(h.local, id, "pump boiler")
}

// TestMEM42_WithoutVectorsNothingWaits: no embedder, one that fails, one that comes back, and another model.
func TestMEM42_WithoutVectorsNothingWaits(t *testing.T) {
	none := openPassive(t, nil, recall.PassiveOptions{})
	id := none.say("", "The boiler is loud", "Is it?")
	none.settle()
	none.want(none.local, id, "(no embedder is configured)")

	e := passiveBags()
	h := openPassive(t, e, recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	e.Set(func() { e.Fail = fault.New(fault.Unavailable, "the embedder is away") })
	id = h.say("", "The boiler is loud", "Is the boiler loud at night?")
	untilPassive(h, "what waits", h.passive.Idle)
	h.want(h.local, id, "(the embedder is away)")
	e.Set(func() { e.Fail = nil })
	h.say(id, "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "boiler")
	e.Set(func() { e.Fail = fault.New(fault.Unavailable, "the embedder is away") })
	h.say(id, "The boiler is loud and old", "Is the boiler loud at night?")
	untilPassive(h, "what waits", h.passive.Idle)
	h.want(h.local, id, "boiler (the embedder is away)")
}

// TestMEM42_WhatIsGoneDoesNotWait: what is deleted, archived, retracted or unsure meanwhile, a deleted conversation, and
// a conversation that becomes private.
func TestMEM42_WhatIsGoneDoesNotWait(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	h.remember(factDraft("a", "The boiler is loud at night"), factDraft("b", "The boiler is loud in winter"), factDraft("c", "The boiler is loud, says Ann"))
	other := h.say("", "A boiler that is loud at night wants oil", "It does.")
	h.settle()
	id := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	all := h.waiting(h.local, id)
	for _, part := range []string{"a", "b", "c", "“A boiler that is loud at night wants oil”"} {
		if !strings.Contains(all, part) {
			t.Fatalf("%s does not wait: %s", part, all)
		}
	}
	_, err := h.mem.Retract(t.Context(), h.local, "a", nil)
	mustPassive(t, err)
	mustPassive(t, h.mem.Delete(t.Context(), h.local, "b", true, nil))
	_, err = h.chat.Update(t.Context(), h.local, other, chat.Change{Archived: ptr(true)})
	mustPassive(t, err)
	h.want(h.local, id, "c")
	_, err = h.chat.Update(t.Context(), h.local, id, chat.Change{Settings: chat.Settings{Private: ptr(true)}})
	mustPassive(t, err)
	h.want(h.local, id, notSeen)
	h.say(id, "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "c")
	h.want(h.remote, id, notSeen)
	_, err = h.chat.Delete(t.Context(), h.local, id)
	mustPassive(t, err)
	h.want(h.local, id, notSeen)
	if local, remote := h.passive.Kept(); local+remote != 2 { // those of other
		t.Errorf("%d and %d conversations are kept", local, remote)
	}
}

// TestMEM42_TwoAudiences (PRIV-6): a remote reader has a buffer of his own, made of what he sees.
func TestMEM42_TwoAudiences(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	hidden := factDraft("hidden", "The boiler is loud at night")
	hidden.Private = true
	h.remember(hidden, factDraft("shown", "The boiler is loud in the winter"), factDraft("bees", "My bees sleep in winter"))
	h.settle()
	id := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "hidden shown")
	h.want(h.remote, id, "shown")
	// A private turn is one for a local reader alone.
	h.append(chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "Do my bees sleep in winter", Private: true},
		{Role: record.RoleAssistant, Content: "Your bees sleep.", Private: true},
	}})
	h.want(h.remote, id, "shown")
	h.settle()
	h.want(h.local, id, changed)
	h.want(h.remote, id, "shown")
	private := h.append(chat.AppendRequest{Private: true, Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "The boiler is loud"}, {Role: record.RoleAssistant, Content: "Is the boiler loud at night?"},
	}})
	h.settle()
	h.want(h.local, private, "“Is the boiler loud at night?” hidden shown")
	h.want(h.remote, private, notSeen)
	h.want(h.remote, "nobody", notSeen)
	// What was private and is shown, or the other way round, is looked up when it is asked for.
	_, err := h.mem.Update(t.Context(), h.local, memory.Patch{ID: "shown", Private: ptr(true)}, nil)
	mustPassive(t, err)
	h.want(h.remote, id, nothing)
}

// TestMEM42_APrivateNameFindsNothing (PRIV-8): what was found by a name is dropped for a remote reader when the name
// becomes private; a private record that has nothing to do with it changes nothing for him.
func TestMEM42_APrivateNameFindsNothing(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	h.Put(t, notes.Draft{ID: "n", Title: "Boiler", Body: "Loud."})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	id := h.say("", "What of [[Boiler]]", "The boiler is loud at night, it is loud.")
	h.settle()
	h.want(h.remote, id, "boiler")
	h.Put(t, notes.Draft{ID: "x", Title: "Zeppelin", Body: "It flies.", Private: true})
	h.want(h.remote, id, "boiler")
	h.Put(t, notes.Draft{ID: "n", Title: "Boiler", Body: "Loud.", Private: true})
	h.want(h.remote, id, late)
	h.want(h.local, id, "boiler")
	h.settle() // it is looked for anew, without the name
	h.want(h.remote, id, "boiler")
	h.Put(t, notes.Draft{ID: "y", Title: "Airship", Body: "It flies.", Private: true})
	h.want(h.remote, id, "boiler")
}

// TestPRIV8_ARemoteEmbedderGetsNothingPrivate: no private message, no private conversation, and no private name.
func TestPRIV8_ARemoteEmbedderGetsNothingPrivate(t *testing.T) {
	e := passiveBags()
	e.Remote = true
	h := openPassive(t, e, recall.PassiveOptions{})
	h.Put(t, notes.Draft{ID: "n", Title: "Zeppelin", Body: "It flies.", Private: true})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	id := h.append(chat.AppendRequest{Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "The boiler is loud, says [[Zeppelin]]"},
		{Role: record.RoleUser, Content: "The boiler is a zeppelin", Private: true},
		{Role: record.RoleAssistant, Content: "Is the boiler loud at night?"},
	}})
	private := h.append(chat.AppendRequest{Private: true, Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "The zeppelin is loud"}, {Role: record.RoleAssistant, Content: "Zeppelin at night?"},
	}})
	h.settle()
	h.want(h.local, id, "boiler")
	h.want(h.remote, id, "boiler")
	h.want(h.local, private, "(the conversation is private, and the embedder on another machine)")
	h.want(h.remote, private, notSeen)
	for _, text := range e.Taken() {
		if strings.Contains(strings.ToLower(text), "zeppelin") {
			t.Errorf("the embedder was given %q", text)
		}
	}
}

// TestPRIV8_ATextOnItsWayIsCalledBack when its conversation is deleted.
func TestPRIV8_ATextOnItsWayIsCalledBack(t *testing.T) {
	e := passiveBags()
	e.Remote = true
	h := openPassive(t, e, recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	e.Set(func() { e.Gate = make(chan struct{}) }) // never opened
	id := h.say("", "The boiler is loud", "Is it?")
	untilPassive(h, "the embedder is asked", func() bool { return e.Held.Load() > 0 && !h.passive.Idle() })
	_, err := h.chat.Delete(t.Context(), h.local, id)
	mustPassive(t, err)
	untilPassive(h, "the call ends", h.passive.Idle)
	h.want(h.local, id, notSeen)
}

// TestMEM42_AFloodIsLookedAtOnce: what is said while the worker is busy waits once a conversation, as many
// conversations as there are buffers for, and an import of many is not looked at.
func TestMEM42_AFloodIsLookedAtOnce(t *testing.T) {
	e := passiveBags()
	h := openPassive(t, e, recall.PassiveOptions{Conversations: 3})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	gate := make(chan struct{})
	e.Set(func() { e.Gate = gate })
	first := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	untilPassive(h, "the work begins", func() bool { return h.looked.Load() > 0 })
	for range 200 {
		h.say(first, "The boiler is loud", "Is the boiler loud at night?")
	}
	var last string
	for i := range 20 {
		last = h.say("", fmt.Sprint("The boiler is loud ", i), "Is the boiler loud at night?")
	}
	if local, remote := h.passive.Kept(); local != 3 || remote != 3 {
		t.Errorf("%d and %d conversations are kept", local, remote)
	}
	close(gate)
	h.settle()
	if n := h.looked.Load(); n > 10 {
		t.Errorf("turns were read %d times", n)
	}
	h.want(h.local, first, notSeen)
	if got := h.waiting(h.local, last); !strings.HasPrefix(got, "boiler") {
		t.Errorf("for the last one waits %s", got)
	}
	before := h.looked.Load()
	var many []chat.AppendRequest
	for i := range 50 {
		many = append(many, chat.AppendRequest{Past: true, ClientID: fmt.Sprint("c", i), Messages: []chat.Draft{
			{Role: record.RoleUser, Content: "The boiler is loud"}, {Role: record.RoleAssistant, Content: "Is it?"},
		}})
	}
	_, err := h.chat.AppendMany(t.Context(), h.local, many)
	mustPassive(t, err)
	h.settle()
	if h.looked.Load() != before {
		t.Error("an import was looked at")
	}
}

// TestMEM42_RepeatedMessagesAreNotLookedAt: nothing was said.
func TestMEM42_RepeatedMessagesAreNotLookedAt(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	said := chat.AppendRequest{Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "The boiler is loud", ClientMessageID: "u"},
		{Role: record.RoleAssistant, Content: "Is it?", ClientMessageID: "a"},
	}}
	h.append(said)
	h.settle()
	before := h.looked.Load()
	h.append(said)
	h.settle()
	if before == 0 || h.looked.Load() != before {
		t.Errorf("looked %d times, then %d", before, h.looked.Load())
	}
}

// TestMEM42_AStartWaitsForTheNextTurn: what waits is kept in memory alone, and comes again with the next turn.
func TestMEM42_AStartWaitsForTheNextTurn(t *testing.T) {
	dir := t.TempDir()
	db, err := kv.Open(dir, kv.Options{})
	mustPassive(t, err)
	h := openOver(t, db, passiveBags(), recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	id := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "boiler")
	mustPassive(t, db.Close())
	db, err = kv.Open(dir, kv.Options{})
	mustPassive(t, err)
	h = openOver(t, db, passiveBags(), recall.PassiveOptions{})
	h.want(h.local, id, notSeen)
	h.say(id, "The boiler is loud again", "Is the boiler loud at night?")
	h.settle()
	h.want(h.local, id, "boiler")
	mustPassive(t, db.Close())
}

// TestMEM42_ClosingEndsTheWork, also while the embedder does not answer.
func TestMEM42_ClosingEndsTheWork(t *testing.T) {
	e := passiveBags()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustPassive(t, err)
	h := openOver(t, db, e, recall.PassiveOptions{})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	e.Set(func() { e.Gate = make(chan struct{}) }) // never opened
	for range 10 {
		h.say("", "The boiler is loud", "Is it?")
	}
	untilPassive(h, "the work begins", func() bool { return h.looked.Load() > 0 })
	mustPassive(t, db.Close())
	h.passive.Said("nobody", true)
	h.want(h.local, "nobody", notSeen)
}

// TestMEM42_TheClock: what is new counts more, and a clock that was set back makes nothing count more than that.
func TestMEM42_TheClock(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	h.remember(factDraft("old", "Ann says that boilers hum"))
	h.clock.Store(120 * 24 * 3600)
	h.remember(factDraft("new", "Bob thinks boilers hum"))
	h.settle()
	id := h.say("", "Ann says that boilers hum", "Bob thinks boilers hum.")
	h.settle()
	if got := h.waiting(h.local, id); !strings.HasPrefix(got, "new") {
		t.Errorf("%s waits", got)
	}
	h.clock.Store(-300 * 24 * 3600)
	h.say(id, "Ann says that boilers hum", "Bob thinks boilers hum.")
	h.settle()
	if got := h.waiting(h.local, id); !strings.Contains(got, "new") || !strings.Contains(got, "old") {
		t.Errorf("%s waits after the clock was set back", got)
	}
}

// TestMEM42_OfNearlyTheSameTheSurestWaits.
func TestMEM42_OfNearlyTheSameTheSurestWaits(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	sure, other := 0.9, 0.6
	h.remember(
		memory.Draft{ID: "less", Statement: "The boiler is loud at night in the house", Confidence: &other},
		memory.Draft{ID: "sure", Statement: "The boiler is loud at night in our house", Confidence: &sure},
		factDraft("apart", "The boiler wants oil"),
	)
	h.settle()
	id := h.say("", "The boiler is loud at night in the house", "The boiler wants oil at night.")
	h.settle()
	h.want(h.local, id, "sure apart")
}

// TestMEM42_TheScore has golden values.
func TestMEM42_TheScore(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		cosine, confidence float64
		age                time.Duration
		want               float64
	}{
		{1, 1, 0, 1},
		{0.5, 0.7, 0, 0.61},
		{0.5, 0.7, 30 * day, 0.56},
		{0.5, 0.7, 60 * day, 0.535},
		{-0.5, 0.5, 60 * day, 0.175},
		{0.5, 0.7, -30 * day, 0.61},
	} {
		if got := recall.Score(c.cosine, c.confidence, c.age); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// TestMEM42_ThreeToFiveOfEach: three at least where there are as many, and up to five that are nearly as good.
func TestMEM42_ThreeToFiveOfEach(t *testing.T) {
	of := func(kind string, scores ...float64) (list []recall.Scored) {
		for i, s := range scores {
			list = append(list, recall.Scored{ID: fmt.Sprint(kind, i+1), Episode: kind == "e", Score: s})
		}
		return list
	}
	for _, c := range []struct {
		list []recall.Scored
		want string
	}{
		{nil, ""},
		{of("f", .9, .5, .4, .3, .2), "f1 f2 f3"},
		{of("f", .9, .89, .88, .87, .86, .85), "f1 f2 f3 f4 f5"},
		{of("f", .9, .85, .83, .82, .5), "f1 f2 f3 f4"},
		{slices.Concat(of("f", .9, .3), of("e", .8, .79, .2, .1)), "f1 e1 e2 f2 e3"},
	} {
		if got := strings.Join(recall.Choose(c.list), " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestPRIV6_APrivateConversationTakesNoPlace of one that a remote reader sees.
func TestPRIV6_APrivateConversationTakesNoPlace(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{Conversations: 1})
	h.remember(factDraft("boiler", "The boiler is loud at night"))
	h.settle()
	id := h.say("", "The boiler is loud", "Is the boiler loud at night?")
	h.settle()
	h.append(chat.AppendRequest{Private: true, Messages: []chat.Draft{{Role: record.RoleUser, Content: "My bees sleep"}}})
	h.settle()
	h.want(h.remote, id, "boiler")
	h.want(h.local, id, notSeen)
}

// TestMEM56_OfNearlyTheSameTheSurestNowWaits: what a model took out of a conversation has faded when somebody speaks of it
// again.
func TestMEM56_OfNearlyTheSameTheSurestNowWaits(t *testing.T) {
	h := openPassive(t, passiveBags(), recall.PassiveOptions{})
	sure, other := 0.9, 0.6
	h.remember(
		memory.Draft{
			ID: "taken", Statement: "The boiler is loud at night in the house", Confidence: &sure,
			Source: record.MemorySource{Kind: "extraction"},
		},
		memory.Draft{ID: "said", Statement: "The boiler is loud at night in our house", Confidence: &other},
	)
	h.settle()
	for _, c := range []struct {
		days int64
		want string
	}{{0, "taken"}, {40, "taken"}, {41, "said"}, {200, "said"}} {
		h.clock.Store(c.days * 24 * 3600)
		id := h.say("", "The boiler is loud at night in the house", "It wants oil.")
		h.settle()
		if got, _, _ := strings.Cut(h.waiting(h.local, id), " "); got != c.want {
			t.Errorf("after %d days %s waits, want %s", c.days, got, c.want)
		}
		_, err := h.chat.Delete(t.Context(), h.local, id)
		mustPassive(t, err)
	}
}
