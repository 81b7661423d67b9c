// Package edit is the line editor of the prompts of ctxd wql and ctxd chat: a
// text of several lines with the keys of Emacs, words that Tab completes, and a
// history that Ctrl-R searches.
//
// editor.go is the text and the keys, draw.go the terminal, prompt.go the keyboard
// and its modes, history.go the file that only this user can read. It moves by
// graphemes and measures in columns of the terminal. What Tab offers, and when a
// text is finished, are functions of who uses it.
//
// A Prompt is used by one goroutine; it has the terminal in raw mode while a text
// is edited, and only then. Prompts that run at a time add to one history.
package edit
