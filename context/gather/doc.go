// Package gather finds what belongs into a prompt.
//
// It goes from a message and the records that a user mentions to the finished prompt: it resolves what the message
// refers to, walks the entities breadth first, collects the notes that fields refer to, searches, and gives the
// candidates to package prompt. It is the only place that joins its neighbours in context. It also completes handles
// and names, by the same rules by which references are resolved.
//
// # Parts
//
//   - gather.go, params.go, collect.go: an assembly, from a call to its report
//   - block.go, cache.go: fields of entities as they are rendered, and kept
//   - mention.go, refer.go, pins.go, search.go: what is mentioned, referred to, pinned and found
//   - focus*.go: what the conversation of a message is about; the words of each language are in focus_languages.go
//   - memories.go, remember.go, passages.go, personality.go: what is remembered, passages of books, the personality
//   - texts.go, shown.go, vaults.go, secret.go: texts of notes and names as the reader sees them, and the boundary of
//     XML
//   - distill.go: what a model may leave out
//   - gathered.go: the memories for a message, without a prompt
//   - resolve*.go: which records the references of a message lead to
//   - complete*.go: handles and names that a person has begun to type
//
// # Who may call it
//
// Handlers of rpc and the pipeline of chat/send; chat gives it the handles of conversations.
//
// # Lifetime and concurrency
//
// A [Gatherer], a [Resolver] and a [Completer] live as long as the store that they stand on, and may be used
// concurrently.
//
// # Blocks
//
// The rendered fields of an entity are kept from call to call, apart for each audience, since a remote model does not
// see private records, and for each format. A block is dropped when its entity changes, when anything it refers to does
// (a rename, an archived record: the graph knows who refers to what), or when a type does. One with computed
// fields is asked for by what they depend on, which package wql knows; one with links in its texts, which may lead to
// private notes, holds until the next commit.
//
// # Texts of notes
//
// The plain texts of the up to 256 notes that were last in a prompt are kept, as far as a section can show them: one
// for a local audience, and one for a remote audience, which holds until audience.View.Meanings changes.
//
// # Consistency
//
// One assembly sees one state of the store: the candidates are found in one View. What takes time is done outside,
// since commits wait for a View: the search before, the texts of notes and the prompt after. Blocks that are missing
// are rendered before, but for a few small ones, and kept only if no commit has touched what they show meanwhile. When
// the store changes faster than that, the candidates are found without a View. Texts are masked by what private records
// are called at that time, which must be what they were called in the View: else all is done again. Reports of the last
// assemblies are kept in memory, for Recent.
//
// # Distilling
//
// A Distiller may shorten what is pinned and what was found, and leave out what was found, after all candidates are
// known and before they are cut to their budgets (distill.go). It is waited for without a View, a lock or a place among
// the reads. Nothing that it says is believed: it can leave words out, and nothing else. For a remote audience it is
// looked afterwards whether what is shown may still be shown.
//
// # What a remote audience sees
//
// What is read for a prompt is read through an audience.View. Private notes and entities are not candidates for a
// remote audience. A stored reference to one shows as "(private)"; what a computed field gives leaves them out. The
// report names their ids, and nothing else of them, to a local connection; to a remote one they are unknown (Readers).
//
// # The boundary of XML
//
// Notes in XML bear a boundary that their writer can't guess. It comes from a secret of the store, which is made for
// the first prompt that needs it and lies among the records.
//
// Wall: subject: how a prompt is assembled from all that the store knows.
package gather
