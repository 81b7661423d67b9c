// Package page makes the HTML pages and reports of commands: the pages of ctxd inspect … --html and ctxd chat stats
// --html and ctxd vault problems --html, and what a terminal shows of a prompt and of an import.
//
// # Parts
//
//   - page.go: what all pages share: their style, the words of the policy by which a browser runs and loads nothing
//     else, texts that are safe to show, and bars of budgets.
//   - drawing.go: the page of a part of the graph, and the canvas on which other pages move a drawing.
//   - life_*.go: the page of a memory, and the words for what changed it.
//   - cited_page.go: the page of the notes that conversations stood on.
//   - problems_page.go: the page of what is wrong in a vault.
//   - traces_*.go: ctxd inspect chat, on the terminal and as a page.
//   - report*.go: the report of a prompt and of an import, on the terminal.
//
// A page is one file that loads nothing from elsewhere. Whatever a person or a model wrote is escaped by
// html/template, or passes through Visible. cmd/ctxd/page/pagetest holds pages to that.
//
// The package keeps no state. What makes a page asks nobody and may be called concurrently; a command is used by one
// goroutine. Commands below cmd/ctxd call it.
//
// Wall: subject: the HTML pages and the report of a prompt, which several commands show.
package page
