// Package lsp is the language server of ctxd lsp: notes, entities, queries and memories in any editor that speaks the
// Language Server Protocol 3.17. It is a client of the daemon's socket: it translates between rpc/protocol, through
// rpc/client, and the protocol of editors, holds open documents only, and keeps no records.
//
// # Parts
//
//   - wire_*.go: the messages of the protocol.
//   - text_*.go: open documents, positions in every encoding, what is parsed of them.
//   - server*.go: sessions, the registration of features, settings, consent to imports, the connection to the daemon.
//     The comment of server.go says what a handler gets.
//   - preview.go, target*.go, edits.go: what a record looks like, what stands at a place and where it leads, and the
//     edits that an editor applies, for features to share.
//   - complete*.go, diagnose*.go, navigate*.go, outline.go, hints.go, rename*.go, commands*.go: features.
//   - features.go: the list of features, and Serve.
//
// rpc/lsp/lsptest has a daemon and an editor for tests.
//
// # How to add a feature
//
//  1. A file, with a function that returns a Feature: requests made with NewRequest, the capability in Announce, hooks
//     for what is to be told. Messages that are missing are added in wire_*.go.
//  2. A line in Features (features.go).
//  3. A setting is a field of Settings with its tags; the table of the README is held against it by a test.
//  4. Tests drive a session through lsptest.Open, which speaks the protocol.
//
// A feature takes records only from Session.Daemon, whose connection is that of a local audience: nothing is filtered
// here.
//
// Serve may be called several times at once. Errors are those of ServeFeatures. cmd/ctxd calls it, and tests do.
//
// Wall: subject: the language server.
package lsp
