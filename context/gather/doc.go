// Package gather finds what belongs into a prompt.
//
// It goes from a message and the records that a user mentions to the finished
// prompt: it resolves mentions, walks the entities breadth first, collects the
// notes that fields refer to, searches, and gives the candidates to package
// prompt. It is the only place that joins its neighbours in context.
//
// # Blocks
//
// The rendered fields of an entity are kept from call to call, apart for each
// audience, since a remote model does not see private records, and for each
// format. A block is dropped when its entity changes, when anything it refers
// to does (a rename, the trash, an archived note: the graph knows who refers to
// what), or when a type does. One with computed fields is asked for by what
// they depend on, which package wql knows; one with links in its texts, which
// may lead to private notes, holds until the next commit.
//
// # Consistency
//
// One assembly sees one state of the store: the candidates are found in one
// View. What takes time is done outside, since commits wait for a View: the
// search before, the texts of notes and the prompt after. Blocks that are
// missing are rendered before, and kept only if no commit has touched what they
// show meanwhile. Reports of the last assemblies are kept in memory, for Recent.
//
// # What a remote audience sees
//
// Private notes and entities are not candidates; a reference to one shows as
// "(private)", and the report names its id and nothing else. Computed fields are
// those of a world without private entities. In the texts of notes and fields,
// all that a reader would take for a link to a private record is taken out, with
// its label: too much rather than too little, see markdown.HiddenLinks. The names
// themselves are not searched for: a word that somebody wrote is no link.
//
// # The boundary of XML
//
// Notes in XML bear a boundary that nobody can guess who writes one. It comes
// from a secret of the store, which is made for the first prompt that needs it
// and lies among the records.
package gather
