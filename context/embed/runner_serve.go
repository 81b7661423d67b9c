package embed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// MaxRunnerText is how many bytes of a text a runner reads, some 4,000 tokens
// of English. What is indexed comes in shorter passages.
const MaxRunnerText = 16 << 10

// NativeEmbed gives the vector of one text, and how many tokens it has. For a
// text of more tokens than the model takes at once it gives no vector and no
// error. It is called by one goroutine at a time.
type NativeEmbed func(text string) (vector []float32, tokens int, err error)

// NativeRank gives the logit of how well a text answers a question. It cuts what is too
// long for its model. It is called by one goroutine at a time.
type NativeRank func(query, text string) (float32, error)

// ServeVectors is what the runner process does: it says hello and answers the
// requests that come on conn, one after the other, until conn ends; then it
// returns nil at once, even if embed still runs, so that the process can end.
func ServeVectors(conn io.ReadWriter, hello RunnerHello, embed NativeEmbed) error {
	hello.Protocol = runnerProtocol
	s := &runnerServer{conn: conn, hello: hello, embed: embed, asks: frameEmbed, answers: frameVectors}
	// The tokens that every text has; and the first call, which is the slowest,
	// is behind us.
	if _, n, err := embed(""); err == nil {
		s.bare = n
	}
	return s.serve()
}

// ServeScores is what the process does that reranks: like Serve, with scores in place
// of vectors.
func ServeScores(conn io.ReadWriter, hello RunnerHello, rank NativeRank) error {
	hello.Protocol, hello.Ranks, hello.Dims = runnerProtocol, true, 1
	s := &runnerServer{conn: conn, hello: hello, rank: rank, asks: frameRank, answers: frameScores}
	return s.serve()
}

func (s *runnerServer) serve() error {
	frame, err := appendHello(nil, s.hello)
	if err != nil {
		return err
	}
	if err := s.write(frame); err != nil {
		return err
	}
	requests, ended := make(chan runnerRequest), make(chan error, 1)
	go func() { ended <- s.read(requests) }()
	go s.answerAll(requests)
	return <-ended
}

type runnerRequest struct {
	id    uint64
	texts []string
}

type runnerServer struct {
	conn  io.ReadWriter
	hello RunnerHello
	embed NativeEmbed
	rank  NativeRank
	bare  int

	asks, answers byte // the kinds of frames

	writing sync.Mutex
}

func (s *runnerServer) write(frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.conn.Write(frame)
	return err
}

// read hands over the requests until the connection ends.
func (s *runnerServer) read(requests chan<- runnerRequest) error {
	defer close(requests)
	in := bufio.NewReader(s.conn)
	var space []byte
	for {
		kind, body, again, err := readFrame(in, space, func() {})
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		space = again
		if kind != s.asks {
			return broken("a frame of kind %q", kind)
		}
		id, texts, err := parseRequest(body)
		if err != nil {
			return err
		}
		if kind == frameRank && len(texts) == 0 {
			return broken("a request for scores without a question")
		}
		requests <- runnerRequest{id, texts}
	}
}

func (s *runnerServer) answerAll(requests <-chan runnerRequest) {
	for q := range requests {
		if err := s.write(s.answer(q)); err != nil {
			return // the reader sees the end as well
		}
	}
}

// answer embeds or scores the texts of a request, and beats while it does.
func (s *runnerServer) answer(q runnerRequest) []byte {
	var done struct {
		sync.Mutex
		texts int
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			done.Lock()
			n := done.texts
			done.Unlock()
			if s.write(appendBeat(nil, q.id, n)) != nil {
				return
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	work, texts := s.embedText, q.texts
	if s.rank != nil {
		query := readable(q.texts[0])
		work, texts = func(text string) ([]float32, error) { return s.rankText(query, text) }, q.texts[1:]
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := work(text)
		if err != nil {
			return appendFrame(nil, frameRefused, func(b []byte) []byte {
				return append(binary.LittleEndian.AppendUint64(b, q.id), err.Error()...)
			})
		}
		vectors[i] = v
		done.Lock()
		done.texts++
		done.Unlock()
	}
	return appendVectors(nil, s.answers, q.id, s.hello.Dims, vectors)
}

// rankText gives the score of a text, nil if there is nothing in it or in the question.
func (s *runnerServer) rankText(query, text string) ([]float32, error) {
	text = readable(text)
	if query == "" || text == "" {
		return nil, nil
	}
	x, err := s.rank(query, text)
	switch {
	case err != nil:
		return nil, err
	case math.IsNaN(float64(x)) || math.IsInf(float64(x), 0):
		return nil, errors.New("the model gave no finite score")
	}
	return []float32{x}, nil
}

// embedText gives the vector of a text of any length, nil if there is nothing
// in it.
func (s *runnerServer) embedText(text string) ([]float32, error) {
	text = readable(text)
	if text == "" {
		return nil, nil
	}
	sum := make([]float64, s.hello.Dims)
	if err := s.addPieces(sum, text); err != nil {
		return nil, err
	}
	var squares float64
	for _, x := range sum {
		squares += x * x
	}
	if squares == 0 {
		return nil, nil
	}
	if math.IsNaN(squares) || math.IsInf(squares, 0) {
		return nil, errors.New("the model gave no finite vector")
	}
	v := make([]float32, len(sum))
	for i, x := range sum {
		v[i] = float32(x / math.Sqrt(squares))
	}
	return v, nil
}

// addPieces adds the vectors of the parts of a text that fit into one call,
// each weighted by its tokens: the mean over all tokens, as for one that fits.
func (s *runnerServer) addPieces(sum []float64, text string) error {
	v, tokens, err := s.embed(text)
	switch {
	case err != nil:
		return err
	case v == nil:
		left, right := halves(text)
		if left == "" || right == "" {
			return errors.New("a text that can't be cut has too many tokens")
		}
		if err := s.addPieces(sum, left); err != nil {
			return err
		}
		return s.addPieces(sum, right)
	case len(v) != len(sum):
		return errors.New("the model gave a vector of another length")
	}
	if weight := float64(tokens - s.bare); weight > 0 {
		for i, x := range v {
			sum[i] += weight * float64(x)
		}
	}
	return nil
}

// readable leaves out what llama.cpp would trip over: NUL, which ends a text in
// C, and bytes that are no UTF-8; and what lies behind MaxText. It gives
// "" for white space alone.
func readable(text string) string {
	if len(text) > MaxRunnerText {
		end := MaxRunnerText
		for end > MaxRunnerText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	text = strings.ToValidUTF8(text, "")
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return strings.TrimSpace(text)
}

// halves cuts a text near its middle: at white space if there is some in the
// middle half, else between two characters.
func halves(text string) (left, right string) {
	mid := len(text) / 2
	low, high := len(text)/4, len(text)-len(text)/4
	at := strings.LastIndexAny(text[low:mid+1], " \t\r\n") + low
	if at < low {
		at = strings.IndexAny(text[mid:high], " \t\r\n") + mid
		if at < mid {
			for at = mid; at > 0 && !utf8.RuneStart(text[at]); at-- {
			}
		}
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at:])
}
