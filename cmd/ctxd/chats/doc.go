// Package chats is ctxd chat: the conversation with a language model, and the conversations that are kept.
//
// Each command is a few calls of the protocol. A command takes a conversation by its id or handle; the daemon says
// which one that is (connect.FindConversation), and the call that follows names it by its id. A command that changes
// one names the version that it read, so that somebody else's change in between is a conflict and not lost.
//
// list.go and show.go show conversations, search.go finds messages of them, append.go and import.go add to them,
// export.go writes them to files, pin.go says what stands in their prompts, change.go changes and deletes them.
//
// say.go has the commands that ask a model, sending.go asks and takes the deltas of the answer, drawn.go shows them.
// converse.go is the prompt, slash.go its commands, complete.go what Tab offers there; follow.go shows the answers
// that others ask for. Deltas come on the goroutine that reads the connection, and are drawn on that of the command.
//
// The package keeps no state; a command is used by one goroutine. Only cmd/ctxd calls them.
//
// Wall: subject: ctxd chat.
package chats
