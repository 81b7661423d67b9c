// Package outcomes keeps what was shown in each conversation until somebody says how it went, and scores the memories of
// it: what worked is found sooner, what failed later.
//
// # What is scored
//
// Memories of the tiers working, history and patterns have a score and counters, which an outcome changes together with
// the event that tells of it, in one transaction. Facts of memoryBank are named by the event and not scored: that an
// answer helped makes a fact no truer. Messages have an outcome and no counters.
//
// # What was shown
//
// [Room.Show] notes the last results of a conversation, by id alone, up to [MaxShown] of them, for the [MaxConversations]
// conversations that were shown something last. It waits for nothing: the record is written behind the call, so a
// process that is killed within milliseconds forgets the last results. Once scored they stay, marked, so that a repeat
// finds them and scores nothing, also after a restart.
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader: memories that he does not see are not there. Times are those of the
// store's clock, scores hundredths between 0 and 1. The errors are Invalid with the field at fault, NotFound for an id
// that nothing has, and those of the store.
//
// # Concurrency
//
// All methods may be called concurrently. Scorings are done one after the other. All costs are O(results of a call).
package outcomes
