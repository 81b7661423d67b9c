// Package index keeps, for a field of a type of entities, who has which value.
//
// A Set holds the indexes of one engine. Package wql asks it: its planner chooses
// between indexes by Count, which is O(1), or O(log² n) for one in order, and takes
// rows from the best by Gather. An index is built when a query first wants it (O(n),
// in order O(n log n)), kept current by Apply at the cost of what a commit changed,
// and dropped when all have more than half a million entries and it was not asked for
// longest. It is never used when it might show another state than the store.
//
// An index of class InOrder has every entity of the type as ORDER BY has them, and is
// walked from either end (Walk).
//
// A Class is the form in which an index holds values, because what a value equals
// depends on what it is compared with: HashKey and OrderedKey say which key a value
// has in it. Programs and indexes read stored fields by the same Load, so that an
// index holds what a comparison would see.
//
// # Concurrency
//
// A Set may be used by any number of goroutines. Current, and what it returns, are to
// be used between RLock and RUnlock; Build and Apply take the lock themselves.
package index
