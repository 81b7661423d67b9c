// Package exchange writes a conversation as JSON or Markdown, and reads the JSON again.
//
// # Formats
//
//	json      all that the store keeps of a conversation: Import of it gives the same export, byte for byte
//	markdown  for people to read: each line of what was said begins with >, and no other line does
//
// The JSON is one object: format, version, conversation, messages, in this order, a message a line. A conversation and a
// message have the members of their stored records, also those that this program does not know. For a remote reader
// there is audience before conversation, and the records are what chat.get shows him; that is not imported.
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader, and package importing. Import refuses readers who do not see everything.
//
// # Lifetime, concurrency and size
//
// The package keeps nothing. Its functions may be called concurrently. An export is given in pieces of about a MiB, so
// that no reply is too long for its connection: those behind the first know by number which messages are left, and a
// message that is added meanwhile is in none. A file is read twice, a message at a time: first it is checked as a whole
// and compared with the store, then it is written, in one transaction up to chat.MaxGroup and in groups beyond that. An
// import of more that was interrupted has written whole groups, and the same one again goes on with the rest.
package exchange
