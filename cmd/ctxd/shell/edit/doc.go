// Package edit is the line editor of the prompt of ctxd wql: a text of several
// lines with the keys of Emacs, words that Tab completes, and a history that
// Ctrl-R searches.
//
// editor.go is the text and the keys, draw.go the terminal, history.go the file
// that only this user can read. It moves by graphemes and measures in columns of
// the terminal. It knows no WQL: what Tab offers is a function of its Editor.
//
// Read is called by one goroutine, with the terminal in raw mode; who calls it
// sets and restores that mode. Prompts that run at a time add to one history.
package edit
