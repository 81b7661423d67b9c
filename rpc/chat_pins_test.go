package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
)

// pinnable are records that can be pinned: of each kind one that is private.
func (d *daemon) pinnable() {
	d.t.Helper()
	d.do("memory.addMany", `{"memories":[
		{"id":"m1","statement":"I train on Monday mornings","questions":["When do I train?"]},
		{"id":"m2","statement":"Heights make me dizzy","kind":"preference"},
		{"id":"m3","statement":"My secret diet","private":true},
		{"id":"m4","statement":"I live in Graz"}]}`)
	for _, n := range []string{"one", "two", "six", "ten"} {
		d.do("notes.put", `{"id":"`+n+`","title":"Note `+n+`","body":"Text of `+n+`."}`)
	}
	d.do("notes.put", `{"id":"hid","title":"Hidden","body":"Nobody reads it.","private":true}`)
}

func TestCHAT3_AConversationIsMadeAndChanged(t *testing.T) {
	d := start(t)
	d.pinnable()
	bare := d.do("chat.put", `{}`)
	d.want(bare, "maxContext", 32768)
	d.want(bare, "pinnedNoteIds", "[]")
	d.want(bare, "pinnedMemoryIds", "[]")
	d.want(bare, "temperature", nil)
	d.want(bare, "private", false)
	d.want(bare, "messages", 0)
	d.want(bare, "version", 1)
	out := d.do("chat.put", `{"title":"Trip","systemPrompt":"Be brief.","provider":"home","model":"small","maxContext":8000,"temperature":0,
		"private":true,"pinnedNoteIds":["one","two","one"],"pinnedMemoryIds":["m2","m1","m3"]}`)
	id := at(out, "id").(string)
	for _, get := range []any{out, at(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation")} {
		d.want(get, "title", "Trip")
		d.want(get, "systemPrompt", "Be brief.")
		d.want(get, "provider", "home")
		d.want(get, "model", "small")
		d.want(get, "maxContext", 8000)
		d.want(get, "temperature", 0)
		d.want(get, "private", true)
		d.want(get, "pinnedNoteIds", "[one two]")
		d.want(get, "pinnedMemoryIds", "[m2 m1 m3]")
	}
	out = d.do("chat.patch", `{"id":"`+id+`","ifVersion":1,"private":false,"systemPrompt":null,"provider":null,"model":null,"maxContext":null,
		"temperature":null,"pinnedNoteIds":null,"pinnedMemoryIds":["m1"]}`)
	d.want(out, "version", 2)
	d.want(out, "systemPrompt", nil)
	d.want(out, "provider", nil)
	d.want(out, "model", nil)
	d.want(out, "maxContext", 32768)
	d.want(out, "temperature", nil)
	d.want(out, "pinnedNoteIds", "[]")
	d.want(out, "pinnedMemoryIds", "[m1]")
	d.want(d.do("chat.patch", `{"id":"`+id+`","title":"Trip","pinnedMemoryIds":["m1"]}`), "version", 2) // nothing is another
	d.wantRefused("chat.patch", `{"id":"`+id+`","ifVersion":1,"pinnedMemoryIds":[]}`, 1002, "ifVersion")

	long := strings.Repeat("x", 64<<10+1)
	for _, c := range []struct {
		params string
		code   int
		field  string
	}{
		{`"title":"` + long[:201] + `"`, 1004, "title"},
		{`"systemPrompt":"` + long + `"`, 1004, "systemPrompt"},
		{`"provider":"a b"`, -32602, "provider"},
		{`"provider":"sk-canary"`, -32602, "provider"},
		{`"model":"sk-canary"`, -32602, "model"},
		{`"model":"` + long[:201] + `"`, 1004, "model"},
		{`"model":"a\nb"`, -32602, "model"},
		{`"pinnedNoteIds":["one","none"]`, 1001, "pinnedNoteIds[1]"},
		{`"pinnedNoteIds":["a b"]`, -32602, "pinnedNoteIds[0]"},
		{`"pinnedMemoryIds":["one"]`, 1001, "pinnedMemoryIds[0]"},
		{`"pinnedMemoryIds":[` + strings.Repeat(`"m1",`, 100) + `"m1"]`, 1004, "pinnedMemoryIds"},
	} {
		for _, call := range [][2]string{{"chat.put", `{`}, {"chat.patch", `{"id":"` + id + `",`}} {
			_, err := d.try(call[0], call[1]+c.params+`}`)
			var refused *client.Error
			if !errors.As(err, &refused) || refused.Code != c.code || refused.Data.Field != c.field || refused.Data.Hint == "" {
				t.Errorf("%s %.100s: %v", call[0], c.params, err)
			}
		}
	}
	for params, field := range map[string]string{
		`"maxContext":0`: "maxContext", `"maxContext":-1`: "maxContext", `"maxContext":10000001`: "maxContext",
		`"maxContext":-9223372036854775808`: "maxContext", `"temperature":-1`: "temperature", `"temperature":2.1`: "temperature",
		`"temperature":"hot"`: "temperature", `"pinnedMemoryIds":"m1"`: "pinnedMemoryIds", `"pinned":[]`: "pinned",
	} {
		for _, call := range [][2]string{{"chat.put", `{`}, {"chat.patch", `{"id":"` + id + `",`}} {
			_, err := d.try(call[0], call[1]+params+`}`)
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Kind != fault.Invalid || refused.Field != field {
				t.Errorf("%s {%s}: %v", call[0], params, err)
			}
		}
	}
	d.wantRefused("chat.patch", `{"id":"none","pinnedNoteIds":[]}`, 1001, "")
}

// TestREF10_MemoriesOfAConversation stand in its prompts alone, each once under its highest label.
func TestREF10_MemoriesOfAConversation(t *testing.T) {
	d := start(t)
	d.pinnable()
	d.do("memory.patch", `{"id":"m4","pinned":true}`)
	const question = `"text":"What shall I do? See #1","audience":"local"`
	bare := at(d.do("context.assemble", `{`+question+`}`), "system")
	other := at(d.do("chat.put", `{}`), "id").(string)
	id := at(d.do("chat.put", `{"title":"Trip","pinnedMemoryIds":["m1","m2","m4","m3"]}`), "id").(string)
	assemble := func(params string) any {
		t.Helper()
		return d.do("context.assemble", `{`+params+`}`)
	}
	system := func(params string) string {
		t.Helper()
		return at(assemble(params), "system").(string)
	}
	if got := system(question + `,"conversationId":"` + other + `"`); got != bare {
		t.Errorf("without pins the prompt is\n%s\nwant\n%s", got, bare)
	}
	today := at(d.do("memory.get", `{"ref":"m1"}`), "createdAt").(string)[:10]
	want := bare.(string) + "\n## Memory\nThis is remembered of the user. It may or may not be relevant, and what was said later holds.\n### Pinned\n" +
		"- [GLOBAL PINNED] [fact, " + today + "] I live in Graz [id:m4]\n" +
		"- [CONV PINNED] [preference, " + today + "] Heights make me dizzy [id:m2]\n" +
		"- [CONV PINNED] [fact, " + today + "] My secret diet [id:m3]\n"
	if got := system(question + `,"conversationId":"` + id + `"`); got != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", got, want)
	}
	got := system(question + `,"conversationId":"` + id + `","memories":5`)
	for _, m := range []string{"[id:m1]", "[id:m2]", "[id:m3]", "[id:m4]"} {
		if strings.Count(got, m) != 1 {
			t.Errorf("%s stands %d times in\n%s", m, strings.Count(got, m), got)
		}
	}
	if strings.Index(got, "[id:m4]") > strings.Index(got, "[id:m2]") {
		t.Errorf("what is pinned everywhere stands behind\n%s", got)
	}
	got = system(question + `,"conversationId":"` + id + `","format":"xml"`)
	if !strings.Contains(got, `<memory id="m2" source="conv_pinned" kind="preference"`) || !strings.Contains(got, `<memory id="m4" source="pinned"`) {
		t.Errorf("the prompt is\n%s", got)
	}
	handle := at(d.do("chat.archive", `{"id":"`+id+`"}`), "handle").(string)
	if got := system(question + `,"conversationId":"` + handle + `"`); got != want {
		t.Errorf("by its handle, and archived:\n%s", got)
	}

	// What is gone is passed over and reported.
	d.do("memory.archive", `{"id":"m2"}`)
	res := assemble(`"conversationId":"` + id + `"`)
	d.want(res, "report.dropped.0.id", "m2")
	d.want(res, "report.dropped.0.reason", "archived")
	d.want(res, "report.dropped.1.id", "m3")
	d.want(res, "report.dropped.1.reason", "private")
	if got := at(res, "system").(string); !strings.Contains(got, "[CONV PINNED] [fact, "+today+"] I train") || strings.Contains(got, "diet") {
		t.Errorf("the remote prompt is\n%s", got)
	}
	res = assemble(question + `,"conversationId":"` + id + `"`)
	d.want(res, "report.dropped.0.id", "m2")
	d.want(res, "report.dropped.0.reason", "archived")
	d.do("memory.delete", `{"id":"m2"}`)
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation.pinnedMemoryIds", "[m1 m4 m3]")
	d.want(assemble(question+`,"conversationId":"`+id+`"`), "report.dropped", "[]")
	d.do("chat.delete", `{"id":"`+id+`"}`)
	if got := system(question + `,"conversationId":"` + id + `"`); got != bare {
		t.Errorf("of a deleted conversation:\n%s", got)
	}
}

// TestCHAT8_NotesOfAConversation stand behind those that the message names, in the same five places.
func TestCHAT8_NotesOfAConversation(t *testing.T) {
	d := start(t)
	d.pinnable()
	id := at(d.do("chat.put", `{"pinnedNoteIds":["two","one","hid","ten"]}`), "id").(string)
	titles := func(res any) (list []string) {
		for _, s := range at(res, "report.sections").([]any) {
			for _, item := range at(s, "items").([]any) {
				list = append(list, at(item, "id").(string)+" "+at(item, "reason").(string))
			}
		}
		return list
	}
	res := d.do("context.assemble", `{"text":"What of [[Note one]]?","mentionedNoteIds":["six"],"conversationId":"`+id+`","audience":"local"}`)
	want := []string{"six pinned by the user", "one pinned by the user", "two pinned in the conversation", "hid pinned in the conversation", "ten pinned in the conversation"}
	if got := titles(res); strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("the notes are %q, want %q", got, want)
	}
	res = d.do("context.assemble", `{"text":"x","conversationId":"`+id+`"}`)
	d.want(res, "report.dropped.0.reason", "private")
	d.do("notes.archive", `{"id":"ten"}`)
	d.do("notes.delete", `{"id":"two"}`)
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation.pinnedNoteIds", "[one hid ten]")
	res = d.do("context.assemble", `{"conversationId":"`+id+`","audience":"local"}`)
	d.want(res, "report.dropped.0.id", "two")
	d.want(res, "report.dropped.0.reason", "unknown")
	d.want(res, "report.dropped.1.id", "ten")
	d.want(res, "report.dropped.1.reason", "archived")
	d.do("chat.patch", `{"id":"`+id+`","private":true}`)
	res = d.do("context.assemble", `{"conversationId":"`+id+`"}`)
	d.want(res, "system", "")
	d.want(res, "report.warnings.0.ref", id)
}

// TestPRIV6_NothingTellsOfAPrivatePin of a public conversation: neither what is shown of it, nor its version
// and times, nor a report; and a remote reader who pins does not unpin it.
func TestPRIV6_NothingTellsOfAPrivatePin(t *testing.T) {
	d := start(t)
	d.pinnable()
	id := at(d.do("chat.put", `{"title":"Trip","pinnedMemoryIds":["m1"]}`), "id").(string)
	r := d.remote()
	read := func() string {
		r.call("g", "chat.get", `{"ref":"`+id+`"}`)
		return r.line()
	}
	assembled := func() string {
		r.call("a", "context.assemble", `{"conversationId":"`+id+`"}`)
		_, out, _ := strings.Cut(r.line(), `"system"`)
		out, _, _ = strings.Cut(out, `"stages"`)
		return out
	}
	before, prompt := read(), assembled()
	d.do("chat.patch", `{"id":"`+id+`","pinnedMemoryIds":["m3","m1"],"pinnedNoteIds":["hid"]}`)
	if now := read(); now != before {
		t.Errorf("a remote reader reads\n%s\nwant\n%s", now, before)
	}
	if now := assembled(); now != prompt {
		t.Errorf("a remote reader is given\n%s\nwant\n%s", now, prompt)
	}
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation.version", 2)
	r.call("u", "chat.patch", `{"id":"`+id+`","ifVersion":1,"pinnedMemoryIds":["m2"]}`)
	if got := r.line(); !strings.Contains(got, `"pinnedMemoryIds":["m2"]`) || !strings.Contains(got, `"version":2`) {
		t.Errorf("a remote reader pins: %s", got)
	}
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation.pinnedMemoryIds", "[m2 m3]")
	for _, params := range []string{`"pinnedMemoryIds":["m3"]`, `"pinnedNoteIds":["hid"]`} {
		r.call("p", "chat.patch", `{"id":"`+id+`",`+params+`}`)
		if got := r.line(); !strings.Contains(got, `"code":1001`) {
			t.Errorf("a remote reader pins what is private: %s", got)
		}
	}
}

// TestCHAT36_WhatAnAnswerStandsOn is kept with the last answer of a call, which is private when some of it is.
func TestCHAT36_WhatAnAnswerStandsOn(t *testing.T) {
	d := start(t)
	d.pinnable()
	const said = `"messages":[{"role":"user","content":"When?","clientMessageId":"q"},{"role":"assistant","content":"On Mondays.","clientMessageId":"a"}]`
	id := at(d.do("chat.append", `{`+said+`,"memoryIds":["m1","m2","m1"]}`), "conversationId").(string)
	page := d.do("chat.get", `{"ref":"`+id+`"}`)
	d.want(page, "messages.0.references", "[]")
	d.want(page, "messages.1.references", "[map[memoryId:m1 ref:#1 used:true] map[memoryId:m2 ref:#2]]")
	d.want(page, "messages.1.private", false)
	d.do("chat.append", `{`+said+`,"memoryIds":["m4"]}`) // a repeat
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "messages.1.references.0.memoryId", "m1")
	d.want(d.do("memory.get", `{"ref":"m1"}`), "use.uses", 0)

	d.do("chat.append", `{"conversationId":"`+id+`","messages":[{"role":"assistant","content":"Eat this."}],"memoryIds":["m3"]}`)
	d.want(d.do("chat.get", `{"ref":"`+id+`","audience":"remote"}`), "conversation.messages", 2)
	d.do("memory.patch", `{"id":"m2","private":true}`)
	d.want(d.do("chat.get", `{"ref":"`+id+`","audience":"remote"}`), "conversation.messages", 1)
	d.do("memory.delete", `{"id":"m1","force":true}`)
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "messages.1.references", "[map[memoryId:m2 ref:#2]]")
	whole := d.do("chat.append", `{"messages":[{"role":"assistant","content":"Eat that."}],"memoryIds":["m3"]}`)
	d.want(d.do("chat.get", `{"ref":"`+at(whole, "conversationId").(string)+`"}`), "conversation.private", true)

	for _, c := range []struct {
		params string
		code   int
		field  string
	}{
		{`"memoryIds":["none"],` + said, 1001, "memoryIds[0]"},
		{`"memoryIds":["a b"],` + said, -32602, "memoryIds[0]"},
		{`"memoryIds":["m4"],"messages":[{"role":"user","content":"x"}]`, -32602, "memoryIds"},
		{`"memoryIds":[` + strings.Repeat(`"m4",`, 100) + `"m4"],` + said, 1004, "memoryIds"},
	} {
		d.wantRefused("chat.append", `{`+c.params+`}`, c.code, c.field)
	}
	found := d.do("chat.search", `{"query":"diet","mode":"lexical"}`)
	d.want(found, "hits", "[]") // what an answer stands on is not said in it
}

// TestPRIV4_WhatWasMadeFromAMemoryThatBecomesPrivate: answers that stand on it become private, memories that come from
// those, and answers that stand on these, also when a conversation makes it private.
func TestPRIV4_WhatWasMadeFromAMemoryThatBecomesPrivate(t *testing.T) {
	for _, byConversation := range []bool{false, true} {
		d := start(t)
		d.do("chat.append", `{"messages":[{"role":"user","content":"I am afraid of heights."}]}`)
		talk := at(d.do("chat.list", `{}`), "conversations.0.id").(string)
		d.do("memory.add", `{"id":"m1","statement":"Heights make me dizzy","source":{"kind":"extraction","conversationId":"`+talk+`"}}`)
		first := d.do("chat.append", `{"messages":[{"role":"user","content":"A trip?"},{"role":"assistant","content":"No towers of glass."}],"memoryIds":["m1"]}`)
		id, answer := at(first, "conversationId").(string), at(first, "messages.1.id").(string)
		d.do("memory.add", `{"id":"m2","statement":"Towers are to be avoided",
			"source":{"kind":"extraction","conversationId":"`+id+`","messageIds":["`+answer+`"]}}`)
		d.do("memory.add", `{"id":"m3","statement":"A trip is planned","source":{"kind":"extraction","conversationId":"`+id+`"}}`)
		second := d.do("chat.append", `{"messages":[{"role":"user","content":"A hotel?"},{"role":"assistant","content":"On the ground floor."}],"memoryIds":["m2"]}`)
		other := at(second, "conversationId").(string)
		if d.want(d.do("memory.search", `{"query":"glass","kinds":["messages"],"audience":"remote"}`), "hits.0.text", "No towers of glass."); byConversation {
			d.do("chat.patch", `{"id":"`+talk+`","private":true}`)
		} else {
			d.do("memory.patch", `{"id":"m1","private":true}`)
		}
		for ref, private := range map[string]bool{"m1": true, "m2": true, "m3": false} {
			d.want(d.do("memory.get", `{"ref":"`+ref+`"}`), "private", private)
		}
		for _, ref := range []string{id, other} {
			d.want(d.do("chat.get", `{"ref":"`+ref+`","audience":"remote"}`), "conversation.messages", 1)
			d.want(d.do("chat.get", `{"ref":"`+ref+`"}`), "messages.1.private", true)
		}
		d.want(d.do("memory.search", `{"query":"glass","kinds":["messages"],"audience":"remote"}`), "hits", "[]")
		d.do("memory.delete", `{"id":"m1","force":true}`) // what it made private stays so
		d.want(d.do("chat.get", `{"ref":"`+id+`","audience":"remote"}`), "conversation.messages", 1)
	}
}

// TestCHAT37_AnArchivedConversationIsWrittenTo as before, and a deleted one is not.
func TestCHAT37_AnArchivedConversationIsWrittenTo(t *testing.T) {
	d := start(t)
	d.pinnable()
	id := at(d.do("chat.put", `{"title":"Trip"}`), "id").(string)
	d.do("chat.archive", `{"id":"`+id+`"}`)
	d.do("chat.append", `{"conversationId":"`+id+`","messages":[{"role":"assistant","content":"A heron."}],"memoryIds":["m1"]}`)
	d.do("chat.patch", `{"id":"`+id+`","pinnedMemoryIds":["m1"]}`)
	page := d.do("chat.get", `{"ref":"`+id+`"}`)
	d.want(page, "messages.0.references.0.memoryId", "m1")
	d.want(page, "conversation.pinnedMemoryIds", "[m1]")
	if at(page, "conversation.archivedAt") == nil {
		t.Error("it is not archived any more")
	}
	d.want(d.do("chat.search", `{"query":"heron"}`), "hits", "[]")
	d.do("chat.delete", `{"id":"`+id+`"}`)
	d.wantRefused("chat.append", `{"conversationId":"`+id+`","messages":[{"role":"user","content":"x"}]}`, 1001, "conversationId")
	for _, method := range []string{"chat.patch", "chat.archive", "chat.restore", "chat.delete"} {
		if _, err := d.try(method, `{"id":"`+id+`"}`); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestSRCH13_ASearchOfMessagesIsExplained as one of notes is.
func TestSRCH13_ASearchOfMessagesIsExplained(t *testing.T) {
	d := start(t)
	d.talk()
	out := d.do("chat.search", `{"query":"snow","mode":"lexical","explain":true}`)
	if got, ok := at(out, "hits.0.signals.lexical").(float64); !ok || got != at(out, "hits.0.score") {
		t.Errorf("signals %v", at(out, "hits.0.signals"))
	}
	d.want(out, "understood.words.0.word", "snow")
	d.want(out, "stages.0.stage", at(d.do("notes.search", `{"query":"snow","mode":"lexical","explain":true}`), "stages.0.stage"))
	plain := d.do("chat.search", `{"query":"snow","mode":"lexical"}`)
	for _, absent := range []string{"hits.0.signals", "understood", "stages"} {
		d.want(plain, absent, nil)
	}
}
