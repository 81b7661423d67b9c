package llm_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/fault"
)

// TestCHAT47_AProviderOnASocket answers, is local where its setting says so, and is told apart from one that is gone.
func TestCHAT47_AProviderOnASocket(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	folder, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "m.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/models":
			send(w, `{"data":[{"id":"m"}]}`)
		case "/api/chat/completions":
			send(w, "data: "+delta(`"content":"Hello"`)+"\n\n", "data: "+ended+"\n\n")
		default:
			http.NotFound(w, r)
		}
	})}}
	server.Start()
	defer server.Close()
	for _, local := range []bool{true, false} {
		s, err := llm.NewSet(llm.SetOptions{Default: "ours", Providers: []llm.Options{
			{Name: "ours", Kind: llm.OpenAI, Base: "unix://" + filepath.ToSlash(socket) + ":/api", Model: "m", Local: local},
		}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Provider("")
		if err != nil || p.Info().Local != local {
			t.Errorf("local: %v: %+v %v", local, p.Info(), err)
		}
		h := &heard{}
		if _, err := p.Stream(t.Context(), question(), h.take); err != nil || h.text.String() != "Hello" {
			t.Errorf("%q %s", h.text.String(), said(err))
		}
		if o, err := s.Probe(t.Context(), ""); err != nil || !slices.Equal(o.Models, []string{"m"}) {
			t.Errorf("%+v %s", o, said(err))
		}
		s.Close()
	}
	err = (&llm.Options{Kind: llm.OpenAI, Base: "unix://socket"}).Check()
	var f *fault.Error
	if !errors.As(err, &f) || f.Field != "base" {
		t.Error(said(err))
	}
}
