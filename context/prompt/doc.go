// Package prompt renders what a language model is to see: the sections of a
// system prompt, each within its budget, with a report of everything that went
// in or was left out and why.
//
// It is pure: it takes candidates in the order of their rank and reads no
// store, no clock and no randomness, so the same candidates give the same
// bytes. package gather finds the candidates.
//
// # The format
//
// Sections are headed by "## ", items by "### ". Notes end with a line "---".
// Text of the user can't forge any of this: in texts of several lines every
// line that could pass for structure is marked by a backslash, and in texts of
// one line the brackets that could pass for a link or an id are (see
// EscapeText and EscapeInline). Both can be undone exactly, which a parser in
// the tests does.
//
// # Units
//
// Budgets and lengths are Unicode code points of the rendered, escaped text,
// with headings and "…". Ranges are UTF-16 code units, half-open.
package prompt
