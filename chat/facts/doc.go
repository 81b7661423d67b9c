// Package facts has a model find what a person tells about themselves in a message, in the background, and decide how two
// remembered statements stand to each other. README.md names its promises.
//
// # Who may call it
//
// The handler of chat.send calls [Extractor.Answered] when an answer is stored, and never waits for a model. A run of upkeep
// (package context/learn/upkeep) calls [Extractor.Run] and [Adviser.Decide], and waits. The rooms of an Extractor are those
// of one store: another store has another one.
//
// # Records
//
//	learn-extract  a message in which nobody has looked for facts yet, by its id
//
// A message stays there until a model has answered, over starts of the daemon. The newest [MaxWaiting] are kept.
//
// # Privacy
//
// What a model is given is read from the store right before it is asked, and whether it is private, too. A model on another
// machine is given what a remote reader would see; a private message goes to none. A fact of a private message is private.
//
// # Concurrency
//
// All methods may be called concurrently. A run asks for one message after the other, O(messages of its conversation) each.
package facts
