package render_test

import (
	"encoding/json"
	"testing"

	"github.com/ctxd/ctxd/chat/tools/render"
)

var declared = map[string]render.ArgumentKind{
	"query": {Type: "string"}, "limit": {Type: "integer"}, "confidence": {Type: "number"}, "tags": {Type: "array", Items: "string"},
	"maxChars": {Type: "integer"}, "contested": {Type: "boolean"}, "fields": {Type: "object"},
}

func TestCHAT44_WhatModelsMean(t *testing.T) {
	for given, want := range map[string]string{
		`{"query":"a","limit":"5"}`:          `{"limit":5,"query":"a"}`,
		`{"query":"a","limit":5.0}`:          `{"limit":5,"query":"a"}`,
		`{"query":"a","limit":" 1e1 "}`:      `{"limit":10,"query":"a"}`,
		`{"confidence":"0.5"}`:               `{"confidence":0.5}`,
		`{"query":"a","limit":null}`:         `{"query":"a"}`,
		`{"tags":"[\"a\",\"b\"]"}`:           `{"tags":["a","b"]}`,
		`{"tags":"a"}`:                       `{"tags":["a"]}`,
		`{"tag":["a"]}`:                      `{"tags":["a"]}`,
		`{"contested":"True"}`:               `{"contested":true}`,
		`{"fields":"{\"a\":1}"}`:             `{"fields":{"a":1}}`,
		`{"query":42}`:                       `{"query":"42"}`,
		`{"query":["a"]}`:                    `{"query":"a"}`,
		`{"q":"a","max_results":3}`:          `{"limit":3,"query":"a"}`,
		`{"text":"a","max_chars":"10"}`:      `{"maxChars":10,"query":"a"}`,
		`"{\"query\":\"a\"}"`:                `{"query":"a"}`,
		`null`:                               `{}`,
		``:                                   `{}`,
		` `:                                  `{}`,
		`{"query":"a","limit":5}`:            `{"query":"a","limit":5}`,
		`{"query":"5","tags":["1"]}`:         `{"query":"5","tags":["1"]}`,
		`{"query":"a","text":"b"}`:           `{"query":"a","text":"b"}`, // which is meant?
		`{"limit":"five"}`:                   `{"limit":"five"}`,
		`{"limit":"5 or 6"}`:                 `{"limit":"5 or 6"}`,
		`{"tags":"a, b"}`:                    `{"tags":"a, b"}`,
		`{"contested":"yes"}`:                `{"contested":"yes"}`,
		`{"limit":true,"query":["a","b"]}`:   `{"limit":true,"query":["a","b"]}`,
		`[1]`:                                `[1]`,
		`{"query":`:                          `{"query":`,
		`{"query":"a"} {"query":"b"}`:        `{"query":"a"} {"query":"b"}`,
		`{"limit":"NaN","confidence":"inf"}`: `{"limit":"NaN","confidence":"inf"}`,
	} {
		if got := render.LenientArguments(json.RawMessage(given), declared); string(got) != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

// FuzzCHAT44_LenientArguments: what was JSON stays JSON, and reading twice changes nothing more.
func FuzzCHAT44_LenientArguments(f *testing.F) {
	f.Add(`{"q":"a","limit":"5","tags":"[1,{}]","fields":"{}"}`)
	f.Fuzz(func(t *testing.T, text string) {
		once := render.LenientArguments(json.RawMessage(text), declared)
		if json.Valid([]byte(text)) && !json.Valid(once) {
			t.Errorf("%q became %q", text, once)
		}
		if twice := render.LenientArguments(once, declared); json.Valid(once) && once[0] == '{' && string(twice) != string(once) && len(once) < 1000 {
			var a, b any
			_ = json.Unmarshal(once, &a)
			_ = json.Unmarshal(twice, &b)
			first, _ := json.Marshal(a)
			second, _ := json.Marshal(b)
			if string(first) != string(second) {
				t.Errorf("%q became %q, then %q", text, once, twice)
			}
		}
	})
}
