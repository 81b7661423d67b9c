package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// members are members of a JSON object that are kept as they came.
type members map[string]json.RawMessage

// into appends the members to an object that was encoded.
func (m members) into(object []byte) []byte {
	if len(m) == 0 {
		return object
	}
	out := bytes.TrimSuffix(object, []byte("}"))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // a string can be encoded
		out = append(append(append(out, key...), ':'), m[name]...)
	}
	return append(out, '}')
}

// Returned is what a provider sent with calls of tools and wants back with them, as it came: thoughts in the members and
// blocks that they came in, with their signatures, and the text with the thoughts that stood in it. It is for this provider
// alone, for nobody's eyes, and for the turn in which it came. The zero value is nothing.
type Returned struct {
	text    string                      // "": that of the message
	members map[string]*strings.Builder // texts of OpenAI's protocol
	details []members                   // reasoning_details, those of a stream put together
	others  members                     // of the message, whole
	blocks  []*block                    // of Anthropic's, in their order
}

// block is a part of an answer of Anthropic's protocol.
type block struct {
	index int
	kind  string // text, thinking, redacted_thinking or tool_use
	text  strings.Builder
	sign  strings.Builder
	data  string // of redacted_thinking
	call  int    // of tool_use: place of the call
}

// empty reports whether nothing goes back.
func (r *Returned) empty() bool {
	return len(r.members) == 0 && len(r.details) == 0 && len(r.others) == 0 && len(r.blocks) == 0
}

// add takes a piece of a member that is a text.
func (r *Returned) add(name string, p piece) {
	if p == "" {
		return
	}
	if r.members == nil {
		r.members = make(map[string]*strings.Builder)
	}
	if r.members[name] == nil {
		r.members[name] = &strings.Builder{}
	}
	r.members[name].WriteString(string(p))
}

// detail takes entries of reasoning_details. Pieces of one entry, which are of one index and type, are put together: their
// texts joined, and what comes once kept.
func (r *Returned) detail(list []members) {
	for _, next := range list {
		var last members
		if n := len(r.details); n > 0 {
			last = r.details[n-1]
		}
		if last == nil || !bytes.Equal(last["index"], next["index"]) || !bytes.Equal(last["type"], next["type"]) || next["index"] == nil ||
			last["signature"] != nil && string(last["signature"]) != "null" {
			r.details = append(r.details, maps.Clone(next))
			continue
		}
		for name, value := range next {
			switch name {
			case "text", "summary", "data":
				var before, more string
				if json.Unmarshal(last[name], &before) == nil && json.Unmarshal(value, &more) == nil {
					last[name], _ = json.Marshal(before + more) // a string can be encoded
					continue
				}
				fallthrough
			default:
				if last[name] == nil || string(value) != "null" {
					last[name] = value
				}
			}
		}
	}
}

// all are the members that go back in OpenAI's protocol.
func (r *Returned) all() members {
	if r.empty() {
		return nil
	}
	out := make(members)
	maps.Copy(out, r.others)
	for name, text := range r.members {
		out[name], _ = json.Marshal(text.String()) // a string can be encoded
	}
	if len(r.details) > 0 {
		out["reasoning_details"], _ = json.Marshal(r.details) // it was decoded
	}
	return out
}

// at returns the block with an index, which it makes.
func (r *Returned) at(index int, kind string) *block {
	for _, b := range r.blocks {
		if b.index == index {
			return b
		}
	}
	b := &block{index: index, kind: kind}
	r.blocks = append(r.blocks, b)
	return b
}

// thinks reports whether a block holds what only its sender can read or check.
func (r *Returned) thinks() bool {
	return slices.ContainsFunc(r.blocks, func(b *block) bool { return strings.HasSuffix(b.kind, "thinking") })
}

// alternating puts neighbours of one role into one message: templates of models refuse two in a row, which a failed answer
// and appended messages leave. Results of tools stand before what is said.
func alternating(list []Message) []Message {
	out := make([]Message, 0, len(list))
	for _, m := range list {
		if m.Text == "" && len(m.Images)+len(m.Calls)+len(m.Results) == 0 {
			continue // which some servers refuse
		}
		last := len(out) - 1
		if last < 0 || out[last].Role != m.Role || len(out[last].Calls) > 0 || len(m.Results) > 0 && out[last].Text != "" {
			out = append(out, m)
			continue
		}
		to := &out[last]
		switch {
		case to.Text == "":
			to.Text = m.Text
		case m.Text != "":
			to.Text += "\n\n" + m.Text
		}
		to.Images = slices.Concat(to.Images, m.Images)
		to.Results = slices.Concat(to.Results, m.Results)
		to.Calls, to.Returned = m.Calls, m.Returned
	}
	return out
}
