package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
)

func callsOf(name, arguments string) []tools.Call {
	return []tools.Call{{Name: name, Arguments: arguments}}
}

// FuzzCHAT13_Arguments: whatever a model writes, it is told something that it can read, nothing changes and a remote
// reader is not told of what is private.
func FuzzCHAT13_Arguments(f *testing.F) {
	const word = "Quixalot"
	w := secretive(f, word)
	for _, d := range tools.List(true) {
		for _, args := range []string{
			`{}`, `null`, ``, `[]`, `{"query":"bees","limit":3}`, `{"id":"open","heading":"Of"}`, `{"entity":"case","field":"who","to":"ann"}`,
			`{"record":"ann","depth":2,"kinds":["note"],"cursor":"3"}`, `{"query":"SELECT p FROM Person p","this":"ann"}`, `{"title":"\u0000\ud800","due":"2026-02-30"}`,
			`{"query":"-\"a b\" tag:x before:2026"}`, `{"id":"[[a#^b|c]]","cursor":"v1.99999999"}`,
		} {
			f.Add(d.Name, args)
		}
	}
	before := w.db.Seq()
	f.Fuzz(func(t *testing.T, name, args string) {
		for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
			res, err := w.set.Call(t.Context(), w.env(reader), name, json.RawMessage(args))
			if err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCountInString(res.Text); n == 0 || n > tools.MaxResultText || !utf8.ValidString(res.Text) {
				t.Errorf("%d characters: %q", n, res.Text)
			}
			if res.Error && (len(res.References) > 0 || res.Proposal != nil) {
				t.Errorf("an error with references: %+v", res)
			}
			given := strings.ToLower(name + args) // which may be told back
			if reader == audience.Remote && strings.Contains(res.Text, word) && !strings.Contains(given, strings.ToLower(word)) && !strings.Contains(given, `\u`) {
				t.Errorf("a private name in %s", res.Text)
			}
		}
		if w.db.Seq() != before {
			t.Error("the store has changed")
		}
	})
}
