// Package freename finds a name that is free among those that differ by a counter, in a time that does not grow with how
// many are taken: handles of conversations of one title, and hashes of messages of one text.
//
// Package chat calls it inside its transactions. Names are safe for concurrent use, live as long as the store, and may
// be forgotten at any time.
package freename
