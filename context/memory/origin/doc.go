// Package origin says what memories stem from: a conversation, a note, a client, or anything at all. memory.forget names
// one of them. An [Origin] is a value without state; Of costs O(1), and Check refuses one that names none or several of
// them with Invalid.
package origin
