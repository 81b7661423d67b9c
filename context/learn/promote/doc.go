// Package promote moves memories between the tiers by what became of them: from working to history at a score of 0.7 and
// two uses, from history to patterns at 0.9 and three; what falls below 0.2 is archived. It goes on until nothing moves,
// so that a second run changes nothing.
//
// # Owner
//
// One [Owner] of a store moves memories; its runs are done one after the other. Each move is checked again in its
// transaction and written together with its event. Nothing that is pinned or always injected is archived, and facts of
// memoryBank are left alone.
//
// # When it runs
//
// [Pace] says when a run is due: at the start, each 30 minutes and each 20 messages. It has no clock of its own and starts
// nothing.
//
// # Cost
//
// A run is O(memories) in memory and writes what moves, [group] memories a transaction. The errors are those of the store,
// and that of the context.
package promote
