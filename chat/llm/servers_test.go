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

// TestCHAT41_Servers plays what servers are known to send, by server and behaviour: whose name stands first, or "any".
func TestCHAT41_Servers(t *testing.T) {
	a, b := `"{\"id\":\"A\"}"`, `"{\"id\":\"B\"}"`
	both := `read {"id":"A"}, read {"id":"B"}`
	for _, c := range []struct {
		name      string
		kind      llm.Kind
		events    []string
		text      string
		reasoning string
		calls     string
	}{
		{name: "Gemini: calls under index 0, ids empty", events: []string{calls(part(`"index":0,"id":"",`, "read", a)), calls(part(`"index":0,"id":"",`, "read", b))}, calls: both},
		{name: "Gemini: both in one event", events: []string{calls(part(`"index":0,"id":"",`, "read", a), part(`"index":0,"id":"",`, "read", b))}, calls: both},
		{name: "Gemini: ids null", events: []string{calls(part(`"index":0,"id":null,`, "read", a)), calls(part(`"index":0,"id":null,`, "read", b))}, calls: both},
		{name: "proxies: one id twice", events: []string{calls(part(`"index":0,"id":"call_0",`, "read", a)), calls(part(`"index":0,"id":"call_0",`, "read", b))}, calls: both},
		{name: "Ollama: no index, no id", events: []string{calls(part(``, "read", a)), calls(part(``, "read", b))}, calls: both},
		{name: "Ollama: arguments as objects", events: []string{calls(part(`"index":0,`, "read", `{"id":"A"}`)), calls(part(`"index":0,`, "read", `{"id":"B"}`))}, calls: both},
		{name: "any: objects glued in one piece", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A\"}, {\"id\":\"B\"}"`))}, calls: both},
		{name: "any: objects glued across pieces", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A"`)), calls(`{"index":0,"function":{"arguments":"\"}{\"id\":"}}`), calls(`{"index":0,"function":{"arguments":"\"B\"}"}}`)}, calls: both},
		{name: "any: braces within strings", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A}{\\\"\"}"`))}, calls: `read {"id":"A}{\""}`},
		{name: "any: pieces, the name in each", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\""`)), calls(part(`"index":0,"id":"c",`, "read", `":\"A\"}"`))}, calls: `read {"id":"A"}`},
		{name: "any: the name again behind the arguments", events: []string{calls(part(`"index":0,"id":"c",`, "read", a)), calls(part(`"index":0,`, "read", `""`))}, calls: `read {"id":"A"}`},
		{name: "any: ids that are numbers", events: []string{calls(part(`"index":0,"id":1,`, "read", a)), calls(part(`"index":0,"id":2,`, "read", b))}, calls: both},
		{name: "older servers: function_call", events: []string{delta(`"function_call":{"name":"read","arguments":"{\"id\":"}`), delta(`"function_call":{"arguments":"\"A\"}"}`)}, calls: `read {"id":"A"}`},

		{name: "Mistral: content in parts", events: []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"It is"}]`), delta(`"content":[{"type":"text","text":" 2."}]`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "any: parts that nobody knows", events: []string{delta(`"content":[{"type":"reference","reference_ids":[1]},"It ",{"type":"output_text","text":"is 2."}]`)}, text: "It is 2."},
		{name: "DeepSeek, llama.cpp: reasoning_content", events: []string{delta(`"reasoning_content":"Hm."`), delta(`"content":"It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "OpenRouter: reasoning and its details", events: []string{delta(`"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","index":0}]`), delta(`"content":"It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "vLLM: the end of a thought alone", events: []string{delta(`"content":"Hm, 1+1.\n</th"`), delta(`"content":"ink>\n\nIt is 2."`)}, text: "It is 2.", reasoning: "Hm, 1+1.\n"},
		{name: "any: <thinking>", events: []string{delta(`"content":"<thinking>Hm.</thinking>\n\nIt is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "Mistral under vLLM: [THINK]", events: []string{delta(`"content":"[THI"`), delta(`"content":"NK]Hm.[/THINK]It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "gpt-oss: channels", events: []string{delta(`"content":"<|channel|>analysis<|mess"`), delta(`"content":"age|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is 2.<|return|>"`)}, text: "It is 2.", reasoning: "Hm."},
		{name: "any: a tag in code is text", events: []string{delta(`"content":"Close it with ` + "`</think>`" + `."`)}, text: "Close it with `</think>`."},
		{name: "any: null for what there is not", events: []string{delta(`"content":null,"tool_calls":null,"refusal":null,"reasoning":null,"reasoning_details":null`), delta(`"content":"It is 2."`)}, text: "It is 2."},

		{name: "Anthropic: thinking, redacted thinking", kind: llm.Anthropic, events: []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"S1"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"D1"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"It is 2."}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`,
		}, text: "It is 2.", reasoning: "Hm."},
	} {
		if c.kind == "" {
			c.kind = llm.OpenAI
			c.events = append(c.events, ended, "[DONE]")
		}
		s := play(t, c.kind, func(w http.ResponseWriter, _ *http.Request, _ int) {
			for _, e := range c.events {
				send(w, "data: "+e+"\n\n")
			}
		})
		var text, reasoning string
		answer, err := s.Stream(t.Context(), question(), func(d llm.Delta) error {
			if d.Rethought {
				text = ""
			}
			text, reasoning = text+d.Text, reasoning+d.Reasoning
			return nil
		})
		var made []string
		ids := make(map[string]bool)
		for _, call := range answer.Calls {
			made = append(made, call.Name+" "+call.Arguments)
			if ids[call.ID] {
				t.Errorf("%s: the id %s stands twice", c.name, call.ID)
			}
			ids[call.ID] = true
		}
		if err != nil || text != c.text || reasoning != c.reasoning || strings.Join(made, ", ") != c.calls {
			t.Errorf("%s: text %q, reasoning %q, calls %q, %v", c.name, text, reasoning, made, err)
		}
	}
}

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

// TestCHAT40_WhatCameWithACallGoesBack compares the message with a call in the next request.
func TestCHAT40_WhatCameWithACallGoesBack(t *testing.T) {
	call := calls(part(`"index":0,"id":"c1",`, "read", `"{}"`))
	plain := `"role":"assistant","content":%s,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}%s}]%s}`
	for _, c := range []struct {
		name   string
		kind   llm.Kind
		events []string
		want   string
	}{
		{"DeepSeek", llm.OpenAI, []string{delta(`"reasoning_content":"I look "`), delta(`"reasoning_content":"it up."`), call}, fmt.Sprintf(plain, "null", "", `,"reasoning_content":"I look it up."`)},
		{"Ollama", llm.OpenAI, []string{delta(`"reasoning":"I look."`), call}, fmt.Sprintf(plain, "null", "", `,"reasoning":"I look."`)},
		{"OpenRouter", llm.OpenAI, []string{
			delta(`"reasoning_details":[{"type":"reasoning.text","text":"I ","index":0}]`), delta(`"reasoning_details":[{"type":"reasoning.text","text":"look.","index":0,"signature":"S"}]`),
			delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"QQ","index":1}]`), call,
		}, fmt.Sprintf(plain, "null", "", `,"reasoning_details":[{"index":0,"signature":"S","text":"I look.","type":"reasoning.text"},{"data":"QQ","index":1,"type":"reasoning.encrypted"}]`)},
		{"Gemini", llm.OpenAI, []string{calls(part(`"index":0,"id":"c1","extra_content":{"google":{"thought_signature":"T"}},`, "read", `"{}"`))}, fmt.Sprintf(plain, "null", `,"extra_content":{"google":{"thought_signature":"T"}}`, "")},
		{"MiniMax: thoughts in the text", llm.OpenAI, []string{delta(`"content":"<think>I look.</think>Wait."`), call}, fmt.Sprintf(plain, `"<think>I look.</think>Wait."`, "", "")},
		{"Anthropic", llm.Anthropic, []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I look."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"S1"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"D1"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"Wait."}}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
		}, `{"role":"assistant","content":[{"type":"thinking","thinking":"I look.","signature":"S1"},{"type":"redacted_thinking","data":"D1"},{"type":"text","text":"Wait."},{"type":"tool_use","id":"c1","name":"read","input":{}}]}`},
	} {
		s := play(t, c.kind, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n > 1 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			for _, e := range c.events {
				send(w, "data: "+e+"\n\n")
			}
			if c.kind == llm.OpenAI {
				send(w, "data: "+ended+"\n\n", "data: [DONE]\n\n")
			}
		})
		h, a, err := s.ask(t.Context())
		if err != nil || len(a.Calls) != 1 {
			t.Fatalf("%s: %+v %v", c.name, a, err)
		}
		r := question()
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: h.text.String(), Calls: a.Calls, Returned: a.Returned},
			llm.Message{Role: llm.User, Results: []llm.ToolResult{{CallID: "c1", Text: "found"}}})
		_, _ = s.Stream(t.Context(), r, (&heard{}).take)
		if sent := s.requests()[1].body; !strings.Contains(sent, c.want) {
			t.Errorf("%s: %s\nwant in it %s", c.name, sent, c.want)
		}
	}
}

// TestCHAT42_WhatAServerRefusesIsLeftOut plays servers that refuse a member of a request, in the words of several.
func TestCHAT42_WhatAServerRefusesIsLeftOut(t *testing.T) {
	warm := 0.5
	asked := func() *llm.Request {
		r := question()
		r.Temperature, r.MaxTokens, r.NoCalls = &warm, 100, true
		r.Tools = []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}
		r.Messages[0].Images = []llm.Image{{Type: "image/png", Data: []byte("PNG")}}
		return r
	}
	for _, c := range []struct {
		server, member string // as the request has it
		status         int
		said           string
		left           string
	}{
		{"Mistral", `"stream_options"`, 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}}`, "stream_options"},
		{"a gateway", `"stream_options"`, 400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`, "stream_options"},
		{"OpenAI", `"max_tokens"`, 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`, "max_tokens"},
		{"OpenAI", `"temperature"`, 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model.","param":"temperature"}}`, "temperature"},
		{"Ollama", `"tools"`, 400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}`, "tools"},
		{"OpenRouter", `"tools"`, 404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, "tools"},
		{"llama.cpp", `"tools"`, 500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, "tools"},
		{"vLLM", `"tool_choice"`, 400, `{"object":"error","message":"tool_choice=\"none\" is not supported"}`, "tool_choice"},
		{"llama.cpp", `"image_url"`, 500, `{"error":{"code":500,"message":"image input is not supported - hint: you may need to provide the mmproj"}}`, "images"},
		{"DeepSeek", `"image_url"`, 422, `{"detail":"Failed to deserialize: messages[0]: unknown variant image_url, expected text"}`, "images"},
		{"vLLM with Gemma", `"system"`, 400, `{"object":"error","message":"System role not supported"}`, "system"},
	} {
		for _, times := range []int{1, 2} { // the second time it is known
			s := play(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request, n int) {
				w.Header().Set("Content-Type", "application/json")
				send(w, "data: "+delta(`"content":"Hello"`)+"\n\n", "data: "+ended+"\n\n")
			})
			s.refuse = func(body string) (int, string) {
				if strings.Contains(body, c.member) {
					return c.status, c.said
				}
				return 0, ""
			}
			for range times {
				h := &heard{}
				a, err := s.Stream(t.Context(), asked(), h.take)
				if err != nil || h.text.String() != "Hello" {
					t.Errorf("%s, %s: %q, %s", c.server, c.member, h.text.String(), said(err))
				}
				if times == 1 && !slices.Equal(a.LeftOut, []string{c.left}) {
					t.Errorf("%s, %s: left out %q", c.server, c.member, a.LeftOut)
				}
			}
			if n := len(s.requests()); n != times+1 {
				t.Errorf("%s, %s: asked %d times", c.server, c.member, n)
			}
			if last := s.requests()[times].body; !strings.Contains(last, "Be brief.") {
				t.Errorf("%s: the system prompt is lost: %s", c.server, last)
			}
		}
	}
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) { send(w, "data: "+ended+"\n\n") },
		func(o *llm.Options) { o.LeaveOut = []string{"stream_options", "temperature"} })
	_, _ = s.Stream(t.Context(), asked(), (&heard{}).take)
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

// TestCHAT42_HintsNameTheCause that the server's text names, and guess none.
func TestCHAT42_HintsNameTheCause(t *testing.T) {
	for _, c := range []struct {
		status    int
		said      string
		hint, not string
		retryable bool
	}{
		{400, `{"error":"model 'model-1' not found, try pulling it first"}`, "it has no model \"model-1\"", "", false},
		{404, `{"error":{"message":"The model model-1 does not exist","code":"model_not_found"}}`, "it has no model", "", false},
		{404, `404 page not found`, "correct chat.providers.test.base", "model", false},
		{400, `{"error":"boom"}`, "look into the log of its server", "model", false},
		{429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, "no credit left", "wait", false},
		{402, `{"error":{"message":"Insufficient Balance"}}`, "no credit left", "", false},
		{503, `{"error":{"message":"Loading model","code":503}}`, "its model is being loaded", "", true},
		{400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, "shorten what is asked", "", false},
		{400, `{"error":{"message":"unknown parameter: top_logprobs"}}`, "look into the log of its server", "leaveOut", false},
	} {
		s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(c.status)
			send(w, c.said)
		})
		_, _, err := s.ask(t.Context())
		if text := said(err); !strings.Contains(text, c.hint) || c.not != "" && strings.Contains(text, c.not) || retryable(err) != c.retryable {
			t.Errorf("%d %s: %s, retryable %v", c.status, c.said, text, retryable(err))
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
