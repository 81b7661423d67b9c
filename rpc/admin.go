package rpc

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// lowDisk is the room in bytes under which the disk is a warning: a snapshot
// beside the old one has to fit.
const lowDisk = 256 << 20

func (r *Rooms) adminHealth(_ context.Context, s *Session, _ protocol.Empty) (protocol.Health, error) {
	return r.health(s.conn.srv), nil
}

// health looks at the daemon.
func (r *Rooms) health(srv *Server) protocol.Health {
	live, _, _ := r.Notes.Count()
	out := protocol.Health{
		Status: protocol.Healthy, Warnings: []string{}, Store: r.KV.Status(),
		Index:    protocol.IndexHealth{Ready: true, Notes: live},
		UptimeMS: time.Since(srv.started).Milliseconds(), PID: os.Getpid(), Version: r.Info.Version,
	}
	warn := func(status, format string, args ...any) {
		if out.Status != protocol.Failing {
			out.Status = status
		}
		out.Warnings = append(out.Warnings, fmt.Sprintf(format, args...))
	}
	if r.DataDir != "" {
		out.Disk.FreeBytes, out.Disk.TotalBytes = diskRoom(r.DataDir)
		if out.Disk.TotalBytes > 0 && out.Disk.FreeBytes < lowDisk {
			warn(protocol.Warning, "the disk of the data has %d MiB left", out.Disk.FreeBytes>>20)
		}
	}
	warnStore(out.Store, warn)
	return out
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
		Vaults: len(vaults), Records: r.KV.Status().Records, RSSBytes: residentBytes(),
		HeapBytes: samples[0].Value.Uint64(), Goroutines: int(samples[1].Value.Uint64()),
		Connections: srv.ConnStats(), Methods: srv.MethodStats(),
	}, nil
}

// adminStop answers first: the daemon ends when every accepted call is done,
// this one included.
func (r *Rooms) adminStop(context.Context, *Session, protocol.Empty) (protocol.Empty, error) {
	if r.Stop != nil {
		go r.Stop()
	}
	return protocol.Empty{}, nil
}
