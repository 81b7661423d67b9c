package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// TestMEM5_NothingIsDeletedHere: memories are written, changed and put away over their
// whole way, and what was put away can be restored.
func TestMEM5_NothingIsDeletedHere(t *testing.T) {
	d := start(t)
	h := d.open(mcp.Options{AllowWrite: true})
	text := h.call("remember", `{"statement":"The user\nkeeps bees","kind":"identity","tags":["#garden"],"questions":["Who keeps bees?"]}`)
	h.contains("new", text, "Remembered [id:memory-1].")
	h.contains("again", h.call("remember", `{"statement":"the user keeps bees."}`), "That is known already: [identity, 2026-01-31] The user keeps bees [id:memory-1]")
	m, err := d.Rooms.Memory.Get(d.Rooms.Audience.View("local"), "memory-1")
	must(t, err)
	if m.Source.Kind != "assistant" || m.Source.Client != mcp.ClientName || m.Tags[0] != "garden" || m.Use.Mentioned != 1 {
		t.Errorf("%+v", m)
	}
	h.contains("changed", h.call("update_memory", `{"memory":"#1","statement":"The user keeps three hives","confidence":0.9,"tags":[]}`),
		"Changed the memory [id:memory-1], which is at version 2 now.")
	h.contains("profile", h.call("memory_profile", `{}`), "- [identity, 2026-01-31] The user keeps three hives [id:memory-1]\n")
	h.call("update_memory", `{"memory":"[id:memory-1]","contested":true}`)
	h.contains("contested", h.call("remember", `{"statement":"The user keeps three hives"}`), "[identity, 2026-01-31, contested] The user")
	h.contains("put away", h.call("forget_memory", `{"memory":"@`+m.Handle+`"}`), "Archived the memory [id:memory-1]", "Nothing was deleted")
	h.contains("none left", h.call("memory_profile", `{}`), "Nothing yet.")
	d.put("memory.restore", `{"id":"memory-1"}`)
	h.contains("it is back", h.call("memory_profile", `{}`), "three hives")
	h.contains("wrong", h.call("forget_memory", `{"memory":"memory-1","wrong":true}`), "Retracted the memory [id:memory-1]", "Nothing was deleted")
	if v, err := d.Rooms.Memory.Get(d.Rooms.Audience.View("local"), "memory-1"); err != nil || v.Status != "retracted" {
		t.Errorf("%+v %v", v, err)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"remember", `{"statement":" "}`, "statement"},
		{"remember", `{"statement":"x","supersedes":["#9"]}`, `no memory has the id, handle or number in "supersedes"`},
		{"update_memory", `{"memory":"#9","tags":[]}`, "recall finds memories, with their ids"},
		{"update_memory", `{"memory":" "}`, "memory is needed"},
		{"update_memory", `{"memory":"memory-1","statement":"x"}`, "retracted"},
		{"forget_memory", `{"memory":"memory-1"}`, "retracted"},
		{"forget_memory", `{"memory":"claim_9"}`, "no memory has"},
	} {
		h.contains(c.tool+c.args, h.fails(c.tool, c.args), c.want)
	}
}

// TestMEM33_RecallSaysHowSureItIs: with hits, with none, and one memory read whole.
func TestMEM33_RecallSaysHowSureItIs(t *testing.T) {
	d := start(t)
	long := strings.Repeat("hives in the garden behind the house ", 40)
	d.put("memory.addMany", `{"memories":[
		{"id":"bees","statement":"The user keeps bees in the garden","tags":["garden"],"questions":["Who keeps bees?"],"summary":"bees"},
		{"id":"long","statement":"The user wants `+long+`","kind":"goal","tier":"history"},
		{"id":"car","statement":"The user drives a van"}]}`)
	h := d.open(mcp.Options{})
	text := h.call("recall", `{"query":"Who keeps bees?"}`)
	h.contains("found", text, "Confidence: ", " (", ")\n", "1. [memoryBank, 2026-01-31] The user keeps bees in the garden [id:bees]\n")
	text = h.call("recall", `{"query":"hives"}`)
	h.contains("cut", text, "(recall with memory reads the rest) [id:long]")
	if n := len(text); n > 800 {
		t.Errorf("%d bytes", n)
	}
	h.contains("whole", h.call("recall", `{"memory":"[id:long]"}`), strings.TrimSpace(long), "number: #2, version 1, of the tier history")
	h.contains("whole", h.call("recall", `{"memory":"#1"}`), "in short: bees", "answers: Who keeps bees?", "tags: garden")
	h.contains("none", h.call("recall", `{"query":"quarterly tax return"}`), "Confidence: low", "Say that you do not know")
	h.contains("tags", h.call("recall", `{"query":"user","tags":["#garden"]}`), "[id:bees]")
	if text := h.call("recall", `{"query":"user","tiers":["history"]}`); strings.Contains(text, "[id:bees]") || !strings.Contains(text, "[id:long]") {
		t.Error(text)
	}
	h.contains("before", h.call("recall", `{"query":"bees","before":"2026-01-01"}`), "Nothing is remembered of that.")
	for args, want := range map[string]string{
		`{}`:                                  "either query is needed, or memory",
		`{"query":"x","memory":"y"}`:          "either query is needed, or memory",
		`{"query":"x","after":"lastweek"}`:    "after is no date",
		`{"memory":"#9"}`:                     "no memory has the id",
		`{"query":"x","tiers":["yesterday"]}`: "one of working",
	} {
		h.contains(args, h.fails("recall", args), want)
	}
}

// TestREF13_AMessageRefersToMemories: what a message refers to is in its context, with what a search finds.
func TestREF13_AMessageRefersToMemories(t *testing.T) {
	d := start(t)
	d.put("memory.addMany", `{"memories":[
		{"id":"bees","statement":"The user keeps bees in the garden"},
		{"id":"car","handle":"drives_van","statement":"The user drives a van"},
		{"id":"secret","statement":"The user keeps a secret","private":true}]}`)
	h := d.open(mcp.Options{})
	text := h.call("assemble_context", `{"message":"Does #1 fit @drives_van and #3?","searchNotes":0}`)
	h.contains("referred", text, "- [REFERENCED #1] [fact] The user keeps bees in the garden [id:bees]\n",
		"- [REFERENCED @drives_van] [fact] The user drives a van [id:car]\n")
	if strings.Contains(text, "secret") || strings.Contains(text, "## Memory") {
		t.Error(text)
	}
	h.contains("explained", h.call("explain_context", `{}`), "named by the user as #1")
	h.contains("found", h.call("assemble_context", `{"message":"Who keeps bees?","memories":3}`), "## Memory", "[id:bees]")
}

// TestPRIV8_AMemoryWithWithheldPartsIsNotWrittenBack: another statement would lose them.
func TestPRIV8_AMemoryWithWithheldPartsIsNotWrittenBack(t *testing.T) {
	d := start(t)
	d.put("notes.put", `{"id":"secret","title":"Secret","body":"x","private":true}`,
		"memory.add", `{"id":"m","kind":"goal","statement":"The user finishes [[Secret]] in May"}`)
	h := d.open(mcp.Options{AllowWrite: true})
	h.contains("masked", h.call("memory_profile", `{}`), "The user finishes (private) in May [id:m]")
	h.contains("refused", h.fails("update_memory", `{"memory":"m","statement":"The user finishes (private) in June"}`), "would be lost", "ask the user")
	h.call("update_memory", `{"memory":"m","confidence":0.9}`)
	local := d.open(mcp.Options{AllowWrite: true, IncludePrivate: true})
	local.call("update_memory", `{"memory":"m","statement":"The user finishes [[Secret]] in June"}`)
	if text := h.call("memory_profile", `{}`); strings.Contains(text, "Secret") || !strings.Contains(text, "June") {
		t.Error(text)
	}
}

// TestMEM50_AHostIsAskedHowItWent: what recall has shown is scored by its position, and until that is done the next
// answer asks for it.
func TestMEM50_AHostIsAskedHowItWent(t *testing.T) {
	d := start(t)
	d.put("memory.addMany", `{"memories":[{"id":"bees","statement":"Bees like lavender","tier":"history"},{"id":"fact","statement":"The user keeps bees"}]}`)
	const asks = "Say with record_response"
	reading := d.open(mcp.Options{})
	for range 2 {
		if text := reading.call("recall", `{"query":"bees"}`); strings.Contains(text, asks) {
			t.Errorf("a host that may not write is asked: %s", text)
		}
	}
	h := d.open(mcp.Options{AllowWrite: true})
	if text := h.call("recall", `{"query":"bees lavender"}`); strings.Contains(text, asks) {
		t.Errorf("asked before anything was shown: %s", text)
	}
	h.contains("asked", h.call("recall", `{"query":"lavender"}`), asks)
	h.contains("scored", h.call("record_response", `{"outcome":"worked","related":["[id:bees]"],"takeaway":"Plant lavender."}`),
		"Scored [id:bees]: 0.70 now.", "Remembered [id:memory-3].")
	h.contains("again", h.call("record_response", `{"outcome":"worked"}`), "No memory has another score")
	if text := h.call("recall", `{"query":"lavender"}`); strings.Contains(text, asks) {
		t.Errorf("asked although it was told: %s", text)
	}
	h.contains("elsewhere", h.fails("record_response", `{"outcome":"worked","related":["9"]}`), "none of the last results")
	h.contains("by id", h.call("record_outcome", `{"outcome":"failed","memories":["#1","fact"]}`), "Scored [id:bees]: 0.40 now.", "Noted [id:fact]")
	quiet := d.open(mcp.Options{AllowWrite: true, NoAsking: true})
	for range 2 {
		if text := quiet.call("recall", `{"query":"bees"}`); strings.Contains(text, asks) {
			t.Errorf("a host is asked that is not to be: %s", text)
		}
	}
}

// TestCHAT44_WrongShapes gives each member of each tool, for hosts and for a model in a conversation, values of wrong
// shapes: none is an internal error, and the answer names the member and says what it takes.
func TestCHAT44_WrongShapes(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{AllowWrite: true, IncludePrivate: true})
	list, err := h.ListTools(t.Context(), nil)
	must(t, err)
	tried, taken := 0, 0
	of := func(who, tool string, schema any, call func(args string) (text string, failed bool)) {
		var s jsonschema.Schema
		must(t, json.Unmarshal([]byte(asJSON(t, schema)), &s))
		kinds := map[string]render.ArgumentKind{}
		for name, p := range s.Properties {
			kinds[name] = render.ArgumentKind{Type: p.Type}
			if p.Items != nil {
				kinds[name] = render.ArgumentKind{Type: p.Type, Items: p.Items.Type}
			}
		}
		check := func(field, args string, meant bool) {
			tried++
			text, failed := call(args)
			for _, word := range []string{"internal error", "reflect", "validating", "panic", "unmarshal", "json:"} {
				if strings.Contains(text, word) {
					t.Errorf("%s %s %s: %s", who, tool, args, text)
				}
			}
			switch {
			case meant: // the tool may take it, and say of it what it will
				taken++
			case !failed || !strings.Contains(text, field) || !strings.Contains(text, "must be"):
				t.Errorf("%s %s %s: it does not say what %s takes: %.300s", who, tool, args, field, text)
			}
		}
		for _, whole := range []string{`null`, `[]`, `7`, `"x"`, `true`, `""`, `{}`, `{"nonesuch":1}`, `[{}]`} {
			check("", whole, true)
		}
		shapes, still := servertest.WrongShapes(&s, nil), map[string]bool{}
		for _, wrong := range shapes {
			still[string(wrong.Value)] = true
		}
		for _, wrong := range shapes {
			field, _, _ := strings.Cut(wrong.Field, "[")
			meant := !still[string(render.LenientArguments(wrong.Value, kinds))]
			check(field, string(wrong.Value), meant)
			check(field, withRequired(t, &s, wrong.Value), meant)
		}
	}
	for _, tool := range list.Tools {
		of("host", tool.Name, tool.InputSchema, func(args string) (string, bool) {
			res := h.result(tool.Name, args)
			return textOf(res), res.IsError
		})
	}
	var offered protocol.Tools
	d.Call("tools.list", protocol.ToolsList{Write: true}, &offered)
	for _, tool := range offered.Tools {
		of("conversation", tool.Name, tool.Schema, func(args string) (string, bool) {
			var res record.ToolResult
			d.Call("tools.call", protocol.ToolCall{Name: tool.Name, Arguments: json.RawMessage(args)}, &res)
			return res.Text, res.Error
		})
	}
	t.Logf("%d tools of a host and %d of a conversation: %d wrong shapes, %d of them read as they are meant", len(list.Tools), len(offered.Tools), tried, taken)
	if tried < 4000 {
		t.Errorf("only %d wrong shapes were tried", tried)
	}
}

// withRequired returns arguments with a plausible value for each that the tool needs and they lack.
func withRequired(t *testing.T, s *jsonschema.Schema, args json.RawMessage) string {
	t.Helper()
	var all map[string]json.RawMessage
	must(t, json.Unmarshal(args, &all))
	for _, name := range s.Required {
		p := s.Properties[name]
		switch {
		case all[name] != nil:
		case len(p.Enum) > 0:
			all[name] = json.RawMessage(asJSON(t, p.Enum[0]))
		case p.Type == "array":
			all[name] = json.RawMessage(`["x"]`)
		default:
			all[name] = json.RawMessage(`"x"`)
		}
	}
	return asJSON(t, all)
}
