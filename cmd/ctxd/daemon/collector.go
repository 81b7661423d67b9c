package daemon

import (
	"os"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// How much garbage there may be, in percent of what is alive, before the collector
// runs. The usual 100 lets a process become twice as large as what it holds. That
// is cheap memory in a small store. In a large one it is hundreds of megabytes,
// and little work is saved by it: most of what is alive is the texts of notes,
// which have no pointers and are not looked at.
//
// At 100,000 notes of 2 KB, about 415 MiB are alive, the index of words among them.
// At 33 percent the process has 548 MiB after some calls, at 12 percent 475. A
// collection takes 0.1 s of processor time there, and one is due after 50 MiB.
const (
	gcOfSmall  = 100
	gcOfLarge  = 12
	largeTexts = 200 << 20 // bytes of texts
	smallTexts = 50 << 20

	// While a store is read there is hardly any garbage, and what is alive grows:
	// each collection finds next to nothing.
	gcOfLoading = 400
)

// gcPercent is how much garbage there may be beside texts of that size.
func gcPercent(texts int64) int {
	part := float64(min(max(texts, smallTexts), largeTexts)-smallTexts) / (largeTexts - smallTexts)
	return gcOfSmall - int(part*(gcOfSmall-gcOfLarge))
}

// setGC sets how much garbage there may be, if the user has not.
func setGC(percent int) {
	if os.Getenv("GOGC") == "" {
		jsonrpc.SetGCPercent(percent)
	}
}

// keepLean keeps the collector in proportion to the texts of a store, from the next
// change on, or from when tune is called: when nothing is loaded any more. It may be
// called at any time.
func keepLean(db *kv.Store, ns *notes.Store) (tune func()) {
	var now atomic.Int64
	tune = func() {
		_, _, texts := ns.Count()
		// To change it stops the process for a moment: not for each note.
		if percent := int64(gcPercent(texts)); percent/8 != now.Load()/8 {
			now.Store(percent)
			setGC(int(percent))
		}
	}
	db.OnCommit(func(*kv.ChangeSet) { tune() })
	return tune
}
