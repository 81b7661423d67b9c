// Package action declares what a conversation can propose to do: each kind of action with its args, their checks, and
// what confirming one does. README.md has the table of the kinds and how to add one.
//
// # Who may call it
//
// Who proposes calls [Propose]: the tools of a model, and what reads orders out of a message. Who confirms calls
// [Prepare] and then Do of what it gives: package decide, in the transaction that says so in the conversation. Nobody
// else calls Do, so that nothing is done that no person has confirmed.
//
// # Privacy
//
// Prepare sees records through the View of who confirms, and nothing else: what is not there for the reader is
// answered like what there is not.
//
// # Concurrency
//
// All functions are safe for concurrent use. Prepare reads the rooms outside of a transaction. Do pins what was read:
// it is a Conflict when a record has changed since.
package action
