// Package chat keeps conversations and their messages: what was said, by whom and on which branch, what a message
// refers to, what was pinned and proposed, and how an answer was given.
//
// README.md names the promise behind each id of a test.
//
// # Parts
//
//   - store.go, record.go, codec.go, members.go: the store, its records and how they lie in it
//   - write.go, many.go, intake.go, whole.go: messages that are added, and conversations that are exported and
//     imported
//   - answer.go, part.go, turns.go, history.go: questions, answers while they are given, and turns
//   - branch.go, fork.go: which messages follow each other
//   - settings.go, bounds*.go, pins.go: settings and pins, and what may be said
//   - named.go, unusedname.go, rename.go, titled.go: handles, hashes and titles
//   - refer_*.go, reference.go, referred.go: what messages refer to
//   - action.go: actions that answers propose
//   - trace_*.go: what a model was given for an answer
//   - details.go, standing.go: what an answer says beside its text, and which are private by what they stand on
//   - handles.go, called.go, handled.go: handles for menus, and for the masks of context/audience
//   - changes.go, indexed.go, prompted.go: what events, indexes and prompts read
//   - check.go, mend.go: what does not fit together, and is mended
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader, and the folders of chat: send answers messages, background asks models,
// transfer imports and exports. The daemon opens it behind the memories.
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
//	message-trace        how an answer was given, by id of the conversation and of the answer (trace_record.go)
//
// All of them are deleted with the conversation. Check compares them. Members of records that this program does not
// know are kept when a record is written again.
//
// # Privacy
//
// A remote reader sees only messages that are not private, of conversations that are not. They have numbers of their
// own, without gaps, so that a message has one index for a local reader and may have another for a remote one. Titles,
// handles, hashes, counts and times are made of what the reader sees. A conversation that begins with private messages
// alone is private.
//
// A title that a model made is shown to a remote reader while all of the turn that it was made of is, and never when
// anything of that was private then.
//
// A title is cut after names of private records were taken out of the whole message: a place that the end cuts through
// would not be found any more.
//
// # Lifetime and concurrency
//
// A [Store] lives as long as the store of records below it. All methods are safe for concurrent use. Reads never wait
// for the disk.
//
// Wall: subject: conversations and their messages.
package chat
