// Package outline answers what an editor asks about the structure of an open document: its
// symbols, what can be folded, and the ranges around a place that a selection grows to.
//
// It looks at the document alone and asks the daemon nothing: all is linear in the length
// of the text, and nothing fails.
package outline
