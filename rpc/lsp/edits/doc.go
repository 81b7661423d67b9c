// Package edits makes the WorkspaceEdit that an editor applies, of changes of texts, new files and moves. Features that
// change something use it: the program itself writes into no file.
//
// A Builder collects changes in the order in which they are to be applied. It writes them as the editor reads them, with
// versions of open documents, or as a plain map of edits for an editor that knows nothing else; an editor that cannot
// create or rename files is told so by a fault. A text that is not what an edit was made for is a fault as well: nothing
// of the WorkspaceEdit is sent then. A Builder belongs to one goroutine.
package edits
