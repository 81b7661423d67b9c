// Package block is the neutral form of a book: what every converter makes of a file, and what the
// passages are cut from.
//
// A Document is a list of blocks in reading order: headings, texts, rows of tables, code. Its text is the
// text of its blocks, each as Block.String gives it, with an empty line between two blocks and a line end
// between two rows of one table. Offsets count code points of that text.
//
// # Bounds
//
// A Builder is the only way to make a Document. It bounds the text, the blocks and the cells of a row,
// asks the context of the call with each block, and repairs text: invalid UTF-8, control characters and
// blanks at the ends are gone. Over a bound its error is a Limit; a context that has ended is that error.
// All methods take time linear in what they are given.
//
// # Concurrency
//
// A Builder belongs to one goroutine, a Document may be read by many.
package block
