package chat

// A [Trace] keeps what a model was given for an answer, and why: for chat.inspect, long after the prompt is gone.
// README.md says what a trace has.
//
// It has ids, numbers and words of this program: no title, no name, no text. What a record is called is looked up when
// somebody reads the trace, through his View, so a trace tells no more than he may see then. The system prompt itself
// is not kept: its SHA-256 and the size of each section are.
//
// The lists of a Trace are bounded, and so are ids, so that one has no more than [MaxTraceBytes]; what is over a bound
// is counted. Most have 1 to 4 KiB.
//
// Package send makes a Trace, on the goroutine of its call. The Store puts it beside the answer, in the transaction
// that stores it, and deletes it with the conversation. A [TraceReader] shows it, for chat/cites.

import (
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Bounds of a Record.
const (
	MaxTraceReferences = 200
	MaxTraceDrops      = 100
	MaxTraceRounds     = 16
	maxTraceCalls      = 64 // of all rounds
	MaxTraceBytes      = 40 << 10

	maxParts = 24 // sections and stages, of which a prompt has fewer
	maxWord  = 32 // bytes of a word of this program
	maxID    = 80 // bytes
)

// Trace is a trace as it is kept. Times are in microseconds.
type Trace struct {
	At         int64            `json:"at"` // when the prompt was made, in milliseconds since 1970
	Remote     bool             `json:"remote,omitempty"`
	Asked      bool             `json:"asked,omitempty"`
	Failure    string           `json:"failure,omitempty"` // a kind of package fault
	Chars      int              `json:"chars,omitempty"`
	Budget     int              `json:"budget,omitempty"`
	Own        int              `json:"own,omitempty"`
	Tokens     int64            `json:"tokens,omitempty"`
	Hash       string           `json:"hash,omitempty"`
	Sections   []TraceSection   `json:"sections,omitempty"`
	References []TraceReference `json:"refs,omitempty"`
	Dropped    []TraceDrop      `json:"dropped,omitempty"`
	Withheld   int              `json:"withheld,omitempty"`
	History    TraceHistory     `json:"history,omitzero"`
	Attached   TraceAttachments `json:"attached,omitzero"`
	Tools      int              `json:"tools,omitempty"`
	Rounds     []TraceRound     `json:"rounds,omitempty"`
	Stages     []TraceStage     `json:"stages,omitempty"`
	Times      []TraceStage     `json:"times,omitempty"` // of the stages of the answer
	Left       int              `json:"left,omitempty"`

	quiet bool // references are not tracked
}

// TraceSection is a section of the prompt.
type TraceSection struct {
	Name   string `json:"n"`
	Chars  int    `json:"c,omitempty"`
	Budget int    `json:"b,omitempty"`
	Items  int    `json:"i,omitempty"`
}

// TraceReference is a record that the model was shown.
type TraceReference struct {
	Kind    string         `json:"k"`
	ID      string         `json:"id,omitempty"`
	Origin  string         `json:"o"`
	Section int            `json:"s,omitempty"` // place in Sections, from 1; 0: none
	Chars   int            `json:"c,omitempty"`
	Cut     bool           `json:"cut,omitempty"`
	Depth   int            `json:"d,omitempty"`
	Tools   []string       `json:"t,omitempty"`
	How     record.ToolHow `json:"h,omitempty"`
	Used    bool           `json:"u,omitempty"`
}

// TraceDrop is a record that did not go into the prompt.
type TraceDrop struct {
	Kind   string        `json:"k"`
	ID     string        `json:"id,omitempty"`
	Reason prompt.Reason `json:"r"`
}

// TraceHistory is what the model was told of the conversation.
type TraceHistory struct {
	First    string `json:"first,omitempty"` // where others were dropped: id of the first message; "": of none
	Messages int    `json:"n,omitempty"`
	Chars    int    `json:"c,omitempty"`
	Dropped  bool   `json:"dropped,omitempty"`
	Withheld int    `json:"w,omitempty"`
}

// TraceAttachments is what came with the message.
type TraceAttachments struct {
	Images  int `json:"images,omitempty"`
	Files   int `json:"files,omitempty"`
	Chars   int `json:"c,omitempty"`
	Refused int `json:"refused,omitempty"`
}

// TraceRound is one time that the provider was asked.
type TraceRound struct {
	Took   int64             `json:"ms"`
	First  int64             `json:"first,omitempty"`
	Tries  int               `json:"tries,omitempty"`
	Usage  *record.ChatUsage `json:"usage,omitempty"`
	Finish string            `json:"f,omitempty"`
	Calls  []TraceCall       `json:"calls,omitempty"`
}

// TraceCall is a call of a tool.
type TraceCall struct {
	Name      string `json:"n,omitempty"` // "" for a tool that there is not
	Arguments int    `json:"a,omitempty"`
	Chars     int    `json:"c,omitempty"`
	Took      int64  `json:"ms,omitempty"`
	Cached    bool   `json:"cached,omitempty"`
	Failed    bool   `json:"failed,omitempty"`
}

// TraceStage is the time of a stage.
type TraceStage struct {
	Name    string `json:"n"`
	Took    int64  `json:"ms,omitempty"`
	Skipped bool   `json:"skipped,omitempty"`
}

// NewTrace begins the Record of an answer with the report of its prompt, which was made at a time. Without tracked it names no records.
func NewTrace(r *prompt.Report, at time.Time, remote, tracked bool) *Trace {
	t := &Trace{At: at.UnixMilli(), Remote: remote, Chars: r.Chars, Budget: r.Budget, Hash: r.Hash, quiet: !tracked}
	if tracked {
		records := 0
		for i := range r.Sections {
			records += len(r.Sections[i].Items)
		}
		t.References = make([]TraceReference, 0, min(records, MaxTraceReferences))
		t.Dropped = make([]TraceDrop, 0, min(len(r.Dropped), MaxTraceDrops))
	}
	for i := range r.Sections {
		s := &r.Sections[i]
		if i == maxParts {
			break
		}
		t.Sections = append(t.Sections, TraceSection{Name: s.Name, Chars: s.Chars, Budget: s.Budget, Items: len(s.Items)})
		for j := range s.Items {
			item := &s.Items[j]
			if item.Kind == prompt.KindPersonality || item.Kind == prompt.KindDay { // nothing that an answer stands on
				continue
			}
			t.refer(TraceReference{
				Kind: item.Kind, ID: idOf(item.Kind, item.ID), Origin: originOf(s.Name, item), Section: i + 1, Chars: item.Chars,
				Cut: item.Cut != nil, Depth: item.Depth, Used: true,
			})
		}
	}
	for i := range r.Dropped {
		t.drop(&r.Dropped[i])
	}
	for i, s := range r.Stages {
		if i < maxParts {
			t.Stages = append(t.Stages, TraceStage{Name: s.Name, Took: int64(s.Ms * 1000), Skipped: s.Skipped})
		}
	}
	return t
}

func (t *Trace) refer(r TraceReference) {
	switch {
	case t.quiet:
	case len(t.References) == MaxTraceReferences:
		t.Left++
	default:
		t.References = append(t.References, r)
	}
}

func (t *Trace) drop(d *prompt.Dropped) {
	switch {
	case d.Reason == prompt.Private: // who it was is nobody's business any more
		t.Withheld++
	case t.quiet:
	case len(t.Dropped) == MaxTraceDrops:
		t.Left++
	default:
		t.Dropped = append(t.Dropped, TraceDrop{Kind: d.Kind, ID: idOf(d.Kind, d.ID), Reason: d.Reason})
	}
}

// idOf returns the id of a record of ours, "" for what else a client or a text calls so.
func idOf(kind, id string) string {
	switch kind {
	case prompt.KindNote, prompt.KindEntity, prompt.KindMemory:
		if record.IsID(id) {
			return id
		}
	case prompt.KindPassage:
		if book, n, ok := strings.Cut(id, "."); ok && record.IsID(book) && n != "" && strings.Trim(n, "0123456789") == "" && len(id) <= maxID {
			return id
		}
	case prompt.KindMessage:
		if isMessage(id) {
			return id
		}
	}
	return ""
}

// originOf says how what stands in a section came there.
func originOf(section string, item *prompt.Item) string {
	if item.InFocus() {
		return turn.OriginFocus
	}
	switch section {
	case prompt.SectionCalendar, prompt.SectionActions:
		return turn.OriginClient
	case prompt.SectionSearch:
		return turn.OriginSearch
	case prompt.SectionLinked:
		return turn.OriginEntity
	case prompt.SectionEntities:
		if item.Depth > 0 {
			return turn.OriginEntity
		}
		return turn.OriginMention
	}
	switch item.Reason {
	case prompt.PinnedInConversation:
		return turn.OriginPinned
	case prompt.PinnedByUser:
		if section == prompt.SectionPinned { // a note of the message itself
			return turn.OriginMention
		}
		return turn.OriginPinned
	case prompt.KnownAboutUser:
		return turn.OriginProfile
	case prompt.FoundByTurns:
		return turn.OriginPassive
	case prompt.FoundBySearch:
		return turn.OriginSearch
	}
	return turn.OriginMention
}

// Shown adds what tools showed. answer is the text of the answer: what was only found, and is named there, was used.
func (t *Trace) Shown(list []record.ToolReference, answer string) {
	links := strings.Contains(answer, "[[")
	folded := ""
	for i := range list {
		o := &list[i]
		r := TraceReference{Kind: prompt.KindNote, ID: idOf(prompt.KindNote, o.NoteID), Origin: turn.OriginTool, How: o.How, Used: o.Used}
		if o.MemoryID != "" {
			r.Kind, r.ID = prompt.KindMemory, idOf(prompt.KindMemory, o.MemoryID)
		}
		if r.ID == "" {
			continue
		}
		r.Tools = slices.Clone(o.Tools[:min(len(o.Tools), maxParts)])
		if links && !r.Used && o.Title != "" {
			if folded == "" {
				folded = text.Fold(answer)
			}
			r.Used = linksTo(folded, text.Fold(o.Title))
		}
		at := slices.IndexFunc(t.References, func(k TraceReference) bool { return k.Kind == r.Kind && k.ID == r.ID })
		if at < 0 {
			t.refer(r)
			continue
		}
		known := &t.References[at]
		known.Tools, known.How = r.Tools, r.How
	}
}

// Called adds a call of a tool to the last round.
func (t *Trace) Called(c TraceCall) {
	n := len(t.Rounds)
	if n == 0 || t.calls() >= maxTraceCalls {
		t.Left++
		return
	}
	t.Rounds[n-1].Calls = append(t.Rounds[n-1].Calls, c)
}

func (t *Trace) calls() (n int) {
	for i := range t.Rounds {
		n += len(t.Rounds[i].Calls)
	}
	return n
}

// AskedOnce adds a round.
func (t *Trace) AskedOnce(r TraceRound) {
	if len(t.Rounds) == MaxTraceRounds {
		t.Left++
		return
	}
	t.Rounds = append(t.Rounds, r)
}

// Ended says how long the stages of the answer took, and why it is not whole; nil: it is.
func (t *Trace) Ended(spent map[string]time.Duration, failed error) {
	t.Times = nil
	for name, d := range spent {
		if len(t.Times) < maxParts {
			t.Times = append(t.Times, TraceStage{Name: name, Took: d.Microseconds()})
		}
	}
	slices.SortFunc(t.Times, func(a, b TraceStage) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	if failed != nil {
		t.Failure = fault.KindOf(failed).String()
	}
}
