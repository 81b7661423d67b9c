package daemon

import "runtime"

// minThreads is how many threads run Go code at least, also where there is one processor
// and GOMAXPROCS says 1. On a single thread whoever computes keeps it for 10 ms, and Go
// looks at the sockets only every 10 ms meanwhile: another client waits for several such
// turns. With two, a long read has one of them at most, and the system gives the
// processor to the other as soon as a message comes.
//
// On one processor, beside long reads, p99 of another client is 130 ms with one thread
// and 14 ms with two (TestCampaignREL7_LongReads).
const minThreads = 2

// ensureThreads raises GOMAXPROCS to minThreads.
func ensureThreads() {
	if runtime.GOMAXPROCS(0) < minThreads {
		runtime.GOMAXPROCS(minThreads)
	}
}
