// Package index finds handles by what a person has typed of them: all handles of the
// store, of memories, contexts, conversations, entities, tags and domains.
//
// Complete returns what a beginning may mean, best first (REF-16). Near returns what a
// handle may have meant that nobody has. Lookup returns who has a handle, now or before.
//
// # Structure
//
// Each kind has three lists of starts, which are sorted by text: of handles from their
// beginning, of handles from their later words, of names; memories have one of numbers
// as well. A list lies in pieces, and each piece knows the best of its starts. A prefix
// is a range of a list: Complete looks at the best of each piece of the range, and then
// into those pieces only whose best is among the best. This is what a table of the best
// for each short prefix would do, for prefixes of any length, and there is nothing to
// fill again when the best of a prefix is deleted.
//
// Near looks at each handle and name once. The lengths and the sets of characters rule
// nearly all of them out; the edit distance (Levenshtein, in code points) of the others
// is computed within a band.
//
// # Readers
//
// An entry counts differently for who sees private records and for who does not, and may
// not exist for the latter. A Skip leaves out what else a reader does not see. What is
// skipped takes no place within a limit and changes no other's.
//
// # Who may call it
//
// It is made from the records, and made again at each start: nothing of it is stored. The
// room that follows the commits of a store keeps one. It is not safe for concurrent use;
// Complete, Near and Lookup may run beside each other.
package index
