package llm

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// member is a part of a request that a server may refuse, and that an answer can be had without.
type member uint16

const (
	streamOptionsMember member = 1 << iota // who counts no tokens then is estimated
	temperatureMember
	maxTokensMember  // max_tokens by its other name
	toolChoiceMember // in the last round
	toolsMember
	imagesMember
	systemMember    // it goes at the head of the first message instead
	reasoningMember // what goes back with calls of tools
)

// refusable says by which words a server names what it refuses, in lower case. Those before count where several fit: who
// refuses tool_choice may take tools. Who refuses it in a request without one refuses tools: vLLM names its default, "auto".
var refusable = []struct {
	name   string // as a setting has it
	member member
	words  []string
}{
	{"stream_options", streamOptionsMember, []string{"stream_options", "include_usage"}},
	{"reasoning", reasoningMember, []string{"reasoning_content", "reasoning_details", "extra_content", ".reasoning", "'reasoning'", `"reasoning"`}},
	{"max_tokens", maxTokensMember, []string{"max_tokens", "max_completion_tokens"}},
	{"temperature", temperatureMember, []string{"temperature"}},
	{"tool_choice", toolChoiceMember, []string{"tool_choice", "tool choice"}},
	{"tools", toolsMember, []string{"tools", "tool use", "tool call", "tool_call", "tool-call", "tool choice", "tool_choice", "function call"}},
	{"images", imagesMember, []string{"image", "vision", "multimodal", "modalities"}},
	{"system", systemMember, []string{"system role", "role system", "role 'system'", `role "system"`, `role: system`, "system message", "system prompt", "developer instruction"}},
}

// Refusable are the names of what a request can be sent without, as chat.providers.NAME.leaveOut lists them.
func Refusable() (names []string) {
	for _, r := range refusable {
		names = append(names, r.name)
	}
	return names
}

// leftOut is what a request is sent without.
type leftOut member

func (l leftOut) has(m member) bool { return member(l)&m != 0 }

// names are those of Refusable.
func (l leftOut) names() (list []string) {
	for _, r := range refusable {
		if l.has(r.member) {
			list = append(list, r.name)
		}
	}
	return list
}

// leavesOut reads names of Refusable.
func leavesOut(names []string) (l leftOut, err error) {
	for _, name := range names {
		known := Refusable()
		i := slices.Index(known, name)
		if i < 0 {
			return 0, fault.Field("leaveOut", "%q is nothing that can be left out", name).WithHint("give some of %s", strings.Join(known, ", "))
		}
		l |= leftOut(refusable[i].member)
	}
	return l, nil
}

// refused returns what to leave out of a request that was refused: what of it the server named. 0 is nothing.
func (l leftOut) refused(r *Request, kind Kind, why *outbound.Refusal) leftOut {
	if why.Status < 400 || why.Long || why.Known && why.Status != 404 && why.Status != 501 {
		return 0
	}
	for _, one := range refusable {
		if !l.has(one.member) && r.holds(one.member, kind) && why.Says(one.words...) {
			return leftOut(one.member)
		}
	}
	return 0
}

// holds reports whether a request has a member.
func (r *Request) holds(m member, kind Kind) bool {
	some := func(has func(m *Message) bool) bool {
		for i := range r.Messages {
			if has(&r.Messages[i]) {
				return true
			}
		}
		return false
	}
	switch m {
	case temperatureMember:
		return r.Temperature != nil
	case toolChoiceMember:
		return r.NoCalls && len(r.Tools) > 0
	case toolsMember:
		return len(r.Tools) > 0
	case imagesMember:
		return some(func(m *Message) bool { return len(m.Images) > 0 })
	case reasoningMember:
		return some(func(m *Message) bool { return !m.Returned.empty() })
	case streamOptionsMember:
		return kind == OpenAI
	case systemMember:
		return kind == OpenAI && r.System != ""
	case maxTokensMember:
		return kind == OpenAI && r.MaxTokens > 0
	}
	return false
}

// learned is what servers refused, by model. What was learned holds until the daemon ends.
type learned struct {
	mu  sync.Mutex // guards what follows
	out map[string]leftOut
}

func (l *learned) of(model string) leftOut {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out[model]
}

func (l *learned) add(model string, out leftOut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		l.out = make(map[string]leftOut)
	}
	if len(l.out) < maxOffered {
		l.out[model] |= out
	}
}

// LeftOut is what a model is asked without.
type LeftOut struct {
	Model   string   // "" for all of them
	Members []string // names of Refusable
}

// LeavesOut returns what a provider is asked without: what is set, then what its server refused, by model.
func (s *Set) LeavesOut(name string) (list []LeftOut) {
	r := remoteOf(s.counted[name])
	if r == nil {
		return nil
	}
	if names := r.without.names(); len(names) > 0 {
		list = append(list, LeftOut{Members: names})
	}
	l := &r.learned
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, model := range slices.Sorted(maps.Keys(l.out)) {
		if names := (l.out[model] &^ r.without).names(); len(names) > 0 {
			list = append(list, LeftOut{model, names})
		}
	}
	return list
}
