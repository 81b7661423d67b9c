package transfer

import "testing"

// SetSizes sets for a test which files are written in groups, and how large those are.
func SetSizes(t testing.TB, whole, group int64) {
	t.Helper()
	w, g := wholeBytes, groupBytes
	wholeBytes, groupBytes = whole, group
	t.Cleanup(func() { wholeBytes, groupBytes = w, g })
}
