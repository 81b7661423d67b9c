package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type eventsCmd struct {
	Topics []string       `arg:"" optional:"" name:"topic" help:"Topics to show, such as notes.changed. Default: all."`
	Count  term.CountFlag `short:"n" from:"1" placeholder:"N" help:"Stop after this many events. Default: run until Ctrl-C."`

	connect.Audience
}

func (eventsCmd) Help() string {
	return "Prints one line for each event. Events carry ids and counts, never text. " +
		"A client that reads slowly gets merged events: each id once, with its latest change."
}

// More lists the topics that this version knows.
func (eventsCmd) More() string {
	var b strings.Builder
	b.WriteString("Topics:\n")
	for _, n := range protocol.Notifications {
		if n.Topic {
			fmt.Fprintf(&b, "  %-17s %s\n", n.Name, n.Summary)
		}
	}
	return b.String()
}

func (eventsCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd events", "everything that happens"},
		{"ctxd events notes.changed --json | jq -r '.params.ids[]'", "the notes that change"},
		{"ctxd events notes.changed --count 1", "wait for the next change"},
		{"ctxd events --audience remote", "events for a remote reader, without ids of private records"},
	}
}

// event is one notification of the daemon.
type event struct {
	Topic  string          `json:"topic"`
	At     time.Time       `json:"at"` // when it came
	Params json.RawMessage `json:"params"`
}

func (c *eventsCmd) Run(a *app) error {
	topics := []protocol.Topic{}
	for _, t := range c.Topics {
		topics = append(topics, protocol.Topic(t))
	}
	if len(topics) == 0 {
		topics = protocol.Topics
	}
	events, over := make(chan event, 64), make(chan struct{})
	opts := c.Options()
	opts.OnNotify = func(method string, params json.RawMessage) {
		// A full channel stops the reader, and with it the daemon, which merges
		// what it can't send.
		select {
		case events <- event{method, time.Now(), params}:
		case <-over:
		}
	}
	cl, err := a.DialWith(opts)
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }() // nothing is due
	defer close(over)
	subscribed := make(chan error, 1)
	go func() {
		subscribed <- cl.Call(a.Ctx, "events.subscribe", protocol.EventTopics{Topics: topics}, nil)
	}()
	return c.print(a, cl, events, subscribed)
}

// print writes events until there were enough, or nobody wants more.
func (c *eventsCmd) print(a *app, cl *client.Client, events <-chan event, subscribed <-chan error) error {
	for n := 0; ; {
		select {
		case err := <-subscribed:
			if err != nil && a.Ctx.Err() == nil {
				return a.Lost(cl, err)
			}
			subscribed = nil
			if a.Err.Terminal {
				a.Err.Say(term.Styled(term.Faint, "waiting for events; Ctrl-C stops"))
			}
		case e := <-events:
			if err := e.write(a); err != nil {
				return err
			}
			n++
			if n == int(c.Count) {
				return nil
			}
		case <-a.Ctx.Done():
			return nil // that is how it ends
		case <-cl.Done():
			return a.ConnectionGone()
		}
	}
}

// write prints an event at once.
func (e event) write(a *app) error {
	if a.JSON {
		doc, err := json.Marshal(e)
		if err != nil {
			return err
		}
		// On one line, also on a terminal, so that a line is an event.
		_, err = fmt.Fprintln(a.Out, term.EscapeControls(string(doc)))
		if err != nil {
			return err
		}
		return a.Out.Flush()
	}
	a.Out.Say(append(term.Line{
		term.Styled(term.Faint, e.At.Format(time.TimeOnly)+"  "),
		term.Styled(term.Accent, fmt.Sprintf("%-16s  ", e.Topic)),
	}, e.summary()...)...)
	return a.Out.Flush()
}

// summary says what happened.
func (e event) summary() term.Line {
	switch protocol.Topic(e.Topic) {
	case protocol.TopicNotes, protocol.TopicEntities, protocol.TopicMemory, protocol.TopicChat, protocol.TopicPersonality:
		var ch protocol.NotesChanged // all have the same members
		if json.Unmarshal(e.Params, &ch) == nil {
			return changeSummary(ch)
		}
	case protocol.TopicIndex:
		var p protocol.IndexProgress
		if json.Unmarshal(e.Params, &p) == nil {
			done := term.Number(p.Done)
			if p.Total > 0 {
				done += " of " + term.Number(p.Total)
			}
			return term.Line{term.Text(p.Stage + " "), term.Text(done), term.Styled(term.Faint, "  "+p.Vault+p.Kind)}
		}
	case protocol.TopicHealth:
		var h protocol.Health
		if json.Unmarshal(e.Params, &h) == nil {
			return term.Line{
				term.Styled(inspect.Moods[h.Status], h.Status),
				term.Text("  " + strings.Join(h.Warnings, "; ")),
			}
		}
	}
	return term.Line{term.Text(string(e.Params))}
}

// idsShown is how many ids a line has room for.
const idsShown = 5

func changeSummary(ch protocol.NotesChanged) term.Line {
	st := map[string]term.Style{
		protocol.ChangePut: term.Good, protocol.ChangeRestore: term.Good,
		protocol.ChangeArchive: term.Warn, protocol.ChangeDelete: term.Bad, protocol.ChangeMany: term.Marked,
	}[ch.Kind]
	what := strings.Join(ch.IDs[:min(idsShown, len(ch.IDs))], " ")
	if hidden := len(ch.IDs) - idsShown; hidden > 0 {
		what += fmt.Sprintf(" and %s more", term.Number(hidden))
	}
	if ch.Kind == protocol.ChangeMany {
		what = "too many to list: read everything again"
	}
	return term.Line{
		term.Styled(st, fmt.Sprintf("%-9s ", ch.Kind)),
		term.Styled(term.Faint, fmt.Sprintf("%-8d ", ch.Seq)), term.Text(what),
	}
}
