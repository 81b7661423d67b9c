// Package preview shows a record to somebody who reads in an editor: the first paragraphs
// of a note, the section of a heading, an entity as a card with its computed fields, the
// rows of a query, what a memory says. It is what hover and the items of a completion
// show.
//
// Each function asks the daemon, and a note that is open in the editor is shown as it is
// there. Texts are Markdown of at most MaxBytes bytes, cut at the end of a line. Errors
// are those of the daemon; a record that is not there gives "". Any goroutine may call.
package preview
