package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// insightsInput are the arguments of memory_insights.
type insightsInput struct {
	Text string `json:"text" jsonschema:"what the user asks, or what is to be done"`
	paging
}

func insightsSchema() *jsonschema.Schema { return pagesOf[insightsInput](nil) }

func (c *call) memoryInsights(in insightsInput) (string, error) {
	switch {
	case render.OneLine(in.Text) == "":
		return "", fault.Field("text", "text is needed")
	case len(in.Text) > maxQuery:
		return "", fault.TooLarge("text", len(in.Text), maxQuery, "bytes")
	}
	var known record.Insight
	if err := c.ask("memory.insights", protocol.InsightAsked{Text: in.Text}, &known); err != nil {
		return "", err
	}
	l := &render.Page{
		Head: "What became of memories about this:\n\n", Noun: "insight", Total: len(known.Lines),
		None: "Nothing is known yet of how it went with this.",
	}
	for _, line := range known.Lines {
		l.Items = append(l.Items, "- ["+render.Inline(line.Kind)+"] "+render.Inline(line.Text)+render.ID(line.ID)+"\n")
	}
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}
