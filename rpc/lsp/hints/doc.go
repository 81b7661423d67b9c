// Package hints answers what an editor shows beside the text: the title behind a link that
// does not say it, the values of the computed fields of the entity that a note describes
// (inlayHint), and how much leads to the note (codeLens).
//
// What is saved decides: where a link leads is taken from the note that the daemon has,
// and links that were typed since then get their hint when the file is saved. Each answer
// takes a few calls of the daemon, whatever the length of the document. Errors are those
// of the daemon. When notes change, an editor that can is told to ask again.
package hints
