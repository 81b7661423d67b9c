// Package pairs is what lies beside the ordered set of keys and values of a store: an Overlay
// of writes that are accepted and not yet applied, a Capture of what writes replace while a
// snapshot is written, a Batch of writes on their way into it, and the
// merging and changing of lists in key order. It knows neither the set nor
// transactions, and has no errors of its own.
//
// An Overlay has a lock of its own; a Capture and a Batch are for one goroutine, or guarded by whoever owns them. Looking up is
// O(1), a range of an Overlay O(writes in it), a range of a Capture O(log n + keys in it).
package pairs
