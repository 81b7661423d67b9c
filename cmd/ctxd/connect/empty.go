package connect

import (
	"context"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// HowToFill says what to do where there is nothing to be found yet.
const HowToFill = "ctxd import ~/Notes reads a folder of Markdown notes"

// Empty reports whether the daemon holds neither notes nor entities that the reader of
// the connection may see. What can't be told is not empty.
func Empty(ctx context.Context, cl *client.Client) bool {
	var notes protocol.NotePage
	one := protocol.Page{Limit: 1}
	for _, archived := range []bool{false, true} {
		err := cl.Call(ctx, "notes.list", protocol.NoteFilter{Archived: archived, Page: one}, &notes)
		if err != nil || len(notes.Notes) > 0 {
			return false
		}
	}
	var entities protocol.EntityPage
	err := cl.Call(ctx, "entities.list", protocol.EntityFilter{Page: one}, &entities)
	return err == nil && len(entities.Entities) == 0
}

// DrawNone says that nothing was found: none, or how to read notes where there are none
// at all.
func DrawNone(ctx context.Context, cl *client.Client, s *term.Screen, none string) {
	if Empty(ctx, cl) {
		none = "there are no notes yet; " + HowToFill
	}
	s.Say(term.Styled(term.Faint, none))
}
