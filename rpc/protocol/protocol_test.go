package protocol_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, diff)
	}
}

func whole(t *testing.T) protocol.Document {
	t.Helper()
	doc, err := openrpc.Document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDiscoverDocumentGolden(t *testing.T) {
	doc := whole(t)
	if bytes.ContainsAny(doc, "\n") {
		t.Error("the document is not one line, which the newline framing needs")
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, doc, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	golden(t, "openrpc.golden.json", pretty.Bytes())
	if again := whole(t); !bytes.Equal(doc, again) {
		t.Error("the document differs from call to call")
	}
}

func TestMethodTableGolden(t *testing.T) {
	golden(t, "methods.golden.md", []byte(openrpc.MethodTable()))
}

type described struct {
	Methods []struct {
		Name    string
		Summary string
		Params  []struct {
			Name        string
			Description string
			Required    bool
			Schema      json.RawMessage
		}
		Result struct{ Schema json.RawMessage }
		Errors []struct {
			Ref string `json:"$ref"`
		}
		Examples []struct {
			Params []struct {
				Name  string
				Value any
			}
			Result struct{ Value any }
		}
	}
	Components struct {
		Schemas map[string]json.RawMessage
		Errors  map[string]struct {
			Code    int
			Message string
		}
	}
}

func parse(t *testing.T) described {
	t.Helper()
	var d described
	if err := json.Unmarshal(whole(t), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEverythingIsDescribed(t *testing.T) {
	d := parse(t)
	for _, m := range d.Methods {
		if m.Summary == "" || len(m.Examples) == 0 {
			t.Errorf("%s has no summary or no example", m.Name)
		}
		for _, p := range m.Params {
			if p.Description == "" {
				t.Errorf("%s: parameter %s is not described", m.Name, p.Name)
			}
		}
		for _, e := range m.Errors {
			name := strings.TrimPrefix(e.Ref, "#/components/errors/")
			if d.Components.Errors[name].Message == "" {
				t.Errorf("%s: error %s is not described", m.Name, e.Ref)
			}
		}
	}
	for name, raw := range d.Components.Schemas {
		var s struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		for member, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s is not described", name, member)
			}
		}
	}
}

// A client that generates code from the document relies on the examples being
// what the schemas say.
func TestExamplesFitTheirSchemas(t *testing.T) {
	d := parse(t)
	c := newChecks(t, d)
	for _, m := range d.Methods {
		params := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
		for _, p := range m.Params {
			params.Properties[p.Name] = schemaOf(t, p.Schema)
			if p.Required {
				params.Required = append(params.Required, p.Name)
			}
		}
		for _, ex := range m.Examples {
			given := map[string]any{}
			for _, p := range ex.Params {
				given[p.Name] = p.Value
			}
			c.add(m.Name+" params", params, given)
			c.add(m.Name+" result", schemaOf(t, m.Result.Schema), ex.Result.Value)
		}
		desc := protocol.Lookup(m.Name)
		var all map[string]any
		if err := json.Unmarshal([]byte(desc.Example.Params), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) != len(m.Examples[0].Params) {
			t.Errorf("%s: the example has a parameter that the method has not", m.Name)
		}
	}
	c.run(t)
}

func schemaOf(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	raw = bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// checks are values that must fit a schema each. All schemas are resolved together: the components, which every one may
// refer to, take longest.
type checks struct {
	root   *jsonschema.Schema
	values []map[string]any // each with one property: a name of root
}

func newChecks(t *testing.T, d described) *checks {
	t.Helper()
	c := &checks{root: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{}, Defs: map[string]*jsonschema.Schema{}}}
	for name, raw := range d.Components.Schemas {
		c.root.Defs[name] = schemaOf(t, raw)
	}
	return c
}

func (c *checks) add(what string, s *jsonschema.Schema, value any) {
	what = fmt.Sprintf("%d %s", len(c.values), what)
	c.root.Properties[what] = s.CloneSchemas()
	c.values = append(c.values, map[string]any{what: value})
}

func (c *checks) run(t *testing.T) {
	t.Helper()
	resolved, err := c.root.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range c.values {
		if err := resolved.Validate(v); err != nil {
			t.Error(err)
		}
	}
}

func TestMethodNamesAreUnique(t *testing.T) {
	names := protocol.Names()
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Error("a method stands twice in the table")
	}
}

func TestOptionalTellsAbsentFromNull(t *testing.T) {
	type patch struct {
		Path protocol.Optional[string] `json:"path,omitzero"`
	}
	for _, c := range []struct {
		text string
		want protocol.Optional[string]
	}{
		{`{}`, protocol.Optional[string]{}},
		{`{"path":null}`, protocol.Null[string]()},
		{`{"path":""}`, protocol.Some("")},
		{`{"path":"a.md"}`, protocol.Some("a.md")},
	} {
		var p patch
		if err := json.Unmarshal([]byte(c.text), &p); err != nil {
			t.Fatal(err)
		}
		if p.Path != c.want {
			t.Errorf("%s: got %+v", c.text, p.Path)
		}
		back, err := json.Marshal(p)
		if err != nil || string(back) != c.text {
			t.Errorf("%s became %s (%v)", c.text, back, err)
		}
	}
}
