// Package document is the Source of messages: what of one is searched, and by which weight. It also hands messages to
// what reads them beside a search: concepts, learning and passive recall.
//
// README.md of package chat names the promise behind each id of a test.
//
// # Who may call it
//
// The daemon, which makes the index of messages, and chat/cites, which reads its hits.
//
// # What it holds
//
// Messages are not kept by package chat, and an index asks for them with locks held. So the Source holds all of them,
// decoded, with what it needs to know of their conversations. Documents are called by the keys of their messages, which
// sort as they were said.
//
// # Privacy
//
// A message is hidden when it is private, and while its conversation is: a conversation that becomes private changes
// the documents of its messages. What names a private record is masked in the public form, as in the answers of package
// chat. Public looks at the conversation as it is now: a commit is prepared before others are applied, and what it then
// says of a conversation may be old.
//
// # Lifetime and concurrency
//
// A [Source] lives from New until the store is closed. All methods may be called concurrently.
//
// Wall: second user: the daemon indexes messages by it, and chat/cites reads hits of that index.
package document
