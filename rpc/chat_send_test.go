package rpc_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// models are a local provider, near, and one that is not, far, which answer alike.
func models(t testing.TB, answer func(r *provider.Request, to *provider.Reply)) *llm.Set {
	t.Helper()
	srv := provider.Start(answer)
	t.Cleanup(srv.Close)
	return modelsAt(t, srv)
}

// modelsAt are models that a server answers for.
func modelsAt(t testing.TB, srv *provider.Server) *llm.Set {
	t.Helper()
	set, err := llm.NewSet(llm.SetOptions{Default: "near", Providers: []llm.Options{
		{Name: "near", Kind: llm.OpenAI, Base: srv.URL, Model: "m", Key: "none", Local: true},
		{Name: "far", Kind: llm.OpenAI, Base: srv.URL, Model: "m", Key: "none"},
	}})
	must(t, err)
	t.Cleanup(set.Close)
	return set
}

// answered is a daemon whose provider answers.
func answered(t *testing.T, answer func(r *provider.Request, to *provider.Reply)) *daemon {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	return startOver(t, db, rpc.Options{Providers: models(t, answer)})
}

// deltasOf reads deltas until the one that ends an answer, and returns the text.
func (p *peer) deltasOf() (messageID, text string) {
	p.t.Helper()
	var b strings.Builder
	for next := 1; ; {
		r := p.reply()
		var d turn.ChatDelta
		if r.Method != "chat.delta" {
			p.t.Fatalf("got %s %.200s %+v among deltas", r.Method, r.Result, r.Error)
		}
		must(p.t, json.Unmarshal(r.Params, &d))
		if d.Seq != next {
			p.t.Fatalf("delta %d comes, want %d", d.Seq, next)
		}
		next = max(d.Seq, d.LastSeq) + 1
		if d.Type == turn.Text {
			b.WriteString(d.Text)
		}
		if d.Type == turn.Done {
			return d.MessageID, b.String()
		}
	}
}

// sent reads the deltas of a call and its result.
func (p *peer) sent() (text string, res turn.ChatSent) {
	p.t.Helper()
	_, text = p.deltasOf()
	r := p.reply()
	if r.Error != nil {
		p.t.Fatalf("%+v", r.Error)
	}
	must(p.t, json.Unmarshal(r.Result, &res))
	return text, res
}

func (d *daemon) remotePeer() *peer {
	d.t.Helper()
	p := (&bench{t: d.t, path: d.path}).dial()
	p.send(strings.Replace(hello, `"params":{`, `"params":{"audience":"remote",`, 1) + "\n")
	if got := p.line(); !strings.Contains(got, `"protocolVersion"`) {
		d.t.Fatalf("initialize: %s", got)
	}
	return p
}

func (d *daemon) begun() (conversation string) {
	d.t.Helper()
	return at(d.do("chat.append", `{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]}`), "conversationId").(string)
}

// Followers get the answer that the caller gets; a remote one gets nothing of what a local model says.
func TestCHAT17_Followers(t *testing.T) {
	d := answered(t, func(r *provider.Request, to *provider.Reply) { to.Text("You ", "said: ", r.Last()) })
	id := d.begun()
	caller, local, remote := d.peer(), d.peer(), d.remotePeer()
	for _, p := range []*peer{local, remote} {
		p.call(1, "chat.follow", fmt.Sprintf(`{"conversationId":%q}`, id))
		p.wantResult("1", "")
	}
	for _, from := range []string{"near", "far"} {
		caller.call(7, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"by %[2]s","provider":%[2]q}`, id, from))
		text, res := caller.sent()
		if text != "You said: by "+from || res.Content != text {
			t.Errorf("the caller is told %q, the result is %q", text, res.Content)
		}
		if of, text := local.deltasOf(); text != res.Content || of != res.AssistantMessage.ID {
			t.Errorf("the local follower is told %q", text)
		}
		if from == "near" {
			continue
		}
		if of, text := remote.deltasOf(); text != res.Content || of != res.AssistantMessage.ID {
			t.Errorf("the remote follower is told %q of %s", text, of)
		}
	}
	local.call(2, "chat.follow", fmt.Sprintf(`{"conversationId":%q,"stop":true}`, id))
	local.wantResult("2", "")
	caller.call(8, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"quiet","stream":false}`, id))
	caller.wantResult("8", "")
	local.call(3, "admin.health", "")
	local.wantResult("3", "")
}

// TestCHAT48_FollowersOfAMove: what a provider is not given that is not local comes first, to the caller and to local followers. A
// remote follower gets the same deltas without it, in numbers without a gap.
func TestCHAT48_FollowersOfAMove(t *testing.T) {
	d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text("An ", "answer.") })
	d.do("notes.put", `{"id":"diary","title":"Zqdiary","body":"x","private":true}`)
	id := d.begun()
	caller, local, remote := d.peer(), d.peer(), d.remotePeer()
	for _, p := range []*peer{local, remote} {
		p.call(1, "chat.follow", fmt.Sprintf(`{"conversationId":%q}`, id))
		p.wantResult("1", "")
	}
	caller.call(6, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"by near","provider":"near"}`, id))
	caller.sent()
	local.deltasOf()
	d.do("chat.patch", fmt.Sprintf(`{"id":%q,"pinnedNoteIds":["diary"]}`, id))
	caller.call(7, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"by far","provider":"far"}`, id))
	for _, p := range []*peer{caller, local} {
		var first turn.ChatDelta
		must(t, json.Unmarshal(p.reply().Params, &first))
		if first.Seq != 0 || first.Type != turn.Warning || first.Data == nil || !strings.Contains(first.Data.Warning.Message, "[[Zqdiary]]") {
			t.Errorf("a local reader is told first %+v", first)
		}
	}
	caller.sent()
	if _, text := local.deltasOf(); text != "An answer." {
		t.Errorf("the local follower is told %q", text)
	}
	if _, text := remote.deltasOf(); text != "An answer." {
		t.Errorf("the remote follower is told %q", text)
	}
}

// A follower who does not read stalls nobody, and loses nothing when he reads again.
func TestCHAT17_ASlowFollowerOfAnAnswer(t *testing.T) {
	piece := strings.Repeat("x", 32<<10)
	d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text(slices.Repeat([]string{piece}, 64)...) })
	id := d.begun()
	caller, slow := d.peer(), d.peer()
	slow.call(1, "chat.follow", fmt.Sprintf(`{"conversationId":%q}`, id))
	slow.wantResult("1", "")
	caller.call(7, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"go"}`, id))
	text, res := caller.sent()
	if len(text) != 64*len(piece) || res.Content != text {
		t.Fatalf("%d bytes were told, %d are the answer", len(text), len(res.Content))
	}
	if of, text := slow.deltasOf(); text != res.Content || of != res.AssistantMessage.ID {
		t.Errorf("the follower was told %d bytes", len(text))
	}
}

func TestCHAT18_AnswersAreStopped(t *testing.T) {
	left := make(chan struct{}, 9)
	d := answered(t, func(r *provider.Request, to *provider.Reply) {
		to.Text("Half")
		if r.Last() == "wait" {
			<-to.Gone()
			left <- struct{}{}
		}
	})
	for name, stop := range map[string]func(p *peer, id string) (code int){
		"$/cancelRequest": func(p *peer, _ string) int { p.cancel(7); return protocol.CodeCancelled },
		"chat.cancel": func(_ *peer, id string) int {
			d.want(d.do("chat.cancel", fmt.Sprintf(`{"conversationId":%q}`, id)), "cancelled", true)
			return protocol.CodeCancelled
		},
		"the connection ends": func(p *peer, _ string) int { must(t, p.nc.Close()); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			id, p := d.begun(), d.peer()
			p.call(7, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"wait"}`, id))
			var first turn.ChatDelta
			must(t, json.Unmarshal(p.reply().Params, &first))
			other := d.peer()
			other.call(1, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"too"}`, id))
			if e := other.wantError("1", protocol.CodeConflict); e.Data.Ref != first.MessageID || !e.Data.Retryable {
				t.Errorf("the conflict is %+v", e.Data)
			}
			if code := stop(p, id); code != 0 {
				for {
					r := p.reply()
					if r.Method != "" {
						continue
					}
					if r.Error == nil || r.Error.Code != code {
						t.Fatalf("the call ends with %s %+v", r.Result, r.Error)
					}
					break
				}
			}
			<-left
			other.call(2, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"next"}`, id))
			if text, _ := other.sent(); text != "Half" {
				t.Errorf("the next answer is %q", text)
			}
			page := d.do("chat.get", fmt.Sprintf(`{"ref":%q}`, id))
			d.want(page, "messages.3.finish", "cancelled")
			d.want(page, "messages.3.content", "Half")
			d.want(page, "messages.5.content", "Half")
		})
	}
}

// A backup that is made amid an answer has the question. The answer goes on; one during which a store is restored ends,
// and the caller is told why.
func TestCHAT25_BackupAndRestoreAmidAnAnswer(t *testing.T) {
	began, end := make(chan struct{}, 9), make(chan struct{})
	answer := func(r *provider.Request, to *provider.Reply) {
		to.Text("Half")
		began <- struct{}{}
		select {
		case <-end:
		case <-to.Gone():
		}
		to.Text(" and whole")
	}
	d := startOn(t, t.TempDir(), rpc.Options{Providers: models(t, answer)})
	id, p, dir := d.begun(), d.peer(), filepath.Join(t.TempDir(), "backup")
	p.call(7, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"one"}`, id))
	<-began
	d.do("admin.backup", `{"path":`+quoted(dir)+`}`)
	close(end)
	if text, res := p.sent(); text != "Half and whole" || res.Content != text {
		t.Errorf("the answer is %q", text)
	}
	end = make(chan struct{})
	p.call(8, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"two"}`, id))
	<-began
	d.do("admin.restore", `{"path":`+quoted(dir)+`}`)
	for {
		r := p.reply()
		if r.Method != "" {
			continue
		}
		if r.Error == nil || r.Error.Code != protocol.CodeUnavailable {
			t.Errorf("the call ends with %s %+v", r.Result, r.Error)
		}
		break
	}
	page := d.do("chat.get", fmt.Sprintf(`{"ref":%q}`, id))
	d.want(page, "messages.2.content", "one")
	if n := len(at(page, "messages").([]any)); n != 3 {
		t.Errorf("there are %d messages: %v", n, page)
	}
	d.want(d.do("admin.check", `{}`), "problems", "[]")
}
