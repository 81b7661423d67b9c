package embed

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// The kinds of frames between the daemon and its runner; doc.go describes them.
const (
	frameHello   = 'h'
	frameEmbed   = 'e'
	frameBeat    = 'b'
	frameVectors = 'v'
	frameRank    = 'r'
	frameScores  = 's'
	frameRefused = 'x'
)

const (
	runnerProtocol = 1
	maxFrame       = 16 << 20
	frameHead      = 5
)

// RunnerHello is what a runner says of itself and its model before anything
// else.
type RunnerHello struct {
	Protocol        int    `json:"protocol"`
	Version         string `json:"version"` // of the program
	PID             int    `json:"pid"`
	Name            string `json:"name"` // of the model
	Dims            int    `json:"dims"`
	SHA256          string `json:"sha256"` // of the model's file
	Device          string `json:"device"`
	Layers          int    `json:"layers"`
	OffloadedLayers int    `json:"offloadedLayers"`
	ContextLength   int    `json:"contextLength"` // tokens that the model was trained for
	MaxTokens       int    `json:"maxTokens"`     // of one call into the library
	Threads         int    `json:"threads"`
	Ranks           bool   `json:"ranks,omitempty"` // it gives scores and no vectors; Dims is 1
}

// ProtocolError says that a runner broke the protocol. The runner is killed:
// nothing that it says afterwards can be trusted.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "the runner broke the protocol: " + e.What }

func broken(format string, args ...any) error {
	return &ProtocolError{What: fmt.Sprintf(format, args...)}
}

// appendFrame appends a frame whose body is written by fill.
func appendFrame(dst []byte, kind byte, fill func([]byte) []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, kind)
	dst = fill(dst)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// readFrame reads one frame; body is valid until the next call with buf. before
// is called ahead of each wait, to set a deadline.
func readFrame(r *bufio.Reader, buf []byte, before func()) (kind byte, body, space []byte, err error) {
	var head [frameHead]byte
	before()
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, buf, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 1 || n > maxFrame {
		return 0, nil, buf, broken("frame of %d bytes", n)
	}
	n--
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	for rest := buf; len(rest) > 0; {
		before()
		m, err := r.Read(rest)
		if err != nil {
			return 0, nil, buf, err
		}
		rest = rest[m:]
	}
	return head[4], buf, buf, nil
}

func appendHello(dst []byte, h RunnerHello) ([]byte, error) {
	data, err := json.Marshal(h)
	if err != nil {
		return dst, err
	}
	return appendFrame(dst, frameHello, func(b []byte) []byte { return append(b, data...) }), nil
}

func parseHello(body []byte) (RunnerHello, error) {
	var h RunnerHello
	switch err := json.Unmarshal(body, &h); {
	case err != nil:
		return h, broken("its first words are no JSON")
	case h.Protocol != runnerProtocol:
		return h, broken("it speaks version %d, not %d", h.Protocol, runnerProtocol)
	case h.Ranks && h.Dims != 1:
		return h, broken("a model for reranking of %d dimensions", h.Dims)
	case h.Dims < 1 || h.Dims > MaxDims || len(h.SHA256) != 64:
		return h, broken("a model of %d dimensions with checksum %.70q", h.Dims, h.SHA256)
	}
	return h, nil
}

// appendRequest asks for vectors, or for scores: the first text is the question then.
func appendRequest(dst []byte, kind byte, id uint64, texts []string) []byte {
	return appendFrame(dst, kind, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint64(b, id)
		for _, t := range texts {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(t)))
			b = append(b, t...)
		}
		return b
	})
}

func parseRequest(body []byte) (id uint64, texts []string, err error) {
	if len(body) < 8 {
		return 0, nil, broken("a request of %d bytes", len(body))
	}
	id = binary.LittleEndian.Uint64(body)
	for body = body[8:]; len(body) > 0; {
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return 0, nil, broken("a text longer than its request")
		}
		n := binary.LittleEndian.Uint32(body)
		texts = append(texts, string(body[4:4+n]))
		body = body[4+n:]
	}
	return id, texts, nil
}

// appendBeat says that the runner works on a request and has done that many
// texts of it.
func appendBeat(dst []byte, id uint64, done int) []byte {
	return appendFrame(dst, frameBeat, func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, id), uint32(done))
	})
}

func parseBeat(body []byte, id uint64) (done int, err error) {
	if len(body) != 12 || binary.LittleEndian.Uint64(body) != id {
		return 0, broken("a beat of another request")
	}
	return int(binary.LittleEndian.Uint32(body[8:])), nil
}

// appendVectors answers a request; a score is sent as a vector of one number.
func appendVectors(dst []byte, kind byte, id uint64, dims int, vectors [][]float32) []byte {
	return appendFrame(dst, kind, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint64(b, id)
		b = binary.LittleEndian.AppendUint32(b, uint32(dims))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(vectors)))
		for _, v := range vectors {
			if v == nil {
				b = append(b, 0)
				continue
			}
			b = append(b, 1)
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		return b
	})
}

// parseVectors reads the answer to a request for count vectors and holds it
// against what was asked: whatever does not fit is refused as a whole. check refuses
// numbers that are none of the kind that was asked for.
func parseVectors(body []byte, id uint64, dims, count int, check func([]float32) error) ([][]float32, error) {
	if len(body) < 16 {
		return nil, broken("an answer of %d bytes", len(body))
	}
	if got := binary.LittleEndian.Uint64(body); got != id {
		return nil, broken("an answer to request %d, not %d", got, id)
	}
	if got := binary.LittleEndian.Uint32(body[8:]); got != uint32(dims) {
		return nil, broken("vectors of %d dimensions, not %d", got, dims)
	}
	if got := binary.LittleEndian.Uint32(body[12:]); got != uint32(count) {
		return nil, broken("%d vectors for %d texts", got, count)
	}
	body = body[16:]
	out := make([][]float32, count)
	for i := range out {
		if len(body) == 0 || body[0] > 1 || body[0] == 1 && len(body) < 1+4*dims {
			return nil, broken("an answer that ends within a vector")
		}
		present := body[0] == 1
		body = body[1:]
		if !present {
			continue
		}
		v := parseNumbers(body[:4*dims])
		if err := check(v); err != nil {
			return nil, err
		}
		out[i], body = v, body[4*dims:]
	}
	if len(body) != 0 {
		return nil, broken("%d bytes behind the last vector", len(body))
	}
	return out, nil
}

func parseNumbers(body []byte) []float32 {
	v := make([]float32, len(body)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
	}
	return v
}

// checkVector refuses what is not of length 1.
func checkVector(v []float32) error {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(math.Abs(squares-1) < 0.01) { // NaN fails it as well
		return broken("a vector whose length is %g, not 1", math.Sqrt(squares))
	}
	return nil
}

// checkScore refuses what is no number.
func checkScore(v []float32) error {
	if x := float64(v[0]); math.IsNaN(x) || math.IsInf(x, 0) {
		return broken("a score of %g", x)
	}
	return nil
}

func parseRefused(body []byte, id uint64) (string, error) {
	if len(body) < 8 || binary.LittleEndian.Uint64(body) != id {
		return "", broken("a refusal of another request")
	}
	return string(body[8:]), nil
}

// beatEvery is how often a runner at work says so.
const beatEvery = 100 * time.Millisecond
