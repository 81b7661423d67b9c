// Package background asks language models what nobody waits for, one question after the other: titles of conversations,
// sentences about notes.
//
// # Who may call it
//
// The rooms that make such a thing. Each has a [Queue] of its own, so that many questions of one kind don't hold up
// those of another.
//
// # Budget
//
// What is asked here is counted apart from answers. While the budget allows nothing more, a queue waits and tries again
// each minute; what waits meanwhile is bounded, and what is more is given up. Nothing is kept over a start.
//
// # Concurrency
//
// All methods may be called concurrently. One goroutine works for a queue. Close ends it and waits for it.
package background
