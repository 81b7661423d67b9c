// Package resolve says which records the references of a message lead to: memories by number, id or
// handle, contexts with all that lies below them, tags, domains, entities, conversations, their messages
// and notes (REF-7).
//
// Resolve takes one reference. InMessage finds all of a text: those that package refs reads without
// knowing a store, and names, which may have several words. The longest of what a place may mean counts,
// of one length the first in the order of REF-7, and of two records that are called the same none: the
// error names both.
//
// # Who may call it
//
// The handlers of rpc, and package gather. Who reads gives the View of the reader: for a remote one a
// private record answers as one that is not there, and is no candidate.
//
// # Messages of conversations
//
// Conversations lie to the right of this room. What it needs of them are functions of Options, which
// cmd/ctxd fills in.
//
// # Concurrency
//
// A Resolver holds nothing but what it was made with, and may be used by any number of goroutines. The
// stores that it asks are asked one by one: what is written meanwhile may be seen by the later ones.
package resolve
