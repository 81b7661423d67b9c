package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// TestCHAT21_NoToolConfirms what a model proposed: the adapter does not even know the method.
func TestCHAT21_NoToolConfirms(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), `Action"`) {
			t.Errorf("%s calls a method about actions", name)
		}
	}
	h := start(t).open(mcp.Options{AllowWrite: true})
	for _, name := range []string{"confirm_action", "chat.confirm", "confirmAction"} {
		if _, err := h.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"id": "act1"}}); err == nil {
			t.Errorf("there is a tool %s", name)
		}
	}
}
