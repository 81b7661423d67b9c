// Package fold says when two names are the same name, and which of two comes first:
// Name is the form under which names of notes, entities, types, fields and tags are
// compared (Unicode NFC, full case folding), CompareNatural the order in which they are
// listed (digits by their value). It also says where a name may stand in a text: BeforeMark
// is the one place that decides what may stand before the @ or # of a reference.
//
// It is a package of its own so that declarations of records and programs that only
// speak the protocol can compare and find names without the index of names, which stands in
// entities/names. Any room may call it. It holds no state: all functions may be called
// concurrently.
package text
