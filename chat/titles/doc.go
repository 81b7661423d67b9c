// Package titles has a model make the titles of conversations, in the background. README.md names its promises.
//
// # Who may call it
//
// The handler of chat.send, when an answer is stored. It is never made to wait. The rooms under a [Titler] may be
// replaced: what it does with them it does by the Enter of a [House].
//
// # Privacy
//
// What goes into a request, and how private it is, is read from the store right before each try. A turn in which
// anything is private goes to no remote provider. Its title is private for good (see package chat).
//
// # Concurrency
//
// All methods may be called concurrently. One goroutine asks for one title after the other, so that a long wait for a
// budget is one wait. Close ends it and waits for it.
package titles
