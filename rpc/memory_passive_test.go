package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// passiveStage returns what the report says of passive recall: why, and whether it was skipped; "none" without such
// a stage.
func passiveStage(res map[string]any) (why string, skipped bool) {
	for _, s := range at(res, "report.stages").([]any) {
		if at(s, "name") == "passive" {
			why, _ = at(s, "why").(string)
			skipped, _ = at(s, "skipped").(bool)
			return why, skipped
		}
	}
	return "none", true
}

// remembering is a daemon with an embedder, memories about a boiler and about bees, and a conversation about
// each, of which it returns that about the boiler.
func remembering(t *testing.T) (d *daemon, id string) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	rooms, err := roomsWith(db, search.Options{Embedder: &embedtest.Bags{Name: "bags"}})
	must(t, err)
	d = launch(t, rpc.Options{Rooms: rooms})
	d.do("memory.addMany", `{"memories":[
		{"id":"boiler","statement":"The boiler is loud at night"},
		{"id":"cellar","statement":"A boiler that is loud stands in the cellar","private":true},
		{"id":"bees","statement":"My bees sleep in winter"}]}`)
	d.do("chat.append", `{"title":"Bees","messages":[
		{"role":"user","content":"Do my bees sleep in winter?"},{"role":"assistant","content":"The boiler is loud at night, bees are not."}]}`)
	d.until("vectors", func() bool { return rooms.Memories.Waiting()+rooms.Messages.Waiting() == 0 })
	id = at(d.do("chat.append", `{"title":"Boiler","messages":[
		{"role":"user","content":"The boiler is loud"},{"role":"assistant","content":"Is the boiler loud at night?"}]}`), "conversationId").(string)
	d.until("what the turn finds", func() bool {
		_, skipped := passiveStage(d.do("context.assemble", `{"recall":{"mode":"passive"},"conversationId":"`+id+`"}`))
		return !skipped
	})
	return d, id
}

// TestMEM40_RecallSaysHowMemoriesAreFound: by the message, by the turns before, or by both, of which those come first.
func TestMEM40_RecallSaysHowMemoriesAreFound(t *testing.T) {
	d, id := remembering(t)
	for _, c := range []struct{ params, has, hasNot string }{
		{`"memories":5`, "bees", "boiler"},
		{`"memories":5,"recall":{"mode":"prefetch"}`, "bees", "boiler"},
		{`"recall":{}`, "bees", "boiler"},
		{`"recall":{"mode":"passive"}`, "boiler “bees are not”", "bees"},
		{`"memories":1,"recall":{"mode":"passive"}`, "boiler", "bees “bees are not”"},
		{`"memories":5,"recall":{"mode":"both"}`, "boiler “bees are not” bees", ""},
		{`"memories":2,"recall":{"mode":"both"}`, "boiler “bees are not”", "bees"},
		{`"recall":{"mode":"passive"},"attachedMemoryIds":["boiler"]`, "“bees are not”", "bees"},
		{`"recall":{"mode":"passive"},"audience":"local"`, "boiler cellar", "bees"},
		{`"recall":{"mode":"passive"},"audience":"remote"`, "boiler", "cellar"},
		{`"recall":{"mode":"passive"},"format":"xml"`, "boiler", "cellar"},
	} {
		params := `{"text":"sleep in winter","conversationId":"` + id + `",` + c.params + `}`
		res := d.do("context.assemble", params)
		system := at(res, "system").(string)
		in := func(what string) bool {
			if text, quoted := strings.CutPrefix(what, "“"); quoted {
				return strings.Contains(system, strings.TrimSuffix(text, "”"))
			}
			return strings.Contains(system, "[id:"+what+"]") || strings.Contains(system, `id="`+what+`"`)
		}
		for _, what := range parts(c.has) {
			if !in(what) {
				t.Errorf("%s: %s is not in\n%s", c.params, what, system)
			}
		}
		for _, what := range parts(c.hasNot) {
			if in(what) {
				t.Errorf("%s: %s is in\n%s", c.params, what, system)
			}
		}
		if again := at(d.do("context.assemble", params), "system"); again != system {
			t.Errorf("%s: the second prompt is\n%s", c.params, again)
		}
	}
	if why, _ := passiveStage(d.do("context.assemble", `{"text":"x","memories":3}`)); why != "none" {
		t.Errorf("without recall the report tells of it: %s", why)
	}
}

// parts splits a list by its blanks, but for those between quotes.
func parts(list string) (out []string) {
	for list != "" {
		end := " "
		if strings.HasPrefix(list, "“") {
			end = "” "
		}
		before, after, _ := strings.Cut(list, end)
		out, list = append(out, before), after
	}
	return out
}

// TestMEM40_RecallThatMeansNothingIsRefused with the field.
func TestMEM40_RecallThatMeansNothingIsRefused(t *testing.T) {
	d := start(t)
	for params, field := range map[string]string{
		`{"recall":{"mode":"soon"}}`:                                        "recall.mode",
		`{"recall":{"mode":1}}`:                                             "recall.mode",
		`{"recall":{"when":"now"}}`:                                         "recall.when",
		`{"recall":"passive"}`:                                              "recall",
		`{"recall":{"mode":"passive"}}`:                                     "conversationId",
		`{"recall":{"mode":"both"},"memories":5}`:                           "conversationId",
		`{"recall":{"mode":"passive"},"conversationId":"a b/"}`:             "conversationId",
		`{"recall":{"mode":"passive"},"conversationId":"c","memories":21}`:  "memories",
		`{"recall":{"mode":"prefetch"},"memories":-1}`:                      "memories",
		`{"recall":{"mode":"PASSIVE"},"conversationId":"c","text":"hello"}`: "recall.mode",
	} {
		_, err := d.try("context.assemble", params)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != protocol.CodeInvalidParams || e.Data.Field != field {
			t.Errorf("%s: %v, want a refusal of %s", params, err, field)
		}
	}
}

// TestMEM42_TheReportSaysWhyNothingWaits: for a conversation that nobody knows as for one that is hidden, before a turn
// has ended, without an embedder, when it is deleted and when it changes its subject.
func TestMEM42_TheReportSaysWhyNothingWaits(t *testing.T) {
	const notSeen = "no turn of the conversation was seen since the start"
	d, id := remembering(t)
	why := func(id, audience string) string {
		t.Helper()
		why, skipped := passiveStage(d.do("context.assemble",
			`{"text":"hello","recall":{"mode":"passive"},"conversationId":"`+id+`","audience":"`+audience+`"}`))
		if skipped && why == "" {
			t.Errorf("skipped %v, why %q", skipped, why)
		}
		return why
	}
	eventually := func(id, audience, want string) {
		t.Helper()
		d.until(want, func() bool { return why(id, audience) == want })
	}
	private := at(d.do("chat.append", `{"private":true,"messages":[
		{"role":"user","content":"The boiler is loud"},{"role":"assistant","content":"Is the boiler loud at night?"}]}`), "conversationId").(string)
	eventually(private, "local", "")
	if got := why(private, "remote") + why("nobody", "remote") + why("nobody", "local"); got != notSeen+notSeen+notSeen {
		t.Error(got)
	}
	fresh := at(d.do("chat.append", `{"messages":[{"role":"user","content":"The boiler is loud"}]}`), "conversationId").(string)
	eventually(fresh, "remote", "no turn of the conversation has ended yet")
	d.do("chat.append", `{"conversationId":"`+id+`","messages":[
		{"role":"user","content":"Do my bees sleep?"},{"role":"assistant","content":"Bees sleep in winter."}]}`)
	eventually(id, "remote", "the conversation has changed its subject")
	d.do("chat.delete", `{"id":"`+id+`"}`)
	if got := why(id, "local"); got != notSeen {
		t.Error(got)
	}

	d = start(t) // without an embedder
	id = at(d.do("chat.append", `{"messages":[
		{"role":"user","content":"The boiler is loud"},{"role":"assistant","content":"Is it?"}]}`), "conversationId").(string)
	eventually(id, "local", "no embedder is configured")
}
