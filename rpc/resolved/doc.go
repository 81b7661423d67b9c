// Package resolved answers refs.resolve: one reference, or several of which each has its own error. It
// finds the record that refs.rename is to give another handle. Names says which names in the fields of entities lead
// to no record.
//
// The handlers of rpc call it. It holds nothing, and is safe for concurrent use.
package resolved
