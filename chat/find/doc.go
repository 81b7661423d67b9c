// Package find searches what was said in conversations.
//
// It asks the index of messages and shows each hit as the reader may see it. Handlers of rpc call it, with
// the View of the reader. It keeps nothing, and is safe for concurrent use.
package find
