// Package found writes what a search says of itself as the protocol has it: how the query was read, what
// counted, and what found a hit. memories.go has what memory.search asks for and answers.
//
// Handlers of rpc call it. It is pure, and safe for concurrent use.
package found
