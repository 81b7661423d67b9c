// Package editing has the handlers of what editors ask about texts: vault.planRename, which tells what to change in all
// files of a vault so that a note, a heading, a block, a tag or files get other names, and vault.checkNote, which tells what
// is wrong with the text of a note. Package rpc lists them in its table of methods; the work is done by notes/rename and
// notes/diagnose. Here bytes become UTF-16 code units, counted without a byte order mark, as editors count. It keeps
// nothing, and may be called concurrently; its errors are those of these rooms.
package editing
