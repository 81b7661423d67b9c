package hook

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Command is ctxd hook.
type Command struct {
	Call      callCmd      `cmd:"" default:"withargs" hidden:"" help:"Take what a program says of an event."`
	Install   installCmd   `cmd:"" help:"Have a program call ctxd hook, by a few lines in its settings."`
	Uninstall uninstallCmd `cmd:"" help:"Take these lines out again."`
}

// Options are what the commands run with.
type Options struct {
	*term.Streams
	*connect.Link
}

const (
	// Limit is how long a call may hold the program that calls it: with the start of this one, under 300 ms.
	Limit = 200 * time.Millisecond
	// searching is how much of Limit the daemon may search.
	searching = 120 * time.Millisecond
	// contextChars is how much a call adds to a prompt at most.
	contextChars = 2000
	// maxInput is how much is read of what a program says.
	maxInput = 16 << 20
	// maxQuery is how much of a prompt is looked for.
	maxQuery = 8 << 10
	// foundMemories and foundNotes are how many of each a call looks for.
	foundMemories, foundNotes = 6, 2
)

// callCmd is one call: a host and an event. Its words are not checked by the parser, whose status would stop a host.
type callCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" name:"host-and-event" help:"The program, claude-code, codex, cursor or gemini, and what happens: start, prompt or stop."`
}

// privateFlag is for a host whose model runs on this machine: it is given private records, too.
const privateFlag = "--include-private"

// Help is what --help says of the command.
func (Command) Help() string {
	return "ctxd hook HOST EVENT is what the settings of a program call, with claude-code, codex, cursor or gemini for HOST and " +
		"start, prompt or stop for EVENT. It reads what the program says on standard input, answers within 300 ms, and ends " +
		"with status 0 whatever happens. ctxd hook install writes these calls."
}

// Examples are those of --help.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd hook install claude-code", "have Claude Code remember"},
		{"ctxd inspect capture", "when something was last kept"},
		{"ctxd hook uninstall claude-code", "take the lines out again"},
	}
}

// Run takes one event. It never fails, and never takes longer than Limit: what is not there by then is left out.
func (c *callCmd) Run(a *Options) error {
	ctx, cancel := context.WithTimeout(a.Ctx, Limit)
	defer cancel()
	answer := make(chan any, 1)
	go func() {
		defer close(answer)
		defer quiet()
		if out := c.take(ctx, a); out != nil {
			answer <- out
		}
	}()
	select {
	case out := <-answer:
		if out == nil {
			return nil
		}
		if line, err := json.Marshal(out); err == nil {
			_, _ = os.Stdout.Write(append(line, '\n')) // a host that reads no more is not told
		}
	case <-ctx.Done():
	}
	return nil
}

// take does what an event asks for, and returns what the host is told; nil: nothing.
func (c *callCmd) take(ctx context.Context, a *Options) any {
	if len(c.Words) < 2 {
		return nil
	}
	h, event := find(c.Words[0]), c.Words[1]
	if h == nil || h.events[event] == "" {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.In, maxInput))
	if err != nil {
		return nil
	}
	var in input
	if json.Unmarshal(withShortStrings(raw, maxRead), &in) != nil {
		return nil
	}
	folder := in.folder(h)
	if folder == "" || off(folder) {
		return nil
	}
	w := &work{
		host: h, private: slices.Contains(c.Words[2:], privateFlag),
		folder: project(folder), session: in.text(h.session),
	}
	// What the host is told is what its model may see. What was said is kept under an id of ours, which a remote
	// connection can't choose; nothing that this connection answers is told.
	reader, writer := w.audience(), protocol.Local
	switch event {
	case Start:
		return w.told(Start, w.by(ctx, a, reader, w.known))
	case Prompt:
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			defer quiet()
			if h.turn != "" { // the answer will come without it
				w.by(ctx, a, writer, w.keeping(h.asked(in)))
			}
		}()
		text := w.by(ctx, a, reader, func(ctx context.Context, cl *client.Client) string {
			return w.relevant(ctx, cl, in.text("prompt"))
		})
		<-kept
		return w.told(Prompt, text)
	default:
		w.by(ctx, a, writer, w.keeping(h.turns(in)))
	}
	return nil
}

// quiet ends a panic: a host is not told of a mistake of ours.
func quiet() { _ = recover() }

// work is what one call knows.
type work struct {
	*host
	private bool // the host is on this machine, and is given private records
	folder  string
	session string
}

func (w *work) audience() string {
	if w.private {
		return protocol.Local
	}
	return protocol.Remote
}

// by calls the daemon on a connection of its own; without a daemon there is no answer.
func (w *work) by(ctx context.Context, a *Options, who string, do func(context.Context, *client.Client) string) string {
	link := *a.Link
	link.Ctx, link.Warn = ctx, nil
	cl, err := link.DialWith(client.Options{Audience: who, Withdraw: time.Millisecond})
	if err != nil {
		return ""
	}
	defer func() { _ = cl.Close() }() // the answer is here
	return do(ctx, cl)
}

func (w *work) told(event, text string) any {
	if text == "" {
		return nil
	}
	return w.output(event, text)
}

// known returns what is known of the project and of the person: the profile, what is pinned, the memories of the context
// of the folder, and those that its name finds.
func (w *work) known(ctx context.Context, cl *client.Client) string {
	var listed protocol.MemoryPage
	params := protocol.MemoryFilter{Contexts: []string{contextID(w.folder)}}
	params.Limit = foundMemories
	ids := []string{}
	if cl.Call(ctx, "memory.list", params, &listed) == nil { // of a folder of which nothing was kept there is none
		for _, m := range listed.Memories {
			ids = append(ids, m.ID)
		}
	}
	return w.assemble(ctx, cl, prompt.Params{Text: masked(filepath.Base(w.folder)), AttachedMemoryIDs: ids})
}

// relevant returns what has to do with a prompt.
func (w *work) relevant(ctx context.Context, cl *client.Client, text string) string {
	if text = masked(shortened(text, maxQuery)); text == "" || w.context[Prompt] == "" {
		return ""
	}
	p := prompt.Params{Text: text, ConversationID: w.conversation(w.session)}
	var there protocol.ChatPage
	if cl.Call(ctx, "chat.get", protocol.ChatGet{Ref: p.ConversationID, Limit: 1}, &there) != nil {
		p.ConversationID = "" // this is the first prompt of the session
	}
	return w.assemble(ctx, cl, p)
}

// assemble returns the sections that were found; the empty string when there is none.
func (w *work) assemble(ctx context.Context, cl *client.Client, p prompt.Params) string {
	total, plain := contextChars, false
	p.Memories, p.SearchNotes, p.Passages = foundMemories, foundNotes, foundNotes
	p.Personality, p.DeadlineMS = &plain, int(searching.Milliseconds())
	p.Budgets = &prompt.ParamBudgets{Total: &total}
	p.Audience = w.audience()
	var made prompt.Result
	if cl.Call(ctx, "context.assemble", p, &made) != nil || len(made.Sections) == 0 {
		return ""
	}
	return made.System
}

// homed returns a path with the folder of the user in the place of ~.
func homed(path string) string {
	if len(path) > 1 && path[0] == '~' && os.IsPathSeparator(path[1]) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, path[2:])
		}
	}
	return path
}
