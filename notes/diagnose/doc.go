// Package diagnose says what is wrong with the text of a note, as it is in an editor: links that lead nowhere or could
// mean several notes, headings and blocks that are not there, frontmatter that cannot be read, values that do not fit
// their field, queries with errors, names that are given twice. With each it says what may have been meant, as edits.
//
// Note is the only entry. It asks a World of notes.Store.Suppose, in which unsaved texts stand in place of the files, and
// the store of entities for types and names; the notes are not locked while it asks that. Names are compared by edit
// distance (Levenshtein, in code points, at most two), those that cannot be so near by their letters left out before.
//
// Places are bytes of the text, half open. A note has at most MaxProblems; time grows with the length of the text and,
// where a link leads nowhere, with the names in the vault. Nothing is kept; Note may be called concurrently. Errors are
// faults: that of a path which neither a note nor a buffer has.
package diagnose
