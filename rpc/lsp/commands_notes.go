package lsp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// RememberResult is the result of ctxd.lsp.remember.
type RememberResult struct {
	ID        string `json:"id"`
	Handle    string `json:"handle,omitempty"`
	Number    int64  `json:"number,omitempty"`
	Duplicate bool   `json:"duplicate,omitempty"`
}

// remember keeps the selection as a memory that stems from its note.
func (r *runner) remember(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	d, selected := commandDocument(c, a)
	ask := protocol.MemoryAdd{}
	ask.Statement = strings.TrimSpace(a.Text)
	if ask.Statement == "" {
		ask.Statement = strings.TrimSpace(selected)
	}
	if ask.Statement == "" {
		return nil, fault.Field("text", "there is nothing to remember").WithHint("give text, or a uri with a range")
	}
	if d != nil {
		id, err := c.NoteID(ctx, d.URI)
		if err != nil {
			return nil, err
		}
		if id != "" {
			ask.NoteIDs = []string{id}
		}
	}
	var out protocol.MemoryAdded
	if err := c.Change(ctx, "memory.add", ask, &out); err != nil {
		return nil, err
	}
	c.Show(MessageInfo, fmt.Sprintf("ctxd remembers #%d", out.Memory.Number))
	return &RememberResult{out.Memory.ID, out.Memory.Handle, out.Memory.Number, out.Duplicate}, nil
}

// TodayResult is the result of ctxd.lsp.today.
type TodayResult struct {
	URI     string `json:"uri"`
	Created bool   `json:"created"`
}

// today shows the note of today, which the editor makes where there is none.
func (r *runner) today(ctx context.Context, c *Call, a *CommandArguments, _ ProgressToken) (any, error) {
	vault, err := vaultOf(ctx, c, a)
	if err != nil {
		return nil, err
	}
	root, ok, err := c.URI(ctx, vault, ".")
	if err != nil || !ok {
		return nil, err
	}
	folder, _ := URIPath(root)
	days, err := c.dayNotes(ctx, folder, vault)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	at := days.Path(now)
	uri, ok, err := c.URI(ctx, vault, at)
	if err != nil || !ok {
		return nil, err
	}
	out := &TodayResult{URI: uri}
	b := newEditBuilder(c)
	if b.Read(uri) == nil {
		if !b.CanCreate() {
			return nil, fault.New(fault.Unavailable, "the editor cannot create files").WithHint("create the note %s yourself", at)
		}
		text, warning := days.Content(readFrom(folder), now)
		if warning != "" {
			c.Show(MessageWarning, warning)
		}
		b.Create(uri, text)
		var res ApplyWorkspaceEditResult
		params := ApplyWorkspaceEditParams{Label: "Create the note of today", Edit: *b.Edit()}
		if err := c.Ask(ctx, "workspace/applyEdit", params, &res); err != nil {
			return nil, err
		}
		if !res.Applied {
			return nil, fault.New(fault.Unavailable, "the editor has not created the note: %s", res.FailureReason)
		}
		out.Created = true
	}
	if c.Client().Window.ShowDocument.Support {
		err = c.Ask(ctx, "window/showDocument", ShowDocumentParams{URI: uri, TakeFocus: true}, nil)
	}
	return out, err
}

// vaultOf returns the vault of a document, else that of a folder of the editor, else the only one.
func vaultOf(ctx context.Context, c *Call, a *CommandArguments) (string, error) {
	uris := []string{a.URI}
	for _, f := range c.Folders() {
		uris = append(uris, f.URI)
	}
	for _, uri := range uris {
		if at, ok, err := c.Place(ctx, uri); ok || err != nil {
			return at.Vault, err
		}
	}
	var list protocol.VaultList
	if err := c.Daemon(ctx, "vault.list", protocol.ReadAll{}, &list); err != nil {
		return "", err
	}
	if len(list.Vaults) != 1 {
		return "", fault.Field("uri", "it is not known which of %d vaults is meant", len(list.Vaults)).WithHint("give the uri of a note in it")
	}
	return list.Vaults[0].Vault, nil
}
