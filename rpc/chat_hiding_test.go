package rpc_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/provider"
)

// TestPRIV4_AnswersOfNotesThatBecomePrivate: for remote readers a conversation is as if the answer had never been there,
// in every method that shows messages, and what a remote model is told of it.
func TestPRIV4_AnswersOfNotesThatBecomePrivate(t *testing.T) {
	d := answered(t, func(r *provider.Request, to *provider.Reply) {
		if strings.HasSuffix(r.Last(), "Which hut?") {
			to.Call("read_note", `{"id":"alps"}`)
			return
		}
		to.Text("The zebra one.")
	})
	d.do("notes.put", `{"id":"alps","title":"Huts in the Alps","body":"The upper hut is open."}`)
	d.do("notes.put", `{"id":"plan","title":"Plan","body":"x"}`)
	talk := at(d.do("chat.send", `{"text":"Which hut?","stream":false,"provider":"far"}`), "conversationId").(string)
	ref := `"conversationId":"` + talk + `"`
	d.do("chat.append", `{`+ref+`,"messages":[{"role":"user","content":"See [[Plan]]."}]}`)
	remote := `"audience":"remote"`
	d.want(d.do("chat.get", `{"ref":"`+talk+`",`+remote+`}`), "conversation.messages", 3)
	d.want(d.do("chat.citations", `{"noteId":"alps",`+remote+`}`), "total", 1)

	d.do("notes.put", `{"id":"alps","title":"Huts in the Alps","body":"The upper hut is open.","private":true}`)
	out := d.do("chat.get", `{"ref":"`+talk+`",`+remote+`}`)
	d.want(out, "conversation.messages", 2)
	d.want(out, "messages.1.content", "See [[Plan]].")
	d.want(out, "messages.1.index", 2)
	d.want(d.do("chat.get", `{"ref":"`+talk+`"}`), "messages.1.private", true)
	d.want(d.do("chat.get", `{"ref":"`+talk+`"}`), "messages.2.private", false)
	d.want(d.do("chat.search", `{"query":"zebra",`+remote+`}`), "hits", "[]")
	d.want(d.do("chat.search", `{"query":"zebra"}`), "hits.0.index", 2)
	d.want(d.do("chat.stats", `{`+remote+`}`), "total", 1)
	d.want(d.do("chat.graph", `{`+remote+`}`), "edges.0.to", "plan")
	if text := at(d.do("chat.export", `{"ref":"`+talk+`",`+remote+`}`), "text").(string); strings.Contains(text, "zebra") {
		t.Errorf("the export: %s", text)
	}
}
