// Package embed turns text into vectors whose cosine says how near two texts
// are in meaning.
//
// [Builtin] is the model that is always there: a table of one vector a token,
// compiled into the program. It was distilled from all-MiniLM-L6-v2 by the
// scripts in fixtures/model, which say how. Other embedders (a child process
// with a model, an HTTP endpoint) answer to the same [Embedder].
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
package embed
