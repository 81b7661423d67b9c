package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type eventsCmd struct {
	Topics []string  `arg:"" optional:"" name:"topic" help:"What to be told of, such as notes.changed. Default: everything."`
	Count  countFlag `short:"n" from:"1" placeholder:"N" help:"End after that many events. Default: Ctrl-C ends it."`
}

func (eventsCmd) Help() string {
	return "Prints one line for each event, as it comes. Events carry ids and counts, never text. " +
		"Who reads slowly gets events merged: an id once, with what happened to it last."
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

func (eventsCmd) Examples() []example {
	return []example{
		{"ctxd events", "everything that happens"},
		{"ctxd events notes.changed --json | jq -r '.params.ids[]'", "the notes that change"},
		{"ctxd events notes.changed --count 1", "wait for the next change"},
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
	cl, err := a.dialWith(client.Options{OnNotify: func(method string, params json.RawMessage) {
		// A full channel stops the reader, and with it the daemon, which merges
		// what it can't send.
		select {
		case events <- event{method, time.Now(), params}:
		case <-over:
		}
	}})
	if err != nil {
		return err
	}
	defer func() { _ = cl.Close() }() // nothing is due
	defer close(over)
	subscribed := make(chan error, 1)
	go func() {
		subscribed <- cl.Call(a.ctx, "events.subscribe", protocol.EventTopics{Topics: topics}, nil)
	}()
	return c.print(a, cl, events, subscribed)
}

// print writes events until there were enough, or nobody wants more.
func (c *eventsCmd) print(a *app, cl *client.Client, events <-chan event, subscribed <-chan error) error {
	for n := 0; ; {
		select {
		case err := <-subscribed:
			if err != nil && a.ctx.Err() == nil {
				return a.lost(cl, err)
			}
			subscribed = nil
			if a.err.terminal {
				a.err.say(styled(faint, "waiting for events; Ctrl-C ends it"))
			}
		case e := <-events:
			if err := e.write(a); err != nil {
				return err
			}
			if n++; n == int(c.Count) {
				return nil
			}
		case <-a.ctx.Done():
			return nil // that is how it ends
		case <-cl.Done():
			return a.connectionGone()
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
		if _, err = fmt.Fprintln(a.out, escapeControls(string(doc))); err != nil {
			return err
		}
		return a.out.flush()
	}
	a.out.say(append(line{styled(faint, e.At.Format(time.TimeOnly)+"  "), styled(accent, fmt.Sprintf("%-16s  ", e.Topic))}, e.summary()...)...)
	return a.out.flush()
}

// summary says what happened.
func (e event) summary() line {
	switch protocol.Topic(e.Topic) {
	case protocol.TopicNotes, protocol.TopicEntities:
		var ch protocol.NotesChanged // both have the same members
		if json.Unmarshal(e.Params, &ch) == nil {
			return changeSummary(ch)
		}
	case protocol.TopicIndex:
		var p protocol.IndexProgress
		if json.Unmarshal(e.Params, &p) == nil {
			done := number(p.Done)
			if p.Total > 0 {
				done += " of " + number(p.Total)
			}
			return line{text(p.Stage + " "), text(done), styled(faint, "  "+p.Vault)}
		}
	case protocol.TopicHealth:
		var h protocol.Health
		if json.Unmarshal(e.Params, &h) == nil {
			return line{styled(moods[h.Status], h.Status), text("  " + strings.Join(h.Warnings, "; "))}
		}
	}
	return line{text(string(e.Params))}
}

// idsShown is how many ids a line has room for.
const idsShown = 5

func changeSummary(ch protocol.NotesChanged) line {
	st := map[string]style{
		protocol.ChangePut: good, protocol.ChangeUnarchive: good, protocol.ChangeRestore: good,
		protocol.ChangeArchive: warn, protocol.ChangeTrash: warn, protocol.ChangeDelete: bad, protocol.ChangeMany: marked,
	}[ch.Kind]
	what := strings.Join(ch.IDs[:min(idsShown, len(ch.IDs))], " ")
	if hidden := len(ch.IDs) - idsShown; hidden > 0 {
		what += fmt.Sprintf(" and %s more", number(hidden))
	}
	if ch.Kind == protocol.ChangeMany {
		what = "too much to list: read everything again"
	}
	return line{styled(st, fmt.Sprintf("%-9s ", ch.Kind)), styled(faint, fmt.Sprintf("%-8d ", ch.Seq)), text(what)}
}
