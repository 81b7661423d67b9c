package rpc

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// lowDisk is the room in bytes under which the disk is a warning: a snapshot
// beside the old one has to fit.
const lowDisk = 256 << 20

func adminHealth(_ context.Context, s *Session, _ protocol.Empty) (protocol.Health, error) {
	return s.conn.srv.Health(), nil
}

// Health returns what admin.health answers.
func (s *Server) Health() protocol.Health {
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
	r, loading := s.door.visit()
	if r != nil {
		defer s.door.leave()
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
			warn(protocol.Warning, "the embedder %s fails: %s", e.Kind, e.Why)
		} else if e.Kind == "builtin" && e.Why != "" {
			warn(protocol.Warning, "the built-in table serves in the place of embedding.table: %s", e.Why)
		}
		for _, text := range r.Vaults.Warnings() {
			warn(protocol.Warning, "%s", text)
		}
	}
	if s.dataDir != "" {
		out.Disk.FreeBytes, out.Disk.TotalBytes = DiskRoom(s.dataDir)
		if out.Disk.TotalBytes > 0 && out.Disk.FreeBytes < lowDisk {
			warn(protocol.Warning, "the disk of the data has %d MiB left", out.Disk.FreeBytes>>20)
		}
	}
	return out
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

func (r *Rooms) adminStats(ctx context.Context, s *Session, _ protocol.Empty) (protocol.Stats, error) {
	srv := s.conn.srv
	live, all, _ := r.Notes.Count()
	vaults, err := r.Vaults.List(ctx)
	if err != nil {
		return protocol.Stats{}, err
	}
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	return protocol.Stats{
		Notes: live, Archived: all - live, Entities: r.Entities.Count(""), Types: len(r.Entities.Types()),
		Vaults: len(vaults), Records: r.KV.Status().Records, Index: r.indexStats(), RSSBytes: residentBytes(),
		HeapBytes: samples[0].Value.Uint64(), Goroutines: int(samples[1].Value.Uint64()),
		Connections: srv.ConnStats(), Methods: srv.MethodStats(),
	}, nil
}

// adminStop answers first: the daemon ends when every accepted call is done,
// this one included.
func adminStop(_ context.Context, s *Session, _ protocol.Empty) (protocol.Empty, error) {
	if stop := s.conn.srv.onStop; stop != nil {
		go stop()
	}
	return protocol.Empty{}, nil
}
