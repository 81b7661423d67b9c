package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/llamacpp"
)

// recordInto names the file that the next test writes its session to, as asciinema plays it.
const recordInto = "CTXD_RECORD"

// TestCHAT24_ASessionWithLlamaCpp talks with a real server of llama.cpp over a terminal: an answer with what it stands on, a
// goal that is remembered once it is confirmed, an answer that is stopped.
func TestCHAT24_ASessionWithLlamaCpp(t *testing.T) {
	server, err := llamacpp.Start(context.Background(), t.TempDir(), false)
	if errors.Is(err, llamacpp.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	p := newHome(t)
	p.env = append(p.env, "CTXD_CHAT_PROVIDER=llamacpp", "CTXD_CHAT_PROVIDERS_LLAMACPP_KIND=openai",
		"CTXD_CHAT_PROVIDERS_LLAMACPP_BASE="+server.Base, "CTXD_CHAT_PROVIDERS_LLAMACPP_MODEL=alphabet", "CTXD_CHAT_PROVIDERS_LLAMACPP_LOCAL=true")
	vault := filepath.Join(t.TempDir(), "Notes")
	if err := fixtures.CopyVault(vault); err != nil {
		t.Fatal(err)
	}
	p.serve(t, vault)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("What of [[Project Alpha Kickoff]]?\r")
	s.see(llamacpp.Alphabet + llamacpp.Alphabet)
	s.press("\x03")
	s.see("cancelled")
	s.see("› ")
	s.press("/goal run a marathon\r")
	s.see("Proposed, and not done before you confirm it:")
	s.see("› ")
	s.press("/confirm\r")
	s.see("confirmed  remember")
	s.see("› ")
	s.press("/references all\r")
	s.see("› ")
	s.press("\r\r")
	s.ends()
	if file := os.Getenv(recordInto); file != "" {
		if err := os.WriteFile(file, []byte(s.recording()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// recording is what the terminal showed, in the form of asciinema, version 2.
func (s *seat) recording() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	b.WriteString(`{"version":2,"width":100,"height":40,"title":"ctxd chat with llama.cpp"}` + "\n")
	for _, e := range s.pieces {
		text, _ := json.Marshal(strings.ToValidUTF8(e.text, "\ufffd"))
		fmt.Fprintf(&b, "[%.3f,\"o\",%s]\n", e.after.Seconds(), text)
	}
	return b.String()
}
