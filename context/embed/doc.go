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
// The text is cut into tokens, in one of two ways. The rows of the tokens are
// added and the sum is brought to length 1. Frequent tokens have short rows, so
// the sum is a weighted mean.
//
// WordPiece, of the built-in table, cuts as BERT's uncased tokenizer does: control
// characters dropped, accents stripped, lower case, punctuation and Chinese
// characters apart, then the longest token first. Words with letters of a script
// other than Latin have no token: a text of nothing else has no vector.
//
// Unigram, of the multilingual table, cuts as SentencePiece does: the text is
// normalised by the table of characters that is in the file (NFKC, white space to
// spaces, control characters dropped), a mark is put before every word, and of all
// ways to cut a word the one counts whose tokens have the greatest sum of scores.
// A character without a token costs 10 more than the rarest token, and adds
// nothing to the vector. Without a space, a text is cut apart every 16 KiB; that
// and sums of float32, which begin anew with each word, is all in which it differs
// from the original.
//
// # Another table
//
// [OpenTable] reads a table from a file: the setting embedding.table. The
// multilingual one is made by task model:multilingual out of
// universal-sentence-encoder-multilingual, see fixtures/model. Every table has its
// own checksum, so its vectors are an index of their own, which takes over when it
// is complete. A file that can't be used is no reason not to search:
// [TableWhenAsked] then gives the built-in table, and says so in its [Status].
//
// # The file of a table
//
// Numbers are little-endian.
//
//	offset  bytes
//	0       8      "ctxdvec1"
//	8       4      h, length of the head
//	12      h      head, JSON: name, dims d, tokens n, vocabularyBytes v, ...
//	12+h    v      the tokens, joined by line feeds; token 0 is what has none
//	...     c      Unigram: what characters become, see charsmap
//	...     4n     Unigram: score of each token, float32, 0 for token 0
//	...     4n     scale of each row, float32
//	...     nd     the rows, int8; a value is scale times code
//	...     32     SHA-256 of everything before
//
// The head of a Unigram table also says "tokenizer": "unigram" and charsmapBytes c;
// its tokens, but for token 0, are in the order of their bytes. Those of WordPiece
// are in any order.
//
// The SHA-256 is checked when a table is read and is the identity of the model:
// vectors of two tables never mix.
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
