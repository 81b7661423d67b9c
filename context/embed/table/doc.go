// Package table is the embedder that is always there: a table of one vector a token.
//
// [Builtin] is compiled into the program. It was distilled from all-MiniLM-L6-v2 by the
// scripts in fixtures/model, which say how. A table is read-only once it is read, and
// safe for concurrent use.
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
// [Open] reads a table from a file: the setting embedding.table. The
// multilingual one is made by task model:multilingual out of
// universal-sentence-encoder-multilingual, see fixtures/model. Every table has its
// own checksum, so its vectors are an index of their own, which takes over when it
// is complete. A file that can't be used is no reason not to search:
// [WhenAsked] then gives the built-in table, and says so in its [embed.Status].
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
package table
