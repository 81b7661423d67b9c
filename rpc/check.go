package rpc

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// adminCheck reads every file of the store, then closes the store, opens it anew
// and compares what was served with what is made of the records now. That is a
// restart that clients don't notice, and mends what it finds: rooms whose records
// don't fit together have them fit when they are opened. It waits for the rooms by
// itself, like adminRestore.
func adminCheck(ctx context.Context, s *Session, _ protocol.Empty) (*protocol.Checked, error) {
	srv := s.srv
	began := time.Now()
	out := &protocol.Checked{Files: []kv.InspectedFile{}, Problems: []string{}, Mended: []string{}, Drift: []protocol.Drift{}}
	var unfit []string
	err := srv.use(ctx, func(ctx context.Context, r *Deps) error {
		if srv.dataDir == "" || r.KV.Status().Durability == "memory" {
			return fault.New(fault.Unavailable,
				"the store is kept in memory only, so there is nothing to check it against").
				WithHint("start the daemon with a data folder")
		}
		out.Records = r.KV.Status().Records
		ReportProgress(ctx, "files", 0, 0)
		found, err := kv.Inspect(ctx, srv.dataDir, kv.Options{Format: srv.format})
		if err != nil {
			return err
		}
		out.Files, out.Problems = found.Files, problemsOf(found)
		if unfit, err = r.checkRecords(ctx); err != nil {
			return err
		}
		if len(unfit) > 0 && len(out.Problems) == 0 {
			if err := r.KV.Unfit(); err != nil {
				return err
			}
		}
		ReportProgress(ctx, "vectors", 0, 0)
		wrong, err := r.checkVectors(ctx)
		if len(wrong) > 0 {
			out.Drift = append(out.Drift, driftOf(record.ViewVectors, wrong))
		}
		return err
	})
	if err == nil && len(out.Problems) == 0 {
		ReportProgress(ctx, "views", 0, 0)
		err = srv.replace(ctx, protocol.LoadChecking, func(old *rooms) (*Deps, error) {
			fresh, drift, err := srv.reopen(ctx, old)
			out.Drift = append(out.Drift, drift...)
			return fresh, err
		})
		out.Compared = err == nil
	}
	left := unfit
	if err == nil && out.Compared && len(unfit) > 0 {
		err = srv.use(ctx, func(ctx context.Context, r *Deps) error {
			left, err = r.checkRecords(ctx)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	for _, p := range unfit {
		if !slices.Contains(left, p) {
			out.Mended = append(out.Mended, p)
		}
	}
	if out.Problems = append(out.Problems, left...); len(left) > 0 && out.Compared {
		out.Hint = "these records stay as they are: delete what is named, or put a backup from before in the place of the store with ctxd restore"
	}
	out.OK = len(out.Problems) == 0 && len(out.Mended) == 0 && len(out.Drift) == 0
	out.MS = time.Since(began).Milliseconds()
	return out, nil
}

// checkRecords says which records of the rooms don't fit together.
func (r *Deps) checkRecords(ctx context.Context) (unfit []string, err error) {
	err = r.KV.View(ctx, func(tx *kv.Tx) error {
		for _, check := range []func(*kv.Tx) ([]string, error){memory.Check, learn.Check, chat.Check, send.CheckSpending, personality.Check, books.Check} {
			problems, err := check(tx)
			unfit = append(unfit, problems...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return unfit, err
}

// checkVectors compares the vectors of all indexes with what they are of, and returns the ids of the
// documents whose vectors were wrong, in order.
func (r *Deps) checkVectors(ctx context.Context) (wrong []string, err error) {
	for _, x := range r.indexes() {
		ids, err := x.CheckVectors(ctx)
		wrong = append(wrong, ids...)
		if err != nil {
			return wrong, err
		}
	}
	slices.Sort(wrong)
	return wrong, nil
}

// problemsOf says what is wrong with the files that a start reads. That the
// journal ends with an unfinished write is what a store at work looks like.
func problemsOf(in *kv.Inspection) []string {
	list := []string{}
	if in.Refused != "" {
		list = append(list, "a start would refuse the store: "+in.Refused)
	}
	for _, f := range in.Files {
		if f.Condition == kv.Damaged && f.Kind != "set aside" {
			list = append(list, fmt.Sprintf("%s is damaged at byte %d", f.Name, f.DamagedAt))
		}
	}
	if in.Start.Lost > 0 {
		list = append(list, fmt.Sprintf("a start would find %d acknowledged transactions missing", in.Start.Lost))
	}
	if in.Condition == kv.Damaged && len(list) == 0 {
		list = append(list, "a start would find damage")
	}
	if len(list) > 0 {
		list = append(list, "make a backup before the daemon stops; it is written from memory, which holds what the files may have lost")
	}
	return list
}

// reopen opens the rooms anew and says what is different then. Nobody is in them.
func (s *Server) reopen(ctx context.Context, old *rooms) (*Deps, []protocol.Drift, error) {
	seed := maphash.MakeSeed()
	before, err := newStoreViews(ctx, old.Deps, seed)
	if err != nil {
		return nil, nil, err
	}
	s.gate.Stage(protocol.StageStore)
	ctx = context.WithoutCancel(ctx)
	old.Learn.Flush(ctx)
	if err := old.KV.Close(); err != nil {
		s.log.Warn("the store was not closed cleanly before it was opened again", "error", fault.Message(err))
	}
	old.drop()
	fresh, err := s.openRooms(ctx)
	if err != nil {
		err = fault.Wrap(fault.Unavailable, err, "cannot open the store again: %s", fault.Message(err)).
			WithHint("restart the daemon")
		return &Deps{refused: err}, nil, err
	}
	after, err := newStoreViews(ctx, fresh, seed)
	if err != nil {
		return fresh, nil, err
	}
	drift := []protocol.Drift{}
	for _, d := range compareViews(before, after) {
		drift = append(drift, driftOf(d.View, d.IDs))
	}
	return fresh, drift, nil
}

func driftOf(view record.StoreView, ids []string) protocol.Drift {
	return protocol.Drift{View: view, Found: len(ids), IDs: ids[:min(10, len(ids))], Repaired: true}
}
