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

// server is how a server behaves, by its documentation and by public reports: one row of the matrix. Each of its members is
// a test of that server.
type server struct {
	name string
	kind llm.Kind // "" for OpenAI's protocol
	// tells are what it answers elsewhere, by path, and facts what follows for model-1. A server that tells nothing has none.
	tells map[string]string
	facts llm.ModelFacts
	// streams are answers, and what is understood of them.
	streams []streamed
	// returns are the events of an answer with a call, and what goes back to it with that call: the server refuses the next
	// request without.
	returns []string
	back    string
	// refuses are members of requests that it does not take.
	refuses []refused
	// complaints are what it says where nothing can be left out, and what a person is told to do.
	complaints []complaint
}

type streamed struct {
	name                   string
	events                 []string
	text, reasoning, calls string
}

type refused struct {
	member string // as the request has it
	status int
	said   string
	left   string // out
}

type complaint struct {
	status    int
	said      string
	hint, not string
	retryable bool
}

// What complaints are about.
const (
	noSuchModel = "it has no model \"model-1\""
	tooLong     = "shorten what is asked"
	noCredit    = "no credit left"
	wrongKey    = "chat.providers.test.key"
	loading     = "its model is being loaded"
)

const argsOfA, argsOfB, both = `"{\"id\":\"A\"}"`, `"{\"id\":\"B\"}"`, `read {"id":"A"}, read {"id":"B"}`

// listing is a list of models with one beside model-1.
func listing(members string) map[string]string {
	return map[string]string{"/v1/models": `{"object":"list","data":[{"id":"other","context_length":9999},{"id":"model-1",` + members + `}]}`}
}

// returned is the message with a call that goes back.
func returned(content, inCall, beside string) string {
	return fmt.Sprintf(`"role":"assistant","content":%s,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}%s}]%s}`, content, inCall, beside)
}

var oneCall = calls(part(`"index":0,"id":"c1",`, "read", `"{}"`))

// servers is the matrix: server by behaviour.
var servers = []server{
	{
		name:  "OpenAI",
		tells: listing(`"owned_by":"openai"`), // nothing but names
		refuses: []refused{
			{`"max_tokens"`, 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`, "max_tokens"},
			{`"temperature"`, 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model.","param":"temperature"}}`, "temperature"},
		},
		complaints: []complaint{
			{404, `{"error":{"message":"The model model-1 does not exist","code":"model_not_found"}}`, noSuchModel, "", false},
			{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`, tooLong, "", false},
			{429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, noCredit, "wait", false},
			{401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, wrongKey, "", false},
		},
	},
	{
		name: "Anthropic",
		kind: llm.Anthropic,
		tells: map[string]string{ // a list has its twenty newest, and full names only
			"/v1/models":         `{"data":[{"type":"model","id":"other","max_input_tokens":9999}],"has_more":true}`,
			"/v1/models/model-1": `{"type":"model","id":"model-1-20260101","max_input_tokens":200000,"max_tokens":64000,"capabilities":{"image_input":{"supported":false},"pdf_input":{"supported":true}}}`,
		},
		facts: llm.ModelFacts{Context: 200_000, NoImages: true},
		streams: []streamed{
			{name: "thinking, redacted thinking", events: []string{
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"S1"}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"D1"}}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"It is 2."}}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`,
			}, text: "It is 2.", reasoning: "Hm."},
		},
		returns: []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I look."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"S1"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"D1"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"Wait."}}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
		},
		back: `{"role":"assistant","content":[{"type":"thinking","thinking":"I look.","signature":"S1"},{"type":"redacted_thinking","data":"D1"},{"type":"text","text":"Wait."},{"type":"tool_use","id":"c1","name":"read","input":{}}]}`,
		complaints: []complaint{
			{404, `{"type":"error","error":{"type":"not_found_error","message":"model: model-1"}}`, noSuchModel, "", false},
			{400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, tooLong, "", false},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, noCredit, "", false},
			{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, wrongKey, "", false},
			{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "", "model", true},
		},
	},
	{
		name:  "Gemini", // its compatible endpoint: names with a prefix, and nothing of contexts
		tells: map[string]string{"/v1/models": `{"object":"list","data":[{"id":"models/model-1","object":"model","owned_by":"google"}]}`},
		streams: []streamed{
			{name: "calls under index 0, ids empty", events: []string{calls(part(`"index":0,"id":"",`, "read", argsOfA)), calls(part(`"index":0,"id":"",`, "read", argsOfB))}, calls: both},
			{name: "both in one event", events: []string{calls(part(`"index":0,"id":"",`, "read", argsOfA), part(`"index":0,"id":"",`, "read", argsOfB))}, calls: both},
			{name: "ids null", events: []string{calls(part(`"index":0,"id":null,`, "read", argsOfA)), calls(part(`"index":0,"id":null,`, "read", argsOfB))}, calls: both},
		},
		returns: []string{calls(part(`"index":0,"id":"c1","extra_content":{"google":{"thought_signature":"T"}},`, "read", `"{}"`))},
		back:    returned("null", `,"extra_content":{"google":{"thought_signature":"T"}}`, ""),
		complaints: []complaint{
			{404, `[{"error":{"code":404,"message":"models/model-1 is not found for API version v1main, or is not supported for generateContent.","status":"NOT_FOUND"}}]`, noSuchModel, "", false},
			{400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, tooLong, "", false},
			{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, wrongKey, "", false},
			{503, `[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`, "", "no model", true},
		},
	},
	{
		name:  "DeepSeek",
		tells: listing(`"owned_by":"deepseek"`), // nothing but names
		streams: []streamed{
			{name: "reasoning_content", events: []string{delta(`"reasoning_content":"Hm."`), delta(`"content":"It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		},
		returns: []string{delta(`"reasoning_content":"I look "`), delta(`"reasoning_content":"it up."`), oneCall},
		back:    returned("null", "", `,"reasoning_content":"I look it up."`),
		refuses: []refused{{`"image_url"`, 422, `{"detail":"Failed to deserialize: messages[0]: unknown variant image_url, expected text"}`, "images"}},
		complaints: []complaint{
			{400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, noSuchModel, "", false},
			{400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"}}`, tooLong, "", false},
			{402, `{"error":{"message":"Insufficient Balance"}}`, noCredit, "", false},
		},
	},
	{
		name:  "Mistral",
		tells: listing(`"max_context_length":32000,"capabilities":{"completion_chat":true,"function_calling":false,"vision":false}`),
		facts: llm.ModelFacts{Context: 32000, NoTools: true, NoImages: true},
		streams: []streamed{
			{name: "content in parts", events: []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"It is"}]`), delta(`"content":[{"type":"text","text":" 2."}]`)}, text: "It is 2.", reasoning: "Hm."},
		},
		refuses: []refused{
			{`"stream_options"`, 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}}`, "stream_options"},
		},
		complaints: []complaint{
			{400, `{"object":"error","message":"Invalid model: model-1","type":"invalid_model","code":"1500"}`, noSuchModel, "", false},
			{400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}`, tooLong, "", false},
		},
	},
	{
		name:  "OpenRouter",
		tells: listing(`"context_length":131072,"top_provider":{"context_length":16000},"architecture":{"input_modalities":["text","image"]},"supported_parameters":["temperature","tools"]`),
		facts: llm.ModelFacts{Context: 16000},
		streams: []streamed{
			{name: "reasoning and its details", events: []string{delta(`"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","index":0}]`), delta(`"content":"It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		},
		returns: []string{
			delta(`"reasoning_details":[{"type":"reasoning.text","text":"I ","index":0}]`), delta(`"reasoning_details":[{"type":"reasoning.text","text":"look.","index":0,"signature":"S"}]`),
			delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"QQ","index":1}]`), oneCall,
		},
		back:    returned("null", "", `,"reasoning_details":[{"index":0,"signature":"S","text":"I look.","type":"reasoning.text"},{"data":"QQ","index":1,"type":"reasoning.encrypted"}]`),
		refuses: []refused{{`"tools"`, 404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, "tools"}},
		complaints: []complaint{
			{400, `{"error":{"message":"model-1 is not a valid model ID","code":400}}`, noSuchModel, "", false},
			{400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.","code":400}}`, tooLong, "", false},
			{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}`, noCredit, "", false},
		},
	},
	{
		name: "Ollama",
		tells: map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"model-1:latest","owned_by":"library"}]}`,
			"/api/show":  `{"parameters":"stop \"<end>\"\nnum_ctx    8192","model_info":{"general.architecture":"llama","llama.context_length":131072},"capabilities":["completion","tools"]}`,
			"/api/ps":    `{"models":[{"model":"model-1:latest","context_length":4096},{"model":"x","context_length":1024}]}`,
		},
		facts: llm.ModelFacts{Context: 4096, NoImages: true},
		streams: []streamed{
			{name: "no index, no id", events: []string{calls(part(``, "read", argsOfA)), calls(part(``, "read", argsOfB))}, calls: both},
			{name: "arguments as objects", events: []string{calls(part(`"index":0,`, "read", `{"id":"A"}`)), calls(part(`"index":0,`, "read", `{"id":"B"}`))}, calls: both},
		},
		returns: []string{delta(`"reasoning":"I look."`), oneCall},
		back:    returned("null", "", `,"reasoning":"I look."`),
		refuses: []refused{{`"tools"`, 400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}`, "tools"}},
		complaints: []complaint{ // what is too long it cuts and does not tell
			{400, `{"error":"model 'model-1' not found, try pulling it first"}`, noSuchModel, "", false},
			{404, `{"error":{"message":"model \"model-1\" not found, try pulling it first","type":"api_error"}}`, noSuchModel, "", false},
			{503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, "", "no model", true},
		},
	},
	{
		name: "llama.cpp",
		tells: map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"/m/SmolLM2.gguf","aliases":["/m/SmolLM2.gguf"],"owned_by":"llamacpp","meta":{"vocab_type":2,"n_ctx":4096,"n_ctx_train":8192,"n_params":134515008}}]}`,
			"/props":     `{"default_generation_settings":{"n_ctx":4096},"total_slots":1,"modalities":{"vision":false,"audio":false},"chat_template_caps":{"supports_tools":false}}`,
		},
		facts:   llm.ModelFacts{Context: 4096, NoImages: true},
		returns: []string{delta(`"reasoning_content":"I look."`), oneCall},
		back:    returned("null", "", `,"reasoning_content":"I look."`),
		refuses: []refused{
			{`"tools"`, 500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, "tools"},
			{`"image_url"`, 500, `{"error":{"code":500,"message":"image input is not supported - hint: you may need to provide the mmproj"}}`, "images"},
		},
		complaints: []complaint{ // it has one model, and takes any name for it
			{400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, tooLong, "", false},
			{503, `{"error":{"message":"Loading model","code":503}}`, loading, "", true},
		},
	},
	{
		name:  "vLLM",
		tells: listing(`"owned_by":"vllm","max_model_len":2048`),
		facts: llm.ModelFacts{Context: 2048},
		streams: []streamed{
			{name: "the end of a thought alone", events: []string{delta(`"content":"Hm, 1+1.\n</th"`), delta(`"content":"ink>\n\nIt is 2."`)}, text: "It is 2.", reasoning: "Hm, 1+1.\n"},
			{name: "Mistral under vLLM: [THINK]", events: []string{delta(`"content":"[THI"`), delta(`"content":"NK]Hm.[/THINK]It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		},
		refuses: []refused{
			{`"tool_choice"`, 400, `{"object":"error","message":"tool_choice=\"none\" is not supported"}`, "tool_choice"},
			{`"system"`, 400, `{"object":"error","message":"System role not supported"}`, "system"},
		},
		complaints: []complaint{
			{404, `{"error":{"message":"The model ` + "`model-1`" + ` does not exist.","type":"NotFoundError","code":404}}`, noSuchModel, "", false},
			{400, `{"error":{"message":"This model's maximum context length is 2048 tokens. However, your request has 3000 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","code":400}}`, tooLong, "", false},
		},
	},
	{
		name: "LM Studio",
		tells: map[string]string{
			"/v1/models":     `{"object":"list","data":[{"id":"model-1","object":"model","owned_by":"organization_owner"}]}`,
			"/api/show":      `{"error":"Unexpected endpoint or method. (POST /api/show)"}`,
			"/api/v0/models": `{"data":[{"id":"other","loaded_context_length":9999},{"id":"model-1","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096,"capabilities":["tool_use"]}]}`,
		},
		facts: llm.ModelFacts{Context: 4096, NoImages: true},
		streams: []streamed{
			{name: "reasoning in its own member", events: []string{delta(`"reasoning":"Hm."`), delta(`"content":"It is 2."`)}, text: "It is 2.", reasoning: "Hm."},
		},
		complaints: []complaint{
			{400, `{"error":{"message":"Invalid model identifier \"model-1\". Please specify a valid downloaded model.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, noSuchModel, "", false},
			{400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, tooLong, "", false},
		},
	},
	{
		name:  "others and all", // Groq's list, MiniMax's thoughts
		tells: listing(`"owned_by":"Meta","context_window":8192`),
		facts: llm.ModelFacts{Context: 8192},
		streams: []streamed{
			{name: "objects glued in one piece", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A\"}, {\"id\":\"B\"}"`))}, calls: both},
			{name: "objects glued across pieces", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A"`)), calls(`{"index":0,"function":{"arguments":"\"}{\"id\":"}}`), calls(`{"index":0,"function":{"arguments":"\"B\"}"}}`)}, calls: both},
			{name: "braces within strings", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\":\"A}{\\\"\"}"`))}, calls: `read {"id":"A}{\""}`},
			{name: "pieces, the name in each", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\""`)), calls(part(`"index":0,"id":"c",`, "read", `":\"A\"}"`))}, calls: `read {"id":"A"}`},
			{name: "the name again behind the arguments", events: []string{calls(part(`"index":0,"id":"c",`, "read", argsOfA)), calls(part(`"index":0,`, "read", `""`))}, calls: `read {"id":"A"}`},
			{name: "no arguments: an empty text", events: []string{calls(part(`"index":0,"id":"c",`, "read", `""`))}, calls: `read `},
			{name: "no arguments: no member", events: []string{calls(`{"index":0,"id":"c","type":"function","function":{"name":"read"}}`)}, calls: `read `},
			{name: "null before the pieces, nothing between them", events: []string{calls(part(`"index":0,"id":"c",`, "read", `null`)), calls(`{"index":0,"function":{"arguments":"{\"id\":"}}`), calls(`{"index":0,"function":{"arguments":""}}`), calls(`{"index":0,"function":{"arguments":"\"A\"}"}}`)}, calls: `read {"id":"A"}`},
			{name: "null behind the arguments", events: []string{calls(part(`"index":0,"id":"c",`, "read", argsOfA)), calls(`{"index":0,"id":"","type":"function","function":{"name":"","arguments":null}}`)}, calls: `read {"id":"A"}`},
			{name: "the word null for what is absent", events: []string{calls(part(`"index":0,"id":"c",`, "read", `"{\"id\""`)), calls(part(`"index":0,"id":"",`, "null", `":\"A\"}"`))}, calls: `read {"id":"A"}`},
			{name: "the word null behind the arguments", events: []string{calls(part(`"index":0,"id":"c",`, "read", argsOfA)), calls(part(`"index":0,"id":"null",`, "null", `"null"`))}, calls: `read {"id":"A"}`},
			{name: "an empty piece of no call", events: []string{calls(part(`"index":0,"id":"c",`, "read", argsOfA)), calls(`{"index":0}`), calls(`{}`)}, calls: `read {"id":"A"}`},
			{name: "ids that are numbers", events: []string{calls(part(`"index":0,"id":1,`, "read", argsOfA)), calls(part(`"index":0,"id":2,`, "read", argsOfB))}, calls: both},
			{name: "parts that nobody knows", events: []string{delta(`"content":[{"type":"reference","reference_ids":[1]},"It ",{"type":"output_text","text":"is 2."}]`)}, text: "It is 2."},
			{name: "<thinking>", events: []string{delta(`"content":"<thinking>Hm.</thinking>\n\nIt is 2."`)}, text: "It is 2.", reasoning: "Hm."},
			{name: "a tag in code is text", events: []string{delta(`"content":"Close it with ` + "`</think>`" + `."`)}, text: "Close it with `</think>`."},
			{name: "null for what there is not", events: []string{delta(`"content":null,"tool_calls":null,"refusal":null,"reasoning":null,"reasoning_details":null`), delta(`"content":"It is 2."`)}, text: "It is 2."},
			{name: "proxies: one id twice", events: []string{calls(part(`"index":0,"id":"call_0",`, "read", argsOfA)), calls(part(`"index":0,"id":"call_0",`, "read", argsOfB))}, calls: both},
			{name: "older servers: function_call", events: []string{delta(`"function_call":{"name":"read","arguments":"{\"id\":"}`), delta(`"function_call":{"arguments":"\"A\"}"}`)}, calls: `read {"id":"A"}`},
			{name: "gpt-oss: channels", events: []string{delta(`"content":"<|channel|>analysis<|mess"`), delta(`"content":"age|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is 2.<|return|>"`)}, text: "It is 2.", reasoning: "Hm."},
		},
		returns: []string{delta(`"content":"<think>I look.</think>Wait."`), oneCall},
		back:    returned(`"<think>I look.</think>Wait."`, "", ""),
		refuses: []refused{
			{`"stream_options"`, 400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`, "stream_options"},
		},
		complaints: []complaint{
			{404, `404 page not found`, "correct chat.providers.test.base", "model", false},
			{400, `{"error":"boom"}`, "look into the log of its server", "model", false},
			{400, `{"error":{"message":"unknown parameter: top_logprobs"}}`, "look into the log of its server", "leaveOut", false},
		},
	},
}

// TestCHAT47_Servers: what is read of what a server tells of its model.
func TestCHAT47_Servers(t *testing.T) {
	for _, c := range servers {
		t.Run(c.name, func(t *testing.T) { wantFacts(t, c.kind, c.tells, c.facts) })
	}
}

// TestCHAT41_Servers plays the answers of servers.
func TestCHAT41_Servers(t *testing.T) {
	for _, c := range servers {
		for _, one := range c.streams {
			t.Run(c.name+"/"+one.name, func(t *testing.T) {
				s := c.streaming(t, one.events)
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
						t.Errorf("the id %s stands twice", call.ID)
					}
					ids[call.ID] = true
				}
				if err != nil || text != one.text || reasoning != one.reasoning || strings.Join(made, ", ") != one.calls {
					t.Errorf("text %q, reasoning %q, calls %q, %v", text, reasoning, made, err)
				}
			})
		}
	}
}

// streaming plays an answer of the server.
func (c *server) streaming(t *testing.T, events []string) *scripted {
	t.Helper()
	kind := llm.Anthropic
	if c.kind == "" {
		kind, events = llm.OpenAI, append(slices.Clip(events), ended, "[DONE]")
	}
	return play(t, kind, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n > 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		for _, e := range events {
			send(w, "data: "+e+"\n\n")
		}
	})
}

// TestCHAT40_Servers compares the message with a call in the next request with what the server wants to have back.
func TestCHAT40_Servers(t *testing.T) {
	for _, c := range servers {
		if c.returns == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := c.streaming(t, c.returns)
			h, a, err := s.ask(t.Context())
			if err != nil || len(a.Calls) != 1 {
				t.Fatalf("%+v %v", a, err)
			}
			r := question()
			r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: h.text.String(), Calls: a.Calls, Returned: a.Returned},
				llm.Message{Role: llm.User, Results: []llm.ToolResult{{CallID: "c1", Text: "found"}}})
			_, _ = s.Stream(t.Context(), r, (&heard{}).take)
			if sent := s.requests()[1].body; !strings.Contains(sent, c.back) {
				t.Errorf("%s\nwant in it %s", sent, c.back)
			}
		})
	}
}

// TestCHAT42_Servers: what a server refuses is left out, and known the second time; for the rest a person is told the cause
// that the server names, and no guess.
func TestCHAT42_Servers(t *testing.T) {
	for _, c := range servers {
		for _, one := range c.refuses {
			for _, times := range []int{1, 2} {
				t.Run(fmt.Sprint(c.name, "/", one.left, "/", times), func(t *testing.T) { one.isLeftOut(t, times) })
			}
		}
		for _, one := range c.complaints {
			t.Run(fmt.Sprint(c.name, "/", one.status, " ", one.hint), func(t *testing.T) {
				kind := c.kind
				if kind == "" {
					kind = llm.OpenAI
				}
				s := play(t, kind, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.WriteHeader(one.status)
					send(w, one.said)
				})
				_, _, err := s.ask(t.Context())
				if text := said(err); !strings.Contains(text, one.hint) || one.not != "" && strings.Contains(text, one.not) || retryable(err) != one.retryable {
					t.Errorf("%d %s: %s, retryable %v", one.status, one.said, text, retryable(err))
				}
			})
		}
	}
}

func (c *refused) isLeftOut(t *testing.T, times int) {
	s := play(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request, _ int) {
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
		a, err := s.Stream(t.Context(), askedForAll(), h.take)
		if err != nil || h.text.String() != "Hello" {
			t.Errorf("%q, %s", h.text.String(), said(err))
		}
		if times == 1 && !slices.Equal(a.LeftOut, []string{c.left}) {
			t.Errorf("left out %q", a.LeftOut)
		}
	}
	if n := len(s.requests()); n != times+1 {
		t.Errorf("asked %d times", n)
	}
	if last := s.requests()[times].body; !strings.Contains(last, "Be brief.") {
		t.Errorf("the system prompt is lost: %s", last)
	}
}

// askedForAll is a request with everything that a server may refuse.
func askedForAll() *llm.Request {
	r, warm := question(), 0.5
	r.Temperature, r.MaxTokens, r.NoCalls = &warm, 100, true
	r.Tools = []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}
	r.Messages[0].Images = []llm.Image{{Type: "image/png", Data: []byte("PNG")}}
	return r
}

// wantFacts compares what a server tells, which is asked for once.
func wantFacts(t *testing.T, kind llm.Kind, replies map[string]string, want llm.ModelFacts) {
	t.Helper()
	facts, s := telling(t, kind, replies)
	if diff := cmp.Diff(want, facts(t.Context())); diff != "" {
		t.Error(diff)
	}
	asked := len(s.requests())
	if again := facts(t.Context()); again != want || len(s.requests()) != asked || asked > 5 {
		t.Errorf("asked %d times, then %d", asked, len(s.requests()))
	}
	for _, r := range s.requests() {
		if r.header.Get("Authorization") != "Bearer "+canaryKey && r.header.Get("X-Api-Key") != canaryKey {
			t.Errorf("%s without the key", r.path)
		}
	}
}
