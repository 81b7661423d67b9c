// Package passages chooses what of a found note answers a message: the passages that
// match, with the headings that they stand under, instead of the beginning of the note.
//
// A note is split into units: paragraphs, the sentences of long ones, the lines of
// long lists, tables and code as a whole. A unit counts the words of the message that it
// has, each the more the fewer units have it, and the words that it has in common with the
// passage by which the search has found the note. The best units are taken as long as there
// is room, then the units beside them.
//
// It is pure: text in, text out, and takes time linear in the length of the note, but for
// sorting its units. Any function may be called from any goroutine. Only what the reader
// may see may be given to it, so that private text does not influence the choice.
package passages
