package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// drawQueue shows what waits for the other machines, and what they refused; nothing for none.
func drawQueue(f *term.Facts, q *protocol.SyncQueue) {
	if q == nil {
		return
	}
	if q.Oldest != nil {
		f.Addf("waiting", "%s, the first since %s", term.Count(q.Waiting, "call"), q.Oldest.Local().Format(time.DateTime))
	}
	if c := q.LastConflict; c != nil {
		f.Addf("conflicts", "%s, the last: %s; ctxd sync conflicts shows them", term.Count(q.Refused, "call"), c.Message)
	}
}

type listConflicts struct {
	Cursor string `placeholder:"CURSOR" help:"Go on behind the page before, which says its cursor."`
	Limit  int    `default:"100" placeholder:"N" help:"How many at most."`
}

// Help is what --help says of the command.
func (listConflicts) Help() string {
	return "With store.sync.offline: queue, memories, messages, and new notes and entities are taken while the servers cannot be reached, " +
		"and given to the other machines when they can. What cannot be given to them, since another machine has written the same note, say, " +
		"is kept here with both sides until ctxd sync settle ends it."
}

// Examples are those of --help.
func (listConflicts) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync conflicts", "mine, theirs, and why"},
		{"ctxd sync conflicts --json | jq '.conflicts[].mine'", "what was to be written, for scripts"},
	}
}

// Run runs the command.
func (c *listConflicts) Run(a *SyncOptions) error {
	got, err := callSync[protocol.SyncConflicts](a, "sync.conflicts", protocol.SyncConflictsOf{Page: protocol.Page{Cursor: c.Cursor, Limit: c.Limit}})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	case len(got.Conflicts) == 0:
		a.Out.Say(term.Text("No conflicts."))
		return nil
	}
	for i := range got.Conflicts {
		x := &got.Conflicts[i]
		a.Out.Say(term.Styled(term.Accent, strconv.Itoa(x.Number)), term.Text("  "+x.Method),
			term.Styled(term.Faint, "  "+x.At.Local().Format(time.DateTime)+"  "+x.Client))
		a.Out.Say(term.Styled(term.Bad, "  "+x.Message))
		f := &term.Facts{Table: term.Table{Indent: 2}}
		f.Add("mine", oneLine(x.Mine))
		if x.Theirs != nil {
			text, err := json.Marshal(x.Theirs)
			if err != nil {
				return err
			}
			f.Add("theirs", oneLine(text))
		}
		f.Draw(a.Out)
		if x.Hint != "" {
			a.Out.Say(term.Styled(term.Faint, "  Try: "+x.Hint))
		}
	}
	if got.NextCursor != "" {
		a.Out.Say(term.Styled(term.Faint, fmt.Sprintf("%d in all; the next ones: ctxd sync conflicts --cursor %s", got.Total, got.NextCursor)))
	}
	a.Out.Say(term.Styled(term.Faint, "ctxd sync settle NUMBER --keep theirs leaves what is there; --keep again tries once more."))
	return nil
}

// oneLine is JSON without line breaks.
func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

type resolveConflict struct {
	Number int    `arg:"" help:"Number of the conflict, as ctxd sync conflicts lists it."`
	Keep   string `enum:"theirs,again" required:"" placeholder:"WHAT" help:"theirs: what is there stays, and mine is forgotten; again: mine is tried once more."`
}

// Help is what --help says of the command.
func (resolveConflict) Help() string {
	return "Nothing ends a conflict by itself. To keep both sides, write mine under another name first: ctxd sync conflicts --json has all of it."
}

// Examples are those of --help.
func (resolveConflict) Examples() []term.Example {
	return []term.Example{
		{"ctxd sync settle 3 --keep theirs", "what the other machine wrote stays"},
		{"ctxd sync settle 3 --keep again", "after what was in the way has another id, or is deleted"},
	}
}

// Run runs the command.
func (c *resolveConflict) Run(a *SyncOptions) error {
	got, err := callSync[protocol.SyncSettled](a, "sync.settle", protocol.SyncSettle{Number: c.Number, Keep: c.Keep})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.Out.JSON(got)
	case got.Keep == protocol.KeepAgain:
		a.Out.Say(term.Styled(term.Good, "waits"), term.Text("  it is tried once more; ctxd sync status says what comes of it"))
		return nil
	}
	a.Out.Say(term.Styled(term.Good, "ended"), term.Text("  what is there stays"))
	return nil
}
