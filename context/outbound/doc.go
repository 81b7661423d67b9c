// Package outbound reaches servers over HTTP for those who send them text: the embedder and
// the reranker of context/embed, and the language models of chat/llm.
//
// It owns what must be the same for all of them, because a mistake in one copy would leak a
// key or a note:
//
//   - [ParseAddress] reads a URL, and [Service.Resolve] says whether texts and a key may go there. A key
//     goes only to https or to this machine. What is this machine is decided by the address
//     that is dialled, not by the name ([NewClient]).
//   - [NewClient] follows no redirect: on one to another host the standard client would forward
//     x-api-key and the body. It asks for no compression, so a small reply cannot unpack into a
//     large one, and it bounds headers and, with [ReadBody], bodies.
//   - [LoadKey] reads a key from where a setting says it is: the environment, a file that only its
//     owner can read, or the keyring of the operating system. No error, log or URL holds one.
//   - [Refusal] is a request without an answer: whether another try may help, how long the
//     server asks to wait, and what a person can do. It never quotes the server, which may
//     quote the texts or the key.
//
// When a request is repeated, and what is a reply, is for its callers: they have different
// rules.
//
// Of ours it imports entities/fault alone, and it is the only importer of go-keyring.
//
// # Concurrency
//
// All functions may be called concurrently. A client lives as long as its caller keeps it;
// CloseIdleConnections ends what it holds open.
//
// Wall: promise: keys and texts leave by one place, whose rules hold for every server that is dialled (PRIV-11).
package outbound
