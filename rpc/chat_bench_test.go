package rpc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// BenchmarkPERF20 has messages answered over the socket from the data of PERF-4, durably, by a provider that gives 50
// pieces at once. A proxy asks the same provider with a prompt of the same size and forwards what comes. own is what
// the result says that the daemon took, first what lies between the provider's first piece and the caller's.
func BenchmarkPERF20(b *testing.B) {
	pieces := slices.Repeat([]string{"a piece of an answer "}, 50)
	var spoke atomic.Int64 // when the provider gave its first piece
	srv := provider.Start(func(_ *provider.Request, to *provider.Reply) {
		spoke.Store(time.Now().UnixNano())
		to.Text(pieces...)
	})
	b.Cleanup(srv.Close)
	measure := func(b *testing.B, ask func(i int) (first time.Time, stages map[string]float64)) {
		var whole []time.Duration
		took := make(map[string][]float64) // by stage, in milliseconds
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			first, stages := ask(i)
			whole = append(whole, time.Since(start))
			took["first"] = append(took["first"], float64(first.UnixNano()-spoke.Load())/1e6)
			for _, stage := range []string{"assemble", "references", "store", "keep", "own"} {
				if ms, ok := stages[stage]; ok {
					took[stage] = append(took[stage], ms)
				}
			}
		}
		quantiles(b, whole)
		for name, list := range took {
			slices.Sort(list)
			b.ReportMetric(list[len(list)/2]*1e3, name+"-p50-µs")
			b.ReportMetric(list[len(list)*99/100]*1e3, name+"-p99-µs")
		}
	}
	b.Run("ctxd", func(b *testing.B) {
		rooms, params := promptRoomsIn(b, b.TempDir(), 0)
		s := serveRoomsBy(b, rpc.Options{Providers: modelsAt(b, srv)}, *rooms)
		p := s.connect()
		requests := make([][]byte, len(params))
		for i, of := range params {
			text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "chat.send", "params": turn.ChatSend{
				Text: of.Text, MentionedNoteIDs: of.MentionedNoteIDs, MentionedEntityIDs: of.MentionedEntityIDs,
			}})
			must(b, err)
			requests[i] = append(text, '\n')
		}
		measure(b, func(i int) (first time.Time, stages map[string]float64) {
			_, err := p.nc.Write(requests[i%len(requests)])
			must(b, err)
			for {
				line, err := p.in.ReadBytes('\n')
				must(b, err)
				if first.IsZero() && bytes.Contains(line, []byte(`"type":"text"`)) {
					first = time.Now()
				}
				if !bytes.Contains(line, []byte(`"method":"chat.delta"`)) {
					var r struct {
						Result turn.ChatSent
						Error  *protocol.Error
					}
					must(b, json.Unmarshal(line, &r))
					if r.Error != nil {
						b.Fatalf("%+v", r.Error)
					}
					return first, r.Result.Timings
				}
			}
		})
	})
	b.Run("proxy", func(b *testing.B) {
		body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": []any{
			map[string]any{"role": "system", "content": strings.Repeat("x", 30<<10)}, map[string]any{"role": "user", "content": "go"},
		}})
		must(b, err)
		p := dialRaw(b, listenRaw(b, func(conn net.Conn) {
			in := bufio.NewReader(conn)
			for {
				if _, err := in.ReadSlice('\n'); err != nil {
					return
				}
				res, err := http.Post(srv.URL+"/chat/completions", "application/json", bytes.NewReader(body))
				if err != nil {
					return
				}
				_, _ = io.Copy(conn, res.Body)
				_ = res.Body.Close()
			}
		}))
		measure(b, func(int) (first time.Time, stages map[string]float64) {
			_, err := p.nc.Write([]byte("go\n"))
			must(b, err)
			for {
				line, err := p.in.ReadSlice('\n')
				must(b, err)
				if first.IsZero() {
					first = time.Now()
				}
				if bytes.HasPrefix(line, []byte("data: [DONE]")) {
					_, err := p.in.ReadSlice('\n')
					must(b, err)
					return first, nil
				}
			}
		})
	})
}
