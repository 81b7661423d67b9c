package document

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/notes/markdown"
)

// What is read of a turn: the beginning of each message, and of a long answer in many of them no more than that.
const (
	bytesOfMessage = 2000
	bytesOfTurn    = 6000
)

// Turns returns what reads the last two turns of a conversation as texts, for recall.Passive: what was said in them
// and is no code.
func Turns(chats *chat.Store) func(ctx context.Context, v *audience.View, conversation string) ([]string, error) {
	return func(ctx context.Context, v *audience.View, conversation string) (texts []string, err error) {
		turns, err := chats.Turns(ctx, v, conversation, 2)
		if err != nil {
			return nil, err
		}
		for _, turn := range turns {
			var b strings.Builder
			for _, m := range turn {
				b.WriteString(clip(markdown.PlainText(prose(clip(m.Content, 2*bytesOfMessage))), bytesOfMessage))
				b.WriteByte('\n')
			}
			texts = append(texts, strings.TrimSpace(clip(b.String(), bytesOfTurn)))
		}
		return texts, nil
	}
}

// clip cuts a text at some bytes, not within a character.
func clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
