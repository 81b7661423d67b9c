package llm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

// TestCHAT24_Streams plays what real servers send, whole, a byte at a time, and with other ends
// of lines, and compares what a caller hears.
func TestCHAT24_Streams(t *testing.T) {
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.sse"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	slices.Sort(files)
	for _, file := range files {
		name := filepath.ToSlash(strings.TrimPrefix(file, "testdata"+string(filepath.Separator)))
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := llm.Kind(filepath.Base(filepath.Dir(file)))
		var first string
		for _, way := range []struct {
			name  string
			parts []string
		}{
			{"whole", []string{string(stream)}},
			{"bytes", bytesOf(stream)},
			{"CRLF", []string{string(crlf(stream))}},
			{"CR", []string{string(cr(stream))}},
			{"BOM", []string{"\xEF\xBB\xBF" + string(stream)}},
			{"no end", []string{strings.TrimRight(string(stream), "\n")}},
		} {
			s := play(t, kind, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				send(w, way.parts...)
			})
			h, a, err := s.ask(t.Context())
			if err != nil {
				t.Errorf("%s, %s: %v", name, way.name, err)
			}
			got := fmt.Sprintf("text: %q\nreasoning: %q\ncalls:%s\nfinish: %s\nmodel: %s\nusage: %+v\n",
				h.text.String(), h.reasoning.String(), h.calls.String(), a.Finish, a.Model, a.Usage)
			if first == "" {
				first = got
				fmt.Fprintf(&all, "## %s\n%s\n", name, got)
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("%s, %s:\n%s", name, way.name, diff)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%s, %s: asked %d times", name, way.name, n)
			}
		}
	}
	golden(t, "streams.golden", all.String())
}

// TestCHAT24_Requests compares the bytes that each kind of provider is sent.
func TestCHAT24_Requests(t *testing.T) {
	warm := 0.5
	r := &llm.Request{
		Model: "other", System: "Be <brief>.", MaxTokens: 100, Temperature: &warm,
		Messages: []llm.Message{
			{Role: llm.User, Text: "What is this?", Images: []llm.Image{{Type: "image/png", Data: []byte("PNG")}}},
			{Role: llm.Assistant, Text: "I look.", Calls: []llm.ToolCall{
				{ID: "c1", Name: "read_note", Arguments: `{"id":"1"}`}, {ID: "c2", Name: "query", Arguments: `{"broken`},
			}},
			{Role: llm.User, Results: []llm.ToolResult{{CallID: "c1", Text: "a & b"}, {CallID: "c2", Text: "no JSON", Failed: true}}},
			{Role: llm.Assistant},
			{Role: llm.User, Text: "And?"},
		},
		Tools: []llm.Tool{{Name: "read_note", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
	for _, kind := range llm.Kinds {
		s := play(t, kind, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusBadRequest) })
		if _, err := s.Stream(t.Context(), r, (&heard{}).take); err == nil {
			t.Error("no error")
		}
		sent := s.requests()[0]
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(sent.body), "", "  "); err != nil {
			t.Fatal(err)
		}
		sent.header.Del("Content-Length")
		golden(t, string(kind)+"/request.golden", fmt.Sprintf("POST %s\n%s\n%s\n", sent.path, headers(sent.header), b.String()))
	}
}

func headers(h http.Header) string {
	var lines []string
	for name, values := range h {
		lines = append(lines, name+": "+strings.ReplaceAll(strings.Join(values, ", "), canaryKey, "KEY"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// bytesOf cuts within characters, too.
func bytesOf(text []byte) []string {
	parts := make([]string, len(text))
	for i := range text {
		parts[i] = string(text[i : i+1])
	}
	return parts
}
