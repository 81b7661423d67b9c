// Package trace keeps what a model was given for an answer, and why: for chat.inspect, long after the prompt is gone.
//
// README.md names the promise behind each id of a test, and what a trace has.
//
// # What is kept
//
// A [Record] has ids, numbers and words of this program: no title, no name, no text. What a record is called is looked
// up when somebody reads the trace, through his View, so a trace tells no more than he may see then. The system prompt
// itself is not kept: its SHA-256 and the size of each section are.
//
// # Size
//
// The lists of a Record are bounded, and so are ids, so that one has no more than [MaxBytes]; what is over a bound is
// counted. Most have 1 to 4 KiB.
//
// # Who may call it
//
// Package send makes a Record, on the goroutine of its call. The store of conversations puts it beside the answer, in
// the transaction that stores it, and deletes it with the conversation. A [Reader] shows it, for handlers of rpc.
package trace
