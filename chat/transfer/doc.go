// Package foreign reads conversations out of the data exports of other chat services: those
// of ChatGPT and Claude, as conversations.json or as the .zip that both deliver. The form is
// told by the content, never by the name of a file. The package stores nothing and knows
// nothing of our own conversations; `ctxd chat import` (CHAT-36) calls Read and gives what
// it yields to chat.append.
//
// # Memory
//
// A file is an array of conversations. Read holds one of them at a time: its bytes and the
// text of its messages. A conversation over 64 MiB, of more than 100,000 messages or nested
// deeper than 512 is skipped while it is read, without being held, and stands in the
// report. Beside that Read keeps a buffer of 256 KiB, 100 problems and the hashes of the
// first 262,144 conversation ids. Of a .zip it holds the list of its files.
//
// # Damage
//
// The scanner checks the syntax of JSON byte by byte, so damage is found where it is. It
// then looks for the next object that is a conversation and goes on from there. Inside a
// conversation each member of a wrong type counts as absent.
//
// # What counts as said
//
// Both services keep edited questions and repeated answers as branches of a tree. The
// conversation is the branch that ends at the message that the service calls the current
// one, or at the newest one. The report counts the others. Messages that nobody saw, calls
// of tools with their results, and reasoning are left out and counted.
//
// # Concurrency
//
// Read keeps no state between calls, so calls may run concurrently. It calls yield and
// progress from the goroutine that called it.
package transfer
