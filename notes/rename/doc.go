// Package rename works out which edits a rename needs: of a note, a heading, a block, a tag, or files and folders that
// move. Every link of the vault leads afterwards where it led, and no byte changes that need not. Nothing is written: a
// Plan says what an editor is to change, in the texts as they are before anything moves.
//
// A planner asks two Worlds of notes.Store.Suppose, that of before and that of after, where each link leads. A link that
// leads elsewhere afterwards gets the shortest text in its own style (path, name or title; relative or from the root;
// escaped or in angle brackets) that leads there again. An edit can change what another note is called, as in the
// heading "# About [[Old]]": then it is all worked out again, until nothing changes. What cannot be kept is told as a
// Problem: a link that led nowhere and would lead to the new name, or one of a file that is no text.
//
// Offsets are bytes of the text of a note, half open; Plan.Files are sorted by path and their edits by place, without
// overlaps. Errors are faults that name the field of the request. It takes time for each note of the store, but little,
// and for each link under the old and the new names. Functions may be called concurrently; writers of the store wait
// meanwhile.
package rename
