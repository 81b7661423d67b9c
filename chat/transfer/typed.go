package transfer

import "strings"

// programs are the elements that coding agents put into the messages of the person who types: reminders, the state of an
// editor, output of commands.
var programs = []string{
	"system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics", "recommended_plugins", "task-notification",
	"environment_context", "user_instructions", "permissions instructions", "turn_aborted", "user_shell_command", "subagent_notification",
	"command-message", "command-contents", "local-command-stdout", "local-command-stderr", "local-command-caveat",
	"bash-input", "bash-stdout", "bash-stderr", "user-prompt-submit-hook",
}

// typed returns what the person typed of a message; "" if the program wrote all of it. What the program put in begins a
// line. Within a fence of code it is quoted, and stays. Of a command the words stay that the person gave with it.
func typed(said string) string {
	var b strings.Builder
	name, args, fenced := "", "", false
	cut := false
	for rest := said; rest != ""; {
		line := strings.TrimLeft(rest, " \t")
		if n := ofProgram(line); n > 0 && !fenced {
			rest, cut = line[n:], true
			continue
		}
		if command, n := element(line, "command-name"); n > 0 && !fenced {
			rest, cut, name = line[n:], true, strings.TrimSpace(command)
			continue
		}
		if words, n := element(line, "command-args"); n > 0 && !fenced {
			rest, cut, args = line[n:], true, strings.TrimSpace(words)
			continue
		}
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	if !cut {
		return said
	}
	if args != "" {
		args = strings.TrimSpace(name + " " + args)
	}
	return joined([]string{args, strings.TrimSpace(b.String())})
}

// ofProgram returns how long what the program wrote at the beginning of a line is, 0 if the person typed it.
func ofProgram(line string) int {
	if !strings.ContainsAny(line[:min(len(line), 1)], "<[#C") {
		return 0
	}
	for _, name := range programs {
		if _, n := element(line, name); n > 0 {
			return n
		}
	}
	first, _, _ := strings.Cut(line, "\n")
	switch alone := strings.TrimSpace(first); {
	case strings.HasPrefix(line, "# AGENTS.md instructions"):
		return past(line, "</INSTRUCTIONS>", len(line))
	case strings.HasPrefix(line, "# Context from my IDE setup:"):
		return past(line, "## My request for Codex:", 0)
	case strings.HasPrefix(alone, "Caveat: The messages below"),
		strings.HasPrefix(alone, "[Request interrupted by user") && strings.HasSuffix(alone, "]"),
		alone == "</image>", strings.HasPrefix(alone, "<image name=[Image #") && strings.HasSuffix(alone, ">"):
		return len(first)
	}
	return 0
}

// element returns what is in an element at the beginning of a line, and how long it is with its tags; 0 if it is not there.
func element(line, name string) (in string, n int) {
	in, ok := strings.CutPrefix(line, "<"+name+">")
	if !ok {
		return "", 0
	}
	in, _, ok = strings.Cut(in, "</"+name+">")
	if !ok {
		return "", 0
	}
	return in, len(in) + 2*len(name) + len("<></>")
}

// past returns where what a text has after the mark begins.
func past(s, mark string, without int) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return without
}

// typed returns the texts of a message of a person without what the program put in, and counts a message without others.
func (t *transcript) typed(lines []string) (kept []string) {
	for _, line := range lines {
		if said := typed(line); said != "" {
			kept = append(kept, said)
		}
	}
	if kept == nil && lines != nil {
		t.leftOut.Hidden++
	}
	return kept
}
