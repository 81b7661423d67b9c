// Package importing stores the conversations of data exports of other chat services (CHAT-36): what
// package foreign reads becomes conversations of package chat. An export of this program goes to package exchange.
//
// # Who may call it
//
// Handlers of rpc. Who imports gives the View of the reader.
//
// # Again
//
// Each message gets a client id made of its service, its conversation and its own id there. A message
// that is there is not stored again: a later export of a conversation that went on adds what is new at
// its end. What was deleted comes back.
//
// # Memory
//
// Messages are stored in groups of about a MiB, each in one transaction. Beside a group, and what
// package foreign holds, a dry run keeps 8 bytes of each message, to count one that stands in the file
// twice only once.
//
// # When it ends early
//
// What is stored is a beginning of the file: an import that was cancelled, or failed, is completed by
// the next one.
//
// # Concurrency
//
// An import keeps no state between calls. Calls may run concurrently, those of the same file too.
package importing
