package memory

import "github.com/ctxd/ctxd/entities/kv"

// CountsUse reports whether a change is one of how a memory was used; its ID is that of the memory.
func CountsUse(ch kv.Change) bool {
	_, _, ok := uses.Of(ch)
	return ok
}

// ChangesSynonyms reports whether a change is one of a set of synonyms.
func ChangesSynonyms(ch kv.Change) bool {
	_, _, ok := synonymSets.Of(ch)
	return ok
}
