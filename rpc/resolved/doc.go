// Package resolved answers refs.resolve: one reference, or several of which each has its own error.
//
// The handler of rpc calls it. It holds nothing, and is safe for concurrent use.
package resolved
