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
// audience, since a remote model does not see private records. A block is
// dropped when its entity changes, when anything it refers to does (a rename,
// the trash, an archived note: the graph knows who refers to what), or, when
// it holds computed fields, when any entity, type or the day does.
//
// # Consistency
//
// One assembly sees one state of the store: everything but the search runs in
// one View. Reports of the last assemblies are kept in memory, for Recent.
package gather
