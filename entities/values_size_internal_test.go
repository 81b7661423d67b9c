package entities

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// TestREL14_ValuesAreAsLongAsTheirJSON compares what is counted with what is written.
func TestREL14_ValuesAreAsLongAsTheirJSON(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\u2028\u2029<>&\"\\\b\f\n\r\t\x00\x7f", "\xe3\x80", "\ufffd", "👩‍👩‍👧", ""}))
	rapid.Check(t, func(t *rapid.T) {
		values := make(Values)
		for name, text := range rapid.MapOfN(texts, texts, 0, 4).Draw(t, "texts") {
			values[name] = text
			if rapid.Bool().Draw(t, "other") {
				values[name] = rapid.SampledFrom([]any{1.5, true, nil, []string{text}, []any{text, 2}}).Draw(t, "value")
			}
		}
		data, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := jsonLength(values); err != nil || n != len(data) {
			// Names that are not UTF-8 may become one: they are written one by one all the same.
			t.Fatalf("%d bytes, error %v; written are %d: %q", n, err, len(data), data)
		}
	})
}
