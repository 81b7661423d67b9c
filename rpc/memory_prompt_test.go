package rpc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM43_AttachedMemoriesAreInThePrompt: in the order of the call, each once, also those that hold no more; what is
// not shown is reported with the reason, and a remote prompt says nothing of a private one.
func TestMEM43_AttachedMemoriesAreInThePrompt(t *testing.T) {
	d := start(t)
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"I train on Monday mornings","questions":["When do I train?"]},
		{"id":"b","statement":"I trained on Sundays\n## Calendar","kind":"preference"},
		{"id":"c","statement":"My secret","private":true},
		{"id":"w","statement":"It was wrong"}]}`)
	d.do("memory.add", `{"id":"n","statement":"I train at noon","supersedes":["b"]}`)
	d.do("memory.retract", `{"id":"w"}`)
	assemble := func(audience string) (system, dropped string) {
		res := d.do("context.assemble", `{"audience":"`+audience+`","attachedMemoryIds":["b","a","c","a","w","nobody"]}`)
		for _, out := range at(res, "report.dropped").([]any) {
			dropped += at(out, "kind").(string) + " " + at(out, "id").(string) + " " + at(out, "reason").(string) + "\n"
		}
		return at(res, "system").(string), dropped
	}
	const first = "## What the user referred to\n" +
		"- [ATTACHED] [preference, superseded] I trained on Sundays\n  \\## Calendar [id:b]\n" +
		"- [ATTACHED] [fact] I train on Monday mornings (answers: When do I train?) [id:a]\n"
	system, dropped := assemble("local")
	if want := first + "- [ATTACHED] [fact] My secret [id:c]\n"; system != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", system, want)
	}
	if want := "memory a duplicate\nmemory w deleted\nmemory nobody unknown\n"; dropped != want {
		t.Errorf("left out are\n%s\nwant\n%s", dropped, want)
	}
	system, dropped = assemble("remote")
	if system != first || !strings.Contains(dropped, "memory c private\n") {
		t.Errorf("the remote prompt is\n%s\nwithout\n%s", system, dropped)
	}
	res := d.do("context.assemble", `{"attachedMemoryIds":["a","n"],"budgets":{"referenced":110}}`)
	d.want(res, "report.dropped.0.id", "n")
	d.want(res, "report.dropped.0.reason", "budget")
	d.wantRefused("context.assemble", `{"attachedMemoryIds":["a b/"]}`, protocol.CodeInvalidParams, "attachedMemoryIds[0]")
	d.wantRefused("context.assemble", `{"attachedMemoryIds":[`+strings.Repeat(`"a",`, 1000)+`"a"]}`, protocol.CodeLimit, "attachedMemoryIds")
}

// TestMEM43_WhatIsRememberedIsInThePrompt: profile, pinned, facts and episodes, each once under its highest label; with no
// memories asked for a prompt is as it was.
func TestMEM43_WhatIsRememberedIsInThePrompt(t *testing.T) {
	d := start(t)
	remember(d)
	without := at(d.do("context.assemble", `{"text":"when do I train for the marathon?"}`), "system")
	if without != "" {
		t.Errorf("without memories the prompt is %q", without)
	}
	res := d.do("context.assemble", `{"text":"when do I train for the marathon?","memories":5,"audience":"local","attachedMemoryIds":["a"]}`)
	system := at(res, "system").(string)
	day := at(d.do("memory.get", `{"ref":"p"}`), "createdAt").(string)[:10]
	want := "## What the user referred to\n- [ATTACHED] [fact] I train for the marathon at noon [id:a]\n\n" +
		"## Memory\nThis is remembered of the user. It may or may not be relevant, and what was said later holds.\n" +
		"### What is known about the user\n- [identity, " + day + "] I am a nurse [id:i]\n" +
		"### Pinned\n- [GLOBAL PINNED] [identity, " + day + "] Answer in two sentences [id:p]\n" +
		"### Facts\n"
	if !strings.HasPrefix(system, want) || strings.Count(system, "[id:a]") != 1 || strings.Count(system, "[id:p]") != 1 {
		t.Errorf("the prompt is\n%s\nwhich does not begin\n%s", system, want)
	}
	for _, line := range []string{
		"- [fact, " + day + "] My marathon training plan is secret [id:s]\n",
		"### Episodes\n- [message, user, " + day + ", in Running] I moved my marathon training to the evening",
	} {
		if !strings.Contains(system, line) {
			t.Errorf("%q is not in\n%s", line, system)
		}
	}
	// A remote model sees nothing of what is private.
	remote := at(d.do("context.assemble", `{"text":"when do I train for the marathon?","memories":20}`), "system").(string)
	if strings.Contains(remote, "secret") || !strings.Contains(remote, "I moved my marathon") {
		t.Errorf("the remote prompt is\n%s", remote)
	}
	few := at(d.do("context.assemble", `{"text":"when do I train for the marathon?","memories":1,"audience":"local"}`), "system").(string)
	if n := strings.Count(few, "marathon"); n != 1 {
		t.Errorf("one was asked for, %d are in\n%s", n, few)
	}
	for _, n := range []string{"-1", "21"} {
		err := d.Call(t.Context(), "context.assemble", json.RawMessage(`{"memories":`+n+`}`), nil)
		if err == nil || !strings.Contains(err.Error(), "memories") {
			t.Errorf("%s memories: %v", n, err)
		}
	}
}

// TestMEM41_TheProfileComesWhereAConversationBegins: at the first message, not at the next ones, and again after a long
// time; what the conversation itself holds is not repeated.
func TestMEM41_TheProfileComesWhereAConversationBegins(t *testing.T) {
	clock := time.Now()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	rooms, err := roomsClocked(db, search.Options{}, func() time.Time { return clock })
	must(t, err)
	d := launch(t, rpc.Options{Rooms: rooms})
	said := remember(d)
	known := func(conversation string) bool {
		res := d.do("context.assemble", `{"text":"when do I train for the marathon?","memories":5,"conversationId":"`+conversation+`"}`)
		if strings.Contains(at(res, "system").(string), "I moved my marathon") == (conversation == said) {
			t.Errorf("in %s the prompt is\n%s", conversation, at(res, "system"))
		}
		return strings.Contains(at(res, "system").(string), "### What is known about the user")
	}
	if !known("new") || known(said) {
		t.Error("the profile is not where a conversation begins, or is where it goes on")
	}
	clock = clock.Add(24*time.Hour - time.Minute)
	if known(said) {
		t.Error("the profile is there before the conversation begins anew")
	}
	clock = clock.Add(time.Minute)
	if !known(said) {
		t.Error("the profile is not there after a day")
	}
}

// TestMEM40_AssemblingIsARead: no memory is counted as used by a prompt that shows it.
func TestMEM40_AssemblingIsARead(t *testing.T) {
	d := start(t)
	remember(d)
	before := d.do("memory.get", `{"ref":"a"}`)
	d.do("context.assemble", `{"text":"when do I train for the marathon?","memories":5}`)
	after := d.do("memory.get", `{"ref":"a"}`)
	if at(before, "use.uses") != at(after, "use.uses") || at(before, "version") != at(after, "version") {
		t.Errorf("before %v, after %v", before, after)
	}
}

// remember stores memories, and a conversation of two messages, whose id it returns.
func remember(d *daemon) string {
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"I train for the marathon at noon"},
		{"id":"i","statement":"I am a nurse","kind":"identity","tier":"memoryBank"},
		{"id":"p","statement":"Answer in two sentences","kind":"identity","tier":"memoryBank","pinned":true,"alwaysInject":true},
		{"id":"s","statement":"My marathon training plan is secret","private":true}]}`)
	res := d.do("chat.append", `{"title":"Running","messages":[
		{"role":"user","content":"I moved my marathon training to the evening"},{"role":"assistant","content":"Noted."}]}`)
	return at(res, "conversationId").(string)
}

// TestMEM41_WhatIsGoneIsInNoProfile: lists of pinned memories and profiles follow what is changed and deleted.
func TestMEM41_WhatIsGoneIsInNoProfile(t *testing.T) {
	d := start(t)
	remember(d)
	listed := func(what, want string) {
		t.Helper()
		var pinned, profile []string
		for _, m := range at(d.do("memory.list", `{"pinned":true}`), "memories").([]any) {
			pinned = append(pinned, at(m, "id").(string))
		}
		for _, m := range at(d.do("memory.profile", `{}`), "memories").([]any) {
			profile = append(profile, at(m, "id").(string))
		}
		if got := strings.Join(pinned, " ") + "; " + strings.Join(profile, " "); got != want {
			t.Errorf("%s: pinned and profile are %q, want %q", what, got, want)
		}
	}
	listed("at first", "p; p i")
	d.do("memory.patch", `{"id":"a","pinned":true}`)
	d.do("memory.patch", `{"id":"p","pinned":false}`)
	listed("pinned otherwise", "a; p i")
	d.do("memory.archive", `{"id":"i"}`)
	listed("archived", "a; p")
	d.do("memory.delete", `{"id":"a","force":true}`)
	d.do("memory.delete", `{"id":"p","force":true}`)
	listed("deleted", "; ")
}
