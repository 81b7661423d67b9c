// Package intent finds what a message orders ctxd itself to do: to remember something, to forget it, to pin or to search.
//
// # Reading
//
// Read looks for commands (/remember) and for the phrases of phrases.txt ("remember that …", in many languages) and asks
// nothing and nobody; README.md says what is an order. Places are bytes of the message, half-open. O(message).
//
// # Routing
//
// A Router makes a proposal of each order, for who has said it, by the kinds of package action: it finds the memory that
// is to be forgotten and the note that is to be pinned. An order that nothing can be proposed for says why. Nothing is
// changed, and no model is asked. A search for the memory that is meant takes as long as memory.search.
//
// The handlers of rpc and package send call it. A Router keeps nothing but what it was made with; all of it is safe for
// concurrent use.
package intent
