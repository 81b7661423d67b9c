package rpc_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
)

// TestCHAT15_AModelSaysWhatNotesAreAbout: a reference has the first sentence of its note until a model has said one, which
// is kept over a start and goes with the note.
func TestCHAT15_AModelSaysWhatNotesAreAbout(t *testing.T) {
	var asked atomic.Int32
	dir := t.TempDir()
	d := startOn(t, dir, rpc.Options{Summaries: true, Providers: models(t, func(_ *provider.Request, to *provider.Reply) {
		asked.Add(1)
		to.Text("Where zqcanarya nests.")
	})})
	d.do("notes.put", `{"id":"n","title":"Nests","body":"The zqcanaryb nests in the upper part of the old tower, where nobody has gone since the bells were taken away. It sings."}`)
	talk := at(d.do("chat.append", `{"messages":[{"role":"user","content":"Hello"}]}`), "conversationId").(string)
	summary := func() string {
		t.Helper()
		out := d.do("chat.append", `{"conversationId":"`+talk+`","messages":[{"role":"user","content":"See [[Nests]]"}]}`)
		index := int(at(out, "messages.0.index").(float64))
		page := d.do("chat.get", `{"ref":"`+talk+`","limit":1000}`)
		list := at(page, "messages").([]any)
		text, _ := at(list[index-1], "references.0.summary").(string)
		return text
	}
	if got := summary(); !strings.HasPrefix(got, "The zqcanaryb nests in the upper part") || !strings.HasSuffix(got, "…") {
		t.Errorf("before a model is asked: %q", got)
	}
	d.until("the model has said a sentence", func() bool { return summary() == "Where zqcanarya nests." })
	d.want(d.do("admin.check", `{}`), "ok", true) // which opens the store anew
	if got := summary(); got != "Where zqcanarya nests." || asked.Load() != 1 {
		t.Errorf("after a start: %q, and the model was asked %d times", got, asked.Load())
	}
	d.do("notes.delete", `{"id":"n"}`)
	d.do("chat.delete", `{"id":"`+talk+`"}`)
	if len(holding(t, dir, "zqcanarya")) == 0 {
		t.Fatal("the canary is in no file, so the test shows nothing")
	}
	d.do("admin.compact", `{}`)
	if list := holding(t, dir, "zqcanary"); len(list) > 0 {
		t.Errorf("what was said of a note that is deleted is still in %q", list)
	}
}
