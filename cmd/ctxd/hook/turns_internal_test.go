package hook

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCLI12_LongStringsAreCutWhereTheyMayBe(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", 40), strings.Repeat("é", 40), strings.Repeat("\n", 40), strings.Repeat("\u0001", 40), strings.Repeat(`"\`, 40),
		"a" + strings.Repeat(`\`, 41), `short "quoted" \ end`, "",
	} {
		whole, err := json.Marshal(map[string]any{"before": "x", "said": text, "n": []any{1, "}"}, "z": "last"})
		if err != nil {
			t.Fatal(err)
		}
		for limit := 1; limit < 30; limit++ {
			var in input
			short := withShortStrings([]byte(string(whole)), limit)
			if err := json.Unmarshal(short, &in); err != nil {
				t.Fatalf("%d: %v in %s", limit, err, short)
			}
			if limit < len("before") {
				continue // names are cut, too
			}
			said := strings.TrimRight(in.text("said"), "\ufffd")
			if !strings.HasPrefix(text, said) || in.text("z") != "last" || len(text) > 0 && said == "" && limit > 6 {
				t.Errorf("%d: %q became %q in %s", limit, text, said, short)
			}
		}
		if same := withShortStrings([]byte(string(whole)), 1000); string(same) != string(whole) {
			t.Errorf("%s became %s", whole, same)
		}
	}
	for _, broken := range []string{`{"a`, `{"a\`, `{"a\u00`, `"`} {
		withShortStrings([]byte(broken), 1)
	}
}
