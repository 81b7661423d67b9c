// Package server is the core of the language server: the connection to an editor, the
// life of a session, the open documents, settings, and the connection to the daemon. What
// an editor can ask is not here: features (package complete and its siblings) are given
// to Serve, and package lsp lists them.
//
// # A feature
//
// A Feature is a value with the requests that it answers, what it adds to the
// capabilities, and what it wants to be told. See Feature and On. A handler gets a Call:
//
//   - Call.Document is the open document that the request is about, in the state that it
//     had when the request came; later edits do not change it. When the editor has changed
//     the document by the time the answer is there, the core answers ContentModified
//     instead, unless the request is made with Lasting.
//   - Call.Read returns any other document: open, else from its file.
//   - Session.Daemon calls a method of the daemon that reads, and reconnects when the
//     connection was lost; Session.Change one that writes, never twice.
//   - Session.Tell notifies the editor, Session.Ask asks it.
//   - Session.Place says which vault and path a document has, Session.NoteID which note
//     it is, Session.URI the way back.
//   - The context ends when the editor withdraws the request or the session ends: a handler
//     returns its error then.
//
// A handler returns a value of package wire; nil is answered as null. A fault.Error is
// answered as RequestFailed with its message and hint.
//
// # Lifetime and concurrency
//
// Serve runs one session. Messages are read by one goroutine, which applies notifications
// in their order and takes the state of the document for each request; requests run in
// goroutines of their own, 16 at a time. Hooks of a Feature run in the reading goroutine:
// they must not block, and start what takes longer with Session.Go.
//
// Records come from the daemon's connection, which is that of a local audience; nothing is
// filtered and nothing is kept here but ids and the folders of vaults.
package server
