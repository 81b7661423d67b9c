package openrpc

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// The tables of rpc/README.md, in Markdown.

// MethodTable returns the methods as a Markdown table, as it stands in the README of
// rpc.
func MethodTable() string {
	var b strings.Builder
	for i := range protocol.Groups {
		group := &protocol.Groups[i]
		fmt.Fprintf(&b, "### %s\n\n%s.\n\n| method | params | what it does |\n|---|---|---|\n", group.Name, strings.ToUpper(group.About[:1])+group.About[1:])
		methodRows(&b, group.Methods())
		if i < len(protocol.Groups)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// FirstCallsTable returns the fifteen methods that a note app needs, as a Markdown table.
func FirstCallsTable() string {
	var b strings.Builder
	b.WriteString("| when | method | for example |\n|---|---|---|\n")
	for _, c := range protocol.FirstCalls {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", c.When, c.Method, c.Params)
	}
	return b.String()
}

func methodRows(b *strings.Builder, methods []*protocol.Method) {
	for _, m := range methods {
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
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", m.Name, codeList(params), m.Summary)
	}
}

// ErrorTable returns the error codes as a Markdown table.
func ErrorTable() string {
	var b strings.Builder
	b.WriteString("| code | data.kind | when |\n|---|---|---|\n")
	for _, c := range protocol.Codes {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", c.Code, c.Kind, c.Message)
	}
	return b.String()
}

// TopicsTable returns the topics as a Markdown table.
func TopicsTable() string {
	merges := map[protocol.MergeRule]string{
		protocol.MergeRecords: "merged ids, each with its latest change",
		protocol.MergeLatest:  "only the latest event",
	}
	remote := map[protocol.RemoteRule]string{
		protocol.RemoteVisible: "ids of records that it may see", protocol.RemoteUncounted: "without counts of records", protocol.RemoteNone: "none",
	}
	var b strings.Builder
	b.WriteString("| topic | when | a slow reader gets | a remote audience gets | params, for example |\n|---|---|---|---|---|\n")
	for _, t := range protocol.TopicTable {
		example := t.Example
		if len(example) > 100 {
			example = "{…}"
		}
		fmt.Fprintf(&b, "| `%s` | %s %s | %s | %s | `%s` |\n", t.Name, t.Summary, t.Description, merges[t.Merge],
			remote[t.Remote], example)
	}
	return b.String()
}

// JobTable returns the kinds of jobs as a Markdown table.
func JobTable() string {
	var b strings.Builder
	b.WriteString("| kind | methods | on a connection | in all |\n|---|---|---|---|\n")
	seen := map[string]bool{}
	for _, m := range protocol.Methods {
		if m.Mode != protocol.Job || seen[m.Kind.Name] {
			continue
		}
		seen[m.Kind.Name] = true
		var names []string
		for _, other := range protocol.Methods {
			if other.Mode == protocol.Job && other.Kind == m.Kind {
				names = append(names, "`"+other.Name+"`")
			}
		}
		own := "`limits.jobs`"
		if m.Kind.PerConnection > 0 {
			own = fmt.Sprint(m.Kind.PerConnection)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", m.Kind.Name, strings.Join(names, ", "), own, m.Kind.Total)
	}
	return b.String()
}

func codeList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, ", ") + "`"
}
