package outbox

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// LogState turns the pairs of a whole store, which come in key order, into what they are according
// to the log: without the keys of the outbox, and with the base of each provisional record.
type LogState struct{ bases []disk.Pair }

// Chunk returns what becomes of the next pairs, whose slice it may change. more says that others
// follow.
func (t *LogState) Chunk(chunk []disk.Pair, more bool) []disk.Pair {
	for _, p := range chunk {
		if key, ok := strings.CutPrefix(p.Key, basePrefix); ok {
			t.bases = append(t.bases, disk.Pair{Key: key, Value: p.Value})
		}
	}
	chunk = slices.DeleteFunc(chunk, func(p disk.Pair) bool { return IsKey(p.Key) })
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

// upTo adds the bases of the next keys that fit, where there is a record in the log.
func (t *LogState) upTo(out []disk.Pair, fits func(key string) bool) []disk.Pair {
	for len(t.bases) > 0 && fits(t.bases[0].Key) {
		if value := t.bases[0].Value; value[0] == '+' {
			out = append(out, disk.Pair{Key: t.bases[0].Key, Value: value[1:]})
		}
		t.bases = t.bases[1:]
	}
	return out
}

// CarryOver returns what becomes of a pair when the state of a machine is replaced by one of the
// log: the items stay, and none of them is applied then. Whether that state holds what may be in the
// log, nobody can tell, so an item that waits for that is refused: doing it again is left to a person.
// It ends by itself where the transaction is found behind the state.
func CarryOver(p disk.Pair) (disk.Pair, bool) {
	var kept any
	switch {
	case p.Key == HeadKey:
		h, err := ParseHead(p.Value)
		if err != nil {
			return p, false
		}
		h.Batch++
		h.Applied = 0
		h.Waiting, h.Refused, h.Sent = h.Waiting-h.Sent, h.Refused+h.Sent, 0
		kept = h
	case strings.HasPrefix(p.Key, waitingPrefix):
		var it item
		if decode(p.Key, p.Value, &it) != nil || it.Sent == "" || it.Refused != nil {
			return p, true
		}
		it.Refused = &Refusal{
			Kind: fault.Unavailable.String(), Time: time.Now().UTC(),
			Message: "it was sent to the other machines before this one joined anew, and nobody knows whether they have it",
			Hint:    "look whether it is there before you have it made again",
		}
		kept = it
	default:
		return p, strings.HasPrefix(p.Key, sentPrefix)
	}
	raw, err := json.Marshal(kept)
	p.Value = string(raw)
	return p, err == nil
}
