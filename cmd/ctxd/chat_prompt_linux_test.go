package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/provider"
)

// whatIsSaid is what the provider of these tests answers.
const whatIsSaid = `
? hike
think "They want to walk."
text "# Hiking\n\nIn the **Al"
text "ps**, see ` + "`map`" + `:\n- the _lower_ paths\n- [a hut](https://hut.example)\n` + "```sh\\nls\\n```" + `\n"
? notes
call search_notes {"query":"hiking"}
then
text None of them.
? endless
text It begins
wait
? June
text In June the passes.
? silent
wait
`

// talked is a home in which a daemon asks a provider that says so.
func talked(t *testing.T, script string) (home, *provider.Server) {
	t.Helper()
	list, err := parseAnswers(script)
	if err != nil {
		t.Fatal(err)
	}
	server := provider.Start(list.answer)
	t.Cleanup(server.Close)
	p := newHome(t)
	p.env = append(p.env, asks(server)...)
	vault := filepath.Join(t.TempDir(), "Notes")
	if err := fixtures.CopyVault(vault); err != nil {
		t.Fatal(err)
	}
	p.serve(t, vault)
	return p, server
}

// asked waits until a provider was asked so many times.
func asked(t *testing.T, s *provider.Server, n int) {
	t.Helper()
	hang := time.After(hangs)
	for len(s.Requests()) < n {
		select {
		case <-hang:
			t.Fatalf("the provider was asked %d times", len(s.Requests()))
		case <-time.After(time.Millisecond):
		}
	}
}

func TestCHAT27_Prompt(t *testing.T) {
	p, server := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat")
	s.see("ctxd chat  a new conversation; /help helps, an empty line leaves")
	s.see("› ")
	s.press("Where could we hike?\r")
	s.see("They want to walk.\r\n")
	s.see("# Hiking\r\n\r\nIn the **Alps**, see `map`:\r\n- the _lower_ paths\r\n")
	s.see("› ")
	s.press("Which notes are about it?\r")
	s.see(`⚙ search_notes "hiking" … `)
	s.see("nothing\r\n")
	s.see("None of them.\r\n")
	s.see("› ")

	// The commands, and what Tab completes.
	s.press("/tit\tWalks\r")
	s.see("changed  Walks  hike_")
	s.see("› ")
	s.press("/frob\r")
	s.see("Error: there is no command /frob")
	s.press("/retri\r")
	s.see("Try: /retry")
	s.press("/priv\ton\r")
	s.see("private  Walks")
	s.press("/private off\r")
	s.see("no longer private  Walks")
	s.press("/branches\r")
	s.see("there are no other branches; /edit and /regenerate begin one")
	s.press("/edit And in June?\r")
	s.see("In June the passes.\r\n")
	s.press("/regenerate\r")
	s.see("In June the passes.\r\n")
	s.press("/branches\r")
	s.see("1  message ")
	s.see("2  message ")
	s.see("› ")
	s.press("/branch 1\r")
	s.see("what you say goes on with this branch")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	if last := server.Requests()[len(server.Requests())-1]; !strings.Contains(last.Body, "Which notes are about it?") {
		t.Errorf("the branch is not gone on with: %s", last.Body)
	}
	s.press("/branches\r")
	s.see("› ")
	s.press("/branch 7\r")
	s.see("Try: /branches lists them")
	s.press("/list\r")
	s.see("Walks  ")

	// What is ordered is proposed, without a model.
	asked := len(server.Requests())
	s.press("/goa\trun a marathon\r")
	s.see("Proposed, and not done before you confirm it:")
	s.see(`remember kind: "goal", statement: "run a marathon"`)
	s.see("› ")
	s.press("/confirm\r")
	s.see("confirmed  remember")
	s.press("/forget\r")
	s.see("Error: /forget needs MEMORY")
	s.press("/references\r")
	s.see(" notes found and not used; /references all shows them")
	s.press("/references two\r")
	s.see("Try: /references, /references 2 or /references all")
	s.press("/search kickoff\r")
	s.see("Project Alpha Kickoff")
	s.see("› ")
	s.press("/suggest\r")
	s.see("It has words of what was said last")
	s.see("› ")
	if n := len(server.Requests()); n != asked {
		t.Errorf("the model was asked %d times for it", n-asked)
	}
	s.press("See [[Kicko\t")
	s.see("[[Project Alpha Kickoff]]")
	s.press("\x03")
	s.see("^C\r\n")
	s.press("@hike\t")
	s.see("@hike_")
	s.press("\x03")
	s.see("^C\r\n")
	s.press("\x1b[A")
	s.see("/suggest")
	s.press("\x15/new\r")
	s.see("a new conversation\r\n")
	s.press("/pin [[Project Alpha Kickoff]]\r/model large\r/title Later\rAnd in June?\r")
	s.see("In June the passes.\r\n")
	s.see("📚 Referenced Documents:\r\n  • [[Project Alpha Kickoff]] (Meetings/Project Alpha Kickoff.md)\r\n")
	s.see("› ")
	s.press("/refer\t2\r")
	s.see("  • [[Project Alpha Kickoff]] (Meetings/Project Alpha Kickoff.md)\r\n")
	s.see("› ")
	if last := server.Requests()[len(server.Requests())-1]; last.Model != "large" || !strings.Contains(last.System(), "Kickoff") {
		t.Errorf("asked of %s: %s", last.Model, last.System())
	}
	s.press("\r")
	s.see("ctxd chat --session later_")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
	if info, err := os.Stat(filepath.Join(p.data, config.ChatHistoryFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v, %v", info, err)
	}

	// It is gone on with, and shows how it has ended.
	s = p.sit(t, []string{"NO_COLOR="}, "chat", "--last")
	s.see("Later")
	s.see("In June the passes.")
	s.see("› ")
	s.press("Where could we hike?\r")
	s.see("\x1b[2mThey want to walk.\x1b[0m\r\n")
	s.see("\x1b[1mHiking\x1b[0m\r\n\r\n")
	s.see("In the \x1b[1mAlps\x1b[0m, see \x1b[36mmap\x1b[0m:\r\n• the \x1b[3mlower\x1b[0m paths\r\n")
	s.see("• \x1b[4ma\x1b[0m \x1b[4mhut\x1b[0m \x1b[2m(https://hut.example)\x1b[0m\r\n    \x1b[2mls\x1b[0m\r\n")
	s.see("› ")
	s.press("\x04")
	s.ends()
}

// Ctrl-C stops an answer and nothing else; twice at the prompt it leaves.
func TestCHAT27_CtrlCCancelsTheAnswer(t *testing.T) {
	p, server := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("endless\r")
	s.see("It begins")
	s.press("\x03")
	s.see("cancelled\r\n")
	s.see("› ")
	// Before anything came, too: the conversation is the same.
	s.press("/new\rsilent\r")
	s.see("a new conversation")
	asked(t, server, 2)
	s.press("\x03")
	s.see("cancelled\r\n")
	s.see("› ")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	if body := server.Requests()[2].Body; !strings.Contains(body, "silent") {
		t.Errorf("the conversation is another one: %s", body)
	}
	s.press("typed\x03")
	s.see("^C\r\n")
	s.see("› ")
	s.press("\x03")
	s.see("ctxd chat --session ")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
	out, err := p.command(t, "chat", "list", "--json").Output()
	if err != nil || strings.Count(string(out), `"handle"`) != 2 {
		t.Errorf("%v, %s", err, out)
	}
	// One that is asked from a script ends with the signal, and what came is kept.
	cmd := p.command(t, "chat", "say", "endless")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked(t, server, 4)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != term.ExitInterrupted {
		t.Errorf("exit status %d", status)
	}
}

// A daemon that has gone takes nothing with it that was typed.
func TestCHAT27_PromptOutlivesTheDaemon(t *testing.T) {
	p, _ := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	p.run(t, "stop")
	s.press("Where could we hike?\r")
	s.see("Error: no daemon listens")
	s.see("Try: ctxd serve")
	s.see("› Where could we hike?")
	p.serve(t, t.TempDir())
	s.press("\r")
	s.see("Hiking")
	s.see("› ")
	s.press("/retry\r") // it was answered
	s.see("Hiking")
	s.see("› ")
	s.press("/quit\r")
	s.see("ctxd chat --session ")
	s.ends()
}

// Without a terminal that can move a cursor, lines are read as they come.
func TestCHAT27_PromptOnADumbTerminal(t *testing.T) {
	p, _ := talked(t, whatIsSaid)
	s := p.sit(t, []string{"TERM=dumb"}, "chat")
	s.see("› ")
	s.press("And in June?\n")
	s.see("In June the passes.\r\n")
	s.see("› ")
	s.press("\n")
	s.see("ctxd chat --session ")
	s.ends()
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(s.shown.String(), "\x1b") {
		t.Errorf("the terminal got an escape: %q", s.shown.String())
	}
}

// TestCHAT27_PromptInJSON: each delta and each result is a line.
func TestCHAT27_PromptInJSON(t *testing.T) {
	p, _ := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat", "--json")
	s.see("› ")
	s.press("And in June?\r")
	s.see(`"type":"text","text":"In June the passes."}` + "\r\n") // a busy machine has a warning before it
	s.see(`"type":"done"`)
	s.see(`"content":"In June the passes."`)
	s.see("› ")
	s.press("\x04")
	s.ends()
}

// TestCHAT21_Prompt: what the model proposes is listed behind its answer with numbers, by which a person decides.
func TestCHAT21_Prompt(t *testing.T) {
	p, _ := talked(t, `
? propose
call create_task {"title":"Feed"}
call create_task {"title":"Tar","reason":"It leaks"}
then
text Proposed.
`)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("/confirm\r")
	s.see("Error: nothing waits to be confirmed")
	s.see("› ")
	s.press("please propose\r")
	s.see("Proposed.\r\n\r\n? 1  createTask \"Feed\"\r\n? 2  createTask \"Tar\"\r\n  It leaks\r\n/confirm N does one of them, /reject N does not\r\n")
	s.see("› ")
	s.press("/confirm\r")
	s.see("Error: 2 actions wait")
	s.see("Try: /confirm N; /actions lists them")
	s.press("/confirm 3\r")
	s.see("Error: \"3\" is no action of the list")
	s.press("/conf\t2\r")
	s.see("confirmed  createTask \"Tar\"\r\n  in the note Private tasks: - [ ] Tar — ")
	s.press("/confirm 2\r")
	s.see("confirmed before  createTask \"Tar\"\r\n")
	s.press("/reject 2\r")
	s.see("Error: an action that is confirmed cannot become rejected")
	s.press("/actions\r")
	s.see("? 1  createTask \"Feed\"\r\n/confirm N does one of them")
	s.see("› ")
	s.press("\r")
	s.ends()
	s = p.sit(t, nil, "chat", "--last")
	s.see("confirmed  createTask \"Tar\"")
	s.see("? 1  createTask \"Feed\"\r\n")
	s.see("› ")
	s.press("/reject\r")
	s.see("rejected  createTask \"Feed\"\r\n")
	s.press("/actions\r")
	s.see("nothing waits to be confirmed in this conversation\r\n")
	s.press("/new\r")
	s.see("a new conversation\r\n")
	s.press("/actions\r")
	s.see("nothing waits to be confirmed in this conversation\r\n")
	s.see("› ") // typed ahead, the end of the input is none
	s.press("\x04")
	s.ends()
}
