package llm

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ctxd/ctxd/context/outbound"
)

// openAI is the protocol of OpenAI's chat completions, which Ollama, llama.cpp, LM Studio, vLLM and
// many others speak. What they do otherwise stands where it is read.
type openAI struct{ official bool }

func (openAI) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

type openAIRequest struct {
	Model               string          `json:"model"`
	Messages            []openAIMessage `json:"messages"`
	Tools               []openAITool    `json:"tools,omitempty"`
	Choice              string          `json:"tool_choice,omitempty"`
	Stream              bool            `json:"stream"`
	Options             *streamOptions  `json:"stream_options,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

type openAIMessage struct {
	Role    string       `json:"role"`
	Content any          `json:"content"` // a string, parts, or nil
	Calls   []openAICall `json:"tool_calls,omitempty"`
	CallID  string       `json:"tool_call_id,omitempty"`

	returned members
}

// MarshalJSON writes what goes back to its sender as it came.
func (m openAIMessage) MarshalJSON() ([]byte, error) {
	type plain openAIMessage
	raw, err := marshal(plain(m))
	return m.returned.into(raw), err
}

type openAIPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	Image *openAIImageURL `json:"image_url,omitempty"`
}

type openAIImageURL struct {
	URL string `json:"url"`
}

type openAICall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`

	extra members
}

// MarshalJSON is that of openAIMessage.
func (c openAICall) MarshalJSON() ([]byte, error) {
	type plain openAICall
	raw, err := marshal(plain(c))
	return c.extra.into(raw), err
}

type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (o openAI) encode(r *Request, model string, without leftOut) ([]byte, error) {
	out := openAIRequest{Model: model, Stream: true, MaxTokens: r.MaxTokens}
	if !without.has(streamOptionsMember) {
		out.Options = &streamOptions{Usage: true}
	}
	if !without.has(temperatureMember) {
		out.Temperature = r.Temperature
	}
	if o.official != without.has(maxTokensMember) { // newer models refuse the older name, and other servers may not know the newer
		out.MaxTokens, out.MaxCompletionTokens = 0, r.MaxTokens
	}
	list := alternating(r.Messages)
	if r.System != "" && !without.has(systemMember) {
		out.Messages = append(out.Messages, openAIMessage{Role: "system", Content: r.System})
	} else if r.System != "" {
		list = alternating(append([]Message{{Role: User, Text: r.System}}, list...))
	}
	for i := range list {
		out.Messages = appendOpenAI(out.Messages, &list[i], without)
	}
	if without.has(toolsMember) {
		return marshal(out)
	}
	for _, t := range r.Tools {
		tool := openAITool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.Schema
		out.Tools = append(out.Tools, tool)
	}
	if r.NoCalls && len(r.Tools) > 0 && !without.has(toolChoiceMember) {
		out.Choice = "none"
	}
	return marshal(out)
}

func appendOpenAI(list []openAIMessage, m *Message, without leftOut) []openAIMessage {
	for _, result := range m.Results {
		list = append(list, openAIMessage{Role: "tool", CallID: result.CallID, Content: result.Text})
	}
	out := openAIMessage{Role: string(m.Role)}
	text := m.Text
	if len(m.Calls) > 0 && !without.has(reasoningMember) {
		text, out.returned = cmp.Or(m.Returned.text, text), m.Returned.all()
	}
	if text != "" {
		out.Content = text
	}
	if len(m.Images) > 0 && !without.has(imagesMember) {
		var parts []openAIPart
		if m.Text != "" {
			parts = append(parts, openAIPart{Type: "text", Text: m.Text})
		}
		for _, p := range m.Images {
			url := "data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
			parts = append(parts, openAIPart{Type: "image_url", Image: &openAIImageURL{url}})
		}
		out.Content = parts
	}
	for _, c := range m.Calls {
		call := openAICall{ID: c.ID, Type: "function", extra: c.extra}
		call.Function.Name, call.Function.Arguments = c.Name, string(object(c.Arguments))
		out.Calls = append(out.Calls, call)
	}
	if out.Content == nil && len(out.Calls) == 0 {
		return list
	}
	return append(list, out)
}

// marshal encodes without the escapes of HTML, which cost tokens.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// openAIChunk is what is read of an event, or of a whole reply.
type openAIChunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"` // in the place of a status, once a stream has begun
	Choices []struct {
		Index   int          `json:"index"`
		Delta   *openAIDelta `json:"delta"`
		Message *openAIDelta `json:"message"` // of a server that does not stream
		Finish  string       `json:"finish_reason"`
	} `json:"choices"` // none beside usage
	Usage *openAIUsage `json:"usage"`
}

type openAIUsage struct {
	In      count `json:"prompt_tokens"`
	Out     count `json:"completion_tokens"`
	Details struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// UnmarshalJSON never fails: an answer does not end for what is said of its cost.
func (u *openAIUsage) UnmarshalJSON(raw []byte) error {
	type plain openAIUsage
	_ = json.Unmarshal(raw, (*plain)(u)) // what can be read of it counts
	return nil
}

type openAIDelta struct {
	Content          spoken           `json:"content"`
	Refusal          piece            `json:"refusal"`
	ReasoningContent piece            `json:"reasoning_content"` // llama.cpp, DeepSeek, vLLM
	Reasoning        spoken           `json:"reasoning"`         // Ollama, OpenRouter
	Details          []members        `json:"reasoning_details"` // OpenRouter, MiniMax
	Calls            []openAICallPart `json:"tool_calls"`
	Call             *openAIFunction  `json:"function_call"` // as it was before tool_calls
	Extra            json.RawMessage  `json:"extra_content"` // signatures of Gemini
}

type openAIFunction struct {
	Name      loose     `json:"name"`
	Arguments arguments `json:"arguments"`
}

type openAICallPart struct {
	Index    *int           // some servers leave it out, and send whole calls
	ID       loose          // a number with some
	Function openAIFunction // of the call
	extra    members        // which goes back with the call
}

// UnmarshalJSON keeps what it does not know.
func (p *openAICallPart) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &p.extra); err != nil {
		return err
	}
	for name, to := range map[string]any{"index": &p.Index, "id": &p.ID, "function": &p.Function, "type": new(json.RawMessage)} {
		if value, ok := p.extra[name]; ok {
			if err := json.Unmarshal(value, to); err != nil {
				return err
			}
			delete(p.extra, name)
		}
	}
	return nil
}

// loose is a string; a number is one, and what is neither is none.
type loose string

// UnmarshalJSON never fails.
func (l *loose) UnmarshalJSON(raw []byte) error {
	var n json.Number
	switch {
	case json.Unmarshal(raw, (*string)(l)) == nil:
	case json.Unmarshal(raw, &n) == nil:
		*l = loose(n.String())
	}
	return nil
}

// spoken is a text, or the list of its parts, thoughts among them.
type spoken struct{ text, thought piece }

// UnmarshalJSON reads a string, a part, or a list of both; null is nothing. A part of another kind is passed over.
func (s *spoken) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '[':
		var list []spoken
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, p := range list {
			s.text, s.thought = s.text+p.text, s.thought+p.thought
		}
		return nil
	case '{':
		var p struct {
			Type     string `json:"type"`
			Text     spoken `json:"text"`
			Content  spoken `json:"content"`
			Thinking spoken `json:"thinking"`
			Refusal  piece  `json:"refusal"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		said := p.Text.text + p.Content.text
		switch p.Type {
		case "thinking", "reasoning", "thought":
			s.thought = p.Thinking.text + said
		case "", "text", "output_text", "refusal":
			s.text = said + p.Refusal
		}
		return nil
	}
	return s.text.UnmarshalJSON(raw)
}

// arguments are a string of JSON, or the object itself, which some servers send.
type arguments piece

func (a *arguments) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '{' {
		*a = arguments(raw)
		return nil
	}
	return (*piece)(a).UnmarshalJSON(raw)
}

var openAIFinishes = map[string]Finish{
	"stop": Stop, "length": Length, "tool_calls": Tools, "function_call": Tools, "content_filter": Filtered,
}

func (openAI) event(data []byte, c *collector) error {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		c.done = true
		return nil
	}
	var chunk openAIChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return unreadable()
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return c.refused(chunk.Error)
	}
	c.named(chunk.Model)
	if u := chunk.Usage; u != nil && (u.In != 0 || u.Out != 0) {
		c.usage, c.counted = Usage{In: int64(u.In), Out: int64(u.Out), Cached: int64(u.Details.Cached)}, true
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*openAIDelta{choice.Delta, choice.Message} {
			if d == nil {
				continue
			}
			if err := d.into(c); err != nil {
				return err
			}
		}
		if choice.Finish != "" {
			c.finish = Stop
			if known := openAIFinishes[choice.Finish]; known != "" {
				c.finish = known
			}
		}
	}
	return nil
}

func (d *openAIDelta) into(c *collector) error {
	c.back.add("reasoning_content", d.ReasoningContent)
	c.back.add("reasoning", d.Reasoning.text)
	c.back.detail(d.Details)
	if len(d.Extra) > 0 && string(d.Extra) != "null" {
		c.back.others = members{"extra_content": d.Extra}
	}
	for _, thought := range []piece{d.ReasoningContent, d.Reasoning.text, d.Content.thought} {
		if err := c.addReasoning(thought); err != nil {
			return err
		}
		if thought != "" { // one of them: some servers send several, alike
			break
		}
	}
	for _, text := range []piece{d.Content.text, d.Refusal} {
		if err := c.addText(text); err != nil {
			return err
		}
	}
	if d.Call != nil {
		if err := c.addCall(0, "", string(d.Call.Name), piece(d.Call.Arguments), nil); err != nil {
			return err
		}
	}
	for i, part := range d.Calls {
		key := i
		if part.Index != nil {
			key = *part.Index
		}
		if err := c.addCall(key, orAbsent(part.ID), orAbsent(part.Function.Name), piece(part.Function.Arguments), part.extra); err != nil {
			return err
		}
	}
	return nil
}

func unreadable() *outbound.Refusal {
	return outbound.NewRefusal("sent an event that can't be read").WithHint("look whether its base speaks the protocol of its kind")
}

// reported is the refusal of a provider that reports an error in a stream. Its words are not
// passed on: they may quote the messages. Where it names a status or a type that passes, so
// may the error.
func reported(raw []byte) *outbound.Refusal {
	var said struct {
		Type string          `json:"type"`
		Code json.RawMessage `json:"code"`
	}
	_ = json.Unmarshal(raw, &said) // some servers send a string alone
	r := outbound.NewRefusal("reported an error in its answer")
	switch kind := said.Type + " " + strings.Trim(string(said.Code), `"`); {
	case containsAny(kind, "context_length_exceeded", "exceed_context_size_error", "request_too_large"):
		return tooLong(r)
	case containsAny(kind, "overloaded_error", "rate_limit", "api_error", "server_error", "unavailable_error",
		"timeout_error", " 429", " 500", " 502", " 503", " 504", " 529"):
		r.Passing = true
	}
	return r.WithHint("look into the log of its server")
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
