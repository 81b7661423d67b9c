package embed

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
)

// An [Encoder] (encoder*.go) reads a text as a whole, and gives a vector for each of its words: what the word means where it
// stands.
//
// It is a transformer of the shape of BERT: twelve layers of attention over all tokens of up to 512. Its weights are kept
// at 4 bits, and made 8 bits when it is read; activations are 8 bits in the matrices and float32 elsewhere. That wants the
// wide instructions of a processor: see kernels. Where it has none, there is no encoder.
//
// # How a text becomes vectors
//
// The text is cut into tokens as BERT's uncased tokenizer cuts, see the tokens of a [StaticTable]. What the last layer says
// of a token is put into coordinates: axes, of which each is divided by the square root of how far texts spread along it.
// Of a text that is to be found the tokens of a word are averaged and signs left out, and a coordinate has 2 bits. A question
// keeps each token. The tokens that stand before and behind a text count with it. fixtures/model has the figures.

// Encoder gives a vector for each word of a text. It is safe for concurrent use.
type Encoder struct {
	head    encoderHead
	model   Model
	kernels *kernels
	space   sync.Pool // *pass

	text                []byte
	vocab               *vocabulary
	begin, end, unknown int32     // the tokens [CLS], [SEP] and [UNK]
	signs               []bool    // of each token: whether it is a sign
	words, places       packed    // embeddings
	gamma, beta         []float32 // of their normalisation
	layers              []layer
	mean, axes          []float32
}

// Tokens are what an encoder says of a text.
type Tokens struct {
	// Pooled is the mean of the words, of length 1; nil for a text without any.
	Pooled []float32
	// Codes are the words one after the other, 2 bits a coordinate: with d the number of coordinates, byte i of the d/4 of a word
	// holds the coordinates i, i+d/4, i+d/2 and i+3d/4 from its lowest bits up. A code c is worth 2c-3, and a word is brought
	// to length 1.
	Codes []byte
}

// TokenEmbedder is an embedder that gives a vector for each word as well.
type TokenEmbedder interface {
	Embedder
	// EmbedTokens gives what there is to keep of each text. It fails as Embed does.
	EmbedTokens(ctx context.Context, texts []string) (Model, []Tokens, error)
	// EmbedQuestion gives the tokens of a question; none for one without any.
	EmbedQuestion(ctx context.Context, text string) (Model, QuestionTokens, error)
}

// QuestionTokens are what an encoder says of a question.
type QuestionTokens struct {
	Vectors [][]float32 // the coordinates of each token, of length 1
	// Words are, for each token, the word that it is of, folded as the model folds; "" for a sign and for what stands around a
	// question.
	Words []string
}

// use makes the encoder compute by kernels, once for each encoder.
func (e *Encoder) use(k *kernels) {
	e.kernels = k
	if !k.blocks {
		return
	}
	for i := range e.layers {
		for _, m := range e.layers[i].matrices() {
			m.toBlocks()
		}
	}
}

func rootOf(n int) float32 { return float32(1 / math.Sqrt(float64(n))) }

// learnVocabulary finds the tokens that stand for no text, and the signs.
func (e *Encoder) learnVocabulary() (err error) {
	e.vocab, err = newVocabulary(e.text, e.head.Tokens)
	if err != nil {
		return err
	}
	e.signs = make([]bool, e.head.Tokens)
	e.begin, e.end, e.unknown = -1, -1, -1
	for id := range int32(e.head.Tokens) {
		switch token := e.vocab.token(id); string(token) {
		case "[CLS]":
			e.begin = id
		case "[SEP]":
			e.end = id
		case "[UNK]":
			e.unknown = id
		default:
			r, size := utf8.DecodeRune(token)
			e.signs[id] = size == len(token) && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsNumber(r)
		}
	}
	if min(e.begin, e.end, e.unknown) < 0 {
		return errors.New("the vocabulary lacks [CLS], [SEP] or [UNK]")
	}
	if most := e.head.Positions - 2 - max(len(e.head.QueryPrefix), len(e.head.DocumentPrefix)); most < 1 {
		return errors.New("the model has no room for a text")
	}
	e.space.New = func() any { return new(pass) }
	return nil
}

// cut writes the tokens of a text into p.work.ids.
func (e *Encoder) cut(p *pass, text string) {
	p.work.ids = p.work.ids[:0]
	e.vocab.appendTokens(&p.work, text)
	for i, id := range p.work.ids {
		if id == unknown {
			p.work.ids[i] = e.unknown
		}
	}
}

// read has the model read tokens behind a prefix, and leaves the coordinates of each token of p.ids in p.coordinates, each of
// length 1. It reports false when ctx ends before.
func (e *Encoder) read(ctx context.Context, p *pass, prefix, ids []int32) bool {
	h, k := &e.head, e.kernels
	p.ids = append(append(append(append(p.ids[:0], e.begin), prefix...), ids...), e.end)
	if !e.run(ctx, p) {
		return false
	}
	n := roundUp(len(p.ids), 4)
	for i := range p.hidden {
		p.hidden[i] -= e.mean[i%h.Dims]
	}
	p.coordinates = grow(p.coordinates, n*h.Axes)
	for t := 0; t < n; t += 4 {
		k.mix(p.coordinates[t*h.Axes:], h.Axes, p.hidden[t*h.Dims:], h.Dims, e.axes, h.Axes, h.Dims, h.Axes)
	}
	for t := range p.ids {
		unit(p.coordinates[t*h.Axes:][:h.Axes])
	}
	return true
}

// eachWord has visit look at the coordinates of each word that was read, of length 1: the mean of its tokens. The tokens around
// a text count as words; signs do not, unless there is nothing else. The coordinates are the pass's.
func (e *Encoder) eachWord(p *pass, visit func(word []float32)) {
	axes := e.head.Axes
	around := 2 + len(e.head.DocumentPrefix)
	bare := !slices.ContainsFunc(p.ids[around-1:len(p.ids)-1], func(id int32) bool { return !e.signs[id] })
	for i := 0; i < len(p.ids); {
		next := i + 1
		word := p.coordinates[i*axes:][:axes]
		for ; next < len(p.ids) && isTail(e.vocab.token(p.ids[next])) && i > 0; next++ {
			for a, x := range p.coordinates[next*axes:][:axes] {
				word[a] += x
			}
		}
		if (bare || !e.signs[p.ids[i]]) && unit(word) {
			visit(word)
		}
		i = next
	}
}

// unit brings a vector to length 1, and reports whether it has any.
func unit(v []float32) bool {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if squares == 0 || math.IsInf(squares, 0) || math.IsNaN(squares) {
		return false
	}
	by := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= by
	}
	return true
}

// mostParts is in how many parts a text is read. What is searched is cut into passages long before; a text without a blank
// may have as many tokens as letters.
const mostParts = 8

// tokens is what there is to keep of a text. A text that is longer than the model reads at a time is read in parts.
func (e *Encoder) tokens(ctx context.Context, p *pass, text string) (t Tokens, err error) {
	h := &e.head
	e.cut(p, Clip(text))
	pooled := make([]float32, h.Axes)
	most := h.Positions - 2 - len(h.DocumentPrefix)
	for ids := p.work.ids[:min(len(p.work.ids), mostParts*most)]; len(ids) > 0; ids = ids[min(most, len(ids)):] {
		part := ids[:min(most, len(ids))]
		if !e.read(ctx, p, h.DocumentPrefix, part) {
			return Tokens{}, ctx.Err()
		}
		e.eachWord(p, func(word []float32) {
			t.Codes = appendCodes(t.Codes, word)
			for i, x := range word {
				pooled[i] += x
			}
		})
	}
	if unit(pooled) {
		t.Pooled = pooled
	}
	return t, nil
}

// codeStep is what a coordinate has to be to have an outer level, in its deviations: about as in the uniform quantiser of four
// levels with the least error for a normal distribution, which has .9957 (Max, "Quantizing for Minimum Distortion", 1960).
const codeStep = 0.98

// appendCodes appends a word of length 1 in 2 bits a coordinate. The deviation of a coordinate is 1/√d.
func appendCodes(codes []byte, word []float32) []byte {
	quarter := len(word) / 4
	by := float32(math.Sqrt(float64(len(word))) / codeStep)
	from := len(codes)
	codes = append(codes, make([]byte, quarter)...)
	for i := range quarter {
		var b byte
		for j := range 4 {
			c := int(math.Floor(float64(word[j*quarter+i]*by))) + 2
			b |= byte(min(max(c, 0), 3)) << (2 * j)
		}
		codes[from+i] = b
	}
	return codes
}

// MaxQuestion is how many tokens of a question are read.
const MaxQuestion = 64

// Model is the name of the model, the number of its coordinates and its checksum. It does not fail.
func (e *Encoder) Model(context.Context) (Model, error) { return e.model, nil }

// Status says that the encoder is ready, and by which instructions.
func (e *Encoder) Status() Status {
	m := e.model
	return Status{Kind: KindBuiltin, State: Ready, Model: &m, Device: "cpu, " + e.kernels.name}
}

// Close does nothing: the model belongs to the program.
func (e *Encoder) Close() error { return nil }

// Embed gives the mean of the words of each text; see [Embedder]. It fails only when ctx ends.
func (e *Encoder) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if p == Query {
			_, q, err := e.EmbedQuestion(ctx, text)
			if err != nil {
				return Model{}, nil, err
			}
			out[i] = MeanOf(q.Vectors)
			continue
		}
		_, tokens, err := e.EmbedTokens(ctx, texts[i:i+1])
		if err != nil {
			return Model{}, nil, err
		}
		out[i] = tokens[0].Pooled
	}
	return e.model, out, nil
}

// MeanOf is the mean of vectors, of length 1; nil for none.
func MeanOf(words [][]float32) []float32 {
	if len(words) == 0 {
		return nil
	}
	mean := make([]float32, len(words[0]))
	for _, w := range words {
		for i, x := range w {
			mean[i] += x
		}
	}
	if !unit(mean) {
		return nil
	}
	return mean
}

// give keeps the space for the next text, unless a huge one has grown it.
func (e *Encoder) give(p *pass) {
	if cap(p.work.ids) <= 1<<16 {
		e.space.Put(p)
	}
}

// EmbedTokens gives what there is to keep of each text. It fails only when ctx ends. The time grows with the length of a
// text: PERF-23 is its measure.
func (e *Encoder) EmbedTokens(ctx context.Context, texts []string) (Model, []Tokens, error) {
	p := e.space.Get().(*pass)
	defer e.give(p)
	out := make([]Tokens, len(texts))
	for i, text := range texts {
		t, err := e.tokens(ctx, p, text)
		if err != nil {
			return Model{}, nil, err
		}
		out[i] = t
	}
	return e.model, out, nil
}

// EmbedQuestion gives the tokens of a question, of which MaxQuestion tokens are read. It fails only when ctx ends.
func (e *Encoder) EmbedQuestion(ctx context.Context, text string) (Model, QuestionTokens, error) {
	if err := ctx.Err(); err != nil {
		return Model{}, QuestionTokens{}, err
	}
	p := e.space.Get().(*pass)
	defer e.give(p)
	e.cut(p, Clip(text))
	ids := p.work.ids[:min(len(p.work.ids), MaxQuestion, e.head.Positions-2-len(e.head.QueryPrefix))]
	if len(ids) == 0 {
		return e.model, QuestionTokens{}, nil
	}
	if !e.read(ctx, p, e.head.QueryPrefix, ids) {
		return Model{}, QuestionTokens{}, ctx.Err()
	}
	q := QuestionTokens{Words: e.wordsOf(p.ids, 1+len(e.head.QueryPrefix))}
	for t := range p.ids {
		q.Vectors = append(q.Vectors, slices.Clone(p.coordinates[t*e.head.Axes:][:e.head.Axes]))
	}
	return e.model, q, nil
}

// wordsOf gives the word that each token is of, behind those that stand before a text; "" for a sign and what stands around it.
func (e *Encoder) wordsOf(ids []int32, before int) []string {
	words := make([]string, len(ids))
	for i := before; i < len(ids)-1; {
		next := i + 1
		word := string(e.vocab.token(ids[i]))
		for ; next < len(ids)-1 && isTail(e.vocab.token(ids[next])); next++ {
			word += string(e.vocab.token(ids[next])[2:])
		}
		if !e.signs[ids[i]] {
			for j := i; j < next; j++ {
				words[j] = word
			}
		}
		i = next
	}
	return words
}

func noKernels() error {
	return fault.New(fault.Unavailable, "this processor lacks the instructions that the encoder wants").
		WithHint("search by meaning uses the built-in table of vectors; it wants AVX2 or, on arm64, the dot product")
}

// BuiltinEncoder gives the encoder that is compiled into the program. The first call makes it ready, in some 0.3 s, and
// takes 22 MB; later ones are free. It fails with fault.Unavailable where the processor has no instructions for it.
var BuiltinEncoder = sync.OnceValues(func() (*Encoder, error) {
	here := kernelsHere()
	if len(here) == 0 {
		return nil, noKernels()
	}
	e, err := ParseEncoder(builtinEncoder)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Internal, Op: "embed", Msg: "the built-in encoder is damaged", Err: err, Hint: "install ctxd again",
		}
	}
	e.use(here[0])
	return e, nil
})
