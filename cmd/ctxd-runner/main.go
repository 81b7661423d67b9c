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
	"github.com/ctxd/ctxd/context/embed/runner"
)

type settings struct {
	model, layers, device, socket string
	threads                       int
	check                         bool
}

func main() {
	var s settings
	flag.StringVar(&s.model, "model", "", "GGUF file of the embedding model")
	flag.StringVar(&s.layers, "gpu-layers", "auto",
		"layers of the model on the GPU: auto, -1 for all, 0 for none, or a number")
	flag.StringVar(&s.device, "device", "", "name of the GPU, or part of its description; empty for the best")
	flag.IntVar(&s.threads, "threads", 0, "number of threads; 0 for half of the cores, at most 4")
	flag.StringVar(&s.socket, "socket", "", "the daemon's socket, given by ctxd")
	flag.BoolVar(&s.check, "check", false, "load the model, describe it and exit")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "ctxd-runner:", err)
		os.Exit(runner.ExitNotReady)
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
		conn, err = runner.Dial(s.socket)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // the process ends
	}
	hello, native, err := load(s)
	if err != nil {
		return err
	}
	if s.check {
		if _, _, err := native("a text"); err != nil {
			return err
		}
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(hello)
	}
	return runner.Serve(conn, hello, native)
}

// load reads the model, with as many layers on the GPU as are asked for.
func load(s settings) (runner.Hello, runner.NativeEmbed, error) {
	var none runner.Hello
	sum := make(chan hashed, 1)
	go func() { sum <- hashOf(s.model) }()
	if err := os.Setenv("CTXD_LLAMA_DEVICE", s.device); err != nil {
		return none, nil, err
	}
	if err := os.Setenv("CTXD_LLAMA_THREADS", strconv.Itoa(s.threads)); err != nil {
		return none, nil, err
	}
	vectorizer, err := open(s)
	if err != nil {
		return none, nil, err
	}
	said, err := library.Describe()
	if err != nil {
		return none, nil, err
	}
	hello := runner.Hello{Version: version(), PID: os.Getpid()}
	if err := json.Unmarshal(said, &hello); err != nil {
		return none, nil, fmt.Errorf("read the description of the model: %w", err)
	}
	if hello.Name == "" {
		hello.Name = strings.TrimSuffix(filepath.Base(s.model), ".gguf")
	}
	context := vectorizer.Context(0)
	native := func(text string) ([]float32, int, error) { return one(context, text, hello.MaxTokens) }
	v, _, err := native("a text")
	if err != nil {
		return none, nil, err
	}
	hello.Dims = len(v)
	h := <-sum
	hello.SHA256 = h.hex
	return hello, native, h.err
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
