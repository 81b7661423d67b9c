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

// talked is a home in which a daemon asks a provider that says so, with more settings of the environment.
func talked(t *testing.T, script string, env ...string) (home, *provider.Server) {
	t.Helper()
	list, err := parseAnswers(script)
	if err != nil {
		t.Fatal(err)
	}
	server := provider.Start(list.answer)
	t.Cleanup(server.Close)
	p := newHome(t)
	p.env = append(append(p.env, asks(server)...), env...)
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
	s.see("ctxd chat  a new conversation; /help helps, two empty lines leave")
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
	s.see(" records found and not used; /references all shows them")
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
	s.see("› ")
	s.press("And in June?\r\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
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
	s.press("\n\n")
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
	s.press("\r\r")
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

// TestCHAT49_PromptPins: what a message may name is pinned so, and what cannot be pinned is said.
func TestCHAT49_PromptPins(t *testing.T) {
	p, server := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	for _, ref := range []string{"[[Project Alpha Kickoff#Decisions]]", "Meetings/Calibration Workshop.md", "@Alice", "@[Project Juniper]", "#58x"} {
		s.press("/pin " + ref + "\r")
		if ref == "#58x" {
			s.see(`Error: there is no memory or note "#58x"`)
			continue
		}
		s.see("pinned in the conversation")
		s.see("› ")
	}
	s.press("/pin @Nobody\r")
	s.see(`Error: there is no memory or note "@Nobody"`)
	s.press("/pin @health_domain\r")
	s.see("Error: ")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	asked := server.Requests()
	for _, title := range []string{"### [[Project Alpha Kickoff]]", "### [[Calibration Workshop]]", "### [[Alice Novak]]", "### [[Project Juniper]]"} {
		if system := asked[len(asked)-1].System(); !strings.Contains(system, title) {
			t.Errorf("%s is not in the prompt:\n%s", title, system)
		}
	}
	s.press("/unpin @Alice\r")
	s.see("unpinned in")
	s.see("› ")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	asked = server.Requests()
	if system := asked[len(asked)-1].System(); strings.Contains(system, "### [[Alice Novak]]\n") {
		t.Errorf("it is still pinned:\n%s", system)
	}
	s.press("\x04")
	s.ends()
}

// TestCHAT49_PromptAttaches: a text and a picture go with the next message and no other, and what is private to no other machine.
func TestCHAT49_PromptAttaches(t *testing.T) {
	p, server := talked(t, whatIsSaid)
	folder := t.TempDir()
	list, picture, music := filepath.Join(folder, "packing list.txt"), filepath.Join(folder, "map.png"), filepath.Join(folder, "song.mp3")
	for file, data := range map[string]string{list: "Take zqrope.", picture: "\x89PNG\r\n\x1a\nxxxx", music: "\xff\xfb\x90\x00"} {
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("/attach " + list + "\r")
	s.see("attached  packing list.txt  text, ")
	s.see("› ")
	s.press("/attach " + picture + "\r")
	s.see("attached  map.png  picture, ")
	s.press("/attach " + music + "\r")
	s.see("song.mp3 is neither a text in UTF-8 nor a picture")
	s.press("/attach " + folder + "\r")
	s.see("is a folder")
	s.press("/attach nowhere.txt\r")
	s.see("Error: cannot read the file")
	s.see("› ")
	s.press("And in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	first := server.Requests()[0].Body
	if !strings.Contains(first, "zqrope") || !strings.Contains(first, "data:image/png;base64,") || strings.Contains(first, folder) {
		t.Errorf("asked: %s", first)
	}
	s.press("/attach " + list + "\r")
	s.see("› ")
	s.press("/attach\r")
	s.see("nothing is attached")
	s.see("› ")
	s.press("And in June once more?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	asked := server.Requests()
	if last := asked[len(asked)-1].Body; strings.Contains(last, "zqrope") {
		t.Errorf("it is attached again: %s", last)
	}
	s.press("\x04")
	s.ends()
}

// TestCHAT49_PromptRefusesUnknownProviders when they are chosen, at the prompt and before it.
func TestCHAT49_PromptRefusesUnknownProviders(t *testing.T) {
	p, server := talked(t, whatIsSaid)
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("/provider frob\r")
	s.see("Error: the settings have no provider frob")
	s.see("Try: one of openai")
	s.see("› ")
	s.press("And in June?\r") // as configured
	s.see("In June the passes.\r\n")
	s.see("› ")
	s.press("/provider openai\r")
	s.see("who answers: openai")
	s.press("/provider frob\r")
	s.see("Error: the settings have no provider frob")
	s.see("› ")
	s.press("And in June, again?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	s.press("\x04")
	s.ends()
	if n := len(server.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
	s = p.sit(t, nil, "chat", "--provider", "frob")
	s.see("Error: the settings have no provider frob")
	if status := s.ends(); status != term.ExitError {
		t.Errorf("exit status %d", status)
	}
}

// TestCHAT48_PromptTellsWhatIsNotGiven: what stays here when another provider answers is said when it is chosen, and by name
// before it answers.
func TestCHAT48_PromptTellsWhatIsNotGiven(t *testing.T) {
	far := provider.Start(func(_ *provider.Request, to *provider.Reply) { to.Text("From afar.") })
	t.Cleanup(far.Close)
	p, server := talked(t, whatIsSaid, "CTXD_CHAT_PROVIDERS_FAR_KIND=openai", "CTXD_CHAT_PROVIDERS_FAR_BASE="+far.URL,
		"CTXD_CHAT_PROVIDERS_FAR_MODEL=m", "CTXD_CHAT_PROVIDERS_FAR_KEY=none")
	if out, err := p.command(t, "notes", "set", "Zqdiary", "--new", "--private").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := p.command(t, "memory", "add", "Zqsecret is mine", "--private").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := p.sit(t, nil, "chat")
	s.see("› ")
	s.press("/pin [[Zqdiary]]\r/pin #1\rAnd in June?\r")
	s.see("In June the passes.\r\n")
	s.see("› ")
	s.press("/provider far\r")
	s.see("far is not local: nothing private goes to it")
	s.see("› ")
	s.press("Once more?\r")
	s.see("! private: openai answered before and is local; far is not, and is not given what")
	s.see("[[Zqdiary]]")
	s.see("memory #1")
	s.see("From afar.\r\n")
	s.see("› ")
	s.press("/private on\r")
	s.see("› ")
	s.press("/provider far\r")
	s.see("far is not local, and this conversation is private; /private off")
	s.see("› ")
	s.press("And now?\r")
	s.see("Error: what is said is private")
	s.see("› And now?")
	s.press("\x15\x04")
	s.ends()
	for _, r := range far.Requests() {
		if strings.Contains(r.Body, "Zq") {
			t.Errorf("it was given %s", r.Body)
		}
	}
	if len(far.Requests()) != 1 || len(server.Requests()) != 1 {
		t.Errorf("asked %d and %d times", len(server.Requests()), len(far.Requests()))
	}
}
