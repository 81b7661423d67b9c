package embed

// A [StaticTable] (table*.go) is the embedder that is always there: a table of one vector a token.
//
// [BuiltinTable] is compiled into the program. It was distilled from all-MiniLM-L6-v2 by the
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
// [OpenTable] reads a table from a file: the setting embedding.table. The
// multilingual one is made by task model:multilingual out of
// universal-sentence-encoder-multilingual, see fixtures/model. Every table has its
// own checksum, so its vectors are an index of their own, which takes over when it
// is complete. A file that can't be used is no reason not to search:
// [LazyTable] then gives the built-in table, and says so in its [Status].
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

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
)

//go:embed static.bin
var builtin []byte

const (
	magic    = "ctxdvec1"
	headAt   = len(magic) + 4
	checkLen = sha256.Size
)

// StaticTable is a table of one vector a token. It is read-only and safe for
// concurrent use.
type StaticTable struct {
	model  Model
	vocab  cutter
	scales []float32
	codes  []byte    // n rows of dims values, each an int8
	space  sync.Pool // *workspace
}

// cutter cuts a text into tokens and appends them to w.ids.
type cutter interface {
	appendTokens(w *workspace, text string)
}

// workspace is what cutting a text needs.
type workspace struct {
	ids  []int32
	word []byte
	// Of Unigram alone.
	becomes []byte
	paths   []path
}

// BuiltinTable gives the model that is compiled into the program. The first call
// checks and reads the table, some 30 ms and 3 MB; later ones are free. It
// fails only if the program itself is damaged.
var BuiltinTable = sync.OnceValues(func() (*StaticTable, error) {
	s, err := ParseTable(builtin)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Internal, Op: "embed", Msg: "the built-in model is damaged", Err: err,
			Hint: "install ctxd again",
		}
	}
	return s, nil
})

// head is what a table says of itself; Unigram tables have the last two.
type head struct {
	Name            string
	Dims            int
	Tokens          int
	VocabularyBytes int
	Tokenizer       string // "" is WordPiece
	CharsmapBytes   int
}

// fits reports whether a table with this head has so many bytes behind it. The
// bounds keep the sum from running over.
func (h *head) fits(length int) bool {
	if h.Dims < 1 || h.Dims > MaxDims || h.Tokens < 1 || h.Tokens > length ||
		h.VocabularyBytes < 0 || h.VocabularyBytes > length || h.CharsmapBytes < 0 || h.CharsmapBytes > length {
		return false
	}
	row := 4 + h.Dims
	if h.Tokenizer == tokenizerUnigram {
		row += 4
	} else if h.CharsmapBytes != 0 {
		return false
	}
	return length == h.VocabularyBytes+h.CharsmapBytes+h.Tokens*row
}

const tokenizerUnigram = "unigram"

// ParseTable reads a table from its file, which the head of this file
// describes. The result refers to data; nobody may change it afterwards.
func ParseTable(data []byte) (*StaticTable, error) {
	if len(data) < headAt+checkLen || string(data[:len(magic)]) != magic {
		return nil, errors.New("not a table of vectors")
	}
	body, sum := data[:len(data)-checkLen], data[len(data)-checkLen:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("checksum of the table does not match")
	}
	rest := body[headAt:]
	length := binary.LittleEndian.Uint32(body[len(magic):])
	if uint64(length) > uint64(len(rest)) {
		return nil, errors.New("the head of the table is longer than the table")
	}
	var h head
	if err := json.Unmarshal(rest[:length], &h); err != nil {
		return nil, fmt.Errorf("head of the table: %w", err)
	}
	rest = rest[length:]
	if !h.fits(len(rest)) {
		return nil, errors.New("the head of the table does not fit its length")
	}
	vocab, rest, err := parseTokens(&h, rest)
	if err != nil {
		return nil, err
	}
	scales, err := floats(rest, h.Tokens)
	if err != nil {
		return nil, err
	}
	s := &StaticTable{
		model:  Model{Name: h.Name, Dims: h.Dims, SHA256: hex.EncodeToString(sum)},
		vocab:  vocab,
		scales: scales,
		codes:  rest[4*h.Tokens:],
	}
	s.space.New = func() any { return new(workspace) }
	return s, nil
}

// parseTokens reads what cuts texts, and gives what follows it.
func parseTokens(h *head, data []byte) (cutter, []byte, error) {
	text, data := data[:h.VocabularyBytes], data[h.VocabularyBytes:]
	switch h.Tokenizer {
	case "":
		v, err := newVocabulary(text, h.Tokens)
		return v, data, err
	case tokenizerUnigram:
		tokens := strings.Split(string(text), "\n")
		if len(tokens) != h.Tokens {
			return nil, nil, fmt.Errorf("table of %d tokens names %d", h.Tokens, len(tokens))
		}
		chars, err := parseCharsmap(data[:h.CharsmapBytes])
		if err != nil {
			return nil, nil, err
		}
		data = data[h.CharsmapBytes:]
		scores, err := floats(data, h.Tokens)
		if err != nil {
			return nil, nil, err
		}
		u, err := newUnigram(tokens, scores, chars)
		return u, data[4*h.Tokens:], err
	}
	return nil, nil, fmt.Errorf("the table cuts texts by %q, which this version can't", h.Tokenizer)
}

// floats reads n numbers.
func floats(data []byte, n int) ([]float32, error) {
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if x := float64(out[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errors.New("a number of the table is none")
		}
	}
	return out, nil
}

// Dims is the number of values of a vector.
func (s *StaticTable) Dims() int { return s.model.Dims }

// Model is the name of the table, its dimensions and its checksum. It does not
// fail.
func (s *StaticTable) Model(context.Context) (Model, error) { return s.model, nil }

// Status says that the table is ready.
func (s *StaticTable) Status() Status {
	m := s.model
	return Status{Kind: KindBuiltin, State: Ready, Model: &m, Device: "cpu"}
}

// Close does nothing: the table belongs to the program.
func (s *StaticTable) Close() error { return nil }

// Embed gives the vector of each text; see [Embedder]. A query of which no word is known has
// none. It fails only when ctx ends.
func (s *StaticTable) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return Model{}, nil, err
		}
		v := make([]float32, s.model.Dims)
		if !(p == Query && s.inPieces(text)) && s.EmbedInto(v, text) {
			out[i] = v
		}
	}
	return s.model, out, nil
}

// inPieces is that of the vocabulary; false for one that scores its tokens.
func (s *StaticTable) inPieces(query string) bool {
	v, ok := s.vocab.(*vocabulary)
	if !ok {
		return false
	}
	w := s.space.Get().(*workspace)
	w.ids = w.ids[:0]
	cut := v.inPieces(w, Clip(query))
	s.space.Put(w)
	return cut
}

// EmbedInto writes the vector of one text into dst, which holds Dims values,
// and allocates nothing. It reports false, and dst is all zero, when
// the text has no token with a vector. Time grows with the length of the text:
// 60 tokens take some 5 µs where the processor has AVX2, else some 15 µs.
func (s *StaticTable) EmbedInto(dst []float32, text string) bool {
	dst = dst[:s.model.Dims]
	clear(dst)
	w := s.space.Get().(*workspace)
	w.ids = w.ids[:0]
	s.vocab.appendTokens(w, Clip(text))
	for _, id := range w.ids {
		if id != unknown {
			s.add(dst, int(id))
		}
	}
	if cap(w.ids) <= 1<<16 { // a huge text's space is not kept
		s.space.Put(w)
	}
	var squares float64
	for _, x := range dst {
		squares += float64(float64(x) * float64(x))
	}
	if squares == 0 {
		return false
	}
	scale := float32(1 / math.Sqrt(squares))
	for i := range dst {
		dst[i] *= scale
	}
	return true
}

// add adds the row of a token to dst.
func (s *StaticTable) add(dst []float32, id int) {
	addScaled(dst, s.codes[id*len(dst):][:len(dst)], s.scales[id])
}
