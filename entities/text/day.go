package text

import "time"

// Day is the day of a time as people read it, in the zone of this machine, such as 2026-03-04.
func Day(t time.Time) string { return t.Local().Format(time.DateOnly) }
