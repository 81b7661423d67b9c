package embed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"regexp"
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
	switch {
	case string(raw) == "null": // for a text that its model could not read
		return errNotFinite
	case len(raw) > 0 && raw[0] == '"':
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

// notJSON is what some servers write for a value that is no number, between what else stands in a list.
var notJSON = regexp.MustCompile(`([\[,]\s*)-?(?:NaN|nan|Infinity|Inf|inf)(\s*[\],])`)

// numbersAsNull returns a reply with null in the place of what is no number in JSON. Neighbours share a comma, so it looks twice.
func numbersAsNull(body []byte) []byte {
	for range 2 {
		body = notJSON.ReplaceAll(body, []byte("${1}null${2}"))
	}
	return body
}

// decodeReply reads the vectors of count texts, in the order of the texts and of
// length 1. What is wrong with a reply says nothing of what is in it. The texts may be the reason of all that is wrong with
// one that can be read: who asks tells by asking for another text.
func decodeReply(body []byte, count int) ([][]float32, *refusal) {
	var r reply
	err := json.Unmarshal(body, &r)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		r = reply{}
		err = json.Unmarshal(numbersAsNull(body), &r)
	}
	switch {
	case errors.Is(err, errNotFinite):
		return nil, senseless("sent a vector with a value that is no number")
	case errors.Is(err, errNumbers):
		return nil, senseless("sent something else than vectors")
	case err != nil:
		r := senseless("sent a reply that can't be read").WithHint("correct embedding.url: it may not be one of embeddings")
		r.Passing = !json.Valid(body) // it may have been cut off, or be the page of something in between
		return nil, r
	case len(r.Data) != count:
		return nil, senseless("sent %d vectors for %d texts", len(r.Data), count)
	}
	out := make([][]float32, count)
	for i, d := range r.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		// The first says for all whether they name their texts.
		if (d.Index == nil) != (r.Data[0].Index == nil) || at < 0 || at >= count || out[at] != nil {
			return nil, senseless("sent vectors that can't be told apart")
		}
		if len(d.Embedding) == 0 || len(d.Embedding) != len(r.Data[0].Embedding) {
			return nil, senseless("sent vectors of %d and %d dimensions", len(r.Data[0].Embedding), len(d.Embedding))
		}
		if !normalize(d.Embedding) {
			return nil, senseless("sent a vector without a direction")
		}
		out[at] = d.Embedding
	}
	return out, nil
}

// senseless refuses what some models make of some texts.
func senseless(format string, args ...any) *refusal {
	r := refused(format, args...).WithHint("its model may be none for embeddings")
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
