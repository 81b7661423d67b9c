package embed_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
)

// The fake runner is this test binary, started again with the way to behave in
// an environment variable. It speaks over the real socket.
const (
	fakeVariable = "CTXD_TEST_RUNNER"     // how to behave
	fakeJournal  = "CTXD_TEST_RUNNER_LOG" // file: a line for each start and each text
	fakeGate     = "CTXD_TEST_RUNNER_GATE"
	fakeDims     = 8
	fakeTokens   = 512
)

func TestMain(m *testing.M) {
	behaviour := os.Getenv(fakeVariable)
	if behaviour == "" {
		code := m.Run()
		removeProgram()
		os.Exit(code)
	}
	signal.Ignore(syscall.SIGINT)
	if os.Getenv("CTXD_TEST_API_KEY") != "" {
		journal("leaked")
	}
	journal("start")
	if err := fakeRunner(behaviour); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(embed.ExitNotReady)
	}
	os.Exit(0)
}

func fakeRunner(behaviour string) error {
	socket := os.Args[len(os.Args)-1] // behind -socket
	switch behaviour {
	case "lacks":
		return errors.New(strings.Repeat("noise ", 4000) + "no native library here")
	case "silent":
		select {}
	case "parent":
		return fakeParent()
	}
	conn, err := embed.DialParent(socket)
	if err != nil {
		return err
	}
	hello := embed.RunnerHello{
		Version: "test", PID: os.Getpid(), Name: "fake", Dims: fakeDims, SHA256: strings.Repeat("ab", 32), Device: "cpu",
		Layers: 7, ContextLength: 512, MaxTokens: fakeTokens,
	}
	if behaviour == "good" {
		return embed.ServeVectors(conn, hello, fakeEmbed)
	}
	if behaviour == "ranks" {
		return embed.ServeScores(conn, hello, fakeRank)
	}
	return misbehave(behaviour, conn, hello)
}

// fakeRank gives a score that depends on both texts. Some texts are orders.
func fakeRank(query, text string) (float32, error) {
	if _, _, err := fakeEmbed(text); err != nil {
		return 0, err
	}
	if text == "nan" {
		return float32(math.NaN()), nil
	}
	return float32(100*len(query)-len(text)) / 100, nil
}

// fakeEmbed gives a vector that depends on the text alone. Some texts are
// orders.
func fakeEmbed(text string) ([]float32, int, error) {
	if text != "" {
		journal("text " + text[:min(len(text), 40)])
	}
	switch {
	case strings.HasPrefix(text, "crash"):
		os.Exit(2)
	case strings.HasPrefix(text, "spawn"): // what outlives it, as a debugger might
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, 0, err
		}
		journal(fmt.Sprint("pid ", cmd.Process.Pid))
	case strings.HasPrefix(text, "hang"):
		select {}
	case strings.HasPrefix(text, "refuse"):
		return nil, 3, errors.New("not this one")
	case strings.HasPrefix(text, "gate"):
		for {
			if _, err := os.Stat(os.Getenv(fakeGate)); err == nil {
				break
			}
			<-time.After(time.Millisecond)
		}
	}
	if tokens := len(strings.Fields(text)) + 2; tokens > fakeTokens {
		return nil, tokens, nil
	}
	return fakeVector(text), len(strings.Fields(text)) + 2, nil
}

func fakeVector(text string) []float32 {
	sum := sha256.Sum256([]byte(text))
	v, squares := make([]float32, fakeDims), 0.0
	for i := range v {
		v[i] = float32(binary.LittleEndian.Uint32(sum[4*i:]))/(1<<31) - 1
		squares += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(squares))
	}
	return v
}

// journal appends a line to the file that the test looks into.
func journal(line string) {
	name := os.Getenv(fakeJournal)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// misbehave says hello, waits for one request and answers it as nobody may.
func misbehave(behaviour string, conn io.ReadWriter, hello embed.RunnerHello) error {
	hello.Protocol = 1
	if behaviour == "version" {
		hello.Protocol = 99
	}
	if strings.HasPrefix(behaviour, "rank") {
		hello.Ranks, hello.Dims = true, 1
	}
	if behaviour == "rank dims" {
		hello.Dims = 2
	}
	data, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	if behaviour == "babble" {
		data = []byte("{babble")
	}
	send := func(kind byte, body []byte) {
		conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body)+1)), append([]byte{kind}, body...)...)) //nolint:errcheck // the test sees it
	}
	send('h', data)
	asked := make([]byte, 4+1+8+4+5) // one text of five bytes
	if hello.Ranks {
		asked = make([]byte, len(asked)+4+1) // and a question of one
	}
	if _, err := io.ReadFull(conn, asked); err != nil {
		return err
	}
	answer := func(id uint64, dims, count uint32, v []float32) []byte {
		b := binary.LittleEndian.AppendUint64(nil, id)
		b = binary.LittleEndian.AppendUint32(b, dims)
		b = binary.LittleEndian.AppendUint32(b, count)
		for range count {
			b = append(b, 1)
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		return b
	}
	v := fakeVector("hello")
	nan := append([]float32{float32(math.NaN())}, v[1:]...)
	switch behaviour {
	case "count":
		send('v', answer(1, fakeDims, 2, v))
	case "dims":
		send('v', answer(1, 4, 1, v[:4]))
	case "short":
		send('v', answer(1, fakeDims, 1, v[:5]))
	case "long":
		send('v', append(answer(1, fakeDims, 1, v), 0))
	case "nan":
		send('v', answer(1, fakeDims, 1, nan))
	case "zero":
		send('v', answer(1, fakeDims, 1, make([]float32, fakeDims)))
	case "id":
		send('v', answer(7, fakeDims, 1, v))
	case "kind":
		send('?', []byte("what"))
	case "huge":
		conn.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF, 'v'}) //nolint:errcheck // the test sees it
	case "text":
		fmt.Fprint(conn, "Segmentation fault, sort of\n")
	case "rank count":
		send('s', answer(1, 1, 2, []float32{3}))
	case "rank nan":
		send('s', answer(1, 1, 1, []float32{float32(math.NaN())}))
	case "rank inf":
		send('s', answer(1, 1, 1, []float32{float32(math.Inf(-1))}))
	case "rank vectors":
		send('v', answer(1, 1, 1, []float32{1}))
	case "beats":
		send('b', append(binary.LittleEndian.AppendUint64(nil, 1), 9, 0, 0, 0))
	default:
		return fmt.Errorf("no way %q to behave", behaviour)
	}
	select {}
}
