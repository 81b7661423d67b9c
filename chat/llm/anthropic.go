package llm

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// anthropicVersion is that of the Messages API.
const anthropicVersion = "2023-06-01"

// defaultMaxTokens is the length of an answer where a request names none: the Messages API needs one.
const defaultMaxTokens = 4096

// anthropic is the protocol of the Messages API.
type anthropic struct{}

func (anthropic) authorize(h http.Header, key string) {
	h.Set("anthropic-version", anthropicVersion)
	if key != "" {
		h.Set("x-api-key", key)
	}
}

type anthropicRequest struct {
	Model       string             `json:"model"`
	MaxTokens   int                `json:"max_tokens"`
	System      string             `json:"system,omitempty"`
	Messages    []anthropicMessage `json:"messages"`
	Tools       []anthropicTool    `json:"tools,omitempty"`
	Choice      *anthropicChoice   `json:"tool_choice,omitempty"`
	Temperature *float64           `json:"temperature,omitempty"`
	Stream      bool               `json:"stream"`
}

type anthropicChoice struct {
	Type string `json:"type"`
}

type anthropicMessage struct {
	Role    Role             `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type   string           `json:"type"`
	Text   string           `json:"text,omitempty"`
	Source *anthropicSource `json:"source,omitempty"`
	ID     string           `json:"id,omitempty"`
	Name   string           `json:"name,omitempty"`
	Input  json.RawMessage  `json:"input,omitempty"`
	UseID  string           `json:"tool_use_id,omitempty"`
	Result string           `json:"content,omitempty"`
	Failed bool             `json:"is_error,omitempty"`

	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

func (anthropic) encode(r *Request, model string, without leftOut) ([]byte, error) {
	out := anthropicRequest{Model: model, MaxTokens: r.MaxTokens, System: r.System, Stream: true}
	if out.MaxTokens <= 0 {
		out.MaxTokens = defaultMaxTokens
	}
	if !without.has(temperatureMember) {
		out.Temperature = r.Temperature
	}
	list := alternating(r.Messages)
	for i := range list {
		m := &list[i]
		blocks := anthropicBlocks(m, without)
		if len(blocks) > 0 { // the API refuses a message without one
			out.Messages = append(out.Messages, anthropicMessage{Role: m.Role, Content: blocks})
		}
	}
	if without.has(toolsMember) {
		return marshal(out)
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, anthropicTool(t))
	}
	if r.NoCalls && len(r.Tools) > 0 && !without.has(toolChoiceMember) {
		out.Choice = &anthropicChoice{Type: "none"}
	}
	return marshal(out)
}

// anthropicBlocks are the parts of a message: results first, as the API wants them.
func anthropicBlocks(m *Message, without leftOut) (list []anthropicBlock) {
	if len(m.Calls) > 0 && m.Returned.thinks() && !without.has(reasoningMember) {
		return returnedBlocks(m)
	}
	for _, result := range m.Results {
		list = append(list, anthropicBlock{
			Type: "tool_result", UseID: result.CallID, Result: result.Text, Failed: result.Failed,
		})
	}
	for _, p := range m.Images {
		if without.has(imagesMember) {
			break
		}
		list = append(list, anthropicBlock{Type: "image", Source: &anthropicSource{
			Type: "base64", MediaType: p.Type, Data: base64.StdEncoding.EncodeToString(p.Data),
		}})
	}
	if strings.TrimSpace(m.Text) != "" { // the API refuses one of blanks
		list = append(list, anthropicBlock{Type: "text", Text: m.Text})
	}
	for i := range m.Calls {
		list = append(list, m.Calls[i].block())
	}
	return list
}

func (c *ToolCall) block() anthropicBlock {
	return anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Arguments)}
}

// returnedBlocks are the parts of a message as they came: thoughts are signed, and hold in their order alone.
func returnedBlocks(m *Message) (list []anthropicBlock) {
	for _, b := range m.Returned.blocks {
		text := b.text.String()
		switch {
		case b.kind == "thinking":
			list = append(list, anthropicBlock{Type: b.kind, Thinking: &text, Signature: b.sign.String()})
		case b.kind == "redacted_thinking":
			list = append(list, anthropicBlock{Type: b.kind, Data: b.data})
		case b.kind == "tool_use" && b.call < len(m.Calls):
			list = append(list, m.Calls[b.call].block())
		case strings.TrimSpace(text) != "":
			list = append(list, anthropicBlock{Type: "text", Text: text})
		}
	}
	return list
}

// object returns arguments as the API takes them: those that are no object are none. The result
// of the call says what was wrong with them.
func object(arguments string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) != nil || fields == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// anthropicEvent is what is read of an event, or of a whole reply.
type anthropicEvent struct {
	Type    string            `json:"type"`
	Index   int               `json:"index"`
	Model   string            `json:"model"` // of a whole reply, as the next three
	Content []anthropicPart   `json:"content"`
	Stop    string            `json:"stop_reason"`
	Usage   *anthropicUsage   `json:"usage"`
	Message *anthropicStarted `json:"message"`
	Block   *anthropicPart    `json:"content_block"`
	Delta   *anthropicPart    `json:"delta"`
	Error   json.RawMessage   `json:"error"`
}

type anthropicStarted struct {
	Model string          `json:"model"`
	Usage *anthropicUsage `json:"usage"`
}

type anthropicPart struct {
	Type     string          `json:"type"`
	Text     piece           `json:"text"`
	Thinking piece           `json:"thinking"`
	Sign     string          `json:"signature"`
	Data     string          `json:"data"` // of redacted_thinking
	JSON     piece           `json:"partial_json"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	Stop     string          `json:"stop_reason"`
}

type anthropicUsage struct {
	In      *count `json:"input_tokens"`
	Out     *count `json:"output_tokens"`
	Read    *count `json:"cache_read_input_tokens"`
	Written *count `json:"cache_creation_input_tokens"`
}

// UnmarshalJSON is that of openAIUsage.
func (u *anthropicUsage) UnmarshalJSON(raw []byte) error {
	type plain anthropicUsage
	_ = json.Unmarshal(raw, (*plain)(u))
	return nil
}

var anthropicFinishes = map[string]Finish{
	"end_turn": Stop, "stop_sequence": Stop, "max_tokens": Length, "model_context_window_exceeded": Length,
	"tool_use": Tools, "refusal": Filtered,
}

func (anthropic) event(data []byte, c *collector) error {
	var e anthropicEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return unreadable()
	}
	if e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return c.refused(e.Error)
	}
	if e.Usage != nil {
		e.Usage.into(c)
	}
	switch {
	case e.Type == "message_start" && e.Message != nil:
		c.named(e.Message.Model)
		if e.Message.Usage != nil {
			e.Message.Usage.into(c)
		}
	case e.Type == "content_block_start" && e.Block != nil:
		return e.Block.into(c, e.Index)
	case e.Type == "content_block_delta" && e.Delta != nil:
		return e.Delta.into(c, e.Index)
	case e.Type == "message_delta" && e.Delta != nil:
		c.stopped(e.Delta.Stop)
	case e.Type == "message_stop":
		c.done = true
	case e.Type == "message":
		c.named(e.Model)
		c.stopped(e.Stop)
		for i := range e.Content {
			if err := e.Content[i].into(c, i); err != nil {
				return err
			}
		}
	}
	return nil // ping, content_block_stop, and what the API may add
}

func (p *anthropicPart) into(c *collector, index int) error {
	switch p.Type {
	case "text", "text_delta":
		c.back.at(index, "text").text.WriteString(string(p.Text))
		return c.addText(p.Text)
	case "thinking", "thinking_delta":
		b := c.back.at(index, "thinking")
		b.text.WriteString(string(p.Thinking))
		b.sign.WriteString(p.Sign)
		return c.addReasoning(p.Thinking)
	case "signature_delta":
		c.back.at(index, "thinking").sign.WriteString(p.Sign)
	case "redacted_thinking":
		c.back.at(index, p.Type).data = p.Data
	case "input_json_delta":
		if !c.calling(index) { // of a tool that the API runs itself
			return nil
		}
		return c.addCall(index, "", "", p.JSON, nil)
	case "tool_use":
		var whole piece
		if len(p.Input) > 2 && string(p.Input) != "null" { // {} where pieces follow
			whole = piece(p.Input)
		}
		c.back.at(index, p.Type).call = len(c.calls)
		return c.addCall(index, p.ID, p.Name, whole, nil)
	}
	return nil
}

// into counts. What a later event says holds: the figures are sums.
func (u *anthropicUsage) into(c *collector) {
	in, known := count(0), false
	for _, n := range []*count{u.In, u.Read, u.Written} {
		switch {
		case n == nil:
		case *n == noCount || in == noCount:
			in, known = noCount, true
		default:
			in, known = in+*n, true
		}
	}
	if known {
		c.usage.In, c.counted = int64(in), true
	}
	if u.Read != nil {
		c.usage.Cached = int64(*u.Read)
	}
	if u.Out != nil {
		c.usage.Out, c.counted = int64(*u.Out), true
	}
}

func (c *collector) named(model string) {
	if model != "" && len(model) <= maxName && (c.key == "" || !strings.Contains(model, c.key)) {
		c.model = model
	}
}

func (c *collector) stopped(reason string) {
	if reason == "" {
		return
	}
	c.finish = Stop
	if known := anthropicFinishes[reason]; known != "" {
		c.finish = known
	}
}
