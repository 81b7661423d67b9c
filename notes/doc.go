// Package notes holds a person's notes and the links between them.
//
// A Note is a text with a title. What its text says about itself (title, tags,
// aliases, the type of entity it describes) is read when the note is written;
// a note whose frontmatter has a type makes an entity, in the same
// transaction. Wikilinks are resolved by the rules of Obsidian-like note apps,
// for notes and for the references that frontmatter states as links, and are
// resolved again whenever a title, path or alias changes.
//
//   - store.go, note.go, write.go, change.go, reading.go, filter.go: the store of notes and its writes
//   - record*.go, format*.go, load.go, index.go: records, older formats, the indexes and their loading
//   - lookup.go, names.go, resolve.go, links.go, refs.go, supposed.go: what a link means, who links to whom
//   - former*.go: what notes were called until lately; places.go: where links stand in a text
//   - entity.go, infer_*.go, sources.go: the entity that a note describes
//   - typesource*.go: what public notes gave to types
//   - private*.go, past.go: privacy, and what private notes were called
//   - attachments*.go, canvas.go: files that are no notes, and canvases and bases, read as Markdown
//   - digest.go: what language models said a note is about; tags.go: counts of tags
//
// notes/vault brings files into it, clients write notes through rpc, and graph and context read
// them. A Store lives as long as the kv.Store under it.
//
// # What is stored
//
// A record is the parts of a note in a fixed order and the text behind them, so
// that reading a note copies nothing: its texts are parts of the stored string.
// The places of the links in the text are stored with it; what they lead to is
// not, it is worked out when the store opens and kept current.
//
// The start of a daemon is mostly the start of this package. So it reads records
// on all processors and builds its indexes from all notes at once (load.go), which
// must come to the same as one note after the other (store.go). Notes are numbered
// in the indexes, and strings of a note are held by nothing that outlives its
// version: a record may be a part of a larger piece of memory.
//
// # What is private
//
// private.go decides whether a note is private: by a configured folder, by the word of a
// client, by its text. Doubt counts as private, and Store.WhyPrivate tells the rule and
// the doubt. A note of a vault that was private stays so while its text is not whole
// (markdown.IsHeadComplete): it is blank, or ends within its frontmatter. Types that are made
// from frontmatter remember what public notes gave to them (typesource.go). README.md has
// the table of doubts.
//
// # Concurrency
//
// All methods are safe for concurrent use, reads never wait for the disk, and
// Notes are shared: nobody changes one after it was handed out. The Store
// registers with entities as the resolver of links. Lock order: the entities
// store may call this one while it is locked, so this package never calls it
// while holding its own lock.
//
// Wall: subject: a person's notes, the links between them, and what of them is private.
package notes
