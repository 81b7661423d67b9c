// Package commands answers workspace/executeCommand: the prompt for a note, a selection or a question with its report,
// search by meaning, related notes, the page with the graph of a prompt, a question to a language model, a memory of the
// selection, and the note of today. Actions offers those that are about a range, for a menu of the editor.
//
// Each command takes one object, all of its members optional, and returns one, so that a plugin can show it in its own
// way. An editor without a plugin sees it, too: a prompt or a page is shown as a document (window/showDocument), an answer
// is streamed into the progress of the request and written into the log. Prompts are for a remote model unless the
// argument says otherwise, since they are copied to one.
//
// Documents to show are files in a folder of their own, with mode 0600, which is removed when the session ends. Notes are
// made by the editor, through workspace/applyEdit. Errors are those of the daemon, and faults that name the argument.
package commands
