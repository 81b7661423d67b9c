// Package frontmatter reads the YAML at the head of a note: where it lies
// (Split) and the fields that it holds (Read).
//
// It is pure: text in, values out; no files, clocks, goroutines or state. Any
// function may be called from any goroutine. Values are slices of the source
// wherever possible and keep it alive.
//
// Frontmatter is YAML, with two concessions to how people write it: unquoted
// wikilinks are links, and no number or date is changed by being read. Plain
// keys with scalars and lists take a short way of their own (plain.go), which
// nearly all notes need and which is many times faster; anything else goes to
// goccy/go-yaml (yaml.go) behind limits on size, depth, blank lines and
// aliases, because that parser needs quadratic time on some texts. A test
// holds the two readers against each other.
//
// What one line and one wikilink are (LineEnd, LinkLen) is declared here,
// because frontmatter is read before the rest of a note: package markdown, to
// the right, uses both.
package frontmatter
