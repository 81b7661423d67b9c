// Package protocol is the contract between ctxd and its clients: the names of the methods, their parameters and
// results, the error codes, the notifications and their topics. It holds data and no behaviour; everything that
// describes the protocol elsewhere (the document that rpc.discover answers with, the table in the README, clients in
// other languages) is made from it.
//
// # Reading the types
//
// A parameter or result is a struct; its tags are the contract and are read by the strict decoder of rpc/jsonrpc and
// by the schema of rpc/protocol/openrpc alike:
//
//	json        the name; a field without omitempty or omitzero is required
//	jsonschema  the description
//	default     the value that an absent field stands for
//	min, max    the least and the greatest number
//	enum        the accepted strings, separated by commas
//
// An Optional tells an absent field, a null and a value apart; patch methods need that. Records (record.Note,
// record.Entity, record.Type) are those of entities/record, not copies of them.
//
// Methods, Notifications, Topics and Codes are the four tables. What a method may answer with is in Method.Errors: its
// own codes and those that any call of its mode may get. Tests keep the tables whole: a method, field, code, topic or
// notification that is not described, or an example that does not fit its schema, fails them.
//
// # Use
//
// rpc, rpc/client, cmd and anything that speaks the protocol may import this package, programs of others too: with it
// come declarations alone (entities/record, context/prompt, chat/turn), no store and no index. What describes it
// stands in rpc/protocol/openrpc. rpc/client shows in its example how a method is called with these types; other
// languages make theirs from rpc.discover, as ts/src/protocol.ts in rpc/client is made. All values are read-only after
// initialisation and may be used concurrently.
//
// Wall: promise: a contract that brought in a store or an index would carry it into every client.
package protocol
