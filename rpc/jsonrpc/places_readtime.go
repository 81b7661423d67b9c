package jsonrpc

import (
	"sync/atomic"
	"time"
)

// shortRead is the mean time that the reads of a connection may take to be called
// short.
const shortRead = 5 * time.Millisecond

// unknownRead is the mean of a connection that has read nothing yet: neither short nor
// long.
const unknownRead = 2 * shortRead

// countedFor is what a long read counts for in a mean: enough that the next one of a
// connection whose mean was not known is called long, and no more, so that a few short
// ones make up for it.
func countedFor(slice time.Duration) time.Duration { return 4 * max(slice, unknownRead) }

// readTime is the moving mean of the time that the reads of a connection, or of a
// client, take.
type readTime struct{ mean atomic.Int64 } // nanoseconds

// took counts one more read.
func (r *readTime) took(d, slice time.Duration) {
	d = min(d, countedFor(slice))
	old := r.mean.Load()
	r.mean.Store(old + (int64(d)-old)/4)
}

func (r *readTime) short() bool { return r.mean.Load() < int64(shortRead) }

func (r *readTime) long(slice time.Duration) bool {
	return r.mean.Load() > int64(max(slice, unknownRead))
}
