package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// described is the part of the OpenRPC document that is shown of a method.
type described struct {
	Name        string `json:"name"`
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Params      []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Schema      schema `json:"schema"`
	} `json:"params"`
	Result struct {
		Schema schema `json:"schema"`
	} `json:"result"`
}

// schema is the part of a JSON Schema that is shown.
type schema struct {
	Type    any             `json:"type"`
	Ref     string          `json:"$ref"`
	Items   *schema         `json:"items"`
	AnyOf   []schema        `json:"anyOf"`
	Enum    []any           `json:"enum"`
	Default json.RawMessage `json:"default"`
	Minimum *float64        `json:"minimum"`
	Maximum *float64        `json:"maximum"`
}

// describe says what a method takes and gives, from the contract.
func (c *callCmd) describe(a *app) error {
	doc, err := protocol.OpenRPC()
	if err != nil {
		return err
	}
	var all struct {
		Methods []json.RawMessage `json:"methods"`
	}
	if err := json.Unmarshal(doc, &all); err != nil {
		return err
	}
	i := slices.Index(protocol.Names(), c.Method)
	if i < 0 {
		e := fault.New(fault.NotFound, "there is no method %q", c.Method).WithHint("ctxd call --help lists the methods")
		if near := nearest(c.Method, protocol.Names()); len(near) > 0 {
			e.Hint = "ctxd call " + near[0] + " --describe"
		}
		return e
	}
	if a.JSON {
		return a.out.rawJSON(all.Methods[i])
	}
	var m described
	if err := json.Unmarshal(all.Methods[i], &m); err != nil {
		return err
	}
	m.draw(a.out, protocol.Methods[i])
	return nil
}

func (m *described) draw(s *screen, contract protocol.Method) {
	s.say(styled(strong, m.Name), styled(faint, "  "+string(contract.Mode)))
	for _, l := range wrap(clean(m.Summary+" "+m.Description), min(s.columns(), pipeWidth)) {
		s.say(text(l))
	}
	if len(m.Params) > 0 {
		s.heading("Params")
		t := &table{indent: 2}
		for _, p := range m.Params {
			name := line{styled(accent, p.Name)}
			if p.Required {
				name = append(name, styled(warn, " *"))
			}
			t.row(name, line{styled(faint, p.Schema.kind())}, line{text(p.Description + p.Schema.bounds())})
		}
		t.draw(s)
		s.say(styled(faint, "  * must be given"))
	}
	s.heading("Result", styled(faint, "  "+m.Result.Schema.kind()))
	s.heading("Example")
	s.say(text("  ctxd call " + m.Name + " '" + contract.Example.Params + "'"))
	s.say(styled(faint, "  "+contract.Example.Result))
	if len(contract.Codes) > 0 {
		s.heading("Errors of its own")
		t := &table{indent: 2, right: []int{0}}
		for _, code := range protocol.Codes {
			if slices.Contains(contract.Codes, code.Code) {
				t.add(fmt.Sprint(code.Code), code.Kind, code.Message)
			}
		}
		t.draw(s)
	}
}

// kind names the type of a schema.
func (s *schema) kind() string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case len(s.AnyOf) > 0:
		kinds := make([]string, len(s.AnyOf))
		for i := range s.AnyOf {
			kinds[i] = s.AnyOf[i].kind()
		}
		return strings.Join(kinds, " or ")
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.Type == nil:
		return "any"
	}
	if list, ok := s.Type.([]any); ok {
		for _, t := range list {
			if t != "null" {
				return fmt.Sprint(t)
			}
		}
	}
	return fmt.Sprint(s.Type)
}

// bounds says which values a schema accepts and which one stands for none.
func (s *schema) bounds() string {
	var parts []string
	if len(s.Enum) > 0 {
		parts = append(parts, strings.Trim(fmt.Sprint(s.Enum), "[]"))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		parts = append(parts, fmt.Sprintf("%g to %g", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		parts = append(parts, fmt.Sprintf("at least %g", *s.Minimum))
	}
	if len(s.Default) > 0 {
		parts = append(parts, "default "+string(s.Default))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
