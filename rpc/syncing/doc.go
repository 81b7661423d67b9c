// Package syncing has the handlers of sync.*: the store that this machine shares with others. Package rpc lists them in
// its table of methods. All are for local connections, as the contract says: they tell of machines and change how the
// daemon runs. But for sync.conflicts they read no record of a person: that one shows what a call was to write, and what
// is in its place, as the local reader sees it.
//
// A Room stands over the replica of the daemon, or over none where the store is this machine's alone. The calls that wait
// are those of package waiting. The package keeps nothing and may be called concurrently. Its errors are those of package
// shared, and Conflict where nothing is shared.
package syncing
