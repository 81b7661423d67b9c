package text

import (
	"sync"
	"time"

	"github.com/thlib/go-timezone-local/tzlocal"
)

// Day is the day of a time as people read it, in the zone of this machine, such as 2026-03-04.
func Day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// ZoneName is the name of the zone of a time in the IANA database, such as Europe/Berlin; "" where it has none, or the system
// does not say by which name it goes.
func ZoneName(t time.Time) string {
	name := t.Location().String()
	if t.Location() == time.Local {
		name, _ = localZone()
	}
	if zone, err := time.LoadLocation(name); err == nil { // Windows has no such files
		_, is := t.In(zone).Zone()
		if _, has := t.Zone(); is != has { // the system was moved to another zone since this program began
			return ""
		}
	}
	return name
}

// localZone is asked once: this program keeps the zone in which it began.
var localZone = sync.OnceValues(tzlocal.RuntimeTZ)
