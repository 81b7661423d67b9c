package chat

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// MemoryLookup looks memories up: nil stands for one that the reader does not see. It is memory.Store, but for what of it
// reads without a View (PRIV-2).
type MemoryLookup interface {
	Seen(v *audience.View, ids []string) []*record.MemoryRecord
}

// PassageLookup looks passages of books up as a reader sees them in a conversation; nil stands for one that he does not
// see. It is books.Store, but for what of it reads without a View (PRIV-2).
type PassageLookup interface {
	Found(ctx context.Context, v *audience.View, conversationID string, ids []string) ([]*record.Passage, error)
}

// TraceReader shows traces. New makes one. It is safe for concurrent use.
type TraceReader struct {
	memories MemoryLookup
	messages *Store
	passages PassageLookup
}

// NewTraceReader returns a Reader.
func NewTraceReader(memories MemoryLookup, messages *Store, passages PassageLookup) *TraceReader {
	return &TraceReader{memories, messages, passages}
}

// Show returns a trace of a conversation as a reader may see it now. before is how many messages he sees before the first one that the
// model was told.
func (x *TraceReader) Show(ctx context.Context, v *audience.View, conversationID string, t *Trace, before int) (*turn.ChatTrace, error) {
	out := &turn.ChatTrace{
		Remote: t.Remote, Asked: t.Asked, Failure: t.Failure,
		Prompt:     turn.ChatTracePrompt{Chars: t.Chars, Budget: t.Budget, Own: t.Own, Tokens: t.Tokens, Sections: []turn.ChatTraceSection{}},
		References: []turn.ChatTraceRef{}, Dropped: []turn.ChatTraceDrop{},
		History:  turn.ChatTraceHistory{Messages: t.History.Messages, Chars: t.History.Chars},
		Attached: turn.ChatTraceAttach(t.Attached), Tools: t.Tools, Rounds: []turn.ChatTraceRound{}, Stages: []prompt.Stage{},
		Timings: make(map[string]float64, len(t.Times)),
	}
	if t.History.Dropped {
		out.History.Dropped = before
	}
	if !v.Hides() {
		out.Withheld, out.History.Withheld, out.Left, out.Prompt.Hash = t.Withheld, t.History.Withheld, t.Left, t.Hash
	}
	for _, s := range t.Sections {
		out.Prompt.Sections = append(out.Prompt.Sections, turn.ChatTraceSection(s))
	}
	for _, s := range t.Stages {
		out.Stages = append(out.Stages, prompt.Stage{Name: s.Name, Ms: milliseconds(s.Took), Skipped: s.Skipped})
	}
	for _, s := range t.Times {
		out.Timings[s.Name] = milliseconds(s.Took)
	}
	for i := range t.Rounds {
		out.Rounds = append(out.Rounds, t.Rounds[i].shown())
	}
	return out, x.records(ctx, v, conversationID, t, out)
}

func (r *TraceRound) shown() turn.ChatTraceRound {
	out := turn.ChatTraceRound{
		MS: milliseconds(r.Took), FirstMS: milliseconds(r.First), Tries: r.Tries, Usage: r.Usage, Finish: r.Finish,
		Calls: []turn.ChatTraceCall{},
	}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, turn.ChatTraceCall{
			Name: c.Name, Arguments: c.Arguments, Chars: c.Chars, MS: milliseconds(c.Took), Cached: c.Cached, Failed: c.Failed,
		})
	}
	return out
}

// records says what the records of a trace are called now.
func (x *TraceReader) records(ctx context.Context, v *audience.View, conversationID string, t *Trace, out *turn.ChatTrace) error {
	for i := range t.References {
		r := &t.References[i]
		now, err := x.look(ctx, v, conversationID, r.Kind, r.ID, time.UnixMilli(t.At))
		if err != nil {
			return err
		}
		shown := turn.ChatTraceRef{
			Kind: r.Kind, ID: r.ID, Title: now.title, Ref: now.ref, Status: now.status, Origin: r.Origin, Chars: r.Chars, Cut: r.Cut,
			Depth: r.Depth, Tools: r.Tools, How: r.How, Used: r.Used,
		}
		if v.Hides() && (now.status == turn.TraceDeleted || now.status == "") {
			shown.ID = ""
		}
		if 0 < r.Section && r.Section <= len(t.Sections) {
			shown.Section = t.Sections[r.Section-1].Name
		}
		out.References = append(out.References, shown)
	}
	for _, d := range t.Dropped {
		now := look{}
		if d.ID != "" {
			var err error
			if now, err = x.look(ctx, v, conversationID, d.Kind, d.ID, time.UnixMilli(t.At)); err != nil {
				return err
			}
		}
		// Whether what he does not see was named is nothing for a remote reader.
		if v.Hides() && (now.status == turn.TraceDeleted || now.status == "") {
			continue
		}
		out.Dropped = append(out.Dropped, turn.ChatTraceDrop{
			Kind: d.Kind, ID: d.ID, Title: now.title, Ref: now.ref, Status: now.status, Reason: d.Reason,
		})
	}
	return nil
}

// look is what a record is now for a reader.
type look struct{ title, ref, status string }

// statusOf tells whether a record was changed after a time.
func statusOf(changed, since time.Time) string {
	if changed.After(since) {
		return turn.TraceChanged
	}
	return turn.TraceOK
}

func (x *TraceReader) look(ctx context.Context, v *audience.View, conversationID, kind, id string, since time.Time) (look, error) {
	gone := look{status: turn.TraceDeleted}
	switch kind {
	case prompt.KindNote:
		if n := v.Note(id); n != nil {
			return look{title: v.TitleOf(n), status: statusOf(n.UpdatedAt, since)}, nil
		}
		return gone, nil
	case prompt.KindEntity:
		if e := v.Entity(id); e != nil && e.ArchivedAt == nil {
			return look{title: v.NameOf(e), status: statusOf(e.UpdatedAt, since)}, nil
		}
		return gone, nil
	case prompt.KindMemory:
		list := x.memories.Seen(v, []string{id})
		if len(list) == 0 || list[0] == nil {
			return gone, nil
		}
		m := list[0]
		return look{
			title: textBeginning(cmp.Or(m.Summary, m.Statement)), ref: "#" + strconv.FormatInt(m.Number, 10), status: statusOf(m.UpdatedAt, since),
		}, nil
	case prompt.KindMessage:
		return x.message(ctx, v, id)
	case prompt.KindPassage:
		list, err := x.passages.Found(ctx, v, conversationID, []string{id})
		if err != nil || list[0] == nil {
			return gone, err
		}
		return look{title: list[0].Cite, status: turn.TraceOK}, nil
	}
	return look{status: turn.TraceOK}, nil // the client sent it
}

// message looks a message up by its place. That is its number for a local reader; a remote one has other numbers. Of one
// that was named by the user the id alone is known.
func (x *TraceReader) message(ctx context.Context, v *audience.View, place string) (look, error) {
	conversation, digits, ok := strings.Cut(place, "/")
	number := strings.TrimLeft(digits, "0")
	if !ok || v.Hides() {
		return look{}, nil
	}
	m, _, err := x.messages.Referred(ctx, v, conversation, number)
	if fault.KindOf(err) == fault.NotFound || err == nil && m == nil {
		return look{status: turn.TraceDeleted}, nil
	}
	if err != nil {
		return look{}, err
	}
	titles, err := x.messages.Titles(ctx, v, []string{conversation})
	if err != nil {
		return look{}, err
	}
	return look{title: titles[0], ref: number, status: turn.TraceOK}, nil
}

// maxTitle is how much of a statement stands for it, in characters.
const maxTitle = 100

func textBeginning(s string) string {
	cut, _ := text.Truncate(strings.Join(strings.Fields(s), " "), maxTitle)
	return cut
}

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }

// linksTo reports whether a folded text has a link to a folded title.
func linksTo(text, title string) bool {
	for {
		_, behind, ok := strings.Cut(text, "[["+title)
		if !ok {
			return false
		}
		if behind != "" && strings.ContainsRune("]|#", rune(behind[0])) {
			return true
		}
		text = behind
	}
}
