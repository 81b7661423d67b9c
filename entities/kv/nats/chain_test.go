package nats_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Every way in which servers can show another log than the one that was written.
func TestSYNC6_ALogThatIsNotTheOneThatWasWrittenIsRefused(t *testing.T) {
	id := nats.NewIdentity()
	var written [][]byte
	prev := id.Start().Mark
	for i := range uint64(4) {
		m := nats.Message{Seq: i + 1, Last: true, Prev: prev, Body: fmt.Sprint(i)}.Seal(id)
		prev = nats.NextMark(prev, m)
		written = append(written, m)
	}
	altered := bytes.Clone(written[1])
	altered[len(altered)-1] ^= 1
	other := nats.Message{Seq: 2, Last: true, Prev: nats.Mark{1}, Body: "other"}.Seal(id)
	for name, c := range map[string]struct {
		log  [][]byte
		want string
		why  nats.Reason
	}{
		"as it was written": {written, "[0 1 2 3]", ""},
		"cut at the end":    {written[:2], "[0 1]", ""},
		"a repeated entry":  {[][]byte{written[0], written[0], written[1]}, "[0]", nats.ReasonMoved},
		"two exchanged":     {[][]byte{written[0], written[2], written[1]}, "[0]", nats.ReasonMoved},
		"one left out":      {[][]byte{written[0], written[2]}, "[0]", nats.ReasonMoved},
		"the first cut off": {written[1:], "[]", nats.ReasonMoved},
		"one altered":       {[][]byte{written[0], altered, written[2]}, "[0]", nats.ReasonAltered},
		"another history":   {[][]byte{written[0], other}, "[0]", nats.ReasonCut},
		"no message":        {[][]byte{written[0], []byte("hello")}, "[0]", nats.ReasonMalformed},
		"nothing":           {[][]byte{written[0], nil}, "[0]", nats.ReasonMalformed},
	} {
		entries, err := nats.Take(id, c.log...)
		if fmt.Sprint(entries) != c.want || nats.ReasonOf(err) != c.why {
			t.Errorf("%s: read %q, told %v; want %s, refused as %q", name, entries, err, c.want, c.why)
		}
		if errors.Is(err, outbox.ErrForked) != (c.why == nats.ReasonCut) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSYNC2_OnlyPartsThatFollowEachOtherMakeAnEntry(t *testing.T) {
	id := nats.NewIdentity()
	begin := id.Start().Mark
	part := func(seq uint64, group byte, n uint32, last bool) []byte {
		return nats.Message{Seq: seq, Group: group, Part: n, Last: last, Prev: begin, Body: fmt.Sprintf("%d.%d ", group, n)}.Seal(id)
	}
	for name, c := range map[string]struct {
		log  [][]byte
		want string
		why  nats.Reason
	}{
		"all parts":                {[][]byte{part(1, 1, 0, false), part(2, 1, 1, false), part(3, 1, 2, true)}, "[1.0 1.1 1.2 ]", ""},
		"without the last":         {[][]byte{part(1, 1, 0, false), part(2, 1, 1, false)}, "[]", ""},
		"begun again":              {[][]byte{part(1, 1, 0, false), part(2, 2, 0, false), part(3, 2, 1, true)}, "[2.0 2.1 ]", ""},
		"another machine between":  {[][]byte{part(1, 1, 0, false), part(2, 2, 0, true)}, "[2.0 ]", ""},
		"going on after another's": {[][]byte{part(1, 1, 0, false), part(2, 2, 0, false), part(3, 1, 1, true)}, "[]", nats.ReasonMoved},
		"without the first":        {[][]byte{part(1, 1, 1, true)}, "[]", nats.ReasonMoved},
		"one left out":             {[][]byte{part(1, 1, 0, false), part(2, 1, 2, true)}, "[]", nats.ReasonMoved},
		"a key that nobody has":    {[][]byte{nats.Message{Seq: 1, Last: true, Prev: begin}.Seal(nats.With(id, nats.OtherKeys()))}, "[]", nats.ReasonWrongKey},
	} {
		entries, err := nats.Take(id, c.log...)
		if fmt.Sprint(entries) != c.want || nats.ReasonOf(err) != c.why {
			t.Errorf("%s: read %q, told %v; want %s, refused as %q", name, entries, err, c.want, c.why)
		}
	}
}

// FuzzMessages reads two messages that somebody has made up behind a true one.
func FuzzMessages(f *testing.F) {
	id := nats.NewIdentity()
	first := nats.Message{Seq: 1, Last: true, Prev: id.Start().Mark, Body: "first"}.Seal(id)
	second := nats.Message{Seq: 2, Last: true, Prev: nats.NextMark(id.Start().Mark, first), Body: "second"}.Seal(id)
	f.Add(second, second)
	f.Add(second[:100], []byte{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		entries, err := nats.Take(id, first, a, b)
		if err == nil {
			t.Fatalf("two messages that cannot both be true were read: %q", entries)
		}
		if len(entries) > 2 || len(entries) == 2 && !bytes.Equal(a, second) || nats.ReasonOf(err) == "" {
			t.Fatalf("read %q, told %v", entries, err)
		}
	})
}
