package daemon

import (
	"runtime"
	"testing"
)

// On one processor a daemon runs two threads, or others would wait for each turn of a
// long read. Where there are more, they stay as they are.
func TestREL7_OneProcessorHasTwoThreads(t *testing.T) {
	for _, c := range []struct{ processors, want int }{{1, 2}, {2, 2}, {5, 5}} {
		before := runtime.GOMAXPROCS(c.processors)
		d := started(t, t.TempDir())
		got := runtime.GOMAXPROCS(before)
		if got != c.want {
			t.Errorf("with GOMAXPROCS=%d a daemon runs %d threads, want %d", c.processors, got, c.want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
