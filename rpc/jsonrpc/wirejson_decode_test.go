package jsonrpc_test

import "testing"

// A string ends at the first quote that is not escaped, however many backslashes
// stand before it.
func TestStringsEndWhereTheyEnd(t *testing.T) {
	for text, want := range map[string]string{
		`"\\"`: `\`, `"\\\""`: `\"`, `"a\\\\"`: `a\\`, `"\\\\\""`: `\\"`, `"\""`: `"`, `""`: "", `"\u005c\\"`: `\\`, `"\ud83d\ude00\ud83dx"`: "😀\uFFFDx",
	} {
		if got, err := decodeAny(text + ` `); err != nil || got != want {
			t.Errorf("%s was read as %q, want %q (%v)", text, got, want, err)
		}
	}
}
