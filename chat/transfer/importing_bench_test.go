package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/kv"
)

// exportOf writes an export of about so many bytes, half of it as ChatGPT does and half as Claude does:
// conversations of 2 to 60 messages of 20 to 400 words.
func exportOf(b *testing.B, bytes int) (path string) {
	path = filepath.Join(b.TempDir(), "conversations.json")
	f, err := os.Create(path)
	mustImport(b, err)
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { // a tenth of the words make a half of the text
		n := random.IntN(20_000)
		if random.IntN(2) == 0 {
			n %= 2000
		}
		return fmt.Sprintf("w%x", n*2654435761%0xfffff)
	}
	at := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	written := 0
	write := func(s string) {
		n, err := f.WriteString(s)
		mustImport(b, err)
		written += n
	}
	write("[")
	for i := 0; written < bytes; i++ {
		var said []spoken
		for j := range 2 + random.IntN(59) {
			var text strings.Builder
			for k := range 20 + random.IntN(380) {
				text.WriteString(word())
				text.WriteString([]string{" ", ", ", ". ", "\n", " \"it\" "}[min(k%17, 4)])
			}
			at = at.Add(time.Minute)
			said = append(said, spoken{fmt.Sprintf("%08x-0000-4000-8000-%012x", i, j), text.String(), at})
		}
		if i > 0 {
			write(",\n")
		}
		form := claude
		if i%2 == 0 {
			form = gpt
		}
		write(form(fmt.Sprintf("%08x-1111-4000-8000-000000000000", i), "Talk "+word(), said...))
	}
	write("]")
	mustImport(b, f.Close())
	return path
}

// decode reads an export with the decoder of the standard library, one conversation at a time, into what
// an importer needs of both forms.
func decode(path string) (messages int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	dec := json.NewDecoder(f)
	if _, err := dec.Token(); err != nil {
		return 0, err
	}
	for dec.More() {
		var c struct {
			UUID         string  `json:"uuid"`
			ID           string  `json:"conversation_id"`
			Name         string  `json:"name"`
			Title        string  `json:"title"`
			CreatedAt    string  `json:"created_at"`
			CreateTime   float64 `json:"create_time"`
			CurrentNode  string  `json:"current_node"`
			ChatMessages []struct {
				UUID      string `json:"uuid"`
				Text      string `json:"text"`
				Sender    string `json:"sender"`
				CreatedAt string `json:"created_at"`
			} `json:"chat_messages"`
			Mapping map[string]struct {
				Parent  string `json:"parent"`
				Message struct {
					ID         string  `json:"id"`
					CreateTime float64 `json:"create_time"`
					Author     struct {
						Role string `json:"role"`
					} `json:"author"`
					Content struct {
						Parts []string `json:"parts"`
					} `json:"content"`
				} `json:"message"`
			} `json:"mapping"`
		}
		if err := dec.Decode(&c); err != nil {
			return messages, err
		}
		messages += len(c.ChatMessages) + len(c.Mapping)
	}
	_, err = dec.Token()
	if err == nil {
		_, err = io.Copy(io.Discard, dec.Buffered())
	}
	return messages, err
}

// exportSize is how many bytes the export has. CTXD_BENCH_EXPORT_MB makes it another number.
func exportSize(b *testing.B) int {
	text := os.Getenv("CTXD_BENCH_EXPORT_MB")
	if text == "" {
		return 64 << 20
	}
	n, err := strconv.Atoi(text)
	mustImport(b, err)
	return n << 20
}

// heapPeak samples how much the heap holds until it is stopped, which returns the most that it held beyond what it
// holds then without garbage.
func heapPeak() (stop func() (beyond uint64)) {
	const held = "/memory/classes/heap/objects:bytes"
	read := func() uint64 {
		sample := []metrics.Sample{{Name: held}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	ended, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, read())
			select {
			case <-tick.C:
			case <-ended:
				peak <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(ended)
		most := <-peak
		runtime.GC()
		return most - min(most, read())
	}
}

// BenchmarkPERF21_Import compares an import into a store on disk with decoding the same file. The time of
// the processor is told beside that of the clock, which has the waiting for the disk in it, and the memory that an
// import takes beyond what the store keeps of it.
func BenchmarkPERF21_Import(b *testing.B) {
	size := exportSize(b)
	path := exportOf(b, size)
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(size))
		before := cpuTime()
		for b.Loop() {
			_, err := decode(path)
			mustImport(b, err)
		}
		b.ReportMetric((cpuTime()-before).Seconds()/float64(b.N), "cpu-s")
	})
	for _, c := range []struct {
		name  string
		o     transfer.FileImportOptions
		first bool
	}{{"import", transfer.FileImportOptions{}, false}, {"again", transfer.FileImportOptions{}, true}, {"dry-run", transfer.FileImportOptions{DryRun: true}, false}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			var used time.Duration
			var beyond uint64
			for b.Loop() {
				b.StopTimer()
				w := openImport(b, b.TempDir(), chat.Limits{})
				if c.first {
					_, err := transfer.ImportFile(context.Background(), w.chat, w.view, path, transfer.FileImportOptions{})
					mustImport(b, err)
				}
				runtime.GC()
				b.StartTimer()
				peak := heapPeak()
				cpu := cpuTime()
				r, err := transfer.ImportFile(context.Background(), w.chat, w.view, path, c.o)
				used += cpuTime() - cpu
				b.StopTimer()
				mustImport(b, err)
				beyond = max(beyond, peak())
				if r.Messages+r.Known != r.Read.Messages {
					b.Fatalf("%+v", r)
				}
				w.close()
				b.StartTimer()
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s")
			b.ReportMetric(float64(beyond)/(1<<20), "beyond-MiB")
		})
	}
}

// BenchmarkCHAT36_OneName stores conversations of one title and time, and messages of one text. Ten times as many take
// about ten times the time of the processor.
func BenchmarkCHAT36_OneName(b *testing.B) {
	yes := []chat.Draft{{Role: "user", Content: "yes"}}
	for _, c := range []struct {
		name string
		said chat.AppendRequest
	}{
		{"conversations", chat.AppendRequest{Title: "Weekly meeting", Messages: yes}},
		{"messages", chat.AppendRequest{ClientID: "one", Messages: yes}},
	} {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				var used time.Duration
				for b.Loop() {
					b.StopTimer()
					w := openImport(b, kv.InMemory, chat.Limits{})
					b.StartTimer()
					cpu := cpuTime()
					for range n / 500 {
						_, err := w.chat.AppendMany(b.Context(), w.view, slices.Repeat([]chat.AppendRequest{c.said}, 500))
						mustImport(b, err)
					}
					used += cpuTime() - cpu
					b.StopTimer()
					w.close()
					b.StartTimer()
				}
				b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s")
			})
		}
	}
}
