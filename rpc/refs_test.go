package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestREF6_CasesOverTheWire sends every case of fixtures/references.json, as other clients would.
func TestREF6_CasesOverTheWire(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "fixtures", "references.json"))
	must(t, err)
	var cases []struct {
		Text      string
		CleanText *string
		Refs      []any
	}
	must(t, json.Unmarshal(data, &cases))
	if len(cases) < 32 {
		t.Fatalf("there are %d cases only", len(cases))
	}
	d := start(t)
	for _, c := range cases {
		params, err := json.Marshal(protocol.RefsParse{Text: c.Text})
		must(t, err)
		got := d.do("refs.parse", string(params))
		clean := c.Text
		if c.CleanText != nil {
			clean = *c.CleanText
		}
		d.want(got, "cleanText", clean)
		list := at(got, "refs").([]any)
		if len(list) != len(c.Refs) {
			t.Fatalf("%q: %v, want %v", c.Text, list, c.Refs)
		}
		for i := range list {
			for _, name := range []string{"kind", "id", "start", "end"} {
				if is, want := at(list[i], name), at(c.Refs[i], name); !reflect.DeepEqual(is, want) {
					t.Errorf("%q: %s of reference %d is %v, want %v", c.Text, name, i, is, want)
				}
			}
		}
	}
	d.want(d.do("refs.parse", `{"text":"🙂 @abc","unit":"byte"}`), "refs.0.start", 5)
	d.wantRefused("refs.parse", `{"text":"`+strings.Repeat("x", 1<<20+1)+`"}`, protocol.CodeLimit, "text")
}
