package embed

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

// MaxText is how many bytes of a text are read, 1 MiB. A whole novel fits;
// what lies behind would move the mean of a text that long by nothing.
const MaxText = 1 << 20

const (
	magic    = "ctxdvec1"
	headAt   = len(magic) + 4
	checkLen = sha256.Size
	maxDims  = 4096
)

// Static is a table of one vector a token. It is read-only and safe for
// concurrent use.
type Static struct {
	model  Model
	vocab  *vocabulary
	scales []float32
	codes  []byte    // n rows of dims values, each an int8
	space  sync.Pool // *workspace
}

type workspace struct {
	ids  []int32
	word []byte
}

// Builtin gives the model that is compiled into the program. The first call
// checks and reads the table, some 30 ms and 3 MB; later ones are free. It
// fails only if the program itself is damaged.
var Builtin = sync.OnceValues(func() (*Static, error) {
	s, err := Parse(builtin)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Internal, Op: "embed", Msg: "the built-in model is damaged", Err: err, Hint: "install ctxd again"}
	}
	return s, nil
})

// Parse reads a table from its file, which the package documentation
// describes. The result refers to data; nobody may change it afterwards.
func Parse(data []byte) (*Static, error) {
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
	var head struct {
		Name            string
		Dims            int
		Tokens          int
		VocabularyBytes int
	}
	if err := json.Unmarshal(rest[:length], &head); err != nil {
		return nil, fmt.Errorf("head of the table: %w", err)
	}
	rest = rest[length:]
	if head.Dims < 1 || head.Dims > maxDims || head.Tokens < 1 || head.Tokens > len(rest) ||
		head.VocabularyBytes < 0 || head.VocabularyBytes > len(rest) ||
		len(rest) != head.VocabularyBytes+head.Tokens*(4+head.Dims) {
		return nil, errors.New("the head of the table does not fit its length")
	}
	tokens := strings.Split(string(rest[:head.VocabularyBytes]), "\n")
	if len(tokens) != head.Tokens {
		return nil, fmt.Errorf("table of %d tokens names %d", head.Tokens, len(tokens))
	}
	rest = rest[head.VocabularyBytes:]
	s := &Static{
		model:  Model{Name: head.Name, Dims: head.Dims, SHA256: hex.EncodeToString(sum)},
		vocab:  newVocabulary(tokens),
		scales: make([]float32, head.Tokens),
		codes:  rest[4*head.Tokens:],
	}
	for i := range s.scales {
		s.scales[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
	}
	s.space.New = func() any { return new(workspace) }
	return s, nil
}

// Dims is the number of values of a vector.
func (s *Static) Dims() int { return s.model.Dims }

// Model is the name of the table, its dimensions and its checksum. It does not
// fail.
func (s *Static) Model(context.Context) (Model, error) { return s.model, nil }

// Status says that the table is ready.
func (s *Static) Status() Status {
	m := s.model
	return Status{Kind: "builtin", State: Ready, Model: &m, Device: "cpu"}
}

// Close does nothing: the table belongs to the program.
func (s *Static) Close() error { return nil }

// Embed gives the vector of each text; see [Embedder]. It fails only when ctx
// ends.
func (s *Static) Embed(ctx context.Context, _ Purpose, texts []string) (Model, [][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return Model{}, nil, err
		}
		v := make([]float32, s.model.Dims)
		if s.EmbedInto(v, text) {
			out[i] = v
		}
	}
	return s.model, out, nil
}

// EmbedInto writes the vector of one text into dst, which holds Dims values,
// and allocates nothing. It reports false, and dst is all zero, when
// the text has no token with a vector. Time grows with the length of the text:
// 60 tokens take some 20 µs.
func (s *Static) EmbedInto(dst []float32, text string) bool {
	dst = dst[:s.model.Dims]
	clear(dst)
	w := s.space.Get().(*workspace)
	w.ids, w.word = s.vocab.appendTokens(w.ids[:0], w.word, clip(text))
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

// add adds the row of a token to dst. The conversion of each product keeps a
// processor from fusing it with the sum: vectors are the same everywhere.
func (s *Static) add(dst []float32, id int) {
	row := s.codes[id*len(dst):][:len(dst)]
	scale := s.scales[id]
	for len(row) >= 8 && len(dst) >= 8 {
		dst[0] += float32(scale * float32(int8(row[0])))
		dst[1] += float32(scale * float32(int8(row[1])))
		dst[2] += float32(scale * float32(int8(row[2])))
		dst[3] += float32(scale * float32(int8(row[3])))
		dst[4] += float32(scale * float32(int8(row[4])))
		dst[5] += float32(scale * float32(int8(row[5])))
		dst[6] += float32(scale * float32(int8(row[6])))
		dst[7] += float32(scale * float32(int8(row[7])))
		dst, row = dst[8:], row[8:]
	}
	for i, c := range row {
		dst[i] += float32(scale * float32(int8(c)))
	}
}

// clip cuts a text at MaxText bytes, not within a character.
func clip(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > MaxText-4 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}
