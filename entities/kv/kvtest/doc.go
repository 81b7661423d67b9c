// Package kvtest is a log of commits in memory for tests, which several stores of one test
// share: a real outbox.Log, with the faults that a cluster has. Each store gets a Machine,
// its own way to the log, which can be cut, made slow, and made to lose requests and answers.
//
// A Machine is safe for concurrent use. Positions leave gaps, as those of a stream do, and
// their marks are a chain of SHA-256 over the entries. Append is O(size), Read O(entries).
// Errors are those that outbox.Log promises.
//
// Wall: test helper: a log in memory with the faults of a cluster.
package kvtest
