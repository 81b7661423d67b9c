package rpc

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func adminHealth(_ context.Context, s *Session, _ protocol.Empty) (protocol.Health, error) {
	if !s.conn.Begun() { // who asks has not said who reads
		return s.srv.healthFor(audience.Remote), nil
	}
	return s.srv.healthFor(s.Reader()), nil
}

// healthFor is Health; for a remote reader without counts of records, and without what
// vaults warn of and what was spent.
func (s *Server) healthFor(reader audience.Reader) protocol.Health {
	if reader == audience.Local {
		return s.Health()
	}
	h := s.health(false)
	h.Store.Records, h.Store.Recovered.Replayed = 0, 0
	h.Index.Notes, h.Index.Queue, h.Index.Waiting = 0, 0, 0
	return h
}

// Health returns what admin.health answers a local reader.
func (s *Server) Health() protocol.Health { return s.health(true) }

// health is Health, with or without what tells of records: what vaults warn of, and what was spent.
func (s *Server) health(whole bool) protocol.Health {
	out := protocol.Health{
		Status: protocol.Healthy, Warnings: []string{},
		UptimeMS: time.Since(s.started).Milliseconds(), PID: os.Getpid(), Version: s.info.Version,
	}
	warn := func(status, format string, args ...any) {
		if out.Status != protocol.Failing {
			out.Status = status
		}
		out.Warnings = append(out.Warnings, fmt.Sprintf(format, args...))
	}
	r, loading := s.visit()
	if r != nil {
		defer s.gate.Leave()
	}
	switch {
	case r == nil:
		out.Loading, out.Store.Mode = loading, protocol.StoreLoading
		warn(protocol.Warning, "%s", loadingTexts[loading.Phase])
	case r.refused != nil:
		out.Store.Mode, out.Store.Reason = protocol.StoreClosed, fault.Message(r.refused)
		warn(protocol.Failing, "%s", out.Store.Reason)
	case r.KV != nil:
		out.Store, out.Index, out.Embedder = r.KV.Status(), r.indexHealth(), r.embedderInfo()
		warnStore(out.Store, warn)
		if e := out.Embedder; e.State == embed.Failed {
			warn(protocol.Warning, "the embedder %s failed: %s", e.Kind, e.Why)
		} else if e.Kind == string(embed.KindBuiltin) && e.Why != "" {
			warn(protocol.Warning, "the built-in table is used instead of embedding.table: %s", e.Why)
		}
		if whole {
			out.Learning = r.learningHealth()
		}
		out.Sync = (&syncHandlers{replica: r.Sync}).Health(whole, func(failing bool, text string) {
			if failing {
				warn(protocol.Failing, "%s", text)
			} else {
				warn(protocol.Warning, "%s", text)
			}
		})
		out.Reranker = rerankerInfo(r.Reranker)
		if e := out.Reranker; e != nil && e.State == embed.Failed {
			warn(protocol.Warning, "the reranker %s failed: %s", e.Kind, e.Why)
		}
		if text := s.providerWarning(whole); text != "" {
			warn(protocol.Warning, "%s", text)
		}
		for _, text := range s.ownWarnings(r, whole) {
			warn(protocol.Warning, "%s", text)
		}
	}
	if s.dataDir != "" {
		out.Disk.FreeBytes, out.Disk.TotalBytes = DiskSpace(s.dataDir)
		if out.Disk.TotalBytes > 0 {
			s.warnRoom(out.Disk.FreeBytes, out.Status, warn)
		}
	}
	return out
}

// warnRoom tells how little room is left on the disk. Little room is mentioned, and leaves the status as it is.
func (s *Server) warnRoom(free uint64, status string, warn func(status, format string, args ...any)) {
	switch s.room.Of(free) {
	case DiskFull:
		status = protocol.Failing
	case DiskVeryLow:
		status = protocol.Warning
	case DiskEnough:
		return
	}
	warn(status, "%s", DiskLeft(free))
}

// learningHealth says what waits for a model, nil for nothing. A store that cannot be read tells so elsewhere.
func (r *Deps) learningHealth() *record.LearningHealth {
	messages, err := r.Facts.Waiting(context.Background())
	if err != nil || r.Learn.Upkeep == nil {
		return nil
	}
	pairs, err := r.Learn.Upkeep.Waiting(context.Background())
	if err != nil || messages+pairs == 0 {
		return nil
	}
	return &record.LearningHealth{Messages: messages, Pairs: pairs}
}

// ownWarnings are those that name files of the person: of vaults, and of templates.
func (s *Server) ownWarnings(r *rooms, wanted bool) []string {
	if !wanted {
		return nil
	}
	list := slices.Concat(r.Vaults.Warnings(), s.templates.Warnings())
	if r.Attached != nil {
		list = append(list, r.Attached.Warnings()...)
	}
	return list
}

// loadingTexts say by phase what keeps calls waiting.
var loadingTexts = map[string]string{
	protocol.LoadStarting:  "the store is being opened; calls wait for it",
	protocol.LoadRestoring: "a backup is being restored; calls wait for it",
	protocol.LoadChecking:  "the store is being checked; calls wait for it",
}

func warnStore(st kv.Status, warn func(status, format string, args ...any)) {
	if st.Mode != "read-write" {
		warn(protocol.Failing, "the store takes no writes: %s", st.Reason)
	}
	if d := st.Deleted; d != nil {
		what := fmt.Sprintf("files of the store were deleted while the daemon ran, missed at %s: %s",
			d.At.Format(time.RFC3339), strings.Join(d.Files, ", "))
		if d.Whole {
			warn(protocol.Warning, "%s; they were written again from memory, and nothing is lost", what)
		} else {
			warn(protocol.Failing,
				"%s; they cannot be written again yet: check the permissions of the folder, and make a backup", what)
		}
	}
	if st.Recovered.Lost > 0 {
		warn(protocol.Warning, "the last start found %d acknowledged transactions missing", st.Recovered.Lost)
	}
	if len(st.Recovered.Damaged) > 0 {
		warn(protocol.Warning, "%d damaged files are kept for inspection", len(st.Recovered.Damaged))
	}
	if st.SnapshotError != "" {
		warn(protocol.Warning, "the last snapshot failed: %s", st.SnapshotError)
	}
}

func (r *Deps) adminStats(ctx context.Context, s *Session, _ protocol.Empty) (protocol.Stats, error) {
	srv := s.srv
	var out protocol.Stats
	if s.Reader() == audience.Local {
		var err error
		out, err = r.counted(ctx)
		if err != nil {
			return out, err
		}
		out.Chat = &protocol.ChatStats{Spending: srv.spending()}
	} else { // what is configured counts nothing
		out.Index.Meanings.Weights, out.Index.Others = searchWeights(r.Search.Stats()), []protocol.OtherIndex{}
	}
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	out.RSSBytes, out.HeapBytes, out.Goroutines = residentBytes(), samples[0].Value.Uint64(), int(samples[1].Value.Uint64())
	out.Connections, out.Methods = srv.ConnStats(), srv.MethodStats()
	return out, nil
}

// counted returns the counts of records in Stats, which a remote reader is not told.
func (r *Deps) counted(ctx context.Context) (protocol.Stats, error) {
	live, all, _ := r.Notes.Count()
	vaults, err := r.Vaults.List(ctx)
	return protocol.Stats{
		Notes: live, Archived: all - live, Entities: r.Entities.Count(""), Types: len(r.Entities.Types()),
		Vaults: len(vaults), Records: r.KV.Status().Records, Index: r.indexStats(),
	}, err
}

// adminStop answers first: the daemon ends when every accepted call is done,
// this one included.
func adminStop(_ context.Context, s *Session, _ protocol.Empty) (protocol.Stopped, error) {
	out := protocol.Stopped{BrokenOff: s.srv.wire.Jobs()}
	if stop := s.srv.onStop; stop != nil {
		go stop()
	}
	return out, nil
}
