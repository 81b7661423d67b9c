// Package properties puts the frontmatter of a note into words: what a prompt,
// MCP and ctxd inspect note show of it as "key: value", and what a search finds.
//
// It is pure, and takes time linear in the length of the frontmatter. Private
// records are masked before, in the text (audience.View.Body).
package properties
