package llm_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The words of GGUF, version 3.
const (
	ggufUint32, ggufFloat32, ggufString, ggufArray = 4, 6, 8, 9
	ggufAlign                                      = 32
)

// The kinds of token of a vocabulary of SentencePiece.
const (
	normalToken, unknownToken, controlToken, byteToken = 1, 2, 3, 6
)

const endToken = 2

// alphabet is what the model says after a colon, letter by letter.
const alphabet = "abcdefghijklmnopqrstuvwxyz"

// colonTemplate is how a conversation becomes a prompt: it ends with a colon.
const colonTemplate = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"

// writeModel writes a language model of the architecture llama, with 287 tokens and one layer that adds nothing, so
// that each token is decided by the one before: a colon is followed by the alphabet, and z by the end or, in one
// that never ends, by a.
func writeModel(t *testing.T, ends bool) (file string) {
	t.Helper()
	const width, hidden = 32, 64
	tokens, kinds := []string{"<unk>", "<s>", "</s>"}, []uint32{unknownToken, controlToken, controlToken}
	for b := range 256 {
		const digits = "0123456789ABCDEF"
		tokens, kinds = append(tokens, "<0x"+string(digits[b>>4])+string(digits[b&15])+">"), append(kinds, byteToken)
	}
	first := len(tokens)
	for _, r := range ":" + alphabet {
		tokens, kinds = append(tokens, string(r)), append(kinds, normalToken)
	}
	embedding, output := make([]float32, width*len(tokens)), make([]float32, width*len(tokens))
	for i := range len(alphabet) + 1 {
		at, next := first+i, first+i+1
		if i == len(alphabet) {
			next = first + 1
			if ends {
				next = endToken
			}
		}
		embedding[at*width+i] = 1
		output[next*width+i] = 8
	}
	ones := make([]float32, width)
	for i := range ones {
		ones[i] = 1
	}
	g := &gguf{}
	g.text("general.architecture", "llama")
	g.text("general.name", "alphabet")
	for key, n := range map[string]uint32{
		"llama.context_length": 8192, "llama.embedding_length": width, "llama.block_count": 1, "llama.feed_forward_length": hidden,
		"llama.attention.head_count": 2, "llama.attention.head_count_kv": 2, "llama.rope.dimension_count": width / 2,
		"llama.vocab_size": uint32(len(tokens)), "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": endToken,
		"tokenizer.ggml.unknown_token_id": 0,
	} {
		g.number(key, n)
	}
	g.key("llama.attention.layer_norm_rms_epsilon", ggufFloat32)
	g.put(float32(1e-6))
	g.text("tokenizer.ggml.model", "llama")
	g.text("tokenizer.chat_template", colonTemplate)
	g.list("tokenizer.ggml.tokens", ggufString, len(tokens))
	for _, s := range tokens {
		g.string(s)
	}
	g.list("tokenizer.ggml.scores", ggufFloat32, len(tokens))
	g.put(make([]float32, len(tokens)))
	g.list("tokenizer.ggml.token_type", ggufInt32, len(kinds))
	g.put(kinds)

	g.tensor("token_embd.weight", embedding, width, len(tokens))
	g.tensor("output.weight", output, width, len(tokens))
	g.tensor("output_norm.weight", ones, width)
	g.tensor("blk.0.attn_norm.weight", ones, width)
	g.tensor("blk.0.ffn_norm.weight", ones, width)
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		g.tensor("blk.0."+name+".weight", make([]float32, width*width), width, width)
	}
	g.tensor("blk.0.ffn_gate.weight", make([]float32, width*hidden), width, hidden)
	g.tensor("blk.0.ffn_up.weight", make([]float32, width*hidden), width, hidden)
	g.tensor("blk.0.ffn_down.weight", make([]float32, width*hidden), hidden, width)
	file = filepath.Join(t.TempDir(), "alphabet.gguf")
	if err := os.WriteFile(file, g.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const ggufInt32 = 5

// gguf is a file of a model that is written.
type gguf struct {
	keys, tensors int
	meta, about   bytes.Buffer
	data          bytes.Buffer
}

func (g *gguf) put(v any) { _ = binary.Write(&g.meta, binary.LittleEndian, v) } // into memory

func (g *gguf) string(s string) {
	g.put(uint64(len(s)))
	g.meta.WriteString(s)
}

func (g *gguf) key(name string, kind uint32) {
	g.keys++
	g.string(name)
	g.put(kind)
}

func (g *gguf) text(name, s string) {
	g.key(name, ggufString)
	g.string(s)
}

func (g *gguf) number(name string, n uint32) {
	g.key(name, ggufUint32)
	g.put(n)
}

func (g *gguf) list(name string, kind uint32, n int) {
	g.key(name, ggufArray)
	g.put(kind)
	g.put(uint64(n))
}

// tensor adds a tensor of 32-bit floats; the first of its sizes is that of a row.
func (g *gguf) tensor(name string, values []float32, sizes ...int) {
	g.tensors++
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(name)))
	b = append(b, name...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(sizes)))
	for _, n := range sizes {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, 0) // 32-bit floats
	b = binary.LittleEndian.AppendUint64(b, uint64(g.data.Len()))
	g.about.Write(b)
	for _, v := range values {
		g.data.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	}
	pad(&g.data)
}

func pad(b *bytes.Buffer) {
	for b.Len()%ggufAlign != 0 {
		b.WriteByte(0)
	}
}

func (g *gguf) bytes() []byte {
	var out bytes.Buffer
	out.WriteString("GGUF")
	head := binary.LittleEndian.AppendUint32(nil, 3)
	head = binary.LittleEndian.AppendUint64(head, uint64(g.tensors))
	out.Write(binary.LittleEndian.AppendUint64(head, uint64(g.keys)))
	out.Write(g.meta.Bytes())
	out.Write(g.about.Bytes())
	pad(&out)
	out.Write(g.data.Bytes())
	return out.Bytes()
}
