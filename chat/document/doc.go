// Package document is the Source of messages: what of one is searched, and by which weight.
//
// README.md of package chat names the promise behind each id of a test.
//
// # Who may call it
//
// Who makes an index of messages, and who reads the hits of one.
//
// # What it holds
//
// Messages are not kept by package chat, and an index asks for them with locks held. So the Source
// holds all of them, decoded, with what it needs to know of their conversations, from New until the
// store is closed. Documents are called by the keys of their messages, which sort as they were said.
//
// # Privacy
//
// A message is hidden when it is private, and while its conversation is: a conversation that becomes
// private changes the documents of its messages. What names a private record is masked in the public
// form, as in the answers of package chat. Public looks at the conversation as it is now: a commit is
// prepared before others are applied, and what it then says of a conversation may be old.
//
// # Concurrency
//
// All methods may be called concurrently.
package document
