// Package exchange writes all memories to a file, and reads them and those of other programs from one.
//
// # Formats
//
//	jsonl         all that the store keeps of memories, one record a line: Export writes it and Import reads it
//	markdown      the same for people to read; Export alone
//	basic-memory  Markdown files whose lines - [category] text #tag (context) are observations, or a folder of them
//	mem0          a JSON list of {id, memory, metadata, created_at}, or {"results": [...]}
//	lines         one memory a line
//
// The first line of jsonl is a header with the format, its version and the last number that was given. Then come
// synonyms, contexts, each behind the one above it, and memories by their numbers, each before its former versions,
// with the numbers of deleted memories between them. The last line counts those before it, so that a file that was cut
// off is known. Members of a context or memory that a reader does not know, it keeps and writes again; a line of a type
// that it does not know, it refuses with the whole file.
//
// # Who may call it
//
// Handlers of rpc, for readers who see everything: both functions refuse others, since private memories are among what
// they read and write.
//
// # Lifetime, concurrency and memory
//
// The package keeps nothing. Its functions may be called concurrently; two imports of the same file take each memory in
// once. A file is read as a stream, twice by Import: first it is checked as a whole and compared with the store, then
// it is written in groups, each of which is one transaction. An import that was interrupted has written whole groups;
// the same import again goes on with the rest. Of a file, ids and numbers are kept in memory, and one group of records.
//
// Wall: subject: files of memories, of this program and of others.
package exchange
