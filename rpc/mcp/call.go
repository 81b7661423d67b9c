package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// call is one request of a host.
type call struct {
	*server
	ctx context.Context
	// progress tells the host how far the call is; it does nothing for a host that has
	// not asked.
	progress func(done, total int)
}

func (s *server) begin(ctx context.Context) *call { return &call{s, ctx, func(int, int) {}} }

// follow has the call tell its host how far it is, if the host has asked.
func (c *call) follow(req *sdk.CallToolRequest) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	c.progress = func(done, total int) {
		if done == total { // the answer follows, and some clients take what comes with it for a fault
			return
		}
		// A host that is gone is noticed when it is answered.
		_ = req.Session.NotifyProgress(c.ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(done), Total: float64(total),
		})
	}
}

// ask calls a method of the daemon that reads.
func (c *call) ask(method string, params, result any) error {
	return c.daemon.Call(c.ctx, method, params, result)
}

// audience says who reads what this host gets.
func (o Options) audience() string {
	if o.IncludePrivate {
		return protocol.Local
	}
	return protocol.Remote
}

// tool answers with what the daemon's tool of a name answers, page by page. What is wrong with the arguments, and
// what was meant, stands in its text.
func (c *call) tool(name string, in paging, arguments map[string]any) (string, error) {
	arguments["cursor"] = in.Cursor
	for name, value := range arguments {
		if value == "" {
			delete(arguments, name)
		}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	var res record.ToolResult
	if err := c.ask("tools.call", protocol.ToolCall{Name: name, Arguments: raw, MaxChars: in.MaxChars}, &res); err != nil {
		return "", err
	}
	if res.Error {
		return "", wholeError(strings.TrimSuffix(res.Text, "\n"))
	}
	return res.Text, nil
}
