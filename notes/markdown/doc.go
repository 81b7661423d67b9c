// Package markdown turns the bytes of a note into what the rest of ctxd needs
// to know about it: title, frontmatter, wikilinks with their places, headings,
// tags, aliases, and the plain text that a language model reads.
//
// It is pure: text in, values out; no files, clocks or goroutines, and no
// state but pools of buffers. Any function may be called from any goroutine. Parse never
// fails, whatever the bytes; it takes time linear in their number, so a
// hostile note costs no more than an honest one of its size. A test counts the
// steps of all functions here.
//
//   - document.go, block.go, scan.go, spans.go, link.go, filelink.go, source.go, outline.go: Parse, and the
//     structure of a note
//   - frontmatter*.go: the YAML at its head, and what its fields say about the note
//   - plain*.go, prose.go, charref.go: plain text
//   - reference*.go, message.go: References and mentions
//   - destinations_*.go: what the destination of a Markdown link says by itself
//   - task*.go, fields.go: tasks, and the inline fields of Dataview
//   - parts.go: sections and blocks that links point at; hidden.go: texts without some spans
//
// Why a scanner of our own and not a CommonMark parser: a vault is imported
// whole, links must be found in unfinished and odd text exactly where a note
// app finds them, and spans must point into the source. Where the dialects
// differ this package follows the note apps:
//
//   - A wikilink is on one line, innermost, and not in code or HTML comments;
//     a backslash before it makes it text.
//   - A fence may stand at any indentation, behind bullets and quote markers,
//     and runs to its closing line, or to the end. Indentation alone makes no
//     code.
//   - An HTML comment may run over any lines. One that is never closed is
//     text: half a note must not vanish because of a typing slip.
//   - Inline tags are #words of letters, digits, '_', '-' and '/' in any
//     script, with at least one character that is not a digit.
//
// Two readers find links, for two purposes. Parse finds what a note app follows, by
// the rules above. References, the one scanner of PRIV-8, finds whatever may tell a
// reader of a record, in all forms and wherever it stands, and rather too much: what
// is withheld from a reader is decided by it alone. It stands here, below
// what uses it, because a title or an alias loses its marks when a note is read: then
// Document.Sources keeps what they referred to. README.md lists every form that it knows,
// with an example. A Message is a text that is read once for both purposes: Mentions yields what
// counts there.
//
// Caveats: offsets are bytes (the wire wants UTF-16 units: convert at the
// edge). PlainText removes what is markup by the rules of CommonMark's
// emphasis in a simpler form; on pathological nests of stars it may leave one
// standing. Link reference definitions stay in the plain text, since they hold
// the addresses that the links left out. Math is left as it is written.
//
// Wall: promise: how a text is read is pure: no store, files or clock, for notes, messages, books and editors alike.
package markdown
