package words_test

import (
	"testing"
	"testing/synctest"

	"github.com/ctxd/ctxd/context/search/words"
)

// TestREL7_CommitsAreEnteredInTheirOrder adds small and large commits, and takes them out in
// that order; nothing follows where none waits and none is entered.
func TestREL7_CommitsAreEnteredInTheirOrder(t *testing.T) {
	b := words.NewBacklog[uint64]()
	if b.Busy() || b.Follow(1, 1, true) {
		t.Error("a commit follows none")
	}
	b.Begin(2, 2, true)
	for seq := uint64(3); seq <= 5; seq++ {
		if !b.Follow(seq, seq, seq == 3) {
			t.Errorf("%d does not follow", seq)
		}
	}
	for want := uint64(2); want <= 5; want++ {
		first, large := b.First()
		if large != (want <= 3) || large && first != want {
			t.Errorf("the first is %d (%v), want %d", first, large, want)
		}
		got, ok := b.Next()
		if !ok || got != want || !b.Busy() {
			t.Errorf("the next is %d (%v), want %d", got, ok, want)
		}
	}
	_, ok := b.Next()
	if ok || b.Busy() || b.Follow(6, 6, false) || b.Last.Load() != 5 {
		t.Errorf("after the last of %d there is one", b.Last.Load())
	}
}

// TestREL7_WhoseLargeCommitHasNoRoomWaits adds more large commits than there is room for, and a small one for which there
// is: nobody's turn lasts longer for that, and who has written the last large one waits behind it.
func TestREL7_WhoseLargeCommitHasNoRoomWaits(t *testing.T) {
	for _, drop := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := words.NewBacklog[int]()
			b.Begin(1, 1, true)
			if !b.Follow(2, 2, true) || !b.Follow(3, 3, false) || !b.Follow(4, 4, true) {
				t.Fatal("there is no room")
			}
			b.Await(3)
			waited := false
			go func() { b.Await(4); waited = true }()
			synctest.Wait()
			if waited {
				t.Error("who has written the third large commit did not wait")
			}
			if drop {
				b.Drop()
			} else {
				_, _ = b.Next()
			}
			synctest.Wait()
			if !waited || b.Busy() == drop {
				t.Errorf("it waited: %v, and the others were dropped: %v", waited, drop)
			}
		})
	}
}
