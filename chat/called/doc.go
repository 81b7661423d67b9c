// Package called tells context/audience of the records that texts refer to by handles, and that lie in rooms to its
// right: memories, contexts and conversations. A View masks what refers to a private one of them (PRIV-8).
//
// It holds nothing: who opens the rooms of a store calls Tell once, behind memories and conversations and before the
// indexes of texts, which keep what may be shown to whom.
package called
