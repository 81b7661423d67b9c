package outbox

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Truth makes of the pairs of a whole store, in key order, what it holds by the log: without
// the outbox, and with what the records are whose changes wait.
type Truth struct{ bases []disk.Pair }

// Chunk returns what becomes of the next pairs, which it may change. more says that others
// follow.
func (t *Truth) Chunk(chunk []disk.Pair, more bool) []disk.Pair {
	for _, p := range chunk {
		if key, ok := strings.CutPrefix(p.Key, basePrefix); ok {
			t.bases = append(t.bases, disk.Pair{Key: key, Value: p.Value})
		}
	}
	chunk = slices.DeleteFunc(chunk, func(p disk.Pair) bool { return isOutboxKey(p.Key) })
	if len(t.bases) == 0 {
		return chunk
	}
	out := make([]disk.Pair, 0, len(chunk))
	for _, p := range chunk {
		out = t.upTo(out, func(key string) bool { return key < p.Key })
		if len(t.bases) > 0 && t.bases[0].Key == p.Key {
			out = t.upTo(out, func(key string) bool { return key == p.Key })
			continue
		}
		out = append(out, p)
	}
	if !more {
		out = t.upTo(out, func(string) bool { return true })
	}
	return out
}

// upTo adds the next bases, of those that are there.
func (t *Truth) upTo(out []disk.Pair, fits func(key string) bool) []disk.Pair {
	for len(t.bases) > 0 && fits(t.bases[0].Key) {
		if value := t.bases[0].Value; value[0] == '+' {
			out = append(out, disk.Pair{Key: t.bases[0].Key, Value: value[1:]})
		}
		t.bases = t.bases[1:]
	}
	return out
}

// Kept returns what of a pair stays when the state of a machine is replaced by one of the log:
// the items, none of which is applied then.
func Kept(p disk.Pair) (disk.Pair, bool) {
	if p.Key != HeadKey {
		return p, strings.HasPrefix(p.Key, waitingPrefix)
	}
	h, err := ParseHead(p.Value)
	if err != nil {
		return p, false
	}
	h.Epoch, h.Applied = h.Epoch+1, 0
	raw, err := json.Marshal(h)
	p.Value = string(raw)
	return p, err == nil
}

// Own reports whether a pair belongs to an outbox.
func Own(p disk.Pair) bool { return isOutboxKey(p.Key) }
