package transfer_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/kv"
)

// endlessImport is an export that is made while it is read, one conversation after the other.
type endlessImport struct {
	conversation string // with %08d for its number; each as long
	count        int64
}

func (e *endlessImport) size() int64 { return e.count*int64(len(e.numbered(0))) + 1 }

func (e *endlessImport) numbered(i int64) string {
	return "," + strings.ReplaceAll(e.conversation, "%08d", fmt.Sprintf("%08d", i))
}

func (e *endlessImport) ReadAt(b []byte, offset int64) (n int, err error) {
	length := int64(len(e.numbered(0)))
	for n < len(b) {
		at := offset + int64(n)
		switch {
		case at >= e.size():
			return n, io.EOF
		case at == e.size()-1:
			b[n] = ']'
			n++
			continue
		}
		copied := copy(b[n:], e.numbered(at / length)[at%length:])
		if at == 0 {
			b[0] = '['
		}
		n += copied
	}
	return n, nil
}

func TestCHAT36_AnImportHoldsAGroup(t *testing.T) {
	words := make([]string, 20)
	for i := range words {
		words[i] = strings.Repeat("word ", 400)
	}
	e := &endlessImport{conversation: claude("%08d", "Talk", spokenTalk(words...)...), count: 400}
	for _, dry := range []bool{true, false} {
		w := openImport(t, kv.InMemory, chat.Limits{})
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept, most, told := int64(0), int64(0), int64(0)
		w.db.OnCommit(func(cs *kv.ChangeSet) {
			for _, m := range chat.Messages.Each(cs) {
				kept += int64(len(m.New.Content)) + 1024 // with what is kept about it
			}
		})
		r, err := transfer.ImportReader(context.Background(), w.chat, w.view, e, e.size(), transfer.FileImportOptions{
			DryRun: dry, Progress: func(at, _ int64) {
				if at-told < 4<<20 {
					return
				}
				told = at
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc)-kept)
			},
		})
		mustImport(t, err)
		if r.Conversations != 400 || r.Messages != 8000 {
			t.Errorf("report %+v", r)
		}
		if limit := int64(8 << 20); most > limit {
			t.Errorf("dry run %v: %d bytes beyond what the store keeps, want %d at most", dry, most, limit)
		}
		t.Logf("dry run %v: %d of %d bytes", dry, most, e.size())
		w.close()
	}
}
