// Package canvas turns the files of note apps that are no Markdown, but hold texts and
// links of a person, into Markdown that the store of notes reads: canvases (.canvas, the
// JSON Canvas format, https://jsoncanvas.org) and bases (.base, YAML).
//
// Of a canvas, the cards are read from the top to the bottom, then from the left to the
// right: text cards as their text, cards that show a note or a file as a link to it, web
// cards as their address, groups and arrows as their labels. A base is read as it is
// written: its links count, and the names of its views and filters are found.
//
// The first line of each is the name of the file as a heading, so that nothing in a card
// is taken for frontmatter.
//
// It is pure: text in, text out, in time linear in the text. Any function may be called
// from any goroutine.
package canvas
