// Package found writes what a search says of itself as the protocol has it: how the query was read, what
// counted, and what found a hit.
//
// Handlers of rpc call it. It is pure, and safe for concurrent use.
package found
