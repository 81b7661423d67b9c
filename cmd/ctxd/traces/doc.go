// Package traces is ctxd inspect chat: what a model was given for an answer, and why, on the terminal and as a page for
// a browser. The daemon keeps it; chat.inspect tells it.
//
// inspect.go has the command and the drawing, page.go the page with its style and template, which stand on those of
// package page. The page runs no script: long lists are folded by the browser. Whatever was written elsewhere passes
// through page.Visible and the escaping of html/template.
//
// The command is used by one goroutine and keeps nothing.
package traces
