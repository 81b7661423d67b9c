// Package stored says how a memory, and the numbers that were used, lie in the store.
//
// A memory has many small members, and all memories are in memory, so they are no JSON: the texts of one
// that was read are parts of the stored record. Up to format 9 of the store they were JSON, and are read as
// that; members that a program does not know are kept when the record is written again.
//
// A record of a memory is
//
//	form      one byte, 1
//	flags     a number, see memory.go
//	texts     those of Memory.textMembers
//	lists     those of Memory.listMembers
//	numbers   number, version, how many supported it
//	weights   importance and confidence, 8 bytes each
//	times     created, updated, tier since, confidence at; then those of Memory.timeMembers that it has
//	the rest  a JSON object, if there is any: "other", "writtenOn", and members that are not known to this program
//
// Package memory owns the collections, and may call this. It keeps nothing, and all of it is safe for concurrent use.
package stored
