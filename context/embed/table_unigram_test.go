package embed_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
)

// smallTable is a table of 4,000 pieces in 16 dimensions, made by
// fixtures/model/unigram.py.
const smallTable = "testdata/unigram.bin"

func openTable(t testing.TB, path string) *embed.StaticTable {
	t.Helper()
	s, err := embed.OpenTable(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// multilingual is the multilingual table, where task model:multilingual made it.
func multilingual(t testing.TB) *embed.StaticTable {
	t.Helper()
	path := os.Getenv("CTXD_MULTILINGUAL_TABLE")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "models", "multilingual.bin")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("the multilingual table is not there: task model:multilingual makes it")
	}
	return openTable(t, path)
}

// cutText is a line of testdata/unigram.jsonl: the tokens that SentencePiece cuts
// a text into, without the unknown one, and the vector that Python makes of them.
type cutText struct {
	Text   string    `json:"text"`
	Small  []int32   `json:"small"`
	Full   []int32   `json:"full"`
	Vector []float64 `json:"vector"` // of the small table
}

func cutTexts(t testing.TB) (lines []cutText) {
	t.Helper()
	f, err := os.Open("testdata/unigram.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l cutText
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if err := scan.Err(); err != nil || len(lines) < 400 {
		t.Fatalf("%d texts, %v", len(lines), err)
	}
	return lines
}

// known gives the tokens of a text without the unknown one.
func known(s *embed.StaticTable, text string) []int32 {
	return slices.DeleteFunc(s.Tokens(text), func(id int32) bool { return id == 0 })
}

func shorten(text string) string { return text[:min(len(text), 80)] }

func TestSRCH20_UnigramCutsAsSentencePiece(t *testing.T) {
	s := openTable(t, smallTable)
	for _, l := range cutTexts(t) {
		if diff := cmp.Diff(l.Small, known(s, l.Text)); diff != "" {
			t.Errorf("%+q (-want +got)\n%s", shorten(l.Text), diff)
		}
	}
}

func TestSRCH20_UnigramOfTheWholeTable(t *testing.T) {
	s := multilingual(t)
	for _, l := range cutTexts(t) {
		if diff := cmp.Diff(l.Full, known(s, l.Text)); diff != "" {
			t.Errorf("%+q (-want +got)\n%s", shorten(l.Text), diff)
		}
	}
}

func TestSRCH20_UnigramVectorsAreThoseOfPython(t *testing.T) {
	s, v := openTable(t, smallTable), make([]float32, 16)
	for _, l := range cutTexts(t) {
		if l.Vector == nil {
			continue
		}
		if ok, want := s.EmbedInto(v, l.Text), slices.ContainsFunc(l.Vector, func(x float64) bool { return x != 0 }); ok != want {
			t.Errorf("%+q: vector %v of %d tokens", l.Text, ok, len(l.Small))
		}
		for i, want := range l.Vector {
			if math.Abs(float64(v[i])-want) > 1e-5 {
				t.Errorf("%+q: value %d is %f, want %f", l.Text, i, v[i], want)
				break
			}
		}
	}
}

// Texts that would take long if time grew faster than they do. A clock only finds
// that: a megabyte of letters takes a quarter of a second where nothing else runs,
// and would take hours.
func TestSRCH20_UnigramOfHostileTexts(t *testing.T) {
	s := openTable(t, smallTable)
	all := embed.MaxText
	if testing.Short() { // as under the race detector
		all /= 16
	}
	some := all / 8
	for name, text := range map[string]string{
		"letters":           strings.Repeat("a", all),
		"mixed":             strings.Repeat("abzé語", some/9),
		"marks":             strings.Repeat("▁", some/3),
		"combining":         "e" + strings.Repeat("\u0301", some/2-1),
		"no UTF-8":          strings.Repeat("\xff\xfe\xc3", some/3),
		"cut characters":    strings.Repeat("\xe8\xaa", some/2),
		"spaces":            strings.Repeat(" ", some),
		"zeros":             strings.Repeat("\x00", some),
		"long becomes":      strings.Repeat("ﷺ", some/3), // one character of 18
		"more than is read": strings.Repeat(" ", embed.MaxText-all) + strings.Repeat("x", 2*all),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan bool, 1)
			go func() { done <- s.EmbedInto(make([]float32, s.Dims()), text) }()
			select {
			case ok := <-done:
				if ok == slices.Contains([]string{"marks", "spaces", "zeros", "no UTF-8", "cut characters"}, name) {
					t.Errorf("has a vector: %t", ok)
				}
			case <-time.After(30 * time.Second): // hangs
				t.Fatal("not cut after 30 s")
			}
		})
	}
}

func FuzzSRCH20_UnigramAnyText(f *testing.F) {
	for _, l := range cutTexts(f) {
		if len(l.Text) < 200 {
			f.Add(l.Text)
		}
	}
	f.Add("\xff\xe2\x96 \xe2\x96\x81\xe2")
	s := openTable(f, smallTable)
	f.Fuzz(func(t *testing.T, text string) {
		v := make([]float32, s.Dims())
		ok := s.EmbedInto(v, text)
		switch l := math.Sqrt(embedtest.Cosine(v, v)); {
		case ok && math.Abs(l-1) > 1e-4, !ok && l != 0:
			t.Errorf("%q: length %g, vector %v", text, l, ok)
		}
		apart := append(s.Tokens(text), s.Tokens("a")...)
		if together := s.Tokens(text + " a"); !slices.Equal(apart, together) && validEnd(text) {
			t.Errorf("%+q: a word behind it changes how it is cut: %v, %v", text, apart, together)
		}
	})
}

// validEnd says that no character that begins in a text goes on behind it.
func validEnd(text string) bool {
	return text == "" || strings.ToValidUTF8(text, "") == text
}

func TestSRCH20_TableFileThatCantBeUsed(t *testing.T) {
	file, err := os.ReadFile(smallTable)
	if err != nil {
		t.Fatal(err)
	}
	resealed := func(change func(b []byte) []byte) []byte {
		body := change(slices.Clone(file[:len(file)-sha256.Size]))
		sum := sha256.Sum256(body)
		return append(body, sum[:]...)
	}
	replaced := func(before, after string) []byte {
		return resealed(func(b []byte) []byte {
			if !bytes.Contains(b, []byte(before)) {
				t.Fatalf("no %q in the table", before)
			}
			return bytes.Replace(b, []byte(before), []byte(after), 1)
		})
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":             {nil, "not a table"},
		"another file":      {bytes.Repeat([]byte("x"), 1000), "not a table"},
		"cut":               {file[:len(file)/2], "checksum"},
		"one bit":           {func() []byte { b := slices.Clone(file); b[len(b)/2] ^= 4; return b }(), "checksum"},
		"another tokenizer": {replaced(`"tokenizer": "unigram"`, `"tokenizer": "unisono"`), "does not fit"},
		"row missing":       {resealed(func(b []byte) []byte { return b[:len(b)-16] }), "does not fit"},
		"no order":          {replaced("\n▁\n", "\n!!!\n"), "not in order"},
		"a token twice":     {replaced("\n$\n%\n", "\n$\n$\n"), "not in order"},
		"no number":         {resealed(func(b []byte) []byte { copy(b[len(b)-20*4001:], "\xff\xff\xff\x7f"); return b }), "a number"},
		"no charsmap":       {replaced(`"charsmapBytes": 2`, `"charsmapBytes": 1`), "does not fit"},
	} {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, name, path, c.want)
	}
	refused(t, "missing", filepath.Join(t.TempDir(), "none"), "not there")
	refused(t, "a folder", t.TempDir(), "not a regular file")
}

// A table has an identity of its own, so its vectors are never mixed with those of
// another; where it can't be used the built-in one serves, and that is said.
func TestSRCH12_AnotherTableIsAnotherModel(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	missing := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct{ path, name, why string }{
		{"", "ctxd-static-1", ""},
		{smallTable, "small", ""},
		{missing, "ctxd-static-1", "the table can't be used: its file is not there"},
	} {
		e := embed.LazyTable(c.path, log)
		if st := e.Status(); st.State != embed.Idle || st.Model != nil {
			t.Errorf("%s: read before it was asked: %+v", c.name, st)
		}
		m, v, err := e.Embed(t.Context(), embed.Query, []string{"the house"})
		if err != nil || m.Name != c.name || len(m.SHA256) != 64 || len(v) != 1 || len(v[0]) != m.Dims {
			t.Errorf("%s: %+v, %d vectors, %v", c.name, m, len(v), err)
		}
		if st := e.Status(); st.State != embed.Ready || st.Kind != "builtin" || *st.Model != m || st.Why != c.why {
			t.Errorf("%s: %+v", c.name, st)
		}
	}
}

func refused(t *testing.T, name, path, want string) {
	t.Helper()
	_, err := embed.OpenTable(path)
	var f *fault.Error
	if fault.KindOf(err) != fault.Unavailable || !errors.As(err, &f) || !strings.Contains(f.Msg, want) ||
		strings.Contains(f.Msg, path) || !strings.Contains(f.Hint, "task model:multilingual") {
		t.Errorf("%s: %#v, want %q", name, err, want)
	}
}

func BenchmarkPERF14_Unigram60Tokens(b *testing.B) {
	benchmarkSixty(b, multilingual(b))
}
