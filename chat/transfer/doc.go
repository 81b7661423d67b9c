// Package transfer writes conversations to files, and reads them again: exports of this program as JSON or Markdown,
// and the data exports of other chat services, ChatGPT and Claude (CHAT-36).
//
// README.md has the promises and what of a foreign export is read.
//
// # Parts
//
//   - exchange_*.go: export of conversations, and import of what this program exported
//   - foreign.go, read.go, archive.go, scan.go, value.go: data exports of other services: files and their JSON
//   - transcript.go, tree.go, chatgpt.go, claude.go: conversations in them
//   - importing*.go: an import of a file of any of these, in groups
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader. ImportJSON refuses a reader who does not see everything.
//
// # Lifetime and concurrency
//
// Nothing is kept between calls. Calls may run concurrently, those for the same file too.
//
// Wall: subject: files of conversations, of this program and of others.
package transfer
