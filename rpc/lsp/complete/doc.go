// Package complete answers textDocument/completion: what may be meant by a text that is
// being typed, in the open document and not in its file.
//
// What is typed decides which methods of the daemon are asked; they rank, and their order
// is kept by sortText. Lists are incomplete, so that the editor asks again as more is
// typed. Each item has one text edit: it begins where the typed word begins and ends
// behind what it replaces, closing brackets included where the editor has written them.
//
// Cost: the line of the cursor, one or two calls of the daemon, and the parse of the
// document where headings of it are asked for. Errors are those of the daemon.
package complete
