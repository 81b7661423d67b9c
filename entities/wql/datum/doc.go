// Package datum is the values that WQL computes with: their kinds, how they
// compare, what they contain, dates, LIKE, and exact sums.
//
// Package wql calls it for each row, and package index for each stored value; it
// knows nothing of queries, programs or indexes.
//
// # Meaning
//
// Logic is three-valued, as in SQL: what is compared with NULL, or with a value of
// another kind, is Unknown. Texts compare after NFC and by code points, a Choice (the
// option of a select, the name of a type) without case, numbers, dates and points in
// time as such; a text that is compared with one of these is read as one. A list
// equals whatever shares an item with it.
//
// Dates are counted in days from 1970-01-01 and points in time in microseconds; years
// run from 1 to 9999, and what arithmetic brings outside is NULL.
//
// # Cost and concurrency
//
// A Value is passed by pointer and used again for the next row, so that evaluating a
// row does not allocate. Comparing is O(n) in the lengths of texts and in the items of
// a list; two lists of more than 1,024 pairs are compared over a set. Long work is
// counted by Scope.Tick, which ends it. Values and Scopes are for one goroutine.
package datum
