// Package replicate is the protocol between one store and the log of commits that it shares
// with other machines: when a group of transactions is appended, what follows when somebody
// else was first or the outcome is not known, when others are read, and how machines take
// turns. It knows entries and positions, and nothing of records, journals or views: those
// are the store's, which gives itself as a Store and is called from one goroutine, Run.
// Package commitlog has a picture of the whole, and the words.
//
// A Runner lives as long as its store is open. Run is called once, all other methods by anybody at
// any time.
//
// # One step of Run
//
// Run waits for one event, handles it, and then serves who has asked for something (serveAsks):
//
//   - something is queued: commit appends it as one entry and has it written and applied. When
//     others were first, their entries are applied and everything accepted is aborted.
//   - the log says that something has come: applyArrived applies it, without asking the servers
//     where that is possible.
//   - nothing could be read for a while: readToEnd tries again.
//   - the time is over for which the gate was closed, or for which this machine had a turn.
//   - somebody wants a turn (Reserve) or the end of the log (CatchUp).
//
// # Taking turns
//
// Of several machines that append behind the same position, one wins. What the others had
// run is aborted: they apply the winner's entry and run their transactions again. Of the machines
// that have written lately, the one whose last entry is the oldest goes at once, and the others
// wait, one turn for each machine before them (commitlog.Pace), so that nobody has it all and
// few lose; nobody waits while nobody else writes. A machine whose transactions take long to
// run would lose to quick ones for ever: its store calls Reserve when a transaction has been
// overtaken a few times. That appends an entry without transactions, which asks the others to
// leave this machine the next turn, for at most a second (commitlog.MaxHold). All transactions
// of a machine that want a turn share one, and a machine does not ask while another one has
// the turn.
//
// # Upgrades
//
// All entries up to some position have the records' older format, and all behind it the newer
// one. A program with the newer format that opens a store of the older one hands over what is
// in the log as it is, up to its end, and appends an entry of the newer format without
// transactions, by compare and append (Settle). If somebody was first, it reads on. Then the
// store is upgraded, in one step with what was handed over and with the position. So everything
// before that entry is upgraded on every machine, and nothing behind it. A machine with the
// older program can't apply the entry, so it can't append behind it: it says that the newer
// program is to be installed, and goes on reading. The next machine with the newer program
// finds the entry there. A process that dies between any two of these steps begins again: what
// was handed over is not durable before the upgrade is, and an entry that is there already is
// found.
//
// When the log can't be used the store is upgraded with what it has, and the entry is appended
// as soon as it can, before anything else is: at the first contact of this start or of a later
// one, since the store keeps that (commitlog.Applied). If another machine has written in the older
// format by then, what is here can't be continued: the machine has to join anew. A store that
// was off while others went through two formats, and wrote in the first of them, has to as well.
// A snapshot of the older format, for machines that join, is upgraded like a store that was
// off: the entry is behind it in the log.
//
// # A log that takes nothing
//
// A log may be read and take no entries: it has no room and says so (commitlog.ErrFull), or does
// not answer. Either is told until an entry was appended; reading does not end it. Where nobody
// answers, an entry without transactions is appended before the next group, so that only one
// group can't be told whether it is there. What is provisional stays so meanwhile.
//
// # Entries without transactions
//
// CatchUp and Reserve append entries without transactions, and wait their turn as groups do.
// When there were only such ones for 1,000 positions, the next has a transaction without
// writes, so that stores keep their position with it.
//
// # Errors
//
// Errors are *fault.Error of kind Unavailable, but for a Limit of the log; those are
// Retryable where the log's was. Catching up takes the time of the entries that are read, at
// most 4 MiB of which are in memory at a time.
package replicate
