package chats

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/shell"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

type say struct {
	Text []string `arg:"" optional:"" help:"What to say. Default, and -: standard input."`

	After string `placeholder:"MESSAGE" help:"Id of the message that this one follows, as ctxd chat show --json has it. After an earlier one a branch begins. Default: the last message."`

	asking
}

func (say) Help() string {
	return "Says one thing, prints the answer as it comes, and ends. What is no part of the answer, such as the tools that run, " +
		"goes to standard error when the answer is piped. With --json each delta is a line, and the last line is the result."
}

func (say) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat say Where could we hike in May?", "one question, one answer"},
		{"ctxd chat say --last And in June?", "go on with the last conversation"},
		{"ctxd chat say --system 'Summarise this' < report.md", "a long text from a file"},
		{`ctxd chat say "Where to?" --json | jq -j 'select(.type == "text").text'`, "for scripts"},
	}
}

func (c *say) Run(a *Options) error {
	text := strings.Join(c.Text, " ")
	if text == "" || text == "-" {
		var err error
		if text, err = piped(a); err != nil {
			return err
		}
	}
	t := c.teller(a)
	defer t.close()
	return t.once(text, c.After)
}

// piped reads a message from standard input.
func piped(a *Options) (string, error) {
	data, err := a.Input(a.Streams, "-", "the message")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", term.Misuse("the message is not valid UTF-8", "convert it first: iconv -f LATIN1 -t UTF-8 FILE")
	}
	return strings.TrimRight(string(data), "\n"), nil
}

// once says one thing.
func (t *teller) once(text, after string) error {
	if strings.TrimSpace(text) == "" {
		return term.Misuse("there is nothing to say", `ctxd chat say "Where could we hike in May?"`)
	}
	if err := t.resume(); err != nil {
		return err
	}
	m := t.message(text)
	if m.ParentID = after; after != "" && t.conversation == nil {
		return term.Misuse("--after needs the conversation of the message", "ctxd chat say --session weekend_trip_k3x9 --after "+term.ShellQuoted(after)+" TEXT")
	}
	_, _, err := t.ask(t.Ctx, m)
	return err
}

type talk struct {
	asking
}

func (talk) Help() string {
	return "A conversation with a language model, on a terminal: Tab completes @handles, #numbers, [[titles and /commands, " +
		"Alt-Enter starts another line, the arrow keys and Ctrl-R recall what was typed. Ctrl-C stops an answer and keeps the conversation; " +
		"two empty lines, Ctrl-D or a second Ctrl-C leave. /help lists the commands. The history is kept in a file that only you can read, see " +
		"ctxd config chat.history. From a pipe one message is read, as ctxd chat say does. With --json each delta is a line, then the result is one."
}

func (talk) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat", "begin a conversation"},
		{"ctxd chat --last", "go on with the one that was changed last"},
		{"ctxd chat --session weekend_trip_k3x9", "go on with another one"},
		{"ctxd chat --private --provider ollama", "with a model on this machine, and kept from others"},
		{"git diff | ctxd chat --system 'Review this change'", "one message from a pipe"},
	}
}

func (c *talk) Run(a *Options) error {
	t := c.teller(a)
	defer t.close()
	if !shell.AtTerminal(a.Streams) {
		text, err := piped(a)
		if err != nil {
			return err
		}
		return t.once(text, "")
	}
	return t.converse()
}
