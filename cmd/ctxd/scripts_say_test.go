package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxd/ctxd/fixtures/provider"
)

// providers are the servers of the scripts that run, by the socket of the daemon.
var providers sync.Map

// startProvider is "provider FILE": it starts a server of a language model that answers as the file says, and has the
// daemons that are started later ask it. A line "? WORDS" begins what is answered to a message that has the words. Then
// come lines of a verb and its text, which may stand in quotes as in Go: text, think, call TOOL ARGUMENTS, status CODE
// TEXT, break, and wait, which waits until the caller has left. A line "then" begins what is answered when tools have run.
func startProvider(ts *testscript.TestScript, _ bool, args []string) {
	script, err := parseAnswers(ts.ReadFile(args[0]))
	ts.Check(err)
	s := provider.Start(script.answer)
	ts.Defer(s.Close)
	providers.Store(ts.Getenv("CTXD_SOCKET"), s)
	for _, set := range asks(s) {
		name, value, _ := strings.Cut(set, "=")
		ts.Setenv(name, value)
	}
}

// asks is the environment of a daemon that asks a server.
func asks(s *provider.Server) []string {
	return []string{
		"CTXD_CHAT_PROVIDER=openai", "CTXD_CHAT_PROVIDERS_OPENAI_BASE=" + s.URL,
		"CTXD_CHAT_PROVIDERS_OPENAI_MODEL=small", "CTXD_CHAT_PROVIDERS_OPENAI_LOCAL=true",
	}
}

// providerHears is "hears N WORDS": it waits until the provider was asked N times, and the last request has the words.
func providerHears(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	found, _ := providers.Load(ts.Getenv("CTXD_SOCKET"))
	s := found.(*provider.Server)
	deadline := time.After(hangs)
	for len(s.Requests()) < n {
		select {
		case <-deadline:
			ts.Fatalf("the provider was asked %d times", len(s.Requests()))
		case <-time.After(5 * time.Millisecond):
		}
	}
	list := s.Requests()
	if len(list) != n {
		ts.Fatalf("the provider was asked %d times", len(list))
	}
	if last := list[n-1].Body; len(args) > 1 && strings.Contains(last, args[1]) == neg {
		ts.Fatalf("it was asked %s", last)
	}
}

// sayings is what a provider says.
type sayings []struct {
	words  string
	rounds [][]step
}

// step is a step of an answer.
type step struct{ verb, text string }

func parseAnswers(doc string) (list sayings, err error) {
	for line := range strings.Lines(doc) {
		verb, text, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if strings.HasPrefix(text, `"`) {
			if text, err = strconv.Unquote(text); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
		}
		n := len(list) - 1
		switch verb {
		case "":
		case "?":
			list = append(list, struct {
				words  string
				rounds [][]step
			}{text, make([][]step, 1)})
		case "then":
			list[n].rounds = append(list[n].rounds, nil)
		default:
			last := len(list[n].rounds) - 1
			list[n].rounds[last] = append(list[n].rounds[last], step{verb, text})
		}
	}
	return list, nil
}

func (a sayings) answer(r *provider.Request, to *provider.Reply) {
	question, round := "", 0
	for i := range r.Messages {
		switch m := &r.Messages[i]; {
		case m.Role == "user":
			question, round = m.Text(), 0
		case m.Role == "assistant" && len(m.Calls) > 0:
			round++
		}
	}
	for _, x := range a {
		if !strings.Contains(question, x.words) {
			continue
		}
		for _, s := range x.rounds[min(round, len(x.rounds)-1)] {
			s.say(to)
		}
		return
	}
	to.Status(400, fmt.Sprintf("nothing is said to %q", question))
}

func (s step) say(to *provider.Reply) {
	switch s.verb {
	case "text":
		to.Text(s.text)
	case "think":
		to.Reasoning(s.text)
	case "call":
		name, args, _ := strings.Cut(s.text, " ")
		to.Call(name, args)
	case "status":
		code, text, _ := strings.Cut(s.text, " ")
		n, _ := strconv.Atoi(code)
		to.Status(n, text)
	case "break":
		to.Break()
	case "wait":
		<-to.Gone()
	default:
		panic("the provider knows no " + s.verb)
	}
}
