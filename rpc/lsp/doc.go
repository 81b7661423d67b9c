// Package lsp is the language server of ctxd lsp: notes, entities, queries and memories in
// any editor that speaks the Language Server Protocol 3.17. It is a client of the
// daemon's socket: it translates between package rpc/protocol, through package rpc/client,
// and the protocol of editors, holds open documents only, and keeps no records.
//
// # The house
//
//   - wire: the messages of the protocol.
//   - text: open documents, positions in every encoding, what is parsed of them.
//   - server: sessions, the registration of features, settings, consent to imports, the
//     connection to the daemon. Its doc says what a handler gets.
//   - preview and target: what a record looks like, and what stands at a place and where
//     it leads, for features to share.
//   - complete, navigate, outline, hints, and further packages beside them: features.
//   - lsptest: a daemon and an editor for tests.
//
// # How to add a feature
//
//  1. A package below this one, with a function that returns a Feature: requests
//     made with NewRequest, the capability in Announce, hooks for what is to be told.
//     Types that are missing in wire are added there, or declared in the package.
//  2. A line in Features (features.go).
//  3. A setting is a field of Settings with its tags; the table of the README is
//     held against it by a test.
//  4. Tests drive a session through lsptest.Open, which speaks the protocol.
//
// A feature takes records only from Session.Daemon, whose connection is that of a local
// audience: nothing is filtered here.
//
// Serve may be called several times at once. Errors are those of ServeFeatures.
package lsp
