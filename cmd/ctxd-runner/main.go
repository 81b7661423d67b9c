package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/kelindar/search"

	"github.com/ctxd/ctxd/cmd/ctxd-runner/library"
	"github.com/ctxd/ctxd/context/embed"
)

type settings struct {
	model, layers, device, socket string
	threads                       int
	rank, check                   bool
}

func main() {
	var s settings
	flag.StringVar(&s.model, "model", "", "GGUF file of the model")
	flag.StringVar(&s.layers, "gpu-layers", "auto",
		"layers of the model on the GPU: auto, -1 for all, 0 for none, or a number")
	flag.StringVar(&s.device, "device", "", "name of the GPU, or part of its description; empty for the best")
	flag.IntVar(&s.threads, "threads", 0, "number of threads; 0 for half of the cores, at most 4")
	flag.StringVar(&s.socket, "socket", "", "the daemon's socket, given by ctxd")
	flag.BoolVar(&s.rank, "rank", false, "score texts against a question; the model is a cross-encoder")
	flag.BoolVar(&s.check, "check", false, "load the model, describe it and exit")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "ctxd-runner:", err)
		os.Exit(embed.ExitNotReady)
	}
	os.Exit(0) // at once: a text may still be at work, for nobody
}

func run(s settings) error {
	if s.model == "" || (s.socket == "") == !s.check {
		return errors.New("ctxd starts this program; run it with -model FILE -check to try a model")
	}
	var conn io.ReadWriteCloser
	if !s.check {
		var err error
		conn, err = embed.DialParent(s.socket)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // the process ends
	}
	vectorizer, hello, err := load(s)
	if err != nil {
		return err
	}
	if s.rank {
		return rank(s, conn, hello)
	}
	return mainEmbed(s, conn, vectorizer, hello)
}

// mainEmbed serves vectors.
func mainEmbed(s settings, conn io.ReadWriter, vectorizer *search.Vectorizer, hello embed.RunnerHello) error {
	if hello.Ranks {
		return errors.New("the model is made for reranking and gives no vectors")
	}
	context := vectorizer.Context(0)
	native := func(text string) ([]float32, int, error) { return one(context, text, hello.MaxTokens) }
	v, _, err := native("a text")
	if err != nil {
		return err
	}
	hello.Dims = len(v)
	if s.check {
		return describe(hello)
	}
	return embed.ServeVectors(conn, hello, native)
}

// rank serves scores.
func rank(s settings, conn io.ReadWriter, hello embed.RunnerHello) error {
	native, err := library.Ranker()
	if err != nil {
		return err
	}
	if !hello.Ranks {
		return errors.New("the model is not made for reranking, or gives more than one number")
	}
	if _, err := native("a question", "a text"); err != nil {
		return err
	}
	hello.Dims = 1
	if s.check {
		return describe(hello)
	}
	return embed.ServeScores(conn, hello, native)
}

func describe(hello embed.RunnerHello) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(hello)
}

// load reads the model, with as many layers on the GPU as are asked for.
func load(s settings) (*search.Vectorizer, embed.RunnerHello, error) {
	var none embed.RunnerHello
	sum := make(chan hashed, 1)
	go func() { sum <- hashOf(s.model) }()
	if err := os.Setenv("CTXD_LLAMA_DEVICE", s.device); err != nil {
		return nil, none, err
	}
	if err := os.Setenv("CTXD_LLAMA_THREADS", strconv.Itoa(s.threads)); err != nil {
		return nil, none, err
	}
	vectorizer, err := open(s)
	if err != nil {
		return nil, none, err
	}
	said, err := library.Describe()
	if err != nil {
		return nil, none, err
	}
	hello := embed.RunnerHello{Version: version(), PID: os.Getpid()}
	if err := json.Unmarshal(said, &hello); err != nil {
		return nil, none, fmt.Errorf("read the description of the model: %w", err)
	}
	if hello.Name == "" {
		hello.Name = strings.TrimSuffix(filepath.Base(s.model), ".gguf")
	}
	h := <-sum
	hello.SHA256 = h.hex
	return vectorizer, hello, h.err
}

// open loads the model. With auto, a GPU that can't hold it is done without.
func open(s settings) (*search.Vectorizer, error) {
	if s.layers == "auto" {
		v, err := search.NewVectorizer(s.model, -1)
		if err != nil && s.device == "" {
			v, err = search.NewVectorizer(s.model, 0)
		}
		return v, err
	}
	n, err := strconv.ParseInt(s.layers, 10, 32)
	if err != nil || n < -1 {
		return nil, fmt.Errorf("-gpu-layers %q is neither auto nor a number from -1", s.layers)
	}
	return search.NewVectorizer(s.model, int(n))
}

// one embeds a text. The library counts the tokens first: of one that has too
// many only their number is given.
func one(c *search.Context, text string, limit int) ([]float32, int, error) {
	before := c.Tokens()
	v, err := c.EmbedText(text)
	tokens := int(c.Tokens() - before)
	if err != nil && tokens > limit {
		return nil, tokens, nil
	}
	return v, tokens, err
}

type hashed struct {
	hex string
	err error
}

func hashOf(name string) hashed {
	f, err := os.Open(name)
	if err != nil {
		return hashed{err: err}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return hashed{err: fmt.Errorf("checksum of the model: %w", err)}
	}
	return hashed{hex: hex.EncodeToString(h.Sum(nil))}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
