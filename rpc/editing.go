package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Deps) vaultPlanRename(ctx context.Context, _ *Session, p protocol.VaultPlanRename) (out protocol.RenamePlan, err error) {
	vault, folder, err := r.Vaults.Find(ctx, p.Vault)
	if err != nil {
		return out, err
	}
	return planRename(r.Notes, r.Entities, vault, folder, p)
}

func (r *Deps) vaultCheckNote(ctx context.Context, s *Session, p protocol.NoteCheck) (out protocol.NoteChecked, err error) {
	vault, folder, err := r.Vaults.Find(ctx, p.Vault)
	if err != nil {
		return out, err
	}
	return checkNote(r.Notes, r.Entities, r.Audience.View(s.Reader()).Check, vault, folder, p)
}
