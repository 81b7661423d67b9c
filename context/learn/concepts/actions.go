package concepts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Recall is the action of which the tier says what was in an answer.
const Recall = "recall"

// Actions are what was done for answers of one kind of task, and what became of them.
type Actions struct {
	Kinds   []string              // labels of the concepts that the kind of task is told by, the rarest first
	Actions []record.ActionResult // those that worked surest first
}

const (
	mostKinds          = 5
	mostActionExamples = 20
)

// Actions returns what helped with a kind of task: with answers of conversations that speak of what the task speaks of. A
// conversation is of the kind when it speaks of the rarest two of its concepts, or of the only one. The error is Invalid
// for a task without a word.
func (x *Index) Actions(ctx context.Context, v *audience.View, task string) (*Actions, error) {
	if learn.PhraseKey(task) == "" {
		return nil, fault.Field("task", "task has no word").WithHint("say what is to be done, such as %q", "plan the trip to Bremen")
	}
	l, err := x.asking(ctx, v)
	if err != nil {
		return nil, err
	}
	defer l.done()
	return l.actions(l.topics(task, mostKinds)), nil
}

// topic is a concept that a text speaks of.
type topic struct {
	*record.Concept
	joined
}

// topics returns the concepts of a text as far as the reader knows them, the rarest first.
func (l *look) topics(text string, most int) []topic {
	var list []topic
	var seen []string
	for _, p := range phrasesOf(text) {
		if slices.Contains(seen, p.Key) {
			continue
		}
		j := l.join(p.Key, p.Shown)
		seen = append(seen, j.keys...)
		if c := l.concept(j, everything); c != nil {
			list = append(list, topic{c, j})
		}
	}
	list = rarest(list)
	return list[:min(most, len(list))]
}

// rarest returns topics in their order, without those that are a part of another one: a text with a fuse box is of no box.
func rarest(list []topic) []topic {
	part := func(t topic) bool {
		return slices.ContainsFunc(list, func(other topic) bool {
			return len(t.keys[0]) < len(other.keys[0]) && partOf(t.keys[:1], other.keys[:1])
		})
	}
	var kept []topic
	for _, t := range list {
		if !part(t) {
			kept = append(kept, t)
		}
	}
	list = kept
	slices.SortFunc(list, func(a, b topic) int {
		return cmp.Or(cmp.Compare(a.Mentions, b.Mentions), cmp.Compare(a.Label, b.Label), cmp.Compare(a.EntityID, b.EntityID))
	})
	return list
}

// mostAsked is how many phrases of a question are looked at.
const mostAsked = 24

func phrasesOf(text string) (list []learn.Phrase) {
	learn.EachPhrase(text, func(p learn.Phrase) bool {
		list = append(list, p)
		return len(list) < mostAsked
	})
	return list
}

// conversations returns the conversations that speak of some topics: of two at least where there are two.
func (l *look) conversations(list []topic) map[string]bool {
	of := make(map[string]int)
	for _, t := range list {
		here := make(map[string]bool)
		l.each(t.joined, func(d *doc, _ posting) {
			if d.message {
				here[d.said[l.side].Conversation] = true
			}
		})
		for id := range here {
			of[id]++
		}
	}
	out := make(map[string]bool)
	for id, n := range of {
		if n >= min(2, len(list)) {
			out[id] = true
		}
	}
	return out
}

// outcome returns what became of a message, "" for what nobody told.
func (l *look) outcome(d *doc) string {
	return l.x.outcomes[answer{d.said[0].Conversation, d.said[0].ID}]
}

// tried is what was done.
type tried struct{ action, tier string }

func (l *look) actions(list []topic) *Actions {
	out := &Actions{Kinds: []string{}, Actions: []record.ActionResult{}}
	for _, t := range list {
		out.Kinds = append(out.Kinds, t.Label)
	}
	of := make(map[tried][]*doc)
	for id := range l.conversations(list) {
		for _, n := range l.x.spoken[id] {
			d := l.x.docs[n]
			if d == nil || l.bit == remote && !d.public || l.outcome(d) == "" {
				continue
			}
			for what := range l.actionsOf(&d.said[l.side]) {
				of[what] = append(of[what], d)
			}
		}
	}
	for what, docs := range of {
		out.Actions = append(out.Actions, l.result(what, docs))
	}
	slices.SortFunc(out.Actions, func(a, b record.ActionResult) int {
		return cmp.Or(cmp.Compare(b.Wilson, a.Wilson), cmp.Compare(b.Uses, a.Uses), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Tier, b.Tier))
	})
	return out
}

// actionsOf returns what was done for an answer, each thing once.
func (l *look) actionsOf(s *Said) map[tried]bool {
	out := make(map[tried]bool)
	for _, tool := range s.Tools {
		out[tried{action: tool}] = true
	}
	for _, id := range s.Memories {
		n, ok := l.x.number[ref{id: id}]
		if !ok {
			continue
		}
		if m := l.x.docs[n]; m != nil && (m.public || l.bit == local) {
			out[tried{Recall, m.tier}] = true
		}
	}
	return out
}

func (l *look) result(what tried, docs []*doc) record.ActionResult {
	slices.SortFunc(docs, func(a, b *doc) int { return cmp.Or(cmp.Compare(b.at, a.at), compareRefs(b.ref, a.ref)) })
	r := record.ActionResult{Action: what.action, Tier: what.tier, Uses: len(docs), Examples: []record.ActionExample{}}
	for _, d := range docs {
		s := &d.said[l.side]
		outcome := l.outcome(d)
		switch outcome {
		case record.OutcomeWorked:
			r.Worked++
		case record.OutcomeFailed:
			r.Failed++
		case record.OutcomePartial:
			r.Partial++
		}
		if len(r.Examples) < mostActionExamples {
			r.Examples = append(r.Examples, record.ActionExample{
				ConversationID: s.Conversation, MessageID: s.ID, Outcome: outcome, At: time.Unix(0, d.at).UTC(),
			})
		}
	}
	r.Wilson = memory.FromHundredths(memory.WilsonBound(r.Worked, r.Failed))
	return r
}
