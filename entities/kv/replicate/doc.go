// Package replicate is the protocol between one store and the log of commits that it shares
// with other machines: when a group of transactions is appended, what follows when somebody
// else was first or the outcome is not known, when others are read, and how machines take
// turns. It knows entries and positions, and nothing of records, journals or views: those
// are the store's, which gives itself as a Store and is called from one goroutine, Run.
//
// A Runner lives as long as its store is open. Follow, CatchUp, Reserve, Free, Wake, Conflicts and End may
// be called by anybody at any time; Run is called once.
//
// # Taking turns
//
// Of several machines that append behind the same position, one wins. What the others had
// run is void: they apply the winner's entry and run their transactions again. The winner
// then waits, by chance, for up to three times as long as an append takes, and who loses
// waits less each time (commitlog.Pace), so that nobody has it all; nobody waits while
// nobody else writes. A machine whose transactions take long to run would lose to quick ones
// for ever: its store calls Reserve when a transaction has been overtaken a few times. That
// appends an entry without transactions, which asks the others to leave this machine the next
// place, for at most a second (commitlog.MaxHold).
//
// Errors are *fault.Error of kind Unavailable, but for a Limit of the log; those are
// Retryable where the log's was. Catching up takes the time of the entries that are read, at
// most 4 MiB of which are in memory at a time.
package replicate
