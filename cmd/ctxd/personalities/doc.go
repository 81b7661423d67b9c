// Package personalities is ctxd personality: how the assistant is to speak. It lists, shows, chooses, writes, checks
// and edits templates, over the daemon.
//
// Edit runs the editor of the person ($VISUAL, $EDITOR) with a copy of the template in a temporary folder. The copy is
// kept, and named, whenever it could not be saved. The package keeps nothing; one goroutine runs a command.
package personalities
