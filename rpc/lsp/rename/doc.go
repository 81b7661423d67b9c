// Package rename answers textDocument/rename, textDocument/prepareRename and workspace/willRenameFiles: one edit over
// the whole vault, which the editor applies.
//
// What stands at the cursor is found in the open text: a link, and which part of it; a heading, the identifier of a
// block, a tag, the title, a mention of an entity. The daemon works out the edits (vault.planRename), with the texts of
// all open documents of the vault, since links that are not saved count. Places that cannot be kept are shown to the user
// as a warning. Errors are those of the daemon; a rename of a file is refused to an editor that cannot move files.
package rename
