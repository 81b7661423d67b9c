package protocol_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// describedNotifications are the notifications as the document has them.
type describedNotifications struct {
	Notifications []struct {
		Name     string
		Summary  string
		From     string `json:"x-from"`
		Topic    bool   `json:"x-topic"`
		Examples []struct {
			Params []struct {
				Name  string
				Value any
			}
		}
		Params []struct {
			Name        string
			Description string
			Required    bool
			Schema      json.RawMessage
		}
	} `json:"x-notifications"`
}

func TestEveryNotificationIsDescribed(t *testing.T) {
	var d describedNotifications
	if err := json.Unmarshal(whole(t), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Notifications) != len(protocol.Notifications) {
		t.Errorf("%d in the document, %d in the contract", len(d.Notifications), len(protocol.Notifications))
	}
	c := newChecks(t, parse(t))
	for i, n := range d.Notifications {
		own := protocol.Notifications[i]
		if n.Name != own.Name || n.Summary == "" || len(n.Examples) == 0 || n.From != "client" && n.From != "daemon" {
			t.Errorf("%s: %+v", own.Name, n)
		}
		params := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
		for _, p := range n.Params {
			if p.Description == "" {
				t.Errorf("%s: %s is not described", n.Name, p.Name)
			}
			params.Properties[p.Name] = schemaOf(t, p.Schema)
			if p.Required {
				params.Required = append(params.Required, p.Name)
			}
		}
		for _, ex := range n.Examples {
			given := map[string]any{}
			for _, p := range ex.Params {
				given[p.Name] = p.Value
			}
			c.add(n.Name, params, given)
		}
		var all map[string]any
		if err := json.Unmarshal([]byte(own.Example), &all); err != nil || len(all) != len(n.Examples[0].Params) {
			t.Errorf("%s: the example has a parameter that the notification has not (%v)", n.Name, err)
		}
	}
	c.run(t)
}

// Every topic is a notification of the daemon, and its description says so.
func TestEveryTopicIsANotification(t *testing.T) {
	var named []protocol.Topic
	for _, n := range protocol.Notifications {
		if n.Topic {
			named = append(named, protocol.Topic(n.Name))
			if n.FromClient {
				t.Errorf("%s comes from the client", n.Name)
			}
		}
	}
	if !slices.Equal(named, protocol.Topics) {
		t.Errorf("notifications %v, topics %v", named, protocol.Topics)
	}
	if !slices.IsSorted(protocol.Topics) {
		t.Errorf("%v are not sorted", protocol.Topics)
	}
}

// Every job has a kind, which says what it shares its places with.
func TestEveryJobHasAKind(t *testing.T) {
	for _, m := range protocol.Methods {
		if (m.Mode == protocol.Job) != (m.Kind.Name != "") {
			t.Errorf("%s is a %s of the kind %q", m.Name, m.Mode, m.Kind.Name)
		}
	}
}

// A topic that was given a number and no entry, or half of one, is found here.
func TestEveryTopicIsDescribed(t *testing.T) {
	for i, topic := range protocol.TopicTable {
		v := reflect.ValueOf(topic)
		for f := range v.NumField() {
			if name := v.Type().Field(f).Name; name != "Description" && v.Field(f).IsZero() {
				t.Errorf("topic %d (%s) has no %s", i, topic.Name, name)
			}
		}
	}
}

// constants returns the values of the constants of the package whose names
// begin with prefix.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			switch v := spec.Values[0].(type) {
			case *ast.BasicLit:
				found[spec.Names[0].Name] = v.Value
			case *ast.UnaryExpr:
				if lit, ok := v.X.(*ast.BasicLit); ok {
					found[spec.Names[0].Name] = v.Op.String() + lit.Value
				}
			}
			return true
		})
	}
	return found
}

// A constant that nobody added to the tables would be an error or a message
// that no client has heard of.
func TestEveryCodeTopicAndNotificationStandsInItsTable(t *testing.T) {
	codes := constants(t, "Code")
	if len(codes) != len(protocol.Codes) {
		t.Errorf("%d constants, %d codes", len(codes), len(protocol.Codes))
	}
	for name, value := range codes {
		if !slices.ContainsFunc(protocol.Codes, func(c protocol.Code) bool { return strconv.Itoa(c.Code) == value }) {
			t.Errorf("%s (%s) is not in Codes", name, value)
		}
	}
	for name, value := range constants(t, "Topic") {
		text, _ := strconv.Unquote(value)
		if !slices.Contains(protocol.Topics, protocol.Topic(text)) {
			t.Errorf("%s (%s) is not in Topics", name, value)
		}
	}
	for name, value := range constants(t, "Notify") {
		text, _ := strconv.Unquote(value)
		if !slices.ContainsFunc(protocol.Notifications, func(n protocol.Notification) bool { return n.Name == text }) {
			t.Errorf("%s (%s) is not in Notifications", name, value)
		}
	}
}

func TestEveryErrorCodeIsDescribed(t *testing.T) {
	d := parse(t)
	seen := map[string]bool{}
	for _, c := range protocol.Codes {
		if c.Message == "" || c.Kind == "" || seen[c.Kind] {
			t.Errorf("%d: kind %q, text %q", c.Code, c.Kind, c.Message)
		}
		seen[c.Kind] = true
	}
	if len(d.Components.Errors) != len(protocol.Codes) {
		t.Errorf("%d errors in the document, %d codes", len(d.Components.Errors), len(protocol.Codes))
	}
	// Those that are about no method are all that no method lists.
	unlisted := []int{protocol.CodeParse, protocol.CodeMethodNotFound}
	for _, c := range protocol.Codes {
		listed := slices.ContainsFunc(protocol.Methods, func(m protocol.Method) bool { return slices.Contains(m.Errors(), c.Code) })
		if listed == slices.Contains(unlisted, c.Code) {
			t.Errorf("%d: listed %v", c.Code, listed)
		}
	}
}

// The errors of a method follow from how it is run and what it is about.
func TestErrorsOfAMethod(t *testing.T) {
	for name, want := range map[string][]int{
		"rpc.discover": {-32600, -32602, -32603, -32800, 1004, 1005},
		"admin.stop":   {-32600, -32602, -32603, -32002, 1003, 1004},
		"notes.put":    {-32600, -32602, -32603, -32002, -32800, 1001, 1002, 1003, 1004},
		"wql.query":    {-32600, -32602, -32603, -32002, -32800, 1001, 1003, 1004, 1005, 1006},
	} {
		if got := protocol.Lookup(name).Errors(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, m := range protocol.Methods {
		writes := m.Mode == protocol.Mutation && m.Name != "shutdown" || m.Mode == protocol.Job
		if writes && !slices.Contains(m.Errors(), protocol.CodeUnavailable) {
			t.Errorf("%s writes, and does not say that the store may be read-only", m.Name)
		}
	}
}

// Members that a list of texts may hold are listed with it.
func TestEnumsAreInTheDocument(t *testing.T) {
	var d described
	if err := json.Unmarshal(whole(t), &d); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Methods {
		if m.Name != "events.subscribe" {
			continue
		}
		s := schemaOf(t, m.Params[0].Schema)
		var got []any
		if s.Items != nil {
			got = s.Items.Enum
		}
		want := []any{}
		for _, topic := range protocol.Topics {
			want = append(want, string(topic))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("topics may be %v, want %v", got, want)
		}
	}
}
