// Package shell is ctxd wql, a prompt for WQL and a runner of scripts, ctxd inspect wql, which says how a query is
// read and answered, and the line editor of all prompts.
//
// # Parts
//
//   - wql.go, session.go, view.go, fields.go: a session runs statements and shows their answers.
//   - prompt.go, command.go, complete.go: the prompt, its commands, and what Tab offers.
//   - explain.go: ctxd inspect wql.
//   - edit_*.go: the line editor of ctxd wql and ctxd chat.
//
// Statements are split, and words completed, by entities/wql/syntax, which reads a text as the daemon does. What a
// query means, and all that is wrong with it, the daemon says: the text is parsed here to know which fields to show
// and what Tab may offer.
//
// A session is used by one goroutine. An interrupt cancels the query that runs and not the prompt (term.Interrupts).
// cmd/ctxd and ctxd inspect call the commands, ctxd chat the line editor.
//
// Wall: subject: ctxd wql and its prompt.
package shell
