package daemon

import "testing"

func TestCollectorFollowsTheTexts(t *testing.T) {
	for _, c := range []struct {
		texts int64
		want  int
	}{{0, 100}, {50 << 20, 100}, {125 << 20, 56}, {200 << 20, 12}, {1 << 40, 12}} {
		if got := gcPercent(c.texts); got != c.want {
			t.Errorf("beside %d bytes of texts there may be %d percent of garbage, want %d", c.texts, got, c.want)
		}
	}
}
