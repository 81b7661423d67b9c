package rpc

import "fmt"

// DiskThresholds says how much of a disk must be free. Each bound is in bytes; 0: nobody is told.
type DiskThresholds struct {
	Notice  int64 // less is mentioned
	Warning int64 // less hardly has room for a snapshot beside the last one, and a backup beside them
	Error   int64 // less may end the next write
}

// DefaultDiskThresholds is the Room of a daemon that is configured no further.
var DefaultDiskThresholds = DiskThresholds{Notice: 5 << 30, Warning: 1 << 30, Error: 500 << 20}

// How little room there is.
const (
	DiskEnough = iota
	DiskLow
	DiskVeryLow
	DiskFull
)

// Of says how little is free.
func (r DiskThresholds) Of(free uint64) int {
	less := func(than int64) bool { return than > 0 && free < uint64(than) }
	switch {
	case less(r.Error):
		return DiskFull
	case less(r.Warning):
		return DiskVeryLow
	case less(r.Notice):
		return DiskLow
	}
	return DiskEnough
}

// DiskLeft says how much is left on the disk of the data.
func DiskLeft(free uint64) string {
	const unit = 1 << 10
	amount := fmt.Sprintf("%d MiB", free/unit/unit)
	if free >= 10*unit*unit*unit {
		amount = fmt.Sprintf("%d GiB", free/unit/unit/unit)
	}
	return "the disk of the data has " + amount + " left"
}
