// Package names finds records by their names: exactly, for mentions and links; by what
// a person has typed so far, for completion; and by handle, as in
// @john_smith_person_entity. Entities and notes each keep one Index and lock it; nobody
// else holds one. How names are compared and ordered is in entities/text.
//
// # Who asks
//
// Every method that finds records takes a skip, by which a caller leaves out records
// that do not exist for the one who asks (private ones for a remote reader). What is
// skipped takes no place within a limit, ends no search early and changes the rank of
// no other record: the answer is that of an index without it. A nil skip costs nothing.
//
// # Lifetime and concurrency
//
// An Index lives as long as the store that keeps it and is made from the records at the
// start (Batch, Load), of which it shares the strings. It is not safe for concurrent
// use; readers may run together when none of them makes the index of handles (see
// Index.HasHandles).
//
// Wall: subject: how a record is found by its name or handle.
package names
