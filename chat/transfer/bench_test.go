package transfer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/transfer"
)

// longTalk is a conversation of 20 messages of about 1 kB, as the exports write it.
func longTalk(form string) string {
	text, _ := json.Marshal(strings.Repeat("Some text, a \"quote\", an ä and\na new line. ", 22)) // of a string it can't fail
	var b strings.Builder
	if form == transfer.Claude {
		b.WriteString(`{"uuid":"u","name":"A talk","created_at":"2025-11-02T09:15:00.123456Z","chat_messages":[`)
	} else {
		b.WriteString(`{"title":"A talk","create_time":1767583930.285031,"conversation_id":"u","current_node":"19","mapping":{`)
	}
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		if form == transfer.Claude {
			fmt.Fprintf(&b, `{"uuid":"%d","text":%s,"content":[{"start_timestamp":null,"type":"text","text":%s,"citations":[]}],`+
				`"sender":"human","created_at":"2025-11-02T09:15:00.123456Z","attachments":[],"files":[],"parent_message_uuid":"%d"}`,
				i, text, text, i-1)
			continue
		}
		fmt.Fprintf(&b, `"%d":{"id":"%d","message":{"id":"%d","author":{"role":"user","name":null,"metadata":{}},"create_time":1767583930.285031,`+
			`"content":{"content_type":"text","parts":[%s]},"status":"finished_successfully","metadata":{"model_slug":"m"},"recipient":"all"},`+
			`"parent":"%d","children":["%d"]}`, i, i, i, text, i-1, i+1)
	}
	if form == transfer.Claude {
		return b.String() + "]}"
	}
	return b.String() + "}}"
}

func BenchmarkCHAT36_Read(b *testing.B) {
	for _, form := range []string{transfer.ChatGPT, transfer.Claude} {
		g := &generated{part: "," + longTalk(form), parts: 500}
		b.Run(form, func(b *testing.B) {
			b.SetBytes(g.size())
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				_, err := transfer.ReadForeign(b.Context(), g, g.size(),
					func(c transfer.ForeignConversation) error { n += len(c.Messages); return nil }, nil)
				if err != nil || n != 500*20 {
					b.Fatalf("%d messages, %v", n, err)
				}
			}
		})
	}
	b.Run("skipped", func(b *testing.B) {
		g := &generated{part: `,{"x":"` + strings.Repeat("x", 1<<20) + `"},` + longTalk(transfer.Claude), parts: 16}
		b.SetBytes(g.size())
		for b.Loop() {
			report, err := transfer.ReadForeign(b.Context(), g, g.size(), func(transfer.ForeignConversation) error { return nil }, nil)
			if err != nil || report.Skipped != 16 {
				b.Fatalf("%+v, %v", report, err)
			}
		}
	})
}
