package lsp

// This file and rename_target.go answer textDocument/rename, textDocument/prepareRename and workspace/willRenameFiles:
// one edit over the whole vault, which the editor applies.
//
// What stands at the cursor is found in the open text: a link, and which part of it; a heading, the identifier of a
// block, a tag, the title, a mention of an entity. The daemon works out the edits (vault.planRename), with the texts
// of all open documents of the vault, since links that are not saved count. Places that cannot be kept are shown to
// the user as a warning. Errors are those of the daemon. The user of an editor that cannot move files is told which file to
// move: its edit leads the links there.

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// renameFeature returns renames of all kinds.
func renameFeature() Feature {
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/prepareRename", prepare),
			NewRequest("textDocument/rename", rename),
			NewRequest("workspace/willRenameFiles", willRename),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.RenameProvider = &RenameOptions{PrepareProvider: true}
			everything := FileOperationFilter{Scheme: "file"}
			everything.Pattern.Glob = "**/*"
			can.Workspace.FileOperations = &FileOperationOptions{
				WillRename: &FileOperationRegistration{Filters: []FileOperationFilter{everything}},
			}
		},
	}
}

// prepare answers what would be renamed at a place.
func prepare(ctx context.Context, c *Call, p *TextDocumentPositionParams) (*PrepareRenameResult, error) {
	t, err := findRenameTarget(ctx, c, p)
	if t == nil || err != nil {
		return nil, err
	}
	return &PrepareRenameResult{Range: c.Document.Range(t.start, t.end, c.Encoding()), Placeholder: t.name}, nil
}

func rename(ctx context.Context, c *Call, p *RenameParams) (*WorkspaceEdit, error) {
	t, err := findRenameTarget(ctx, c, &p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fault.New(fault.Invalid, "nothing that can be renamed stands here").
			WithHint("place the cursor on a link, a heading, a tag or the name of an entity")
	}
	t.ask.New = p.NewName
	return planRename(ctx, c, t.ask)
}

// willRename answers which edits files need that the editor is about to move. Files outside of every vault are left out;
// so are those that leave their vault.
func willRename(ctx context.Context, c *Call, p *RenameFilesParams) (*WorkspaceEdit, error) {
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
	b := newEditBuilder(c)
	for _, vault := range vaults {
		if err := addRename(ctx, c, b, *asks[vault]); err != nil {
			return nil, err
		}
	}
	return b.Edit(), nil
}

func planRename(ctx context.Context, c *Call, ask protocol.VaultPlanRename) (*WorkspaceEdit, error) {
	b := newEditBuilder(c)
	if err := addRename(ctx, c, b, ask); err != nil {
		return nil, err
	}
	if e := b.Edit(); e != nil {
		return e, nil
	}
	return &WorkspaceEdit{Changes: map[DocumentURI][]TextEdit{}}, nil
}

// addRename adds the edits of one plan.
func addRename(ctx context.Context, c *Call, b *editBuilder, ask protocol.VaultPlanRename) error {
	var err error
	if ask.Buffers, err = openBuffers(ctx, c, ask.Vault, c.Document); err != nil {
		return err
	}
	var out protocol.RenamePlan
	if err := c.Daemon(ctx, "vault.planRename", ask, &out); err != nil {
		return err
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
	if len(out.Moves) > 0 && !b.CanMove() {
		c.Show(MessageWarning, movesToMake(out.Moves))
		out.Moves = nil
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
		c.Show(MessageWarning, message)
	}
	return nil
}

// movesToMake says which files the user has to rename, since the editor can't.
func movesToMake(moves []protocol.Move) string {
	const most = 3
	list := make([]string, 0, most)
	for _, m := range moves[:min(most, len(moves))] {
		list = append(list, fmt.Sprintf("%s to %s", m.From, m.To))
	}
	message := "ctxd: the links are changed, but this editor renames no files. Rename " + strings.Join(list, ", ")
	if n := len(moves) - most; n > 0 {
		message += fmt.Sprintf(" and %d more", n)
	}
	return message
}
