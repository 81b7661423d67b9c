// Package prompt renders what a language model is to see: the sections of a system prompt, each within its budget, with
// a report of everything that went in or was left out and why.
//
// # Parts
//
//   - build.go: candidates, and the prompt that is made of them
//   - client.go, entities.go, field.go, notes.go, memories.go, memory.go, passages.go, personality.go: the sections
//   - style.go, markdown.go, xml.go, pkb.go, escape.go: the formats, and what may not be forged in them
//   - budget.go, cut.go: budgets, and texts that are cut
//   - report.go: what went in and what was left out
//   - params.go, gathered.go: what clients say and are told
//   - body*.go: the text of a note as people and models are shown it
//   - properties.go: the frontmatter of a note in words
//
// # Who may call it
//
// Package gather finds the candidates and makes prompts. Packages of notes, chat, rpc and cmd, clients of the daemon
// among them, show notes and escape texts as prompts do.
//
// # Lifetime and concurrency
//
// The package is pure: it takes candidates in the order of their rank and reads no store, no clock and no randomness,
// so the same candidates give the same bytes. Nothing is kept, and any function may be called concurrently.
//
// # The formats
//
// Which items are shown, in what order and how long, is decided once for both formats; a style says how the pieces are
// written.
//
// In Markdown, sections are headed by "## ", items by "### ". Notes end with a line "---". Text of the user can't forge
// any of this: the headings and rules of a note come below those of a prompt (body.go), and in texts of one line the
// brackets that could pass for a link or an id are marked by a backslash, in the lines of the client also the bars (see
// EscapeInline). What stands next to what is decided as a model reads it that passes over characters which show
// nothing, such as U+200B: they hide no mark and split none. Which these are is generated from Unicode's tables
// (entities/text).
//
//	## Entity context
//	…
//	### @Alice (Person) [id:ID]  ← directly mentioned
//	  team: @Engineering [id:ID]
//
// In XML, sections and items are elements:
//
//	<entity-context>
//	…
//	<entity id="ID" name="Alice" type="Person" why="directly mentioned">
//	  <field name="team"><ref entity="ID">Engineering</ref></field>
//	</entity>
//	</entity-context>
//
// A note, <note id title b>, begins after the line end behind its tag and ends before the one that its end tag follows.
// Its boundary b is an HMAC of what it shows with the secret of the store, so a text can't hold the one that it will
// have. The values of lists are <item>, <ref> and <more count="N"/>; a reference that can't be shown is <ref
// state="deleted"/>, archived or private; one that leads nowhere is <ref state="unresolved">NAME</ref>.
//
// A reader gets back exactly what went in, as a parser of each format in the tests does, notes with the text of their
// NoteBody, but for this: line ends are blanks in texts of one line; XML has U+FFFD for the control characters that it
// can't hold; and Markdown does not tell a list of texts from a text with commas, nor the text "(deleted)" from a
// placeholder.
//
// # Units
//
// Budgets and lengths are Unicode code points of the rendered, escaped text, with headings, tags and "…". Ranges are
// UTF-16 code units, half-open.
//
// Wall: promise: what a prompt shows is made of its candidates alone; clients render with it, so it brings in no store.
package prompt
