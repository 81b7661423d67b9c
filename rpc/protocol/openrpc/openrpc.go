package openrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// The parts of an OpenRPC document, https://spec.open-rpc.org, in the order in
// which they are written.
type (
	openRPC struct {
		OpenRPC    string       `json:"openrpc"`
		Info       docInfo      `json:"info"`
		Methods    []docMethod  `json:"methods"`
		Components docComponent `json:"components"`
		// What the format has no place for.
		Notify []docNotification `json:"x-notifications"`
	}
	docInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	docMethod struct {
		Name        string        `json:"name"`
		Summary     string        `json:"summary"`
		Description string        `json:"description,omitempty"`
		Structure   string        `json:"paramStructure"`
		Params      []docContent  `json:"params"`
		Result      *docContent   `json:"result,omitempty"`
		Errors      []docRef      `json:"errors,omitempty"`
		Examples    []docExample  `json:"examples,omitempty"`
		Mode        protocol.Mode `json:"x-mode,omitempty"`
		Early       bool          `json:"x-before-initialize,omitempty"`
		AtOnce      bool          `json:"x-at-once,omitempty"`
		WholeStore  bool          `json:"x-whole-store,omitempty"`
		Daemon      bool          `json:"x-daemon,omitempty"`
	}
	docNotification struct {
		Name        string       `json:"name"`
		Summary     string       `json:"summary"`
		Description string       `json:"description,omitempty"`
		Structure   string       `json:"paramStructure"`
		Params      []docContent `json:"params"`
		Examples    []docNotice  `json:"examples"`
		From        string       `json:"x-from"` // client or daemon
		Topic       bool         `json:"x-topic,omitempty"`
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
	docNotice struct {
		Name   string     `json:"name"`
		Params []docValue `json:"params"`
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
	errorList     []protocol.Code
)

const schemaPrefix = "#/components/schemas/"

const docDescription = "JSON-RPC 2.0 over a Unix domain socket, framed by line breaks or by Content-Length. " +
	"Params are given by name. Any params may have a progressToken, a text or a number, which $/progress then carries. " +
	"Offsets, ranges and columns count UTF-16 code units, ranges are half-open, lines and columns begin at 1. " +
	"Lengths and budgets count Unicode code points. Times are RFC 3339 in UTC, dates YYYY-MM-DD, durations milliseconds. " +
	"Ids match [A-Za-z0-9_-]{1,64}. The errors that a method may answer with are listed with it; ParseError and MethodNotFound are about messages that call no method. " +
	"Methods with x-at-once answer while the daemon starts or restores a backup; calls of all others wait until it is done, and answer Unavailable when it can't be. " +
	"Methods with x-whole-store count, copy or change all records, and those with x-daemon end the daemon or change how it runs: " +
	"a connection whose audience is remote is answered Unavailable. " +
	"x-notifications lists the notifications and who sends them; those with x-topic are sent after events.subscribe."

// Document returns the document that describes every method, as rpc.discover
// answers with it: one line of JSON, the same on every call.
func Document() (protocol.Document, error) {
	doc := openRPC{
		OpenRPC: "1.3.2",
		Info:    docInfo{Title: "ctxd", Version: protocol.Version, Description: docDescription},
	}
	d := newSchemas(schemaPrefix)
	for i := range protocol.Methods {
		m, err := d.method(&protocol.Methods[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", protocol.Methods[i].Name, err)
		}
		doc.Methods = append(doc.Methods, m)
	}
	for i := range protocol.Notifications {
		n, err := d.notification(&protocol.Notifications[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", protocol.Notifications[i].Name, err)
		}
		doc.Notify = append(doc.Notify, n)
	}
	if _, err := d.of(reflect.TypeFor[protocol.ErrorData]()); err != nil {
		return nil, err
	}
	doc.Components = docComponent{Schemas: componentList{d}, Errors: protocol.Codes}
	return compact(doc)
}

// notification describes a message that nobody answers.
func (d *schemas) notification(n *protocol.Notification) (docNotification, error) {
	params, err := d.params(n.Params)
	if err != nil {
		return docNotification{}, err
	}
	out := docNotification{
		Name: n.Name, Summary: n.Summary, Description: n.Description, Structure: "by-name",
		Params: params, From: "daemon", Topic: n.Topic,
	}
	if n.FromClient {
		out.From = "client"
	}
	given, err := inOrder(n.Example, params)
	out.Examples = []docNotice{{Name: n.Name, Params: given}}
	return out, err
}

func (d *schemas) method(m *protocol.Method) (docMethod, error) {
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
		AtOnce: m.Store == protocol.Storeless, WholeStore: m.WholeStore, Daemon: m.Daemon,
	}
	for _, code := range m.Codes {
		if !slices.ContainsFunc(protocol.Codes, func(c protocol.Code) bool { return c.Code == code }) {
			return out, fmt.Errorf("error code %d is not described", code)
		}
	}
	for _, code := range m.Errors() {
		i := slices.IndexFunc(protocol.Codes, func(c protocol.Code) bool { return c.Code == code })
		out.Errors = append(out.Errors, docRef{"#/components/errors/" + errorName(protocol.Codes[i])})
	}
	example, err := exampleOf(m, params)
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
		list = append(list, docContent{
			Name: p, Description: text, Required: slices.Contains(own.Required, p),
			Schema: schema,
		})
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
func exampleOf(m *protocol.Method, params []docContent) (docExample, error) {
	given, err := inOrder(m.Example.Params, params)
	return docExample{Name: m.Name, Params: given, Result: docValue{"result", json.RawMessage(m.Example.Result)}}, err
}

// inOrder gives the members of an object in the order of the parameters.
func inOrder(example string, params []docContent) ([]docValue, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(example), &given); err != nil {
		return nil, fmt.Errorf("example: %w", err)
	}
	list := []docValue{}
	for _, p := range params {
		if v, ok := given[p.Name]; ok {
			list = append(list, docValue{p.Name, v})
		}
	}
	return list, nil
}

// errorName turns "not_found" into "NotFound".
func errorName(c protocol.Code) string {
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

func recordText(f reflect.StructField) string { return f.Tag.Get("jsonschema") }
