// Package embed turns text into vectors whose cosine says how near two texts
// are in meaning.
//
// [Builtin] is the model that is always there: a table of one vector a token,
// compiled into the program. It was distilled from all-MiniLM-L6-v2 by the
// scripts in fixtures/model, which say how. Other embedders answer to the same
// [Embedder]: [Runner], a child process with a transformer model, is one.
//
// # How a text becomes a vector
//
// The text is cut as BERT's uncased tokenizer cuts it: control characters
// dropped, accents stripped, lower case, punctuation and Chinese characters
// apart, then the longest token first (WordPiece). The rows of the tokens are
// added and the sum is brought to length 1. Frequent tokens have short rows, so
// the sum is a weighted mean. Words with letters of a script other than Latin
// have no token: a text of nothing else has no vector.
//
// # The file of the table
//
// Numbers are little-endian.
//
//	offset  bytes
//	0       8      "ctxdvec1"
//	8       4      h, length of the head
//	12      h      head, JSON: name, dims d, tokens n, vocabularyBytes v, ...
//	12+h    v      the tokens in order, joined by line feeds; token 0 is [UNK]
//	...     4n     scale of each row, float32
//	...     nd     the rows, int8; a value is scale times code
//	...     32     SHA-256 of everything before
//
// The SHA-256 is checked when the table is first used and is the identity of
// the model: vectors of two tables never mix.
//
// # The runner and its protocol
//
// [Runner] starts cmd/ctxd-runner and talks to it over a pair of sockets, one of
// which the child inherits as descriptor 3; on Windows it is a named pipe whose
// name the child is given. The child serves with [ServeRunner]. Each side writes
// frames; numbers are little-endian:
//
//	offset  bytes
//	0       4      n, length of what follows, at most 16 MiB
//	4       1      kind
//	5       n-1    body
//
// The child begins with a hello ('h', JSON of [RunnerHello]). The daemon then
// sends one request at a time ('e': id uint64, then for each text its length
// uint32 and its bytes). While the child works it beats ten times a second ('b':
// id, number of texts done uint32). It answers with vectors ('v': id, dimensions
// uint32, number uint32, then for each text a byte 0 for none or 1 and float32
// values) or refuses the texts ('x': id, reason).
//
// Whatever else comes, an answer to another request, another number of vectors
// or values, a vector that is not of length 1, is a [ProtocolError]: nothing of
// it is used, and the child is killed. So is one that does not beat for
// RunnerOptions.Stall, which a stopped one does not, or that takes longer than
// CallTimeout over one text. What it wrote to stderr last is part of the error.
//
// The child ends when the socket does, at once even if a text is at work; on
// Linux the kernel kills it with its parent. It leads a process group of its own,
// and what it started is killed with it.
package embed
