package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ctxd/ctxd/entities/fault"
)

// # The file of an encoder
//
// Numbers are little-endian.
//
//	offset  bytes
//	0       8      "ctxdenc1"
//	8       4      h, length of the head
//	12      h      head, JSON: see encoderHead
//	12+h    v      the vocabulary, tokens joined by line feeds
//	...            float32: gamma and beta of the embeddings; of each layer the biases of query, key, value and output,
//	               gamma, beta, the biases of the inner and the outer matrix, gamma, beta; the mean and the axes of
//	               coordinates, row by row
//	...            matrices: the embeddings of tokens and of positions; of each layer query, key, value, output, inner, outer
//	...     32     SHA-256 of everything before
//
// A matrix is codes of 4 bits, then scales. A row is in groups of 32 columns; the 16 bytes of one hold column i in the low
// half of byte i, and column i+16 in the high half. A number is scale·(code-8), with one scale, float16, for each group.

const (
	encoderMagic = "ctxdenc1"
	group        = 32 // columns that have a scale of their own
)

// encoderHead is what the file of an encoder says of itself.
type encoderHead struct {
	Name            string
	Layers          int
	Dims            int
	Heads           int
	Inner           int
	Tokens          int
	Positions       int
	Axes            int
	Group           int
	VocabularyBytes int
	Epsilon         float32
	QueryPrefix     []int32
	DocumentPrefix  []int32
}

// sound reports whether the kernels can do with these sizes.
func (h *encoderHead) sound() bool {
	const most = 1 << 20
	for _, n := range []int{h.Layers, h.Dims, h.Heads, h.Inner, h.Tokens, h.Positions, h.Axes, h.VocabularyBytes} {
		if n < 1 || n > most {
			return false
		}
	}
	for _, p := range [][]int32{h.QueryPrefix, h.DocumentPrefix} {
		for _, id := range p {
			if id < 0 || int(id) >= h.Tokens {
				return false
			}
		}
	}
	return h.Dims <= MaxDims && h.Inner <= 4*MaxDims && h.Group == group && h.Dims%64 == 0 && h.Inner%64 == 0 &&
		h.Axes%16 == 0 && h.Axes <= h.Dims && h.Dims%h.Heads == 0 && h.Dims/h.Heads%16 == 0 && h.Positions >= 16 &&
		len(h.QueryPrefix)+len(h.DocumentPrefix) <= 8 && h.Epsilon > 0 && h.Epsilon < 1
}

// packed is a matrix as the file has it.
type packed struct {
	cols   int
	codes  []byte
	scales []byte
}

// row writes a row into dst.
func (p *packed) row(dst []float32, row int) {
	groups := p.cols / group
	for g := range groups {
		at := row*groups + g
		scale := half(binary.LittleEndian.Uint16(p.scales[2*at:]))
		codes := p.codes[at*group/2:][:group/2]
		low, high := dst[g*group:][:group/2], dst[g*group+group/2:][:group/2]
		for i, c := range codes {
			low[i] = scale * float32(int(c&15)-8)
			high[i] = scale * float32(int(c>>4)-8)
		}
	}
}

// half is the value of a float16.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)
	if exponent == 0 {
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// fileReader takes the parts of a file one after the other; the first error stays.
type fileReader struct {
	data []byte
	err  error
}

func (r *fileReader) take(n int) []byte {
	if r.err == nil && n > len(r.data) {
		r.err = errors.New("the model is shorter than its head says")
	}
	if r.err != nil {
		return nil
	}
	part := r.data[:n]
	r.data = r.data[n:]
	return part
}

func (r *fileReader) floats(n int) []float32 {
	part := r.take(4 * n)
	if r.err != nil {
		return nil
	}
	out, err := floats(part, n)
	r.err = err
	return out
}

func (r *fileReader) packed(rows, cols int) packed {
	p := packed{cols: cols, codes: r.take(rows * cols / 2), scales: r.take(rows * cols / group * 2)}
	for i := 1; i < len(p.scales); i += 2 {
		if p.scales[i]>>2&31 == 31 {
			r.err = errors.New("a number of the model is none")
		}
	}
	return p
}

// matrix makes the weights of 8 bits of those of the file.
func (r *fileReader) matrix(rows, cols int, bias []float32) matrix {
	p := r.packed(rows, cols)
	m := matrix{rows: rows, cols: cols, bias: bias}
	if r.err != nil {
		return m
	}
	m.codes, m.scales = make([]int8, rows*cols), make([]float32, rows)
	values := make([]float32, cols)
	for row := range rows {
		p.row(values, row)
		var most float32
		for _, v := range values {
			most = max(most, v, -v)
		}
		if most == 0 {
			continue
		}
		m.scales[row] = most / 127
		codes := m.codes[row*cols:][:cols]
		for i, v := range values {
			codes[i] = int8(math.RoundToEven(float64(v * (127 / most))))
		}
	}
	return m
}

// encoderModel is the identity of an encoder, whose file is not checked for it.
func encoderModel(data []byte) (Model, error) {
	h, _, err := parseHead(data)
	if err != nil {
		return Model{}, err
	}
	return Model{Name: h.Name, Dims: h.Axes, SHA256: hex.EncodeToString(data[len(data)-checkLen:])}, nil
}

// parseHead reads the head of a file, and gives what is between it and the checksum.
func parseHead(data []byte) (h encoderHead, rest *fileReader, err error) {
	at := len(encoderMagic) + 4
	if len(data) < at+checkLen || string(data[:len(encoderMagic)]) != encoderMagic {
		return h, nil, errors.New("not an encoder")
	}
	r := &fileReader{data: data[at : len(data)-checkLen]}
	head := r.take(int(min(binary.LittleEndian.Uint32(data[len(encoderMagic):]), math.MaxInt32)))
	if r.err != nil {
		return h, nil, r.err
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, fmt.Errorf("head of the model: %w", err)
	}
	if !h.sound() {
		return h, nil, errors.New("this version can't use a model of these sizes")
	}
	return h, r, nil
}

// ParseEncoder reads an encoder from its file and makes its weights ready, in some 0.2 s. The result refers to data; nobody
// may change it afterwards.
func ParseEncoder(data []byte) (*Encoder, error) {
	h, r, err := parseHead(data)
	if err != nil {
		return nil, err
	}
	body, sum := data[:len(data)-checkLen], data[len(data)-checkLen:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("checksum of the model does not match")
	}
	e := &Encoder{head: h, model: Model{Name: h.Name, Dims: h.Axes, SHA256: hex.EncodeToString(sum)}}
	e.readParts(r)
	if r.err != nil {
		return nil, r.err
	}
	if len(r.data) != 0 {
		return nil, errors.New("the model is longer than its head says")
	}
	return e, e.learnVocabulary()
}

// readParts reads all but the head. What it makes ready takes a byte for each weight.
func (e *Encoder) readParts(r *fileReader) {
	h := &e.head
	e.text = r.take(h.VocabularyBytes)
	e.gamma, e.beta = r.floats(h.Dims), r.floats(h.Dims)
	e.layers = make([]layer, 0, min(h.Layers, 1024))
	for range h.Layers {
		if r.err != nil {
			return
		}
		var l layer
		for _, m := range l.matrices()[:4] {
			m.bias = r.floats(h.Dims)
		}
		l.gamma, l.beta = r.floats(h.Dims), r.floats(h.Dims)
		l.inner.bias, l.outer.bias = r.floats(h.Inner), r.floats(h.Dims)
		l.gammaOut, l.betaOut = r.floats(h.Dims), r.floats(h.Dims)
		e.layers = append(e.layers, l)
	}
	e.mean = r.floats(h.Dims)
	axes := r.floats(h.Axes * h.Dims)
	e.words, e.places = r.packed(h.Tokens, h.Dims), r.packed(h.Positions, h.Dims)
	for i := range e.layers {
		l := &e.layers[i]
		for _, m := range l.matrices() {
			rows, cols := h.Dims, h.Dims
			switch m {
			case &l.inner:
				rows = h.Inner
			case &l.outer:
				cols = h.Inner
			}
			*m = r.matrix(rows, cols, m.bias)
		}
	}
	if r.err != nil {
		return
	}
	e.axes = make([]float32, len(axes)) // turned, as mix wants them
	for a := range h.Axes {
		for d := range h.Dims {
			e.axes[d*h.Axes+a] = axes[a*h.Dims+d]
		}
	}
}

// BuiltinFacts are what the models are that are compiled into the program.
type BuiltinFacts struct {
	Encoder, Table Model
	// Of the encoder: its layers, the width of each, the tokens that it tells apart, and how many it reads at a time.
	Layers, Width, Tokens, Positions int
	EncoderBytes, TableBytes         int64 // in the program
	// Instructions are those of this processor that the encoder can use, the fastest first; none: there is no encoder.
	Instructions []string
}

// BuiltinModels tells what the built-in models are, without making the encoder ready. It fails where they are damaged.
func BuiltinModels() (f BuiltinFacts, err error) {
	table, err := BuiltinTable()
	if err != nil {
		return f, err
	}
	f.Encoder, err = encoderModel(builtinEncoder)
	if err != nil {
		return f, fault.Wrap(fault.Internal, err, "the built-in encoder is damaged").WithHint("install ctxd again")
	}
	h, _, err := parseHead(builtinEncoder)
	f.Table, f.TableBytes, f.EncoderBytes = table.model, int64(len(builtin)), int64(len(builtinEncoder))
	f.Layers, f.Width, f.Tokens, f.Positions = h.Layers, h.Dims, h.Tokens, h.Positions
	for _, k := range kernelsHere() {
		f.Instructions = append(f.Instructions, k.name)
	}
	return f, err
}
