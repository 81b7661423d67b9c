package embed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// encoderOrSkip is the built-in encoder.
func encoderOrSkip(t testing.TB) *Encoder {
	t.Helper()
	e, err := BuiltinEncoder()
	if fault.KindOf(err) == fault.Unavailable {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func cosineOf(a, b []float32) float64 {
	var dot, as, bs float64
	for i := range a {
		dot, as, bs = dot+float64(a[i])*float64(b[i]), as+float64(a[i])*float64(a[i]), bs+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(as*bs)
}

// TestSRCH40_ReadsAsTheReference compares tokens and what the last layer says with the tokenizer of the model and a pass in
// float of the same weights, by each kernel. All of the reference is for a campaign.
func TestSRCH40_ReadsAsTheReference(t *testing.T) {
	e := encoderOrSkip(t)
	by := []*Encoder{e}
	for _, k := range kernelsHere()[1:] {
		other, err := ParseEncoder(builtinEncoder)
		if err != nil {
			t.Fatal(err)
		}
		other.use(k)
		by = append(by, other)
	}
	f, err := os.Open("testdata/encoder.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	sum := make(map[string]float64)
	n := 0.0
	for line := 0; lines.Scan(); line++ {
		var ref struct {
			Text, Prefix string
			IDs          []int32
			Places       []int
			Hidden       [][]float32
		}
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		prefix := e.head.DocumentPrefix
		if ref.Prefix == "queryPrefix" {
			prefix = e.head.QueryPrefix
		}
		p := new(pass)
		e.cut(p, ref.Text)
		ids := p.work.ids[:min(len(p.work.ids), e.head.Positions-2-len(prefix))]
		if want := ref.IDs[1+len(prefix) : len(ref.IDs)-1]; !slices.Equal(ids, want) {
			t.Errorf("%.40q is cut into %v, want %v", ref.Text, ids, want)
		}
		if line%6 != 0 && !campaign.Runs() {
			continue
		}
		p.ids = ref.IDs
		n += float64(len(ref.Places))
		for _, e := range by {
			e.run(t.Context(), p)
			for i, at := range ref.Places {
				c := cosineOf(p.hidden[at*e.head.Dims:][:e.head.Dims], ref.Hidden[i])
				sum[e.kernels.name] += c
				if !(c > 0.98) {
					t.Errorf("%s: token %d of %.40q has the cosine %.4f to the reference", e.kernels.name, at, ref.Text, c)
				}
			}
		}
	}
	for name, s := range sum {
		if s/n < 0.998 {
			t.Errorf("%s: the mean cosine to the reference is %.5f", name, s/n)
		}
		t.Logf("%s: mean cosine %.5f of %.0f tokens", name, s/n, n)
	}
}

// tinyFile is the file of an encoder with one layer and random weights; change may spoil the head.
func tinyFile(change func(h map[string]any)) []byte {
	r := rand.New(rand.NewPCG(11, 12))
	vocabulary := strings.Join([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "!", "a", "b", "##a", "##b", "word", "漢"}, "\n")
	h := map[string]any{
		"name": "tiny", "layers": 1, "dims": 64, "heads": 2, "inner": 128, "tokens": 12, "positions": 32, "axes": 16, "group": group,
		"vocabularyBytes": len(vocabulary), "epsilon": 1e-12, "queryPrefix": []int{1}, "documentPrefix": []int{0},
	}
	if change != nil {
		change(h)
	}
	head, _ := json.Marshal(h)
	data := binary.LittleEndian.AppendUint32([]byte(encoderMagic), uint32(len(head)))
	data = append(append(data, head...), vocabulary...)
	numbers := 2*64 + 4*64 + 2*64 + 128 + 64 + 2*64 + 64 + 16*64
	for range numbers {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(r.NormFloat64())))
	}
	for _, size := range [][2]int{{12, 64}, {32, 64}, {64, 64}, {64, 64}, {64, 64}, {64, 64}, {128, 64}, {64, 128}} {
		for range size[0] * size[1] / 2 {
			data = append(data, byte(r.Uint32()))
		}
		for range size[0] * size[1] / group {
			data = binary.LittleEndian.AppendUint16(data, 0x2400) // 1/64
		}
	}
	return sealed(data)
}

func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(slices.Clone(data), sum[:]...)
}

func tiny(t testing.TB) *Encoder {
	t.Helper()
	here := kernelsHere()
	if len(here) == 0 {
		t.Skip("this processor has no kernels for the encoder")
	}
	e, err := ParseEncoder(tinyFile(nil))
	if err != nil {
		t.Fatal(err)
	}
	e.use(here[0])
	return e
}

// TestSRCH40_ADamagedModelIsRefused: wherever a bit is flipped, the file is cut, or the head says what it must not.
func TestSRCH40_ADamagedModelIsRefused(t *testing.T) {
	data := tinyFile(nil)
	if _, err := ParseEncoder(data); err != nil {
		t.Fatal(err)
	}
	for at := range data {
		if at > 400 && at%97 != 0 {
			continue
		}
		data[at] ^= 16
		if _, err := ParseEncoder(data); err == nil {
			t.Errorf("a bit of byte %d was flipped, and the model read", at)
		}
		data[at] ^= 16
	}
	for n := 0; n < len(data); n += 1 + n/50 {
		if _, err := ParseEncoder(data[:n]); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(data))
		}
		if _, err := ParseEncoder(sealed(data[:n])); err == nil {
			t.Errorf("%d of %d bytes were read with a checksum of their own", n, len(data))
		}
	}
	if _, err := ParseEncoder(sealed(append(data[:len(data)-checkLen:len(data)-checkLen], 0))); err == nil {
		t.Error("a model with a byte too many was read")
	}
	for _, change := range []func(h map[string]any){
		func(h map[string]any) { h["layers"] = 0 }, func(h map[string]any) { h["layers"] = 1 << 19 },
		func(h map[string]any) { h["dims"] = 63 }, func(h map[string]any) { h["dims"] = -64 },
		func(h map[string]any) { h["heads"] = 3 }, func(h map[string]any) { h["axes"] = 128 },
		func(h map[string]any) { h["group"] = 16 }, func(h map[string]any) { h["tokens"] = 11 },
		func(h map[string]any) { h["queryPrefix"] = []int{12} }, func(h map[string]any) { h["documentPrefix"] = []int{-1} },
		func(h map[string]any) { h["documentPrefix"] = make([]int, 1000) }, func(h map[string]any) { h["epsilon"] = 0 },
		func(h map[string]any) { h["vocabularyBytes"] = 1 << 19 }, func(h map[string]any) { h["positions"] = "many" },
	} {
		if _, err := ParseEncoder(tinyFile(change)); err == nil {
			t.Error("a head was taken that does not fit")
		}
	}
}

// TestSRCH40_OddTexts: whatever a text is, what comes out are numbers, or nothing.
func TestSRCH40_OddTexts(t *testing.T) {
	e := tiny(t)
	texts := map[string]bool{ // whether there is anything to embed
		"": false, " \t\n\x00\x1f": false, "\u200b\u200d": false, "a": true, "!": true, "...": true, "\xff\xfe": false,
		"word " + strings.Repeat("a", 10<<20): true, strings.Repeat("a! ", 2<<20): true, strings.Repeat("漢", 100_000): true,
		"안녕하세요 สวัสดี שָׁלוֹם مرحبا नमस्ते 🦊": true, "[CLS] [SEP]": true, strings.Repeat("ab", 40): true,
	}
	for text, any := range texts {
		_, got, err := e.EmbedTokens(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		_, asked, err := e.EmbedQuestion(t.Context(), text)
		if err != nil || len(asked.Vectors) > MaxQuestion+3 || len(asked.Words) != len(asked.Vectors) {
			t.Fatal(len(asked.Vectors), len(asked.Words), err)
		}
		if (got[0].Pooled != nil) != any || (len(got[0].Codes) > 0) != any || (len(asked.Vectors) > 0) != any {
			t.Errorf("%.20q: %d codes, %d words asked, want any: %t", text, len(got[0].Codes), len(asked.Vectors), any)
		}
		for _, v := range append(asked.Vectors, got[0].Pooled) {
			if l := cosineOf(v, v); v != nil && !(math.Abs(l-1) < 1e-6) {
				t.Errorf("%.20q: a vector that is none: %v", text, v)
			}
		}
		if most := mostParts * e.head.Positions * e.head.Axes / 4; len(got[0].Codes) > most {
			t.Errorf("%.20q: %d bytes of codes", text, len(got[0].Codes))
		}
	}
	many := make([]string, campaign.Figure(10_000, 100_000))
	for i := range many {
		many[i] = "word"
	}
	_, got, err := e.EmbedTokens(t.Context(), many)
	if err != nil || len(got) != len(many) || string(got[0].Codes) != string(got[len(got)-1].Codes) {
		t.Error(len(got), err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.EmbedTokens(over, many); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSRCH43_CodesAreNearTheirWords: two bits a coordinate keep the direction of a word.
func TestSRCH43_CodesAreNearTheirWords(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 100 {
		word := randoms(r, 128, 1)
		unit(word)
		codes := appendCodes(nil, word)
		back := make([]float32, 128)
		for i := range back {
			back[i] = float32(2*int(codes[i%32]>>(2*(i/32))&3) - 3)
		}
		if c := cosineOf(word, back); c < 0.9 {
			t.Fatalf("the cosine is %.3f", c)
		}
	}
}

// TestSRCH40_WithoutInstructionsThereIsNoEncoder: a processor without them runs all else, and is told of it.
func TestSRCH40_WithoutInstructionsThereIsNoEncoder(t *testing.T) {
	if os.Getenv("CTXD_TEST_BARE") != "" {
		_, err := OpenEncoder(0)
		fmt.Println("KIND", fault.KindOf(err))
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the processors of this kind can't be told to do without")
	}
	cmd := exec.Command(os.Args[0], "-test.run", t.Name()+"$")
	cmd.Env = append(os.Environ(), "CTXD_TEST_BARE=1", "GODEBUG=cpu.avx2=off")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "KIND "+fault.Unavailable.String()) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSRCH40_PacedInTheBackground: texts are read as at once, and a call that is given up returns.
func TestSRCH40_PacedInTheBackground(t *testing.T) {
	e := encoderOrSkip(t)
	p, err := OpenEncoder(1)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := p.Model(t.Context()); m != e.model {
		t.Errorf("the model is %v before it is read, %v after", m, e.model)
	}
	texts := []string{"The hive scale", "Flour, water and salt.", "", "A third text"}
	_, want, err := e.EmbedTokens(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := p.EmbedTokens(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if string(got[i].Codes) != string(want[i].Codes) {
			t.Errorf("%q is read in another way in the background", texts[i])
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.EmbedTokens(over, texts); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzEncoderFile: no file brings the program down.
func FuzzEncoderFile(f *testing.F) {
	data := tinyFile(nil)
	f.Add(data[:len(data)-checkLen])
	f.Add([]byte(encoderMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEncoder(sealed(data))
		if err != nil {
			return
		}
		if here := kernelsHere(); len(here) > 0 && e.head.Layers*e.head.Dims*e.head.Inner < 1<<22 {
			e.use(here[0])
			if _, _, err := e.EmbedTokens(t.Context(), []string{"a word!"}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
