// Package chat keeps conversations and their messages.
//
// README.md names the promise behind each id of a test.
//
// # Who may call it
//
// Handlers of rpc. Who reads gives the View of the reader.
//
// # Records
//
//	conversation         a conversation, by id
//	message              a message, by id of the conversation and index
//	message-public       the index of a message that is not private, by its number among those
//	message-name         the index of a message, by id of the conversation and hash
//	message-client       which message a client gave an id, by a hash of that, conversation and index
//	message-action       whether an action waits, by its id, conversation and index of the message that proposes it
//	message-part         a piece of an answer that is being given, by id of the conversation, of the answer, and number
//	conversation-handle  who has a handle
//	conversation-client  which conversation a client gave an id, by a hash of that and the conversation
//	message-trace        how an answer was given, by id of the conversation and of the answer: package trace
//
// All of them are deleted with the conversation. Check compares them.
// Members of records that this program does not know are kept when a record is written again.
//
// # Privacy
//
// For a remote reader there are only the messages that are not private, of conversations that are not.
// They have numbers of their own, without gaps, so that a message has one index for a local reader and
// may have another for a remote one. Titles, handles, hashes, counts and times are made of what the
// reader sees. A conversation that begins with private messages alone is private.
//
// A title that a model made is shown to a remote reader while all of the turn that it was made of is, and never when
// anything of that was private then.
//
// A title is cut after names of private records were taken out of the whole message: a place that
// the end cuts through would not be found any more.
//
// # Concurrency
//
// All methods are safe for concurrent use. Reads never wait for the disk.
//
// # Size
//
// More than 2,500 lines: a conversation, its settings and pins, its messages with their numbers for both readers,
// and what mends them after damage change the same records in one transaction. What reads exports, searches and
// asks models are rooms of their own.
package chat
