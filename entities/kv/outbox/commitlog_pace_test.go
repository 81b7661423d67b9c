package outbox_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Of those that write, the one whose last entry is the oldest goes at once, and nobody waits who
// is alone.
func TestSYNC2_WhoHasWaitedLongestGoesFirst(t *testing.T) {
	me, second, third := outbox.WriterID{1}, outbox.WriterID{2}, outbox.WriterID{3}
	var p outbox.Pace
	p.Won(time.Millisecond)
	wrote := func(list ...outbox.WriterID) {
		for _, w := range list {
			p.Wrote(w)
		}
	}
	wrote(me)
	if d := p.Delay(me); d != 0 {
		t.Errorf("alone it waits %s", d)
	}
	wrote(second, third)
	if d := p.Delay(me); d != 0 {
		t.Errorf("as the one who wrote first it waits %s", d)
	}
	one, two := p.Delay(second), p.Delay(third)
	if one <= 0 || two != 2*one {
		t.Errorf("the next waits %s, the one after it %s", one, two)
	}
	p.Lost()
	if d := p.Delay(third); d != one {
		t.Errorf("after a loss the last waits %s, not %s", d, one)
	}
	if d := p.Delay(outbox.WriterID{4}); d != 0 {
		t.Errorf("a newcomer waits %s", d)
	}
	for range 32 {
		wrote(third)
	}
	if d := p.Delay(third); d != 0 {
		t.Errorf("when the others write no more it waits %s", d)
	}
}
