package mcp

// This file has the user asked before something is written: by the host, as input_required of revision 2026-07-28, or
// by an elicitation of the older ones, which the SDK makes of it.

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
)

// askedChars is how much of what would be written a user is shown, in characters.
const askedChars = 1_500

// answerTo names the answer of the user among those of a call.
const answerTo = "write"

// permission says whether a call that writes may go on: it may when ask is nil and refused is "".
func (s *server) permission(
	req *sdk.CallToolRequest, title string, arguments json.RawMessage,
) (ask *sdk.CallToolResult, refused string) {
	state := s.stateOf(req.Params.Name, arguments)
	answer, _ := req.Params.InputResponses[answerTo].(*sdk.ElicitResult) // nil before the user was asked
	if answer != nil && hmac.Equal([]byte(req.Params.RequestState), []byte(state)) {
		if answer.Action == "accept" {
			return nil, ""
		}
		return nil, "The user did not allow it, and nothing was written.\nTry: ask what they want instead"
	}
	if !canAsk(req.ClientCapabilities()) {
		return nil, "Nothing was written: writing has to be allowed, and this host can't ask the user.\n" +
			"Try: tell the user to start ctxd mcp with --allow-write=yes"
	}
	shown, _ := prompt.Cut(render.Inline(string(arguments)), askedChars)
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{answerTo: &sdk.ElicitParams{
			Mode: "form", Message: "May the assistant do this in ctxd? " + title + ": " + shown,
			RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}},
		}},
		RequestState: state,
	}, ""
}

// canAsk reports whether a host shows its user a form. Of those that say nothing closer it is meant (2025-06-18).
func canAsk(caps *sdk.ClientCapabilities) bool {
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// stateOf ties the answer of a user to what they were asked: that of another call, or of another process, is none.
func (s *server) stateOf(tool string, arguments json.RawMessage) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(tool + "\n"))
	mac.Write(arguments)
	return hex.EncodeToString(mac.Sum(nil))
}

func newKey() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return key
}
