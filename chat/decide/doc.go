// Package decide does what answers propose, when a person has confirmed it, and keeps what was rejected from being done.
// README.md has what becomes of an action.
//
// # Who may call it
//
// Handlers of rpc for chat.confirmAction and chat.rejectAction, which a person calls by a client. No tool of a model
// does, nothing that ctxd runs by itself, and no setting: an action that nobody confirms is never done.
//
// # Concurrency
//
// A [Decider] is safe for concurrent use. An action is done in the transaction that stores its status, so it is done
// once, whoever confirms it at the same time and whenever the daemon ends.
package decide
