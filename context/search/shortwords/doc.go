// Package shortwords gives numbers to words of up to 16 bytes, which most are.
//
// Only package lexical asks it, for every word of every text: its Table is a hash table of
// its own, since a word then takes one look at memory, where a map of strings takes three.
// A Table and a Batch belong to one goroutine at a time.
package shortwords
