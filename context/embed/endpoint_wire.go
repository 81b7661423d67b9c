package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// request is what an endpoint is sent.
type request struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Encoding string   `json:"encoding_format"`
}

func encodeRequest(model string, texts []string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(request{Model: model, Input: texts, Encoding: "float"})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// reply is what is read of what an endpoint sends.
type reply struct {
	Data []struct {
		Index     *int    `json:"index"`
		Embedding numbers `json:"embedding"`
	} `json:"data"`
}

// numbers are a vector as it is sent: an array, or the base64 of float32, little
// end first, which some endpoints send whatever they are asked for.
type numbers []float32

var (
	errNotFinite = errors.New("a value is no number")
	errNumbers   = errors.New("not a vector")
)

// UnmarshalJSON reads a vector. A value of null is what some encoders make of
// NaN; it must not become 0.
func (n *numbers) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return n.fromBase64(raw)
	}
	if len(raw) < 2 || raw[0] != '[' {
		return errNumbers
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	for len(raw) > 0 {
		var word []byte
		word, raw, _ = bytes.Cut(raw, []byte(","))
		word = bytes.TrimSpace(word)
		if string(word) == "null" {
			return errNotFinite
		}
		f, err := strconv.ParseFloat(string(word), 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return errNotFinite
		case err != nil || len(*n) == MaxDims:
			return errNumbers
		}
		*n = append(*n, float32(f))
	}
	return nil
}

func (n *numbers) fromBase64(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return errNumbers
	}
	bin, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(bin)%4 != 0 || len(bin) > 4*MaxDims {
		return errNumbers
	}
	for at := range len(bin) / 4 {
		*n = append(*n, math.Float32frombits(binary.LittleEndian.Uint32(bin[4*at:])))
	}
	return nil
}

// decodeReply reads the vectors of count texts, in the order of the texts and of
// length 1. What is wrong with a reply says nothing of what is in it.
func decodeReply(body []byte, count int) ([][]float32, *refusal) {
	var r reply
	switch err := json.Unmarshal(body, &r); {
	case errors.Is(err, errNotFinite):
		return nil, senseless("sent a vector with a value that is no number")
	case errors.Is(err, errNumbers):
		return nil, refused("sent something else than vectors").WithHint("its model may be none for embeddings")
	case err != nil:
		return nil, refused("sent a reply that can't be read").
			WithHint("correct embedding.url: it may not be one of embeddings")
	case len(r.Data) != count:
		return nil, refused("sent %d vectors for %d texts", len(r.Data), count).
			WithHint("its model may be none for embeddings")
	}
	out := make([][]float32, count)
	for i, d := range r.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		// The first says for all whether they name their texts.
		if (d.Index == nil) != (r.Data[0].Index == nil) || at < 0 || at >= count || out[at] != nil {
			return nil, refused("sent vectors that can't be told apart")
		}
		if len(d.Embedding) == 0 || len(d.Embedding) != len(r.Data[0].Embedding) {
			return nil, refused("sent vectors of %d and %d dimensions", len(r.Data[0].Embedding), len(d.Embedding))
		}
		if !normalize(d.Embedding) {
			return nil, senseless("sent a vector without a direction")
		}
		out[at] = d.Embedding
	}
	return out, nil
}

// senseless refuses a vector that some models make of some texts.
func senseless(what string) *refusal {
	r := refused("%s", what)
	r.Texts = true
	return r
}

// normalize brings a vector to length 1. It reports false for one that has no
// direction: all zero, or with a value that is no number.
func normalize(v []float32) bool {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return false
	}
	scale := 1 / math.Sqrt(squares)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}
