package rpc

// This file and calls_*.go have what the handlers of every namespace need of a call: its [callReader], the pages of a
// list, and [ReportProgress], which tells the caller how far a long call has come.
//
// A handler that needs no more is a method func(handlers, context.Context, callReader, params) (result, error), which
// [of] makes a Method of. It reads through the View of the callReader and keeps neither of them longer than the call
// lasts. Reports that follow each other within 50 ms are joined. Everything here may be called concurrently.

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// progressGap is the least time between two reports of one call, so that a job
// that reports every record does not fill the socket.
const progressGap = 50 * time.Millisecond

// progressFeed sends $/progress. Nobody follows it.
var progressFeed = jsonrpc.NewFeed(protocol.NotifyProgress, joinProgress)

// joinProgress keeps of the reports that wait the last one, and every begin and end.
func joinProgress(waiting []protocol.ProgressParams) []protocol.ProgressParams {
	kept := waiting[:0]
	for _, p := range waiting {
		n := len(kept)
		if n > 0 && p.Value.Kind == protocol.ProgressReport && kept[n-1].Value.Kind == protocol.ProgressReport {
			kept[n-1] = p
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

type progressKey struct{}

// callProgress sends $/progress for one call.
type callProgress struct {
	stream *jsonrpc.Stream[protocol.ProgressParams]
	token  json.RawMessage

	mu          sync.Mutex // guards what follows
	last        time.Time
	done, total int64
	message     string
}

// beginProgress tells the caller of k, who asked with a token, that the call begins. The context is for ReportProgress.
func beginProgress(ctx context.Context, k *jsonrpc.Call, token []byte, title string) (*callProgress, context.Context) {
	p := &callProgress{stream: progressFeed.Open(k, ""), token: token}
	p.send(ctx, protocol.Progress{Kind: protocol.ProgressBegin, Title: title})
	return p, context.WithValue(ctx, progressKey{}, p)
}

// ReportProgress tells the caller how far a call has come: what is being done, how many
// units are done and how many there are in all (0: unknown). It costs nothing
// when the caller did not ask with a progressToken, and drops reports that
// follow each other within 50 ms.
func ReportProgress(ctx context.Context, message string, done, total int64) {
	p, ok := ctx.Value(progressKey{}).(*callProgress)
	if !ok {
		return
	}
	now := time.Now()
	p.mu.Lock()
	p.message, p.done, p.total = message, done, total
	due := now.Sub(p.last) >= progressGap
	if due {
		p.last = now
	}
	p.mu.Unlock()
	if due {
		p.send(ctx, progressOf(protocol.ProgressReport, message, done, total))
	}
}

// End closes the row of reports with the last figures, dropped ones included.
func (p *callProgress) End(ctx context.Context) {
	p.mu.Lock()
	message, done, total := p.message, p.done, p.total
	p.mu.Unlock()
	p.send(ctx, progressOf(protocol.ProgressEnd, message, done, total))
}

func progressOf(kind, message string, done, total int64) protocol.Progress {
	out := protocol.Progress{Kind: kind, Message: message, Done: done, Total: total}
	if total > 0 {
		out.Percentage = int(min(done, total) * 100 / total)
	}
	return out
}

func (p *callProgress) send(ctx context.Context, value protocol.Progress) {
	// Encoding plain values can't fail, joined reports always find room, and a
	// connection that ended needs none.
	_ = p.stream.Send(ctx, protocol.ProgressParams{Token: p.token, Value: value})
}
