package kv_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// TestJSONTextIsJSON compares the short way with JSON, both ways.
func TestJSONTextIsJSON(t *testing.T) {
	plain, text := kv.JSON[string](), kv.JSONText()
	for _, s := range []string{"", "a", "6d1f0a52-6f6e", `"`, `\`, `\n`, "<&>", "a\nb", "日本", "\x7f", "\x00", "a\u2028", strings.Repeat("x", 300), `"a"`} {
		want, err := plain.Encode(&s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := text.Encode(&s)
		if err != nil || got != want {
			t.Errorf("%q is stored as %q, %v, want %q", s, got, err, want)
		}
		if back, err := text.Decode(want); err != nil || *back != s {
			t.Errorf("%q comes back as %v, %v", s, back, err)
		}
	}
	for _, raw := range []string{"", `"`, `""`, `"a`, `a"`, `"a"b"`, `"\"`, `"\u00e9"`, ` "a" `, `null`, `1`, "\"a\nb\""} {
		want, wrong := plain.Decode(raw)
		got, err := text.Decode(raw)
		if (wrong == nil) != (err == nil) || wrong == nil && *got != *want {
			t.Errorf("%q is read as %v, %v, want %v, %v", raw, got, err, want, wrong)
		}
	}
}
