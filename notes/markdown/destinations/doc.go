// Package destinations reads the destination of a Markdown link, what stands between the
// parentheses of [text](Plans/Alpha%20one.md#Goals) or behind [label]:. It says whether
// that is a file of the vault, what it is called without its escapes, and which names it
// may mean to a reader of references.
//
// Package markdown finds destinations in a text and calls this package; others ask
// markdown. It is apart from it since nothing here depends on where a destination
// stands. It is pure, and takes time linear in the length of what it is given. Any
// function may be called from any goroutine.
package destinations
