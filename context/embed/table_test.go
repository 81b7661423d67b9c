package embed_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
)

var _ embed.Embedder = (*embed.StaticTable)(nil)

func builtin(t testing.TB) *embed.StaticTable {
	t.Helper()
	s, err := embed.BuiltinTable()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reference is a line of testdata/reference.jsonl, written by
// fixtures/model/reference.py: the tokens or the vector that Python gives.
type reference struct {
	Text   string
	IDs    []int32
	Vector []float32
}

func references(t *testing.T) []reference {
	t.Helper()
	f, err := os.Open("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []reference
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r reference
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSRCH20_TokensAreThoseOfThePythonTokenizer(t *testing.T) {
	s, n := builtin(t), 0
	for _, r := range references(t) {
		if r.Vector != nil {
			continue
		}
		n++
		got := s.Tokens(r.Text)
		if !slices.Equal(got, r.IDs) {
			t.Errorf("tokens of %q\n got %d\nwant %d", r.Text, got, r.IDs)
		}
	}
	if n < 1500 {
		t.Errorf("only %d texts in the reference", n)
	}
}

func TestSRCH20_VectorsAreThoseOfThePythonReference(t *testing.T) {
	s, n := builtin(t), 0
	for _, r := range references(t) {
		if r.Vector == nil {
			continue
		}
		n++
		got := make([]float32, s.Dims())
		if !s.EmbedInto(got, r.Text) {
			t.Errorf("%q has no vector", r.Text)
		}
		if c := embedtest.Cosine(got, r.Vector); c < 0.9999 {
			t.Errorf("%q: cosine %.6f with the reference", r.Text, c)
		}
		if l := math.Sqrt(embedtest.Cosine(got, got)); math.Abs(l-1) > 1e-5 {
			t.Errorf("%q: length %.6f", r.Text, l)
		}
	}
	if n != 50 {
		t.Errorf("%d vectors in the reference, want 50", n)
	}
}

func TestSRCH20_Identity(t *testing.T) {
	m, err := builtin(t).Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("static.bin")
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > 16<<20 {
		t.Errorf("the table takes %d bytes, at most 16 MiB are allowed", len(file))
	}
	if m.Dims < 1 || m.Dims > 256 || m.Name == "" || len(m.SHA256) != 2*sha256.Size {
		t.Errorf("identity %+v", m)
	}
}

func TestSRCH20_OddTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	s := builtin(t)
	none := []string{"", " \n\t", "\x00\x00", "\xff\xfe\xfd", "!?…", "漢字", "שלום", "\xe6\x97"}
	_, got, err := s.Embed(t.Context(), embed.Passage, none)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != nil {
			t.Errorf("%q has a vector, though it has no token", none[i])
		}
	}
	for _, c := range []struct{ name, a, b string }{
		{"NUL bytes do not end a text", "a hive\x00 of bees", "a hive of bees"},
		{"invalid UTF-8 is left out", "a hive \xff\xc3of bees", "a hive of bees"},
		{"cut character at the end", "a hive of bees\xe6\x97", "a hive of bees"},
		{"case and accents", "NAÏVE Café", "naive cafe"},
		{"composed and decomposed", "Zürich", "Zu\u0308rich"},
		{"order of the words", "scale on the roof", "roof the on scale"},
		{"huge text", strings.Repeat("honey ", embed.MaxText), "honey"},
		{"huge word", strings.Repeat("x", 3*embed.MaxText) + " honey", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, v, err := s.Embed(t.Context(), embed.Passage, []string{c.a, c.b})
			if err != nil {
				t.Fatal(err)
			}
			if (v[0] == nil) != (v[1] == nil) {
				t.Fatalf("vectors of %d and %d values", len(v[0]), len(v[1]))
			}
			if v[0] != nil && embedtest.Cosine(v[0], v[1]) < 0.99999 {
				t.Errorf("cosine %.6f, want 1", embedtest.Cosine(v[0], v[1]))
			}
		})
	}
}

func TestSRCH20_NearInMeaningIsNear(t *testing.T) {
	s := builtin(t)
	_, v, err := s.Embed(t.Context(), embed.Passage, []string{"a doctor treats the patient", "the physician cures a sick person", "the ship sails across the ocean"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := embedtest.Cosine(v[0], v[1]), embedtest.Cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("cosine %.3f for the same in other words, %.3f for something else", near, far)
	}
}

func TestSRCH20_ManyAtOnce(t *testing.T) {
	s := builtin(t)
	texts := []string{"weight of the hive", "a swarm leaves in May", "Zürich roofs are hot", ""}
	_, want, err := s.Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if _, got, err := s.Embed(context.Background(), embed.Passage, texts); err != nil || !cmp.Equal(got, want) {
					t.Errorf("another result beside others, error %v", err)
				}
			}
		})
	}
	all.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Embed(ended, embed.Passage, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended", err)
	}
}

func TestSRCH20_DamagedTable(t *testing.T) {
	file, err := os.ReadFile("static.bin")
	if err != nil {
		t.Fatal(err)
	}
	resealed := func(change func(b []byte) []byte) []byte {
		body := change(slices.Clone(file[:len(file)-sha256.Size]))
		sum := sha256.Sum256(body)
		return append(body, sum[:]...)
	}
	for name, data := range map[string][]byte{
		"empty":         nil,
		"another file":  bytes.Repeat([]byte("x"), 1000),
		"cut":           file[:len(file)/2],
		"one bit":       func() []byte { b := slices.Clone(file); b[len(b)/2] ^= 4; return b }(),
		"head too long": resealed(func(b []byte) []byte { b[11] = 0xFF; return b }),
		"row missing":   resealed(func(b []byte) []byte { return b[:len(b)-256] }),
		"token missing": resealed(func(b []byte) []byte { return bytes.Replace(b, []byte("\nthe\n"), []byte("\nthe "), 1) }),
		"no dimensions": resealed(func(b []byte) []byte { return bytes.Replace(b, []byte(`"dims": 256`), []byte(`"dims": -56`), 1) }),
	} {
		if _, err := embed.ParseTable(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := embed.ParseTable(file); err != nil {
		t.Errorf("the table itself: %v", err)
	}
}

func FuzzSRCH20_AnyText(f *testing.F) {
	for _, text := range []string{"a hive", "\x00", "é\xff漢", "##ing"} {
		f.Add(text)
	}
	s := builtin(f)
	f.Fuzz(func(t *testing.T, text string) {
		v := make([]float32, s.Dims())
		ok := s.EmbedInto(v, text)
		switch l := math.Sqrt(embedtest.Cosine(v, v)); {
		case ok && math.Abs(l-1) > 1e-4, !ok && l != 0:
			t.Errorf("%q: length %g, vector %v", text, l, ok)
		}
	})
}

// sixty is a text of 60 tokens.
const sixty = "The first fifty units of the scale leave the house in autumn, early enough for feeding, when the weight of a hive " +
	"decides whether it lives through the winter. A single beam is cheaper by nine euros, but it wants the middle of the frame, " +
	"and nobody puts a hive exactly in the middle on a wet evening."

func BenchmarkPERF14_Builtin60Tokens(b *testing.B) {
	benchmarkSixty(b, builtin(b))
}

func benchmarkSixty(b *testing.B, s *embed.StaticTable) {
	b.Helper()
	b.Logf("%d tokens", len(s.Tokens(sixty)))
	v := make([]float32, s.Dims())
	b.ReportAllocs()
	for b.Loop() {
		s.EmbedInto(v, sixty)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
}
