package text_test

import (
	"testing"
	"time"
	_ "time/tzdata" // zones, wherever the test runs

	"github.com/ctxd/ctxd/entities/text"
)

// TestCTX45_TheZoneOfADay: a zone has its name, and this machine's is one that has its offset.
func TestCTX45_TheZoneOfADay(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, in := range map[string]time.Time{"UTC": noon, "Asia/Tokyo": noon.In(tokyo)} {
		if got := text.ZoneName(in); got != name {
			t.Errorf("%q, not %q", got, name)
		}
	}
	for _, at := range []time.Time{noon, noon.AddDate(0, 6, 0)} {
		at = at.In(time.Local)
		name := text.ZoneName(at)
		if name == "" {
			t.Skip("this machine does not say by which name its zone goes")
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := at.In(zone).Zone(); err == nil {
			if _, has := at.Zone(); is != has {
				t.Errorf("%s is %d seconds from UTC, this machine %d", name, is, has)
			}
		}
	}
	if got := text.ZoneName(noon.In(time.FixedZone("", 3600))); got != "" {
		t.Errorf("an offset has no name: %q", got)
	}
}
