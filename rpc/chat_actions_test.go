package rpc_test

import (
	"fmt"
	"strings"
	"time"
)

// proposal is an action as an answer has it, until a day behind at. args are JSON.
func proposal(id, typ, args string, at time.Time) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"args":%s,"status":"proposed","messageId":"m2","reason":"You asked for it.","version":1,"expiresAt":%q}`,
		id, typ, args, at.Add(23*time.Hour).UTC().Format(time.RFC3339))
}

// imported are params of chat.import: a conversation with a question and an answer that proposes actions.
func imported(id, title string, at time.Time, private bool, proposals ...string) string {
	counts, public, second := fmt.Sprintf(`{"messages":2,"user":1,"at":%q}`, at.UTC().Format(time.RFC3339)), 1, 2
	all := counts
	if private {
		counts, public, second = "{}", 0, 0
	}
	said := func(index, public int, role, content, more string) string {
		return fmt.Sprintf(`{"id":"%s-m%d","index":%d,"publicIndex":%d,"hash":"a%d%s","role":%q,"content":%q,"createdAt":%q,"addedAt":%q,"finish":"complete","clientMessageId":""%s}`,
			id, index, index, public, index, "f20k", role, content, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), more)
	}
	text := fmt.Sprintf(`{"format":"ctxd-chat","version":1,"conversation":{"id":%q,"handle":"%s_talk_k3x9","title":%q,"private":%v,"createdAt":%q,"changedAt":%q,`+
		`"version":1,"all":%s,"public":%s},"messages":[`, id, id, title, private, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), all, counts) +
		said(1, public, "user", "Who leads "+title+"?", "") + "," +
		said(2, second, "assistant", "Ann does.", `,"actions":[`+strings.Join(proposals, ",")+`]`) + "]}"
	return `{"data":` + quoted(text) + `}`
}
