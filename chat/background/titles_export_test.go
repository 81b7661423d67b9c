package background

import (
	"context"

	"github.com/ctxd/ctxd/chat/turn"
)

// Do does at once what Answered does later.
func (t *Titler) Do(ctx context.Context, h TitlerDeps, sent *turn.ChatSent) {
	if j := jobOf(h, sent); j != nil {
		t.queue.Do(ctx, t.attempting(j))
	}
}
