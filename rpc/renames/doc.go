// Package renames has the handler of vault.planRename, which tells an editor what to change in all files of a vault so
// that a note, a heading, a block, a tag or files get other names. Package rpc lists it in its table of methods; the
// work is done by notes/rename. Here bytes become UTF-16 code units, counted without a byte order mark, as editors
// count. It keeps nothing, and may be called concurrently; its errors are those of notes/rename.
package renames
