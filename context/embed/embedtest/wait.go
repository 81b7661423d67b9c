package embedtest

import (
	"testing"
	"time"
)

// Hang is how long a test waits for what must happen.
const Hang = 2 * time.Minute

// Eventually waits until something is so, or fails the test after Hang.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick, end := time.NewTicker(time.Millisecond), time.After(Hang)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
