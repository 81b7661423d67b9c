// Package parts finds the parts of a note that links point at: the section under a
// heading, [[Note#Heading]], and the block with an identifier, [[Note#^id]].
//
//	## Goals            <- [[Note#Goals]] reaches to the next heading of its level or above
//	- Ship it. ^ship    <- [[Note#^ship]] is the item with its children
//	  - Pack
//	## Risks
//
// It is pure: it takes a text and returns byte ranges of it, and takes time linear in
// the length of the text. Any function may be called from any goroutine. What a heading
// and an identifier are is decided by package markdown.
package parts
