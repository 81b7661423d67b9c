package hook

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// The id of a conversation is that of its session, at each call, and tells its host and no other.
func TestCLI12_AConversationTellsItsHost(t *testing.T) {
	for i := range hosts {
		h := &hosts[i]
		id := h.conversation("s1")
		if id != h.conversation("s1") || id == h.conversation("s2") {
			t.Errorf("%s: %s is not that of one session", h.name, id)
		}
		for j := range hosts {
			if hosts[j].keeps(id) != (i == j) {
				t.Errorf("%s keeps %s of %s", hosts[j].name, id, h.name)
			}
		}
		if h.keeps(uuid.NewString()) || h.keeps("weekend_trip") {
			t.Errorf("%s keeps what is not of it", h.name)
		}
	}
}

func TestCLI12_SilenceIsSaidAfterAWeek(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name      string
		installed bool
		last      time.Duration // before now; 0: never
		settings  time.Duration // before now, when they were last written
		silent    bool
	}{
		{"kept lately", true, time.Hour, 30 * 24 * time.Hour, false},
		{"stopped", true, 8 * 24 * time.Hour, time.Hour, true},
		{"installed just now", true, 0, time.Minute, false},
		{"never since it was installed", true, 0, 8 * 24 * time.Hour, true},
		{"not installed", false, 8 * 24 * time.Hour, 0, false},
	} {
		x := Capture{Installed: c.installed}
		if c.last > 0 {
			x.kept(now.Add(-c.last - time.Hour))
			x.kept(now.Add(-c.last))
		}
		if x.quiet(now, now.Add(-c.settings)); x.Silent != c.silent {
			t.Errorf("%s: silent is %v", c.name, x.Silent)
		}
	}
}
