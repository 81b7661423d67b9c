package embed_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
)

// outside is an endpoint that counts as one on another machine.
type outside struct{ *embed.Endpoint }

func (o outside) Status() embed.Status {
	s := o.Endpoint.Status()
	s.Remote = true
	return s
}

// TestPRIV11_ARequestIsNotRepeatedWithWhatBecamePrivate: what a first try has told, and fails, the next one does not tell once it
// is private. The server has done nothing wrong then, and is asked what may be asked.
func TestPRIV11_ARequestIsNotRepeatedWithWhatBecamePrivate(t *testing.T) {
	const secret = "of [[Secret]]"
	var private atomic.Bool
	gate := outbound.Gate(func(text string) string {
		if private.Load() {
			return strings.ReplaceAll(text, "[[Secret]]", "(private)")
		}
		return text
	})
	var told atomic.Int32
	fails := func(w http.ResponseWriter, texts ...string) bool { // what it is told becomes private meanwhile
		if !slices.Contains(texts, secret) {
			return false
		}
		private.Store(true)
		told.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	check := func(t *testing.T, ask func(text string) error, failed func() bool) {
		for range 4 { // more failures than would have it left alone
			private.Store(false)
			told.Store(0)
			if err := ask(secret); err == nil || told.Load() != 1 || failed() {
				t.Errorf("%v; told %d times, failed %v", err, told.Load(), failed())
			}
		}
		if err := ask(secret); err != nil {
			t.Errorf("masked: %v", err)
		}
	}
	for name, purpose := range map[string]embed.Purpose{"question": embed.Query, "passage": embed.Passage} {
		t.Run(name, func(t *testing.T) {
			h := serving(t, func(w http.ResponseWriter, r *http.Request) {
				if texts := read(t, r).Input; !fails(w, texts...) {
					answer(w, texts, 4)
				}
			})
			check(t, func(text string) error {
				_, _, err := embed.Behind(outside{h}, gate).Embed(t.Context(), purpose, []string{text})
				return err
			}, func() bool { return h.Status().State == embed.Failed })
		})
	}
	for name, at := range map[string]int{"ranked question": 0, "ranked text": 1} {
		t.Run(name, func(t *testing.T) {
			r := judging(t, func(w http.ResponseWriter, r *http.Request) {
				if a := readRanks(t, r); !fails(w, append(a.Documents, a.Query)...) {
					says(`{"results":[{"index":0,"relevance_score":1}]}`)(w, r)
				}
			}, func(o *embed.RerankEndpointOptions) { o.AllowRemote = true })
			check(t, func(text string) error {
				texts := [2]string{"scales", "scales"}
				texts[at] = text
				_, err := embed.RerankBehind(r, gate).Rerank(t.Context(), texts[0], texts[1:])
				return err
			}, func() bool { return r.Status().State == embed.Failed })
		})
	}
}
