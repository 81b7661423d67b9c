package rpc_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/llamacpp"
	"github.com/ctxd/ctxd/rpc"
)

// TestCHAT50_TenTurnsWithARealModel on a socket: each answer is stored as it was streamed, stands on the note that the message names,
// and its model was offered tools. The template of this model shows it none, so it calls none.
func TestCHAT50_TenTurnsWithARealModel(t *testing.T) {
	folder, err := os.MkdirTemp("", "s") // the path of a socket is short
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	server, err := llamacpp.StartReal(t.Context(), folder, 4096)
	if errors.Is(err, llamacpp.ErrNone) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() {
		server.Close()
		if t.Failed() {
			t.Log(server.Log())
		}
	})
	set, err := llm.NewSet(llm.SetOptions{Default: "real", Providers: []llm.Options{
		{Name: "real", Kind: llm.OpenAI, Base: server.Base, Model: "smol", Local: true},
	}})
	must(t, err)
	t.Cleanup(set.Close)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	d := startOver(t, db, rpc.Options{Providers: set})
	d.do("notes.put", `{"id":"hive","title":"Hive scale","body":"The hive scale weighs the bees each hour. It drifts three grams a day."}`)
	if told := set.Facts(t.Context(), "", ""); told.Context != 4096 || !told.NoImages {
		t.Errorf("the server tells %+v", told)
	}
	p, talk, tools, out := d.peer(), "", 0, 0
	for i, text := range []string{
		"What does the [[Hive scale]] weigh?", "How much does it drift, says [[Hive scale]]?", "Read the note [[Hive scale]] with read_note.",
		"Search my notes for bees.", "What is [[Hive scale]] about, in one word?", "Say it again for [[Hive scale]].",
		"Is three grams a lot? See [[Hive scale]].", "Name an animal of [[Hive scale]].", "Count to three.", "Thanks. Anything else on [[Hive scale]]?",
	} {
		p.call(i+1, "chat.send", fmt.Sprintf(`{"text":%q%s}`, text, talk))
		said, res := p.sent()
		talk = fmt.Sprintf(`,"conversationId":%q`, res.ConversationID)
		got := d.do("chat.inspect", fmt.Sprintf(`{"conversationId":%q}`, res.ConversationID))
		offered, _ := at(got, "trace.tools").(float64)
		m := res.AssistantMessage
		if said != res.Content || m.Finish != "complete" || m.Usage == nil || m.Usage.Estimated || offered == 0 {
			t.Fatalf("turn %d: %q stored as %q, %s, %+v, %v tools offered", i+1, said, res.Content, m.Finish, m.Usage, offered)
		}
		if strings.Contains(text, "[[") && !slices.ContainsFunc(res.References, func(r record.ChatReference) bool { return r.NoteID == "hive" }) {
			t.Errorf("turn %d: the answer does not stand on the note: %+v", i+1, res.References)
		}
		tools, out = tools+len(m.ToolCalls), out+int(m.Usage.Out)
		t.Logf("turn %d: %d tokens in, %d tools called, %q %v", i+1, m.Usage.In, len(m.ToolCalls), res.Content, res.Warnings)
	}
	if out == 0 {
		t.Error("the model said nothing")
	}
	t.Logf("%d tools were called, %d tokens said", tools, out)
}
