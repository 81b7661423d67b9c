package send_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// Words that begin with zq stand in private records, or lead to them.

// gossip is a local model that says all that it was told, without the marks by which links are known, after it has
// read what it can.
func gossip(r *provider.Request, to *provider.Reply) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "user" {
		to.Call("read_note", `{"id":"hidden"}`)
		to.Call("search_notes", `{"query":"scales"}`)
		to.Call("search_memory", `{"query":"scales"}`)
		return
	}
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text() + "\n")
	}
	to.Text(strings.NewReplacer("[[", "", "]]", "", "@", "", "#", "", "`", "").Replace(b.String()))
}

// quiet is gossip that calls no tool.
func quiet(r *provider.Request, to *provider.Reply) {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text() + "\n")
	}
	to.Text(strings.NewReplacer("[[", "", "]]", "", "@", "", "#", "", "`", "").Replace(b.String()))
}

// nosy is a remote model that asks for what it should not have.
func nosy(r *provider.Request, to *provider.Reply) {
	if r.Messages[len(r.Messages)-1].Role == "user" {
		to.Call("read_note", `{"id":"hidden"}`)
		to.Call("find_excerpts", `{"query":"scales"}`)
		to.Call("search_memory", `{"query":"scales"}`)
		to.Call("search_notes", `{"query":"scales"}`)
		return
	}
	to.Text("I was told ", fmt.Sprint(len(r.Body)), " bytes about scales")
}

// secrets fills a house with private records, and public ones that lead to them.
func (h *house) secrets() (memories []string) {
	h.note(notes.Draft{ID: "hidden", Title: "Zqtitle Plan", Aliases: []string{"Zqalias"}, Body: "Zqbody has scales. [[Open]]", Private: true})
	h.note(notes.Draft{ID: "open", Title: "Open", Body: "Scales stand in [[Zqtitle Plan]] and [[Zqalias|here]]."})
	added, err := h.memory.Add(context.Background(), h.local, []memory.Draft{
		{ID: "mem1", Handle: "zqhandle", Statement: "Zqstatement about scales", Private: true},
		{ID: "pubmem", Handle: "open_scales", Statement: "Scales are round"},
	})
	must(h.t, err)
	for _, a := range added {
		memories = append(memories, a.Memory.ID)
	}
	return memories
}

// A hash may begin as a canary does.
var canary = regexp.MustCompile(`(?i)zq(title|alias|body|statement|handle|prose|unanswered)`)

func holdsCanary(text string) bool { return canary.MatchString(text) }

// around is a text about its canary, the beginning of one that has none.
func around(text string) string {
	at := canary.FindStringIndex(text)
	if at == nil {
		return text[:min(len(text), 400)]
	}
	return text[max(0, at[0]-300):min(len(text), at[1]+100)]
}

// wantNoCanary fails when the remote model was told of something private, or a remote reader is.
func (h *house) wantNoCanary(what string) {
	h.t.Helper()
	bodies := h.far.asked()
	for i, body := range bodies[h.looked:] {
		if holdsCanary(body) {
			h.t.Fatalf("%s: the remote model was told %q in request %d", what, around(body), i+1)
		}
	}
	h.looked = len(bodies)
	list, _, err := h.chat.List(context.Background(), h.remote, false, nil, 1000)
	must(h.t, err)
	for _, c := range list {
		p, err := h.chat.Messages(context.Background(), h.remote, c.ID, "", 0, 1000)
		must(h.t, err)
		data, err := json.Marshal(p)
		must(h.t, err)
		if text := string(data); holdsCanary(text) || strings.Contains(text, "are private, and") {
			h.t.Fatalf("%s: a remote reader is shown %q", what, around(text))
		}
	}
}

func TestPRIV4_RemoteModelsAreToldNothingPrivate(t *testing.T) {
	near, far := newModel(t), newModel(t)
	far.says(nosy)
	rapid.Check(t, func(rt *rapid.T) {
		h := openOver(t, rt, kv.InMemory, near, far, chat.Limits{})
		defer func() { _ = h.db.Close() }()
		h.secrets()
		p := &plot{house: h, rt: rt}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			near.says(rapid.SampledFrom([]script{gossip, quiet}).Draw(rt, "near"))
			steps := []func() string{p.begin, p.ask, p.ask, p.ask, p.anew, p.replace, p.repeat, p.change}
			p.wantNoCanary(steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]())
		}
	})
}

// plot is a random history of a house.
type plot struct {
	*house
	rt    *rapid.T
	ids   []string // of conversations
	named int      // ids of clients
}

func (p *plot) yes(label string) bool { return rapid.Bool().Draw(p.rt, label) }

// text is what a user types: in public he names what is private by links alone.
func (p *plot) text(private bool) string {
	texts := []string{"about scales", "see [[Zqtitle Plan]] for scales", "[[Open]] and [[Zqalias]]", "hello"}
	if private {
		texts = append(texts, "zqprose of mine about scales", "what says @zqhandle?")
	}
	return rapid.SampledFrom(texts).Draw(p.rt, "text")
}

func (p *plot) conversation() string {
	if len(p.ids) == 0 || rapid.IntRange(0, 3).Draw(p.rt, "new") == 0 {
		return ""
	}
	return rapid.SampledFrom(p.ids).Draw(p.rt, "conversation")
}

func (p *plot) begin() string {
	private := p.yes("private")
	second := user(p.text(true))
	second.Private = true
	first := user(p.text(private))
	first.Private = private
	p.ids = append(p.ids, p.append("", first, answer("so"), second, user(p.text(false))))
	return "append"
}

// say has a message answered by any provider. A private one, and one of a private conversation, is refused when it is
// the remote one, before anything is stored.
func (p *plot) say(m turn.ChatSend) string {
	m.Provider = rapid.SampledFrom([]string{"near", "far", "none"}).Draw(p.rt, "provider")
	before := p.db.Seq()
	res, err := p.pipe.Send(context.Background(), p.local, m, &heard{})
	what := fmt.Sprintf("%+v", m)
	switch {
	case fault.KindOf(err) == fault.Invalid && m.Provider == "far":
		if p.db.Seq() != before {
			p.rt.Fatalf("%s is refused after something was stored: %v", what, err)
		}
	case err != nil:
		p.rt.Fatalf("%s: %v", what, err)
	case m.Provider == "far" && !res.Repeat && (m.Private || res.UserMessage.Private):
		p.rt.Fatalf("%s: a remote model answered something private", what)
	case m.ConversationID == "":
		p.ids = append(p.ids, res.ConversationID)
	}
	return what
}

func (p *plot) ask() string {
	m := turn.ChatSend{ConversationID: p.conversation(), Private: rapid.IntRange(0, 3).Draw(p.rt, "private") == 0}
	m.Text = p.text(m.Private)
	if p.yes("attach") {
		m.AttachedMemoryIDs = []string{"mem1"}
		m.MentionedNoteIDs = []string{"hidden"}
		m.Files = []turn.ChatFile{{Name: "[[Zqalias]]", Text: "as [[Zqtitle Plan]] says"}}
	}
	if p.yes("named") {
		p.named++
		m.ClientMessageID = fmt.Sprint("m", p.named)
	}
	return p.say(m)
}

// message is any message of a role that the user sees.
func (p *plot) message(role string) (conversation, id string) {
	if conversation = p.conversation(); conversation == "" {
		return "", ""
	}
	var ids []string
	for _, m := range p.said(p.local, conversation) {
		if m.Role == role {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return "", ""
	}
	return conversation, rapid.SampledFrom(ids).Draw(p.rt, "message")
}

func (p *plot) anew() string {
	conversation, id := p.message(record.RoleUser)
	if id == "" {
		return "nothing"
	}
	return p.say(turn.ChatSend{ConversationID: conversation, Regenerate: id})
}

func (p *plot) replace() string {
	conversation, id := p.message(record.RoleUser)
	if id == "" {
		return "nothing"
	}
	return p.say(turn.ChatSend{ConversationID: conversation, Replaces: id, Text: p.text(false)})
}

func (p *plot) repeat() string {
	if p.named == 0 {
		return "nothing"
	}
	return p.say(turn.ChatSend{Text: p.text(false), ClientMessageID: fmt.Sprint("m", rapid.IntRange(1, p.named).Draw(p.rt, "named"))})
}

func (p *plot) change() string {
	id := p.conversation()
	if id == "" {
		return "nothing"
	}
	set := chat.Settings{SystemPrompt: ptr("Think of [[Zqtitle Plan]]."), PinnedMemories: &[]string{"mem1", "pubmem"}, PinnedNotes: &[]string{"hidden"}}
	if p.yes("hide") {
		set.Private = ptr(true)
	}
	_, err := p.chat.Update(context.Background(), p.local, id, chat.Change{Settings: set})
	must(p.rt, err)
	return "update"
}

// What a local model answered with private text goes to no remote one that is asked later, and the user is told.
func TestPRIV4_AnAnswerOfALocalModelIsWithheld(t *testing.T) {
	h := open(t)
	h.secrets()
	h.near.says(gossip)
	first := h.send(turn.ChatSend{Text: "hello", Provider: "near"})
	if !first.AssistantMessage.Private || !holdsCanary(first.Content) || first.UserMessage.Private {
		t.Fatalf("the answer is %+v", first.AssistantMessage)
	}
	l := &heard{}
	second, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: first.ConversationID, Text: "and?"}, l)
	must(t, err)
	if !warned(second.Warnings, record.AboutPrivate) || l.private {
		t.Errorf("warnings %v", second.Warnings)
	}
	for _, d := range l.deltas {
		if d.Type == turn.Warning {
			t.Errorf("remote followers are told %+v", d.Data.Warning)
		}
	}
	h.wantNoCanary("second")
	if !warned(h.said(h.local, first.ConversationID)[3].Warnings, record.AboutPrivate) {
		t.Error("the warning is not kept")
	}
	if list := h.said(h.remote, first.ConversationID); len(list) != 3 || len(list[2].Warnings) > 0 {
		t.Errorf("a remote reader is shown %q and warned of %v", texts(list), list[2].Warnings)
	}
}

// Nothing that is private is asked anew of a remote model, or said in the place of it, or sent again.
func TestPRIV4_PrivateQuestionsStayWithLocalModels(t *testing.T) {
	h := open(t)
	id := h.append("", user("hello"), answer("hi"))
	h.near.says(quiet)
	asked := h.send(turn.ChatSend{ConversationID: id, Text: "zqprose", Private: true, Provider: "near", ClientMessageID: "m1"})
	h.near.says(func(_ *provider.Request, to *provider.Reply) { to.Status(400, "no") })
	_, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{
		ConversationID: id, Text: "zqunanswered", Private: true, Provider: "near", ClientMessageID: "m2",
	}, &heard{})
	if err == nil {
		t.Fatal("answered")
	}
	before := h.db.Seq()
	for _, m := range []turn.ChatSend{
		{ConversationID: id, Regenerate: asked.UserMessage.ID},
		{ConversationID: id, Regenerate: asked.AssistantMessage.ID},
		{ConversationID: id, Replaces: asked.UserMessage.ID, Text: "another"},
		{ConversationID: id, Text: "zqunanswered", ClientMessageID: "m2"},
		{Text: "zqunanswered", ClientMessageID: "m2"},
		{ConversationID: id, Text: "x", Private: true},
	} {
		h.fails(m, fault.Invalid, "provider")
	}
	if h.db.Seq() != before || len(h.far.asked()) > 0 {
		t.Error("something was stored, or the remote model was asked")
	}
}

// A remote asker has a message answered by what he sees, also by a local model.
func TestPRIV4_ARemoteAskerGetsNothingPrivate(t *testing.T) {
	h := open(t)
	h.secrets()
	h.near.says(gossip)
	id := h.append("", user("hello"), chat.Draft{Role: record.RoleAssistant, Content: "zqprose", Private: true})
	l := &heard{}
	res, err := h.pipe.Send(t.Context(), h.remote, turn.ChatSend{ConversationID: id, Text: "scales?", Provider: "near"}, l)
	must(t, err)
	data, err := json.Marshal([]any{res, l.deltas})
	must(t, err)
	if holdsCanary(string(data)) {
		t.Errorf("he is told %s", data)
	}
	if warned(res.Warnings, record.AboutPrivate) || res.AssistantMessage.Private {
		t.Errorf("%+v", res)
	}
	if h.pipe.Cancel(h.remote, id) || h.pipe.Running(h.remote, id) != "" {
		t.Error("it still runs")
	}
}

// A local model is told the names in links of earlier messages, which a remote reader is not shown: what it answers
// may hold them.
func TestPRIV4_NamesThatAreHiddenMakeAnAnswerPrivate(t *testing.T) {
	for name, with := range map[string]func(h *house, m *turn.ChatSend){
		"an earlier message": func(h *house, m *turn.ChatSend) {
			m.ConversationID = h.append("", user("see [[Zqtitle Plan]]"), answer("yes"))
		},
		"the system prompt": func(h *house, m *turn.ChatSend) {
			m.ConversationID = h.append("", user("hello"), answer("yes"))
			_, err := h.chat.Update(context.Background(), h.local, m.ConversationID, chat.Change{
				Settings: chat.Settings{SystemPrompt: ptr("Think of [[Zqtitle Plan]].")},
			})
			must(h.t, err)
		},
		"a file": func(_ *house, m *turn.ChatSend) { m.Files = []turn.ChatFile{{Name: "a", Text: "see [[Zqalias]]"}} },
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.secrets()
			h.near.says(quiet)
			m := turn.ChatSend{Text: "hello", Provider: "near", Tools: ptr(false), SearchNotes: ptr(0), Memories: ptr(0)}
			with(h, &m)
			res := h.send(m)
			if !res.AssistantMessage.Private || !holdsCanary(res.Content) {
				t.Errorf("the answer %q is private: %v", res.Content, res.AssistantMessage.Private)
			}
			h.wantNoCanary(name)
		})
	}
}

// TestPRIV4_AnAnswerWithNothingPrivateIsPublic: also where a search for the message would find the message itself,
// which is stored by then.
func TestPRIV4_AnAnswerWithNothingPrivateIsPublic(t *testing.T) {
	h := open(t)
	h.near.says(quiet)
	h.note(notes.Draft{Title: "Hiking", Body: "Where we hike in May."})
	for range 10 {
		if got := h.send(turn.ChatSend{Text: "Where do we hike in May?", Provider: "near"}); got.AssistantMessage.Private {
			t.Fatalf("the answer %+v is private", got.AssistantMessage)
		}
	}
}

// TestPRIV13_WhatACrashLeavesOfAnAnswerFollowsWhatItWasMadeFrom: the daemon ends amid an answer. What was kept of it is private
// if something that its model was shown, also by a tool, is so by then, and knows what it stands on.
func TestPRIV13_WhatACrashLeavesOfAnAnswerFollowsWhatItWasMadeFrom(t *testing.T) {
	for _, ask := range []string{"What of [[Quay]]?", "What of it?"} {
		for _, hidden := range []bool{false, true} {
			dir := t.TempDir()
			near, far := newModel(t), newModel(t)
			h := openOver(t, t, dir, near, far, chat.Limits{})
			h.note(notes.Draft{ID: "quay", Title: "Quay", Body: "wet"})
			id := h.append("", user("hello"), answer("hi"))
			far.says(func(r *provider.Request, to *provider.Reply) {
				if strings.HasSuffix(r.Last(), "of it?") {
					to.Call("read_note", `{"id":"quay"}`)
					return
				}
				before := h.db.Seq()
				to.Text(strings.Repeat("zqlong ", 2_000))
				for end := time.Now().Add(patience); h.db.Seq() == before && time.Now().Before(end); {
					runtime.Gosched()
				}
				h.note(notes.Draft{ID: "quay", Title: "Quay", Body: "wet", Private: hidden})
				must(t, h.db.Close())
			})
			if _, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: id, Text: ask, Provider: "far"}, &heard{}); err == nil {
				t.Fatal("the answer was stored")
			}
			h = openOver(t, t, dir, near, far, chat.Limits{})
			list := h.said(h.local, id)
			if len(list) != 4 || !strings.Contains(list[3].Content, "zqlong") || list[3].Private != hidden {
				t.Fatalf("%s: of %d messages the last is private: %v, want %v", ask, len(list), list[len(list)-1].Private, hidden)
			}
			must(t, h.db.View(t.Context(), func(tx *kv.Tx) error {
				made, err := chat.MadeOf(tx)
				if of := made[chat.Source{Kind: chat.NoteSource, ID: "quay"}][id]; !hidden && !slices.Contains(of, list[3].ID) {
					t.Errorf("%s: of the note is made %q", ask, of)
				}
				return err
			}))
		}
	}
}
