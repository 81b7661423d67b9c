package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/editing"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) vaultPlanRename(ctx context.Context, _ *Session, p protocol.VaultPlanRename) (out protocol.RenamePlan, err error) {
	vault, folder, err := r.Vaults.Find(ctx, p.Vault)
	if err != nil {
		return out, err
	}
	return editing.Plan(r.Notes, r.Entities, vault, folder, p)
}

func (r *Rooms) vaultCheckNote(ctx context.Context, s *Session, p protocol.NoteCheck) (out protocol.NoteChecked, err error) {
	vault, _, err := r.Vaults.Find(ctx, p.Vault)
	if err != nil {
		return out, err
	}
	return editing.Check(r.Notes, r.Entities, r.Audience.View(s.Reader()).Check, vault, p)
}
