// Package groups finds memories by what they share: a tag or a domain, the tree of which is made of the
// slashes in it, an entity that they are about, a conversation that they come from. It finds contexts by
// their names. Package memory, which makes it from the records whenever it opens, keeps it current.
//
// An Index knows ids alone, and no reader: who asks leaves out what the reader does not see.
//
// An Index has no lock: its owner has one. The functions may be called concurrently.
package groups
