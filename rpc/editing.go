package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/editing"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) vaultPlanRename(ctx context.Context, s *Session, p protocol.VaultPlanRename) (out protocol.RenamePlan, err error) {
	st, err := r.Vaults.StatusFor(ctx, p.Vault, r.Audience.View(s.Reader()).NotesSeen())
	if err != nil {
		return out, err
	}
	return editing.Plan(r.Notes, r.Entities, st.Vault, st.Path, p)
}

func (r *Rooms) vaultCheckNote(ctx context.Context, s *Session, p protocol.NoteCheck) (out protocol.NoteChecked, err error) {
	v := r.Audience.View(s.Reader())
	st, err := r.Vaults.StatusFor(ctx, p.Vault, v.NotesSeen())
	if err != nil {
		return out, err
	}
	return editing.Check(r.Notes, r.Entities, v.Check, st.Vault, p)
}
