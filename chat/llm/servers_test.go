package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
)

// delta is an event of OpenAI's protocol.
func delta(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

// part is a call of a tool in a delta.
func part(more, name, arguments string) string {
	return `{` + more + `"function":{"name":"` + name + `","arguments":` + arguments + `}}`
}

func calls(parts ...string) string { return delta(`"tool_calls":[` + strings.Join(parts, ",") + `]`) }

const ended = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

// TestCHAT41_NamesInPieces are joined where a tool has the name that they make.
func TestCHAT41_NamesInPieces(t *testing.T) {
	piece := func(more, name, arguments string) string { return calls(part(`"index":0,`+more, name, arguments)) }
	const none, a = `""`, `"{\"id\":\"A\"}"`
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"two":                        {[]string{piece(`"id":"c",`, "read_", none), piece("", "note", none), piece("", "", a)}, `read_note {"id":"A"}`},
		"three, the id in each":      {[]string{piece(`"id":"c",`, "re", none), piece(`"id":"c",`, "ad", none), piece(`"id":"c",`, "_note", a)}, `read_note {"id":"A"}`},
		"without an id":              {[]string{piece("", "read_n", none), piece("", "ote", none), piece("", "", a)}, `read_note {"id":"A"}`},
		"each with those before":     {[]string{piece(`"id":"c",`, "read_", none), piece("", "read_note", none), piece("", "", a)}, `read_note {"id":"A"}`},
		"a whole name, then its end": {[]string{piece(`"id":"c",`, "read", none), piece("", "_note", a)}, `read_note {"id":"A"}`},
		"the same again":             {[]string{piece(`"id":"c",`, "read", none), piece("", "read", a)}, `read {"id":"A"}`},
		"another tool":               {[]string{piece("", "read", none), piece("", "list", a)}, `read , list {"id":"A"}`},
		"another id":                 {[]string{piece(`"id":"c",`, "read", none), piece(`"id":"d",`, "_note", a)}, `read , _note {"id":"A"}`},
		"behind arguments":           {[]string{piece("", "read", a), piece("", "read_note", a)}, `read {"id":"A"}, read_note {"id":"A"}`},
	} {
		s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
			for _, e := range append(c.events, ended, "[DONE]") {
				send(w, "data: "+e+"\n\n")
			}
		})
		r, heard := question(), ""
		for _, tool := range []string{"read", "read_note", "list"} {
			r.Tools = append(r.Tools, llm.Tool{Name: tool, Schema: json.RawMessage(`{"type":"object"}`)})
		}
		answer, err := s.Stream(t.Context(), r, func(d llm.Delta) error {
			if d.Tool != nil {
				heard += d.Tool.Name
			}
			return nil
		})
		var made []string
		names := ""
		for _, call := range answer.Calls {
			made, names = append(made, call.Name+" "+call.Arguments), names+call.Name
		}
		if err != nil || strings.Join(made, ", ") != c.want || heard != names {
			t.Errorf("%s: %q, heard %q, %v", name, made, heard, err)
		}
	}
}

// TestCHAT41_WholeReplies: servers that do not stream, and that say not how an answer ended.
func TestCHAT41_WholeReplies(t *testing.T) {
	for _, reply := range []string{
		`{"choices":[{"message":{"role":"assistant","content":"It is 2."}}]}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"It is 2."}]},"finish_reason":null}]}`,
	} {
		s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, reply) })
		if h, a, err := s.ask(t.Context()); err != nil || h.text.String() != "It is 2." || a.Finish != llm.Stop {
			t.Errorf("%s: %q %+v %v", reply, h.text.String(), a, err)
		}
	}
}

// TestCHAT42_WhatASettingLeavesOut is not sent.
func TestCHAT42_WhatASettingLeavesOut(t *testing.T) {
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, "data: "+ended+"\n\n") },
		func(o *llm.Options) { o.LeaveOut = []string{"stream_options", "temperature"} })
	_, _ = s.Stream(t.Context(), askedForAll(), (&heard{}).take)
	if body := s.requests()[0].body; strings.Contains(body, "stream_options") || strings.Contains(body, "temperature") {
		t.Errorf("sent %s", body)
	}
}

// TestCHAT42_ToolsAreLeftOutWhereTheirChoiceIsRefused, though the request has none; and no hint names what it had not.
func TestCHAT42_ToolsAreLeftOutWhereTheirChoiceIsRefused(t *testing.T) {
	for _, c := range []string{
		`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`,
		`{"error":{"message":"tool_choice is not supported by this model"}}`,
		`{"error":"start the server with --tool-call-parser"}`,
	} {
		for _, member := range []string{`"tools"`, `"messages"`} { // what is refused; a server may refuse all
			s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
				send(w, "data: "+delta(`"content":"Hello"`)+"\n\n", "data: "+ended+"\n\n")
			})
			s.refuse = func(body string) (int, string) {
				if strings.Contains(body, member) {
					return http.StatusBadRequest, c
				}
				return 0, ""
			}
			r, h := question(), &heard{}
			r.Tools = []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}
			a, err := s.Stream(t.Context(), r, h.take)
			switch {
			case member == `"messages"` && (err == nil || strings.Contains(said(err), "leaveOut")):
				t.Errorf("%s: %s", c, said(err))
			case member == `"tools"` && (err != nil || h.text.String() != "Hello" || !slices.Equal(a.LeftOut, []string{"tools"})):
				t.Errorf("%s: %q, left out %q, %s", c, h.text.String(), a.LeftOut, said(err))
			}
		}
	}
}

// TestCHAT42_NeighboursAreOneMessage: templates of models want user and assistant in turn.
func TestCHAT42_NeighboursAreOneMessage(t *testing.T) {
	for _, kind := range llm.Kinds {
		s := play(t, kind, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusUnauthorized) })
		_, _ = s.Stream(t.Context(), &llm.Request{Messages: []llm.Message{
			{Role: llm.User, Text: "a"},
			{Role: llm.User, Text: "b"},
			{Role: llm.Assistant, Text: "c"},
			{Role: llm.Assistant, Text: "d"},
			{Role: llm.Assistant},
			{Role: llm.User, Text: "e"},
			{Role: llm.User, Images: []llm.Image{{Type: "image/png", Data: []byte("P")}}},
		}}, (&heard{}).take)
		var sent struct {
			Messages []struct {
				Role    string
				Content any
			}
		}
		if err := json.Unmarshal([]byte(s.requests()[0].body), &sent); err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, m := range sent.Messages {
			roles = append(roles, m.Role)
		}
		if diff := cmp.Diff([]string{"user", "assistant", "user"}, roles); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		if body := s.requests()[0].body; !strings.Contains(body, `a\n\nb`) || !strings.Contains(body, `c\n\nd`) {
			t.Errorf("%s: %s", kind, body)
		}
	}
}

// TestCHAT43_WaitingIsTold at once, and NoRetry asks once.
func TestCHAT43_WaitingIsTold(t *testing.T) {
	for _, status := range []int{429, 503, 529} {
		for _, wait := range []bool{true, false} {
			s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(status)
					return
				}
				send(w, "data: "+delta(`"content":"Hello"`)+"\n\n", "data: "+ended+"\n\n")
			})
			r := question()
			r.NoRetry = !wait
			var heard []string
			_, err := s.Stream(t.Context(), r, func(d llm.Delta) error {
				heard = append(heard, fmt.Sprint(d.Waits, " ", d.Text))
				return nil
			})
			switch {
			case wait && (err != nil || !slices.Equal(heard, []string{"7s ", "0s Hello"})):
				t.Errorf("%d: %q %v", status, heard, err)
			case !wait && (err == nil || !retryable(err) || len(s.requests()) != 1):
				t.Errorf("%d: %v after %d requests", status, err, len(s.requests()))
			}
		}
	}
}
