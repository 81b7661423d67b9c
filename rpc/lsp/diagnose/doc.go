// Package diagnose tells an editor what is wrong with the documents that it has open, pushed (textDocument/
// publishDiagnostics) to an editor that does not ask, and answered to one that does (textDocument/diagnostic); and what
// can be done with a range (textDocument/codeAction).
//
// Notes are looked at by the daemon (vault.checkNote) with the texts of all open documents; the declarations of types,
// .ctxd/types/*.yaml, line by line here, their queries by wql.check. What is pushed waits until nobody has typed for a
// moment (quiet), and is told again when the daemon says that notes have changed. Only the last state of a document is
// told of.
//
// An action is an edit that the editor applies: a fix of a problem, a new note where the vault keeps such notes, a type
// declared as it was inferred, a selection that becomes a link or a note. Nothing is kept but which documents wait.
// Errors are those of the daemon; a document outside every vault has no diagnostics.
package diagnose
