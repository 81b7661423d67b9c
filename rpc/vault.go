package rpc

import (
	"context"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) vaultImport(ctx context.Context, s *Session, p protocol.VaultImport) (*vault.ImportResult, error) {
	return s.srv.follow(ctx, c.vaults, vault.ImportRequest{
		Path: p.Path, Name: p.Name, DryRun: p.DryRun, Watch: p.Watch,
		Progress: func(stage string, done, total int) { ReportProgress(ctx, stage, int64(done), int64(total)) },
	})
}

func (c scope) vaultList(ctx context.Context, _ *Session, _ protocol.ReadAll) (protocol.VaultList, error) {
	list, err := c.vaults.ListFor(ctx, c.view.NotesSeen())
	return protocol.VaultList{Vaults: append([]vault.Status{}, list...)}, err
}

func (c scope) vaultStatus(ctx context.Context, _ *Session, p protocol.VaultMaybe) (*vault.Status, error) {
	return c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
}

func (c scope) vaultUnwatch(ctx context.Context, _ *Session, p protocol.VaultName) (*vault.Status, error) {
	err := c.vaults.Unwatch(ctx, p.Vault)
	if err != nil {
		return nil, err
	}
	return c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
}

func (c scope) vaultUnresolved(ctx context.Context, _ *Session,
	p protocol.VaultUnresolved,
) (protocol.Unresolved, error) {
	st, err := c.vaults.StatusFor(ctx, p.Vault, c.view.NotesSeen())
	if err != nil {
		return protocol.Unresolved{}, err
	}
	list := c.view.Unresolved(st.Vault)
	out := protocol.Unresolved{Vault: st.Vault, Targets: len(list)}
	for _, u := range list {
		out.Links += u.Count
	}
	out.Unresolved = append([]notes.Unresolved{}, list[:min(p.Limit, len(list))]...)
	return out, nil
}

func (c scope) vaultForget(ctx context.Context, _ *Session, p protocol.VaultForget) (protocol.VaultForgotten, error) {
	total, copies, err := c.vaults.Forgets(ctx, p.Vault)
	out := protocol.VaultForgotten{Vault: p.Vault, Notes: total, Copies: append([]string{}, copies...), DryRun: p.DryRun}
	if err != nil || p.DryRun {
		return out, err
	}
	out.Notes, err = c.vaults.Forget(ctx, p.Vault,
		func(done, total int) { ReportProgress(ctx, "forget", int64(done), int64(total)) })
	c.gather.Forget()
	return out, err
}
