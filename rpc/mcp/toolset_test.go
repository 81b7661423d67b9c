package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/mcp"
)

func chosen(t *testing.T, list string) []string {
	t.Helper()
	names, err := mcp.ChooseTools(list)
	must(t, err)
	return names
}

// sizeOf counts what a model reads of its tools, in characters, as they are sent.
func (h *host) sizeOf() (tools, chars int) {
	h.t.Helper()
	list, err := h.ListTools(h.t.Context(), nil)
	must(h.t, err)
	for _, tool := range list.Tools {
		chars += utf8.RuneCountInString(asJSON(h.t, tool))
	}
	return len(list.Tools), chars
}

// TestCLI10_CoreIsSmall: eight tools of at most 6,000 characters as they are sent, by which everything can be read.
func TestCLI10_CoreIsSmall(t *testing.T) {
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{AllowWrite: true, Tools: chosen(t, "core")})
	tools, chars := h.sizeOf()
	whole, all := d.open(mcp.Options{AllowWrite: true}).sizeOf()
	t.Logf("core: %d tools, %d characters; all: %d tools, %d characters", tools, chars, whole, all)
	if tools != 8 || chars > 6_000 {
		t.Errorf("%d tools of %d characters", tools, chars)
	}
	if got, want := strings.Join(h.toolNames(), " "), "assemble_context explain list query read recall remember search"; got != want {
		t.Errorf("%s", got)
	}
	for _, tc := range []struct{ tool, args, want string }{
		{"search", `{"query":"scales"}`, "1. [[Alpha]] [id:alpha]"},
		{"search", `{"query":"stores of a colony","kind":"book"}`, "[Beekeeping"},
		{"search", `{"query":"Alpha","kind":"related"}`, "[[Kickoff]]"},
		{"read", `{"note":"[[Kickoff]]"}`, "We met."},
		{"read", `{"entity":"@Alice"}`, "role: Engineer"},
		{"read", `{"memory":"#1"}`, "We weigh scales"},
		{"read", `{"book":"Beekeeping","heading":"Spring"}`, "Bees fly."},
		{"query", `{"query":"SELECT p FROM Person p WHERE p.role = 'Engineer'"}`, "Alice"},
		{"recall", `{"query":"When are scales weighed?"}`, "in the morning"},
		{"remember", `{"statement":"The user has a hive"}`, "Remembered"},
		{"list", `{"kind":"notes","folder":"meetings"}`, "[[Kickoff]]"},
		{"list", `{"kind":"changes"}`, "[[Alpha]]"},
		{"list", `{"kind":"tags"}`, "plan"},
		{"list", `{"kind":"types"}`, "- Person, "},
		{"list", `{"kind":"entities","type":"Team"}`, "@Core (Team)"},
		{"list", `{"kind":"profile"}`, "in the morning"},
		{"assemble_context", `{"message":"Who is @Alice?","maxDepth":1}`, "Engineer"}, // also what is not listed is taken
		{"explain", `{}`, "@Alice [id:alice]: in entities"},
	} {
		h.contains(tc.tool+tc.args, h.call(tc.tool, tc.args), tc.want)
	}
	for _, tc := range []struct{ tool, args string }{
		{"read", `{"note":"nope"}`},
		{"read", `{"entity":"nope"}`},
		{"read", `{"memory":"nope"}`},
		{"read", `{"book":"nope"}`},
		{"read", `{}`},
		{"read", `{"note":"a","book":"b"}`},
		{"list", `{"kind":"entities","type":"Nope"}`},
		{"search", `{"query":"x","kind":"related"}`},
		{"list", `{}`},
		{"query", `{"query":"SELECT x FROM Nope x"}`},
	} {
		if text := h.fails(tc.tool, tc.args); strings.Contains(text, "_notes") || strings.Contains(text, "_note ") || strings.Contains(text, "list_") || strings.Contains(text, "get_") {
			t.Errorf("%s %s names a tool that is not offered: %s", tc.tool, tc.args, text)
		}
	}
	if text := h.InitializeResult().Instructions; strings.Contains(text, "search_notes") || strings.Contains(text, "read_note") || !strings.Contains(text, "use read") {
		t.Errorf("instructions: %s", text)
	}
	if _, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: json.RawMessage(`{"note":"alpha"}`)}); err == nil {
		t.Error("a tool that is not offered is called")
	}
}

// TestCLI10_ToolsAreChosen: by the names of sets and of tools; a wrong name is told what is near it.
func TestCLI10_ToolsAreChosen(t *testing.T) {
	all := chosen(t, "all")
	if len(all) < 29 || slices.Contains(all, "read") || !slices.Contains(all, "remember") {
		t.Errorf("all: %v", all)
	}
	if got := chosen(t, "core, read_note,core"); len(got) != 9 || !slices.Contains(got, "read_note") {
		t.Errorf("%v", got)
	}
	for list, hint := range map[string]string{"reed_note": "did you mean read_note", "cor": "did you mean core", "": "core, all, or names of", "core,,all": "core, all, or names of", "zzzzzzzzzz": "remember"} {
		_, err := mcp.ChooseTools(list)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Field != "tools" || !strings.Contains(f.Hint, hint) {
			t.Errorf("%q: %+v", list, err)
		}
	}
	d := start(t)
	d.seed()
	h := d.open(mcp.Options{Tools: chosen(t, "read_note,remember")})
	if got := h.toolNames(); !slices.Equal(got, []string{"read_note"}) {
		t.Errorf("without writing: %v", got)
	}
}

// TestCLI10_EmptyPartsAreNotListed: their tools come with the first record that the host may see, and the host is told.
func TestCLI10_EmptyPartsAreNotListed(t *testing.T) {
	d := start(t)
	d.put("memory.add", `{"statement":"We keep this to ourselves","private":true}`)
	told := make(chan bool, 10)
	h := d.openAs(mcp.Options{}, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { told <- true }}, "2025-11-25")
	lists := func(want bool, tools ...string) {
		t.Helper()
		names := h.toolNames()
		for _, tool := range tools {
			if slices.Contains(names, tool) != want {
				t.Errorf("%s is listed: %v", tool, !want)
			}
		}
	}
	lists(false, "recall", "memory_profile", "get_entity", "list_entities", "search_books", "read_book")
	lists(true, "search_notes", "list_types", "query")
	d.put("memory.add", `{"statement":"Another secret","private":true}`, "memory.add", `{"statement":"Scales are weighed in the morning"}`)
	<-told
	lists(true, "recall", "memory_profile")
	lists(false, "get_entity", "search_books")
	d.put("types.put", `{"name":"Person","fields":[]}`, "entities.put", `{"type":"Person","name":"Alice"}`)
	<-told
	lists(true, "get_entity")
	d.put("books.add", `{"title":"Bees","name":"bees.md","mimeType":"md","text":"# Winter\n\nStores."}`)
	h.call("search_notes", `{"query":"x"}`)
	<-told
	lists(true, "recall", "get_entity", "search_books", "read_book")
}

// TestCLI10_WithoutADaemonAllToolsAreListed: which parts are empty is not known then.
func TestCLI10_WithoutADaemonAllToolsAreListed(t *testing.T) {
	d := start(t)
	h := d.open(mcp.Options{})
	d.Stop()
	if names := h.toolNames(); !slices.Contains(names, "search_books") || !slices.Contains(names, "recall") {
		t.Errorf("%v", names)
	}
}
