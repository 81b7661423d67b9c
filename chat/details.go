package chat

import (
	"encoding/json"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// details are what this program says of an answer beside its text. They lie among the members that programs
// keep without knowing them, as references do.
type details struct {
	Reasoning string                `json:"reasoning,omitempty"`
	ToolCalls []record.ChatToolCall `json:"toolCalls,omitempty"`
	Actions   []record.ChatAction   `json:"actions,omitempty"`
	Warnings  []record.ChatWarning  `json:"warnings,omitempty"`
	Usage     *record.ChatUsage     `json:"usage,omitempty"`
	Provider  string                `json:"provider,omitempty"`
	Model     string                `json:"model,omitempty"`
}

// keep adds a member that is no field of a message.
func (m *message) keep(name string, value json.RawMessage) {
	if m.Members == nil {
		m.Members = make(map[string]json.RawMessage)
	}
	m.Members[name] = value
}

// describe has a message say its details.
func (m *message) describe(d details) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for name, value := range members {
		m.keep(name, value)
	}
	return nil
}

// member returns a member that is no field of a message, the zero value where there is none or this program does
// not understand it.
func member[T any](m *message, name string) (value T) {
	data, ok := m.Members[name]
	if !ok || json.Unmarshal(data, &value) != nil {
		var none T
		return none
	}
	return value
}

// detailed shows the details of a message to a reader.
func (m *message) detailed(v *audience.View, out *record.ChatMessage) {
	if len(m.Members) == 0 {
		return
	}
	out.Reasoning = v.TextOf("", member[string](m, "reasoning"))
	out.Usage = member[*record.ChatUsage](m, "usage")
	out.Provider, out.Model = member[string](m, "provider"), member[string](m, "model")
	out.ToolCalls = member[[]record.ChatToolCall](m, "toolCalls")
	for i := range out.ToolCalls {
		out.ToolCalls[i].Arguments = v.TextOf("", out.ToolCalls[i].Arguments)
	}
	out.Warnings = member[[]record.ChatWarning](m, "warnings")
	if v.Hides() {
		out.Warnings = slices.DeleteFunc(out.Warnings, func(w record.ChatWarning) bool { return w.About == record.AboutPrivate })
	}
	for i := range out.Warnings {
		w := &out.Warnings[i]
		w.About, w.Message = v.TextOf("", w.About), v.TextOf("", w.Message)
	}
	out.Actions = member[[]record.ChatAction](m, actionsMember)
}
