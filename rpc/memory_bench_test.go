package rpc_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
)

// BenchmarkPERF17 writes memories over the socket, durably, against notes of the same text: by one
// client, and by eight. The tier is one without a cap.
func BenchmarkPERF17(b *testing.B) {
	const text = "I prefer morning workouts in the park by the river, and I never train on the day before long run %d"
	for _, clients := range []int{1, 8} {
		for name, request := range map[string]string{
			"memory": `{"jsonrpc":"2.0","id":1,"method":"memory.add","params":{"tier":"patterns","statement":"` + text + `"}}`,
			"note":   `{"jsonrpc":"2.0","id":1,"method":"notes.put","params":{"title":"Workouts %[1]d","body":"` + text + `"}}`,
		} {
			b.Run(fmt.Sprintf("clients=%d/%s", clients, name), func(b *testing.B) {
				db, err := kv.Open(b.TempDir(), kv.Options{})
				must(b, err)
				b.Cleanup(func() { must(b, db.Close()) })
				rooms, err := roomsOver(db)
				must(b, err)
				s := serveRooms(b, rpc.Limits{}, *rooms)
				var n atomic.Int64
				if clients == 1 {
					p := s.connect()
					for b.Loop() {
						exchange(b, p, fmt.Appendf(nil, request+"\n", n.Add(1)))
					}
					return
				}
				b.SetParallelism((clients + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
				b.RunParallel(func(pb *testing.PB) {
					p := s.connect()
					for pb.Next() {
						exchange(b, p, fmt.Appendf(nil, request+"\n", n.Add(1)))
					}
				})
			})
		}
	}
}
