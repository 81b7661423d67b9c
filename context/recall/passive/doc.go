// Package passive finds what is remembered that is near to what was just said in a conversation, before anybody
// asks for it (MEM-42). Recall is told of each turn, and looks in the background for what the last two turns are
// near to. What it finds waits for the next prompt of that conversation.
//
// # What is kept
//
// Ids of memories and of messages, never a text, and the vectors of the last 64 texts under their hashes. Each
// audience has buffers of its own, of the conversations in which something was said last: 256 of them. All of it
// is in memory: after a start nothing waits until the next turn. Waiting looks the records up again, so it shows
// nothing that was deleted, retracted or hidden since.
//
// # The worker
//
// One goroutine does all the work, one conversation at a time, and rests in between as long as it worked; there is
// none while nothing waits. A conversation that waits for its turn waits once, whatever is said in it meanwhile.
// What is found late serves the next prompt; until then that has what an earlier turn left.
//
// # How it is chosen
//
// Both turns together are one vector, the sum of theirs. Memories that are active and of confidence 0.5 at least,
// and messages of other conversations, are ordered by 0.6 of their cosine, 0.3 of their confidence (0.7 for a
// message) and 0.1 of how recent they are (halved every 30 days). Of those that are at a cosine of 0.8 only the one
// with the highest confidence stays. Of facts (the tiers patterns and memoryBank) and of episodes (other memories,
// and messages) three are kept each, and up to two more whose score is 0.9 of that of the best.
//
// The levels under which nothing is near, or a conversation has changed its subject, depend on the model
// (levels.go), which says what they were measured on.
//
// # Privacy
//
// What is looked for is what the reader of a buffer sees of the conversation. A remote reader is told of no turn
// that he does not see, and what waits for him is dropped when private records change, since it was chosen by
// names that may be private now. An embedder on another machine gets what a remote reader sees, and nothing of a
// private conversation; a text on its way to it is called back when its conversation is deleted or becomes private.
//
// # Who may call it
//
// Package chat tells it of turns, package gather asks it. Closing the store ends it: open it after the indexes that it
// asks, so that it is closed before them. All methods may be called concurrently.
package passive
