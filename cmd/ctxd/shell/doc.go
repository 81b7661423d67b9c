// Package shell is ctxd wql, a prompt for WQL and a runner of scripts, and
// ctxd inspect wql, which says how a query is read and answered.
//
// A session (session.go) runs statements and shows their answers (view.go,
// fields.go); the prompt (prompt.go) stands on top of it with the line editor of
// package edit. Statements are split, and words completed, by
// entities/wql/syntax, which reads a text as the daemon does. What a query
// means, and all that is wrong with it, the daemon says: the text is parsed here
// to know which fields to show and what Tab may offer.
//
// A session is used by one goroutine. An interrupt cancels the query that runs
// and not the prompt (term.Interrupts).
package shell
