// Package tools has the tools that a model may call: each with its name, description, schema, what it does and the text
// that it answers with, once for chat.send, tools.call and ctxd mcp. It also has the actions that answers and messages
// propose, and does them when a person confirms them.
//
// README.md has the tables of the tools and of the actions, and the promises.
//
// # Parts
//
//   - tool.go, call.go, arguments.go, turn.go: the Set of tools, a call, its arguments, and the calls of one answer
//   - entities.go, notes.go, memory.go, record.go, reference.go: the tools that read, and what they show
//   - propose.go: the tools that propose
//   - action*.go: the kinds of actions: their args, checks, and what confirming one does
//   - decide.go: actions that a person confirms or rejects
//   - intent_*.go: what a message orders ctxd itself to do
//
// # Who may call it
//
// Package send and handlers of rpc; package chat stores actions by it. [List] has the tools, and a [Set] runs a call. A
// [Turn] runs the calls of one answer within its bounds, and knows what they have read.
//
// # Privacy
//
// A call reads through the View of its CallEnv, and nothing else: what its reader does not see is not found, counted or
// named, in texts, errors and candidates alike. For a local reader Result.Private says whether a remote one would have
// been given another result. It is found out by asking for that one too, so no tool can forget to say it.
//
// # Lifetime and concurrency
//
// A Set lives as long as the stores that it asks, holds nothing of a call, and is safe for concurrent use. A Turn
// belongs to one goroutine, and runs the calls of a round side by side. A Router and a Decider keep nothing but what
// they were made with.
//
// Wall: subject: what a model may call and propose, and a message may order.
package tools
