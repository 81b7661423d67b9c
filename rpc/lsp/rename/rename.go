package rename

import (
	"context"
	"fmt"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/lsp/edits"
	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Feature returns renames of all kinds.
func Feature() server.Feature {
	return server.Feature{
		Requests: []server.Request{
			server.On("textDocument/prepareRename", prepare),
			server.On("textDocument/rename", rename),
			server.On("workspace/willRenameFiles", willRename),
		},
		Announce: func(_ *server.Session, can *wire.ServerCapabilities) {
			can.RenameProvider = &wire.RenameOptions{PrepareProvider: true}
			everything := wire.FileOperationFilter{Scheme: "file"}
			everything.Pattern.Glob = "**/*"
			can.Workspace.FileOperations = &wire.FileOperationOptions{
				WillRename: &wire.FileOperationRegistration{Filters: []wire.FileOperationFilter{everything}},
			}
		},
	}
}

// prepare answers what would be renamed at a place.
func prepare(ctx context.Context, c *server.Call, p *wire.TextDocumentPositionParams) (*wire.PrepareRenameResult, error) {
	t, err := find(ctx, c, p)
	if t == nil || err != nil {
		return nil, err
	}
	return &wire.PrepareRenameResult{Range: c.Document.Range(t.start, t.end, c.Encoding()), Placeholder: t.name}, nil
}

func rename(ctx context.Context, c *server.Call, p *wire.RenameParams) (*wire.WorkspaceEdit, error) {
	t, err := find(ctx, c, &p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fault.New(fault.Invalid, "nothing that can be renamed stands here").
			WithHint("place the cursor on a link, a heading, a tag or the name of an entity")
	}
	t.ask.New = p.NewName
	return plan(ctx, c, t.ask)
}

// willRename answers which edits files need that the editor is about to move. Files outside of every vault are left out;
// so are those that leave their vault.
func willRename(ctx context.Context, c *server.Call, p *wire.RenameFilesParams) (*wire.WorkspaceEdit, error) {
	asks := make(map[string]*protocol.VaultPlanRename)
	var vaults []string
	for _, f := range p.Files {
		from, ok, err := c.Place(ctx, f.OldURI)
		if err != nil {
			return nil, err
		}
		to, stays, err := c.Place(ctx, f.NewURI)
		if err != nil {
			return nil, err
		}
		if !ok || !stays || from.Vault != to.Vault {
			continue
		}
		if asks[from.Vault] == nil {
			asks[from.Vault] = &protocol.VaultPlanRename{Vault: from.Vault, Kind: "files"}
			vaults = append(vaults, from.Vault)
		}
		asks[from.Vault].Moves = append(asks[from.Vault].Moves, protocol.Move{From: from.Path, To: to.Path})
	}
	b := edits.New(c)
	for _, vault := range vaults {
		if err := add(ctx, c, b, *asks[vault]); err != nil {
			return nil, err
		}
	}
	return b.Edit(), nil
}

func plan(ctx context.Context, c *server.Call, ask protocol.VaultPlanRename) (*wire.WorkspaceEdit, error) {
	b := edits.New(c)
	if err := add(ctx, c, b, ask); err != nil {
		return nil, err
	}
	if e := b.Edit(); e != nil {
		return e, nil
	}
	return &wire.WorkspaceEdit{Changes: map[wire.DocumentURI][]wire.TextEdit{}}, nil
}

// add adds the edits of one plan.
func add(ctx context.Context, c *server.Call, b *edits.Builder, ask protocol.VaultPlanRename) error {
	var err error
	if ask.Buffers, err = edits.Buffers(ctx, c, ask.Vault, c.Document); err != nil {
		return err
	}
	var out protocol.RenamePlan
	if err := c.Daemon(ctx, "vault.planRename", ask, &out); err != nil {
		return err
	}
	if len(out.Moves) > 0 && !b.CanMove() {
		return fault.New(fault.Unavailable, "the editor cannot rename files").
			WithHint("set ctxd.rename to title, or rename the file yourself")
	}
	uri := func(path string) (string, error) {
		u, ok, err := c.URI(ctx, out.Vault, path)
		if err == nil && !ok {
			err = fault.New(fault.NotFound, "the vault %q is gone", out.Vault)
		}
		return u, err
	}
	for _, f := range out.Files {
		u, err := uri(f.Path)
		if err == nil {
			err = b.Planned(u, f)
		}
		if err != nil {
			return err
		}
	}
	for _, m := range out.Moves {
		from, err := uri(m.From)
		if err != nil {
			return err
		}
		to, err := uri(m.To)
		if err != nil {
			return err
		}
		b.Move(from, to)
	}
	if n := len(out.Problems); n > 0 {
		first := out.Problems[0]
		message := fmt.Sprintf("ctxd: %s in %s, line %d: %s", first.Text, first.Path, first.Line, first.Why)
		if n > 1 {
			message += fmt.Sprintf(" (and %d more places)", n-1)
		}
		c.Show(wire.MessageWarning, message)
	}
	return nil
}
