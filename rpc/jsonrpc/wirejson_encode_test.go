package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// encode returns the JSON of a value.
func encode(v any) (string, error) {
	var e jsonrpc.Encoder
	b, err := e.Encode(v)
	if err != nil {
		return "", err
	}
	defer b.Release()
	return string(b.Bytes()), nil
}

// wantJSON is what encoding/json makes of v.
func wantJSON(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

func checkEncoding(t *testing.T, v any) {
	t.Helper()
	got, err := encode(v)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	if want := wantJSON(t, v); got != want {
		t.Fatalf("%T:\n got %s\nwant %s", v, got, want)
	}
}

var texts = []string{
	"", "plain", "a \"quoted\" \\ text", "tab\tline\nreturn\rback\bform\f", "\x00\x1f\x7f", "é 😀",
	"a text that is longer than thirty-two bytes, so that it is looked at in large steps\nand then some more of it: ä",
}

type (
	tree struct {
		Name string           `json:"name"`
		Kids []*tree          `json:"kids,omitempty"`
		By   map[string]*tree `json:"by,omitempty"`
	}
	inner struct{ A, B int }
	odd   struct {
		inner
		*tree
		B     string `json:"B"`
		Text  int    `json:",string"`
		Bytes []byte
		skip  int
	}
	outer struct {
		inner
		C  int `json:"-"`
		D  int `json:"-,"`
		At time.Time
		E  *time.Time `json:"e,omitzero"`
		F  time.Time  `json:"f,omitzero"`
		G  [2]int
		H  map[int]string
		I  any
		J  json.Number
		K  *int  `json:",omitempty"`
		L  []int `json:"l,omitempty,omitzero"`
	}
)

func TestEncodeOddTypes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	one := 1
	for _, v := range []any{
		nil,
		tree{Name: "a", Kids: []*tree{{Name: "b"}, nil}, By: map[string]*tree{"x": {}, "a": nil}},
		odd{inner: inner{1, 2}, B: "b", Text: 5, Bytes: []byte("bytes"), skip: 1},
		outer{inner: inner{1, 2}, C: 3, D: 4, At: now, E: &now, H: map[int]string{2: "b", 1: "a"}, I: []any{map[string]any{"b": 1, "a": nil}}, J: "12e3", K: &one},
		outer{J: "0", L: []int{}},
		[]any(nil), map[string]int(nil), (*tree)(nil), protocol.Null[string](), protocol.Some("x"),
		protocol.Optional[int]{},
		json.RawMessage("{ \"a\" : 1 }"), float64(3), uint8(7), "\u2027",
	} {
		checkEncoding(t, v)
	}
}

func TestEncodeRefusesWhatIsNoJSON(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(1), func() {}, map[string]any{"a": make(chan int)}, time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if got, err := encode(v); err == nil {
			t.Errorf("%v is encoded as %s", v, got)
		}
	}
}

// What is no UTF-8 becomes U+FFFD; what only pages of HTML mind stands as it is.
func TestEncodeTexts(t *testing.T) {
	for text, want := range map[string]string{"a\xffb": `"a` + "\uFFFD" + `b"`, "\u2028</script>": "\"\u2028</script>\"", "\x01": `"\u0001"`} {
		if got, err := encode(text); err != nil || got != want {
			t.Errorf("%q is encoded as %s, want %s (%v)", text, got, want, err)
		}
	}
}

// Short texts and long ones are written in different ways, eight bytes at a time.
func TestEncodeOddCharactersAtEveryPlace(t *testing.T) {
	for n := range 80 {
		plain := strings.Repeat("x", n)
		for _, odd := range []string{"x", `"`, `\`, "\n", "\x1f", "\x7f", "é", "日"} {
			for at := range n + 1 {
				checkEncoding(t, plain[:at]+odd+plain[at:])
			}
		}
	}
}

func FuzzValidUTF8(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
		f.Add([]byte(text + "\xe2\x82" + text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := jsonrpc.ValidUTF8(text), utf8.Valid(text); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}

type (
	byPointer struct{ X int }
	word      string
	Word      string
	Base      struct {
		A int `json:"a"`
	}
	oneIsNone  []int
	sevenIsNil struct{ N int }
	node       struct {
		Next *node `json:"next"`
	}
)

func (p *byPointer) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"p%d"`, p.X), nil }
func (z oneIsNone) IsZero() bool                  { return len(z) == 1 }
func (z *sevenIsNil) IsZero() bool                { return z.N == 7 }

// The rules of encoding/json that no type of the protocol needs yet.
func TestEncodeRareRules(t *testing.T) {
	never := time.Time{}
	for _, v := range []any{
		[]byPointer{{1}},
		&struct{ P byPointer }{byPointer{2}},
		byPointer{3},
		struct{ word }{"x"},
		struct{ Word }{"x"},
		struct {
			Base `json:",omitempty"`
		}{Base{1}},
		struct {
			Base
			A int `json:"x"`
		}{Base{1}, 2},
		struct {
			Base
			A int `json:"-"`
		}{Base{1}, 2},
		struct {
			T *time.Time `json:"t,omitzero"`
		}{&never},
		struct {
			Z oneIsNone `json:"z,omitzero"`
		}{oneIsNone{1}},
		&struct {
			Z sevenIsNil `json:"z,omitzero"`
		}{sevenIsNil{7}},
		struct {
			A int `json:"q'uo"` //nolint:staticcheck // encoding/json takes it for no name
		}{},
		node{&node{}},
	} {
		checkEncoding(t, v)
	}
	if got, _ := encode("a\xff\xffb"); strings.Count(got, "\uFFFD") != 2 {
		t.Errorf("two bytes that are no UTF-8 are encoded as %s", got)
	}
}

// A value that contains itself is refused; it does not end the process.
func TestEncodeRefusesCycles(t *testing.T) {
	n := &node{}
	n.Next = n
	if _, err := encode(n); err == nil {
		t.Error("it is encoded")
	}
	if _, err := encode(time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", 25*3600))); err == nil {
		t.Error("a zone of 25 hours is encoded")
	}
}
