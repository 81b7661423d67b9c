// Package tool has the tools that a model may call: each with its name, description, schema, what it does and the
// text that it answers with, once for chat.send, tools.call and ctxd mcp.
//
// [List] has them, and a [Set] runs a call. A [Turn] runs the calls of one answer within its bounds, and knows what they
// have read. README.md has the table of the tools and the promises.
//
// # What a model is told
//
// A call always gives a [Result] that the model can read: an unknown tool, wrong arguments, nothing found and a
// timeout are results too, which say what would be right. The only error is that of a context that has ended.
// Titles, names and values are escaped in texts as prompts escape them. Every record stands there with its id.
//
// # Privacy
//
// A call reads through the View of its Env, and nothing else: what its reader does not see is not found, counted or
// named, in texts, errors and candidates alike. For a local reader Result.Private says whether a remote one would
// have been given another result. It is found out by asking for that one too, so no tool can forget to say it.
//
// # Proposals
//
// No tool changes a record. create_task and assign_entity check their arguments, and give a [Proposal] that a person
// confirms or not. memory.recordResponse, of which the specification makes a tool record_response, waits for the room
// that learns from outcomes.
//
// # ctxd mcp
//
// The adapter of MCP is a client of the socket and offers more tools, with pages of any length and filters. Of the
// tools that both have, read_note, get_entity, explore_graph and query are those of this package: it calls tools.call.
// search_notes has filters and pages there, and recall stands in the place of search_memory; these ask notes.search and
// memory.search. What is said of the tools, and how records are written, stands once in package show.
//
// # Who may call it
//
// The send pipeline of chat and handlers of rpc.
//
// # Lifetime and concurrency
//
// A Set lives as long as the rooms that it asks, holds nothing of a call, and is safe for concurrent use. A Turn
// belongs to one goroutine, and runs the calls of a round side by side.
package tools
