package rpc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/memory/exchange"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Deps) adminBackup(ctx context.Context, s *Session, p protocol.Backup) (*kv.Manifest, error) {
	if err := checkOutputPath(ctx, r.KV, s.srv.dataDir, p.Path); err != nil {
		return nil, err
	}
	m, err := r.KV.Backup(ctx, p.Path, kv.BackupOptions{
		Program: s.srv.program(), Overwrite: p.Overwrite,
		Progress: func(done, total int64) { ReportProgress(ctx, "write", done, total) },
	})
	return m, withPathParam(err)
}

func (r *Deps) memoryExport(ctx context.Context, s *Session, p protocol.MemoryExport) (*record.MemoryExported, error) {
	if err := checkOutputPath(ctx, r.KV, s.srv.dataDir, p.Path); err != nil {
		return nil, err
	}
	return exchange.Export(ctx, r.Memory, r.Audience.View(s.Reader()), p.Path, exchange.ExportOptions{
		Format: p.Format, Force: p.Force, Progress: func(done, total int64) { ReportProgress(ctx, "write", done, total) },
	})
}

func (r *Deps) memoryImport(ctx context.Context, s *Session, p protocol.MemoryImport) (*record.MemoryImported, error) {
	if err := requireAbsolute(p.Path); err != nil {
		return nil, err
	}
	return exchange.Import(ctx, r.Memory, r.Audience.View(s.Reader()), p.Path, exchange.ImportOptions{
		Format: p.Format, DryRun: p.DryRun, IsPrivate: r.Vaults.IsPrivateFile,
		Progress: func(stage string, done, total int64) { ReportProgress(ctx, stage, done, total) },
	})
}

func (r *Deps) adminCompact(ctx context.Context, s *Session, _ protocol.Empty) (protocol.Compacted, error) {
	return compactReplica(ctx, r.Sync, func() (int64, error) {
		defer r.Gather.Forget()
		return compactStore(ctx, r.KV, s.srv.dataDir, func(done, total int64) { ReportProgress(ctx, "write", done, total) })
	})
}

// program is what backups name as their author.
func (s *Server) program() string { return strings.TrimSpace(s.info.Name + " " + s.info.Version) }

// adminRestore waits for the rooms by itself: it can't be in them while it
// replaces them.
func adminRestore(ctx context.Context, s *Session, p protocol.Restore) (*protocol.Restored, error) {
	srv := s.srv
	if err := requireAbsolute(p.Path); err != nil {
		return nil, err
	}
	out := &protocol.Restored{DryRun: p.DryRun}
	err := srv.use(ctx, func(ctx context.Context, r *Deps) (err error) {
		out.Current, err = r.counts(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	m, err := kv.ReadBackup(ctx, p.Path, kv.ReadOptions{
		Format: srv.format, Progress: func(done, total int64) { ReportProgress(ctx, "verify", done, total) },
	})
	if err != nil {
		return nil, withPathParam(err)
	}
	if p.Checksum != "" && !strings.EqualFold(p.Checksum, m.Checksum) {
		return nil, fault.Field("checksum", "the backup has the checksum %s, not the one that was given", m.Checksum).
			WithHint("check that it is the right file; nothing was changed")
	}
	out.StoreManifest = *m
	if p.DryRun {
		return out, nil
	}
	err = srv.replace(ctx, protocol.LoadRestoring, func(old *rooms) (*Deps, error) {
		var err error
		out.Current, err = old.counts(ctx)
		if err != nil {
			return nil, err
		}
		var fresh *Deps
		fresh, out.Previous, err = srv.restore(ctx, old, m)
		return fresh, err
	})
	out.Restored = err == nil
	return out, withPathParam(err)
}

// counts returns how much is in the rooms.
func (r *Deps) counts(ctx context.Context) (protocol.Counts, error) {
	vaults, err := r.Vaults.List(ctx)
	_, notes, _ := r.Notes.Count()
	ents := 0
	for range r.Entities.All() {
		ents++ // a backup has those that are archived as well
	}
	st := r.KV.Status()
	return protocol.Counts{
		Seq: st.Seq, Records: st.Records, Notes: notes, Entities: ents, Types: len(r.Entities.Types()),
		Vaults: len(vaults),
	}, err
}

// restore puts a backup in the place of the store, and returns the rooms over it
// and where the state before is kept. Nobody is in the rooms. What is returned
// with an error are the rooms to go on with, nil for the old ones.
func (s *Server) restore(ctx context.Context, old *rooms, m *kv.Manifest) (*Deps, string, error) {
	s.gate.Stage(protocol.StageStore)
	keep := ""
	if s.dataDir != "" {
		keep = ReplacedStoreFile(s.dataDir, time.Now())
	}
	_, err := old.KV.Restore(ctx, m.Path, kv.RestoreOptions{
		Checksum: m.Checksum, Keep: keep, Program: s.program(),
		Progress: func(done, total int64) { ReportProgress(ctx, "restore", done, total) },
	})
	if err != nil {
		if keep != "" && old.KV.Status().Mode == "read-write" {
			_ = os.Remove(keep) // the state that it is a copy of stays; else that is not known
		}
		return nil, "", err
	}
	ctx = context.WithoutCancel(ctx) // there is no way back
	old.drop()
	fresh, err := s.openRooms(ctx)
	if err == nil {
		RemoveReplacedStores(s.dataDir, keep)
		return fresh, keep, nil
	}
	err = fault.Wrap(fault.Unavailable, err, "cannot use the store of the backup: %s", fault.Message(err)).
		WithHint("use another backup; the previous state was restored")
	fresh = s.putBack(ctx, keep)
	if fresh == nil {
		err = fault.Wrap(fault.Unavailable, err, "%s", fault.Message(err)).
			WithHint("restart the daemon; if that does not help, restore %s from the data folder, which holds what was before", filepath.Base(keep))
		fresh = &Deps{refused: err}
	}
	return fresh, "", err
}

// putBack returns the rooms over the state that was replaced, nil when they
// can't be opened either.
func (s *Server) putBack(ctx context.Context, keep string) *Deps {
	if keep == "" {
		return nil
	}
	open := s.openAsIs
	if open == nil {
		open = s.openStore
	}
	db, err := open()
	if err == nil {
		_, err = db.Restore(ctx, keep, kv.RestoreOptions{})
		if err != nil {
			_ = db.Close() // the first error is the one to report
		}
	}
	var r *Deps
	if err == nil {
		r, err = s.openRooms(ctx)
	}
	if err != nil {
		s.log.Error("cannot put back the state before a restore", "error", fault.Message(err), "kept",
			filepath.Base(keep))
		return nil
	}
	return r
}
