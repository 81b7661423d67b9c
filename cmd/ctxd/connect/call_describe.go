package connect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
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

// fromContract returns the index of a method in protocol.Methods and its part
// of the OpenRPC document, or -1 and nothing for a method that this version does
// not know.
func fromContract(method string) (int, json.RawMessage, error) {
	i := slices.Index(protocol.Names(), method)
	if i < 0 {
		return i, nil, nil
	}
	doc, err := openrpc.Document()
	if err != nil {
		return i, nil, err
	}
	var all struct {
		Methods []json.RawMessage `json:"methods"`
	}
	if err := json.Unmarshal(doc, &all); err != nil {
		return i, nil, err
	}
	return i, all.Methods[i], nil
}

// schemasOf returns the schemas of a method's parameters by name: none for a
// method that only the daemon may know.
func schemasOf(method string) map[string]schema {
	_, doc, err := fromContract(method)
	var m described
	if err != nil || doc == nil || json.Unmarshal(doc, &m) != nil {
		return nil
	}
	schemas := make(map[string]schema, len(m.Params))
	for _, p := range m.Params {
		schemas[p.Name] = p.Schema
	}
	return schemas
}

// describe says what a method takes and gives, from the contract.
func (c *CallCommand) describe(a *CallOptions) error {
	i, doc, err := fromContract(c.Method)
	if err != nil {
		return err
	}
	if i < 0 {
		e := fault.New(fault.NotFound, "there is no method %q", c.Method).WithHint("ctxd call --help lists the methods")
		if near := text.Nearest(c.Method, protocol.Names()); len(near) > 0 {
			e.Hint = "ctxd call " + near[0] + " --describe"
		}
		return e
	}
	if a.JSON {
		return a.Out.RawJSON(doc)
	}
	var m described
	if err := json.Unmarshal(doc, &m); err != nil {
		return err
	}
	m.draw(a.Out, protocol.Methods[i])
	return nil
}

func (m *described) draw(s *term.Screen, contract protocol.Method) {
	s.Say(term.Styled(term.Strong, m.Name), term.Styled(term.Faint, "  "+string(contract.Mode)))
	for _, l := range term.Wrap(term.Clean(m.Summary+" "+m.Description), min(s.Columns(), term.PipeWidth)) {
		s.Say(term.Text(l))
	}
	if len(m.Params) > 0 {
		s.Heading("Params")
		t := &term.Table{Indent: 2}
		for _, p := range m.Params {
			name := term.Line{term.Styled(term.Accent, p.Name)}
			if p.Required {
				name = append(name, term.Styled(term.Warn, " *"))
			}
			t.Row(name, term.Line{term.Styled(term.Faint, p.Schema.kind())},
				term.Line{term.Text(p.Description + p.Schema.bounds())})
		}
		t.Draw(s)
		s.Say(term.Styled(term.Faint, "  * must be given"))
	}
	s.Heading("Result", term.Styled(term.Faint, "  "+m.Result.Schema.kind()))
	s.Heading("Example")
	s.Say(term.Text("  ctxd call " + m.Name + " '" + contract.Example.Params + "'"))
	s.Say(term.Styled(term.Faint, "  "+contract.Example.Result))
	if len(contract.Codes) > 0 {
		s.Heading("Errors of its own")
		t := &term.Table{Indent: 2, Right: []int{0}}
		for _, code := range protocol.Codes {
			if slices.Contains(contract.Codes, code.Code) {
				t.Add(fmt.Sprint(code.Code), code.Kind, code.Message)
			}
		}
		t.Draw(s)
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
