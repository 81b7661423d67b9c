package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The parts of an OpenRPC document, https://spec.open-rpc.org, in the order in
// which they are written.
type (
	openRPC struct {
		OpenRPC    string       `json:"openrpc"`
		Info       docInfo      `json:"info"`
		Methods    []docMethod  `json:"methods"`
		Components docComponent `json:"components"`
		Notify     []docMethod  `json:"x-notifications"`
	}
	docInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	docMethod struct {
		Name        string       `json:"name"`
		Summary     string       `json:"summary"`
		Description string       `json:"description,omitempty"`
		Structure   string       `json:"paramStructure"`
		Params      []docContent `json:"params"`
		Result      *docContent  `json:"result,omitempty"`
		Errors      []docRef     `json:"errors,omitempty"`
		Examples    []docExample `json:"examples,omitempty"`
		Mode        Mode         `json:"x-mode,omitempty"`
		Early       bool         `json:"x-before-initialize,omitempty"`
	}
	docContent struct {
		Name        string             `json:"name"`
		Description string             `json:"description,omitempty"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	docRef struct {
		Ref string `json:"$ref"`
	}
	docExample struct {
		Name   string     `json:"name"`
		Params []docValue `json:"params"`
		Result docValue   `json:"result"`
	}
	docValue struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	docComponent struct {
		Schemas componentList `json:"schemas"`
		Errors  errorList     `json:"errors"`
	}
	componentList struct{ *schemas }
	errorList     []Code
)

const schemaPrefix = "#/components/schemas/"

const docDescription = "JSON-RPC 2.0 over a Unix domain socket, framed by line breaks or by Content-Length. " +
	"Params are given by name. Any params may have a progressToken, a text or a number, which $/progress then carries. " +
	"Offsets, ranges and columns count UTF-16 code units, ranges are half-open, lines and columns begin at 1. " +
	"Lengths and budgets count Unicode code points. Times are RFC 3339 in UTC, dates YYYY-MM-DD, durations milliseconds. " +
	"Ids match [A-Za-z0-9_-]{1,64}. Every method may answer with the errors Parse to Cancelled; those of its own are listed with it."

// OpenRPC returns the document that describes every method, as rpc.discover
// answers with it: one line of JSON, the same on every call.
func OpenRPC() (Document, error) {
	doc := openRPC{
		OpenRPC: "1.3.2",
		Info:    docInfo{Title: "ctxd", Version: Version, Description: docDescription},
	}
	d := newSchemas(schemaPrefix)
	for i := range Methods {
		m, err := d.method(&Methods[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Methods[i].Name, err)
		}
		doc.Methods = append(doc.Methods, m)
	}
	for _, n := range notifications {
		params, err := d.params(n.params)
		if err != nil {
			return nil, err
		}
		doc.Notify = append(doc.Notify, docMethod{Name: n.name, Summary: n.summary, Structure: "by-name", Params: params})
	}
	if _, err := d.of(reflect.TypeFor[ErrorData]()); err != nil {
		return nil, err
	}
	doc.Components = docComponent{Schemas: componentList{d}, Errors: Codes}
	return compact(doc)
}

// notifications are the messages that nobody answers.
var notifications = []struct {
	name, summary string
	params        reflect.Type
}{
	{NotifyInitialized, "From the client: initialize was answered.", reflect.TypeFor[Empty]()},
	{NotifyExit, "From the client: close the connection.", reflect.TypeFor[Empty]()},
	{NotifyCancel, "From the client: withdraw a call.", reflect.TypeFor[Cancel]()},
	{NotifyProgress, "To the client: how far a call with a progressToken has come.", reflect.TypeFor[Progress]()},
}

func (d *schemas) method(m *Method) (docMethod, error) {
	params, err := d.params(m.Params)
	if err != nil {
		return docMethod{}, err
	}
	result, err := d.of(m.Result)
	if err != nil {
		return docMethod{}, err
	}
	out := docMethod{
		Name: m.Name, Summary: m.Summary, Description: m.Description, Structure: "by-name",
		Params: params, Result: &docContent{Name: "result", Schema: result}, Mode: m.Mode, Early: m.Early,
	}
	for _, code := range m.Codes {
		i := slices.IndexFunc(Codes, func(c Code) bool { return c.Code == code })
		if i < 0 {
			return out, fmt.Errorf("error code %d is not described", code)
		}
		out.Errors = append(out.Errors, docRef{"#/components/errors/" + errorName(Codes[i])})
	}
	example, err := m.example(params)
	out.Examples = []docExample{example}
	return out, err
}

// params returns the members of a params struct as the document lists them.
func (d *schemas) params(t reflect.Type) ([]docContent, error) {
	s := newSchemas(schemaPrefix)
	name, err := s.component(t)
	if err != nil {
		return nil, err
	}
	list := []docContent{}
	own := s.components[name]
	for _, p := range own.PropertyOrder {
		schema := own.Properties[p]
		text := schema.Description
		schema.Description = ""
		list = append(list, docContent{Name: p, Description: text, Required: slices.Contains(own.Required, p), Schema: schema})
	}
	// What the params refer to goes into the document, the params do not.
	for _, other := range s.names() {
		if other != name {
			if _, err := d.component(s.types[other]); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// example gives the example of a method in the order of its parameters.
func (m *Method) example(params []docContent) (docExample, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(m.Example.Params), &given); err != nil {
		return docExample{}, fmt.Errorf("example: %w", err)
	}
	out := docExample{Name: m.Name, Params: []docValue{}, Result: docValue{"result", json.RawMessage(m.Example.Result)}}
	for _, p := range params {
		if v, ok := given[p.Name]; ok {
			out.Params = append(out.Params, docValue{p.Name, v})
		}
	}
	return out, nil
}

// errorName turns "not_found" into "NotFound".
func errorName(c Code) string {
	var name strings.Builder
	for part := range strings.SplitSeq(c.Kind, "_") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// MarshalJSON writes the components by name.
func (l componentList) MarshalJSON() ([]byte, error) {
	return object(l.names(), func(name string) any { return l.components[name] })
}

// MarshalJSON writes the errors by name, in the order of the list.
func (l errorList) MarshalJSON() ([]byte, error) {
	names := make([]string, len(l))
	byName := map[string]any{}
	for i, c := range l {
		names[i] = errorName(c)
		byName[names[i]] = struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    docRef `json:"data"`
		}{c.Code, c.Message, docRef{schemaPrefix + "ErrorData"}}
	}
	return object(names, func(name string) any { return byName[name] })
}

// object writes a JSON object with its members in the order of names.
func object(names []string, value func(string) any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := compact(value(name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:", name)
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// MethodTable returns the methods as a Markdown table, as it stands in the
// README.
func MethodTable() string {
	var b strings.Builder
	b.WriteString("| method | params | what it does |\n|---|---|---|\n")
	for _, m := range Methods {
		var params []string
		for _, f := range reflect.VisibleFields(m.Params) {
			name, required, skip := jsonName(f)
			if skip || strings.HasPrefix(recordText(f), "kept by the daemon") {
				continue
			}
			if !required {
				name += "?"
			}
			params = append(params, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, codeList(params), m.Summary)
	}
	return b.String()
}

func recordText(f reflect.StructField) string { return f.Tag.Get("jsonschema") }

func codeList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, ", ") + "`"
}
