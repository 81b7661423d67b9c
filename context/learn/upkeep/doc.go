// Package upkeep keeps facts in order: it counts what supports them, lets fade what nobody repeats, settles or contests
// what contradicts another, merges what says the same, and asks a model what rules cannot decide. README.md names its
// promises.
//
// Facts are the memories of the tiers memoryBank and patterns. A run goes through its steps in their order. Each step looks
// at what is stored, plans its changes, and writes them in transactions of at most 100 memories, with an event for each. A
// change whose memory is not any more what it was planned for is left out. So a run that was killed goes on where it was,
// a second run finds nothing to do, and a dry run plans the same changes and writes none.
//
// # Privacy
//
// Facts that a remote reader sees and facts that he does not see are never compared, and a private source supports private
// facts alone: nothing of what a remote reader is shown depends on a record that he is not shown. A model that is not on
// this machine is asked about the first alone, in the words that a remote reader is shown. A report names all facts, so it
// is for a local reader; [Keeper.Conflicts] and [Keeper.Settle] take the View of theirs.
//
// # Records
//
//	learn-pair     two facts of which something was decided, or waits to be, by both ids
//	learn-pair-of  the same by the ids in the other order
//	learn-upkeep   the last run, and up to when messages were looked at
//
// # Concurrency
//
// Everything may be called concurrently; one run or undo works at a time, and another is refused with Unavailable. Between
// facts a run gives way to calls (package yield). It costs O(facts · (facts + new messages) · dimensions), about 5 ms for
// each fact among 100,000 messages, and holds their vectors meanwhile.
package upkeep
