//go:build twice

package kv

// twice has every transaction run once more before it counts, as it would when other machines
// were first: go test -tags twice ./notes/... A function of Update that keeps something of its
// first run fails its tests then. The tests of this package itself count runs, and fail with it.
const twice = true
