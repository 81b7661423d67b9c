package gather

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// finder finds memories and messages: recall.Ranker. Tests have ones that find what they are told to.
type finder interface {
	Search(ctx context.Context, v *audience.View, r recall.Request) (*recall.Result, error)
}

// conversations are what was said: chat.Store, which this package may not import.
type conversations interface {
	// Last returns how many messages a reader sees of a conversation and when it last changed for him; 0 where
	// he sees no such conversation.
	Last(ctx context.Context, v *audience.View, ref string) (messages int, at time.Time, err error)
	// Titles returns what the conversations with ids are called, "" in the place of each that a reader does not see.
	Titles(ctx context.Context, v *audience.View, ids []string) ([]string, error)
	// Pins returns the ids of the notes and memories that are pinned in a conversation; none where a
	// reader sees no such conversation.
	Pins(ctx context.Context, v *audience.View, ref string) (notes, memories []string, err error)
	// Earlier returns the last turns of a conversation before a place, n at most, the earlier first; none where a reader
	// sees no such conversation, or no such place.
	Earlier(ctx context.Context, v *audience.View, ref string, at prompt.HistoryPlace, n int) ([]Earlier, error)
}

// insights say what became of memories about a text: concepts.Index, but for what tells all concepts (PRIV-2).
type insights interface {
	// InsightOf returns what is known of the subjects of a text, and whether that is not ready yet.
	InsightOf(ctx context.Context, v *audience.View, text, conversation string) (in *record.Insight, late bool)
}

// Bounds of what is remembered without a search.
const (
	maxPinned      = 50 // memories
	maxContradicts = 3  // shown with a contested one
)

// remember takes in what is remembered: the profile where a conversation begins, what is pinned, what the last
// turns have found, and what a search for the message finds. What is pinned in the conversation is, like an
// attached memory, there without being asked for. It is called when no commit waits.
func (c *call) remember(clock *stopwatch) error {
	if c.Memories == 0 && len(c.pins.memories) == 0 {
		return nil
	}
	if c.g.opts.Memories == nil {
		clock.skip("memories", "there are no memories")
		return nil
	}
	r := &remembering{call: c, taken: c.scratch.taken}
	for _, m := range c.in.Referenced {
		r.taken[m.ID] = true
	}
	why, err := r.all()
	if err != nil {
		return err
	}
	clock.lap("memories")
	stage := clock.stage()
	stage.Why, stage.Best = why, leftOut(r.refused)
	if r.insight != nil {
		stage.Ms = max(0, stage.Ms-r.insight.Ms)
	}
	if r.passive {
		stage.Ms = max(0, stage.Ms-r.waited.Ms)
		clock.stages = append(clock.stages, r.waited)
	}
	if r.insight != nil {
		clock.stages = append(clock.stages, *r.insight)
	}
	return nil
}

// remembering is the part of a call that takes in what is remembered, each memory once.
type remembering struct {
	*call
	taken map[string]bool // ids of memories

	refused []recall.Refused

	left   int          // how many more may be taken in that are found
	said   []episode    // those of them that are messages
	waited prompt.Stage // says what was found by the last turns

	insight *prompt.Stage // nil: nobody has said what became of anything
}

// episode is a message that was found, and how.
type episode struct {
	*recall.Hit
	reason string
}

// all takes in the parts in their order. A memory that is pinned stands there, and not in the profile.
// why says why nothing was searched for.
func (r *remembering) all() (why string, err error) {
	var profile, pinned []*record.MemoryRecord
	if r.Memories > 0 {
		profile, pinned, err = r.standing()
		if err != nil {
			return "", err
		}
	}
	var firm []*record.MemoryRecord
	for _, m := range slices.Concat(pinned, r.pinnedHere()) {
		if !r.taken[m.ID] {
			r.taken[m.ID] = true
			firm = append(firm, m)
		}
	}
	for _, m := range profile {
		r.take(m, prompt.Profile, prompt.SourceProfile, prompt.KnownAboutUser)
	}
	for _, m := range firm {
		r.taken[m.ID] = false
		if m.Pinned {
			r.take(m, prompt.Pinned, prompt.SourcePinned, prompt.PinnedByUser)
		} else {
			r.take(m, prompt.Pinned, prompt.SourceConversationPinned, prompt.PinnedInConversation)
		}
	}
	if r.Memories == 0 {
		return "", nil
	}
	r.left = r.Memories
	if r.passive {
		r.waiting()
	}
	if r.prefetch {
		why, err = r.found()
	}
	r.episodes()
	r.insights()
	return why, err
}

// standing returns what is in the prompt without a search: the profile where the conversation begins, and what is
// pinned everywhere.
func (r *remembering) standing() (profile, pinned []*record.MemoryRecord, err error) {
	known, held, more := r.g.opts.Memories.Standing(r.view, maxPinned)
	if more {
		r.drop(prompt.KindMemory, "", "further pinned memories", prompt.OverLimit)
	}
	begins, err := r.begins()
	if err != nil {
		return nil, nil, err
	}
	if !begins {
		known = nil
	}
	r.standingHidden(begins)
	list := r.remembered(slices.Concat(known, held))
	there := func(list []*record.MemoryRecord) []*record.MemoryRecord { // what has just gone is not
		return slices.DeleteFunc(list, func(m *record.MemoryRecord) bool { return m == nil || !m.Current() })
	}
	n := len(known)
	return there(list[:n:n]), there(list[n:]), nil
}

// standingHidden reports what would stand in a prompt without a search and is private, to who may know of it.
func (r *remembering) standingHidden(begins bool) {
	if !r.view.Hides() || r.told.Hides() {
		return
	}
	known, held, _ := r.g.opts.Memories.Standing(r.told, maxPinned)
	if begins {
		held = slices.Concat(known, held)
	}
	seen := r.remembered(held)
	for i, id := range held {
		if seen[i] == nil && !r.taken[id] && !slices.Contains(r.pins.memories, id) && !slices.Contains(held[:i], id) {
			r.drop(prompt.KindMemory, id, "", prompt.Private)
		}
	}
}

// take takes a memory in, unless it is in already.
func (r *remembering) take(m *record.MemoryRecord, part prompt.Part, source, reason string) {
	if r.taken[m.ID] {
		return
	}
	r.taken[m.ID] = true
	out := r.candidate(m, source, reason)
	out.Part, out.At = part, m.CreatedAt
	if m.Status == record.MemoryContested {
		for _, other := range r.g.opts.Memories.Seen(r.view, m.Contradicts) {
			if other != nil && other.Current() && len(out.Contradicts) < maxContradicts {
				out.Contradicts = append(out.Contradicts, other.Statement)
			}
		}
	}
	r.in.Recalled = append(r.in.Recalled, out)
}

// begins reports whether the message is the first of its conversation, or the first after a long time. A
// client that names no conversation has each message begin one. The message itself may be stored already.
func (r *remembering) begins() (bool, error) {
	if r.ConversationID == "" || r.g.opts.Conversations == nil {
		return true, nil
	}
	messages, at, err := r.g.opts.Conversations.Last(r.ctx, r.view, r.ConversationID)
	return messages <= 1 || r.g.opts.Now().Sub(at) >= r.g.opts.ColdStart, err
}

// waiting takes in what the last turns have found. That stays for the next prompt.
func (r *remembering) waiting() {
	began := time.Now()
	r.waited = prompt.Stage{Name: "passive", Skipped: true, Why: "nothing is found in the background"}
	if r.g.opts.Passive != nil {
		w := r.g.opts.Passive.Waiting(r.ctx, r.view, r.ConversationID)
		for i := range w.Hits {
			r.hit(&w.Hits[i], prompt.FoundByTurns)
		}
		r.waited.Skipped, r.waited.Why = len(w.Hits) == 0, w.Why
	}
	r.waited.Ms = milliseconds(time.Since(began))
}

// hit takes in a memory or a message that was found, unless it is in already or there are as many as were asked
// for. What the conversation itself holds the model knows.
func (r *remembering) hit(h *recall.Hit, reason string) {
	switch {
	case r.left == 0 || r.taken[h.ID]:
	case h.Message == nil:
		if r.whole {
			r.records.put(h.Memory)
		}
		r.take(&h.Memory.MemoryRecord, prompt.Facts, prompt.SourceAuto, reason)
		r.left--
	case h.Message.Conversation != r.ConversationID:
		r.taken[h.ID] = true
		r.said = append(r.said, episode{h, reason})
		r.left--
	}
}

// found takes in what a search for the message finds.
func (r *remembering) found() (why string, err error) {
	switch {
	case r.g.opts.Finder == nil:
		return "there is no index to search", nil
	case search.AsksNothing(r.mentions.query):
		return "the message asks nothing", nil
	}
	ask := recall.Request{Query: r.mentions.query, Limit: r.Memories + len(r.taken)}
	if r.ConversationID != "" {
		ask.Limit *= 2
	}
	ask.Limit = min(ask.Limit, recall.MaxLimit)
	ctx, end, wait := r.searching(r.ctx)
	defer end()
	ask.Wait = wait
	res, err := r.g.opts.Finder.Search(ctx, r.view, ask)
	if err != nil {
		if r.ctx.Err() != nil {
			return "", err
		}
		return cmp.Or(r.tookLonger(err), fault.Message(err)), nil
	}
	r.refused = res.Refused
	floor, told := res.MessageFloor(), false
	for i := range res.Hits {
		h := &res.Hits[i]
		switch {
		case h.Message == nil || h.Score >= floor:
			r.hit(h, prompt.FoundBySearch)
		case !told && h.Message.Conversation != r.ConversationID:
			r.refused = append(r.refused, recall.Refused{Kind: recall.Messages, ID: h.ID, Score: h.Score, Floor: floor})
			told = true
		}
	}
	return res.Degraded, r.ctx.Err()
}

// episodes takes in the messages that were found, with who said it, when, and in which conversation.
func (r *remembering) episodes() {
	if len(r.said) == 0 {
		return
	}
	titles := make([]string, len(r.said))
	if r.g.opts.Conversations != nil {
		ids := make([]string, len(r.said))
		for i, e := range r.said {
			ids[i] = e.Message.Conversation
		}
		if known, err := r.g.opts.Conversations.Titles(r.ctx, r.view, ids); err == nil {
			titles = known
		}
	}
	for i, e := range r.said {
		r.in.Recalled = append(r.in.Recalled, prompt.Memory{
			ID: e.ID, Title: titles[i], Reason: e.reason, Statement: e.Text, Kind: prompt.KindMessage,
			Source: prompt.SourceAuto, Part: prompt.Episodes, At: e.Message.CreatedAt, By: e.Message.Role,
			Conversation: titles[i], ConversationID: e.Message.Conversation,
		})
	}
}

// insights takes in what became of memories about the message. Where nobody has said what became of any of them there
// is nothing: what the message has in common with others is no experience.
func (r *remembering) insights() {
	if r.g.opts.Insights == nil || r.whole || search.AsksNothing(r.mentions.query) {
		return
	}
	began := time.Now()
	in, late := r.g.opts.Insights.InsightOf(r.ctx, r.view, r.mentions.query, r.ConversationID)
	switch {
	case late:
		r.insight = &prompt.Stage{Name: "insight", Skipped: true, Why: "what memories speak of is being read; it serves the next message"}
	case len(in.Experience)+len(in.Failures) > 0:
		for _, line := range in.Lines {
			r.in.Recalled = append(r.in.Recalled, prompt.Memory{
				ID: line.ID, Reason: prompt.LearnedFromOutcomes, Statement: line.Text, Kind: line.Kind,
				Source: prompt.SourceInsight, Part: prompt.Insight,
			})
		}
		r.insight = &prompt.Stage{Name: "insight", Ms: milliseconds(time.Since(began))}
	}
}
