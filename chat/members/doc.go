// Package members keeps the members of a stored record that this program does not know, as a later one may write them, when
// the record is written again, exported or imported.
//
// Package chat embeds an Unknown in its records. All functions are safe for concurrent use; a record belongs to who has
// decoded it. README.md of package chat has the promise (CHAT-4).
package members
