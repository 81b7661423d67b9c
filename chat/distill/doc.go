// Package distill asks a model what of the memories that were found for a message matters, so that more of them fit into
// a prompt (REF-13). It is the Distiller of package gather, which says what may be asked and believes nothing of the
// answer: this package makes the question of it, by a template of package prompts, and reads JSON.
//
// What it asks counts as a step in the background, though somebody waits: it may be left out, so it is the first to end
// when much was spent.
//
// Package daemon makes one for the life of the daemon, over its providers. It keeps nothing, starts no goroutine, and
// may be called concurrently.
package distill
