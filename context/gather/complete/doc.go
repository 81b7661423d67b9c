// Package complete answers what a person may mean who has typed a part of a handle or of a
// name behind @ or #: for menus (REF-16), and for what to suggest when a reference leads to
// nothing (REF-7).
//
// It keeps one index of the handles of all records (context/refs/index) and follows the
// commits of the store: who writes finds what was written. What records there are, and what
// each reader is shown of them, is known by Sources: those of memories, contexts, tags,
// domains and entities live here; that of conversations stands to the right (chat/handles).
//
// # Readers
//
// For a remote reader private records do not exist: the index counts everything for him by
// what he may know. What names a private record in a public one is looked for when a record
// would be shown to him, since that is a look at its texts, and the answer is kept until the
// record changes, or what links and names mean (audience.View.Meanings). A local reader pays
// for none of it.
//
// # Lifetime and concurrency
//
// The index is made by Load, or by the first call. Until then commits cost nothing; while it
// is made they are noted, and taken in at its end. It takes some 500 bytes for a handle, and half
// a second for 100,000 of them (BenchmarkChange in context/refs/index). Handles may be used
// concurrently. No text is looked at while the index is locked.
package complete
