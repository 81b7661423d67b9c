package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// reranking is the reranker of rooms that tests open; nil: none.
var reranking embed.Reranker

// outgoing is all that leaves a daemon: to its embedder, its reranker and its provider, none of which is on this machine.
type outgoing struct {
	*embedtest.Bags
	mu   sync.Mutex
	list []string
}

func (o *outgoing) hear(who string, texts ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range texts {
		o.list = append(o.list, who+" "+t)
	}
}

func (o *outgoing) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	o.hear("embedder", texts...)
	return o.Bags.Embed(ctx, p, texts)
}

// take returns what left since the last time.
func (o *outgoing) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

type farReranker struct{ *outgoing }

func (r farReranker) Rerank(_ context.Context, query string, texts []string) ([]float32, error) {
	r.hear("reranker", append([]string{query}, texts...)...)
	return make([]float32, len(texts)), nil
}

func (farReranker) Status() embed.Status {
	return embed.Status{Kind: embed.KindHTTP, State: embed.Ready, Remote: true}
}

func (farReranker) Close() error { return nil }

// leaving is a daemon over records, all of whose servers are on another machine, with what leaves it.
func leaving(t *testing.T, s secrets, records ...string) (*daemon, *outgoing) {
	t.Helper()
	out := &outgoing{Bags: &embedtest.Bags{Remote: true}}
	reranking = farReranker{out}
	t.Cleanup(func() { reranking = nil })
	srv := provider.Start(func(r *provider.Request, to *provider.Reply) {
		out.hear("provider", r.Body)
		to.Text("fine")
	})
	t.Cleanup(srv.Close)
	set, err := llm.NewSet(llm.SetOptions{Default: "far", Providers: []llm.Options{
		{Name: "far", Kind: llm.OpenAI, Base: srv.URL, Model: "m", Key: "none"},
		{Name: "near", Kind: llm.OpenAI, Base: nearby(t), Model: "m", Key: "none", Local: true},
	}})
	must(t, err)
	t.Cleanup(set.Close)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	var ticks atomic.Int64
	rooms, err := roomsOn(db, roomsOptions{Finding: search.Options{Embedder: out}, Now: func() time.Time { return time.Unix(1e9+ticks.Add(1), 0) }})
	must(t, err)
	d := launch(t, rpc.Options{Rooms: rooms, Providers: set})
	conversation := ""
	for _, r := range records {
		for call := range strings.SplitSeq(r, "\n") {
			method, params, _ := strings.Cut(call, " ")
			done := d.do(method, strings.ReplaceAll(s.fillParams(params), "{CHAT}", conversation))
			if method == "chat.append" {
				conversation = fmt.Sprint(at(done, "conversationId"))
			}
		}
	}
	return d, out
}

// nearby is a provider on this machine.
func nearby(t *testing.T) string {
	srv := provider.Start(func(_ *provider.Request, to *provider.Reply) { to.Text("fine") })
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPRIV11_NothingPrivateLeaves calls every method that reads, and chat.send, as a local reader, over records with canaries in every field and every
// form of link, and listens to the embedder, the reranker and the provider.
func TestPRIV11_NothingPrivateLeaves(t *testing.T) {
	const s = secrets("Zqcanary")
	d, out := leaving(t, s, slices.Concat(publicRecords(true), privateRecords(true), ambiguousRecords)...)
	left := func(what string, said string) {
		t.Helper()
		for _, text := range out.take() {
			lower := strings.ToLower(text)
			for at := strings.Index(lower, "zqcanary"); at >= 0; at = strings.Index(lower, "zqcanary") {
				end := at
				for end < len(lower) && lower[end] >= 'a' && lower[end] <= 'z' {
					end++
				}
				// Prose that spells a name without marking it is not known for one (PRIV-10).
				if !strings.Contains(strings.ToLower(said), lower[at:end]) {
					t.Errorf("%s: %q left in %.400s", what, lower[at:end], text)
				}
				lower = lower[end:]
			}
		}
	}
	d.do("admin.reindex", `{"what":"vectors"}`) // the first time some were embedded before what they name was there
	d.until("the vectors", func() bool { return at(d.do("admin.health", `{}`), "index.vectors.pending") != "x" })
	out.take()
	for _, name := range protocol.Names() {
		m := protocol.Lookup(name)
		if m.Daemon || m.WholeStore || m.Mode != protocol.Read && name != "chat.send" { // what changes records would make private ones public
			continue
		}
		for _, params := range attempts[name] {
			params = s.fillParams(params)
			_, _ = d.try(name, params)
			left(name+" "+params, bareIn(params))
		}
	}
}

// bareIn is a text without what is marked in it as a name of a record: prose that spells such a name is not masked, and a handle
// that no record has is prose.
func bareIn(params string) string {
	var b strings.Builder
	for i, part := range strings.Split(params, "[[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "]]")
		}
		for j, more := range strings.Split(part, "@") {
			if j > 0 {
				name, rest, _ := strings.Cut(more, " ")
				if more = rest; strings.HasPrefix(name, "conv_") {
					more = name + " " + rest
				}
			}
			b.WriteString(more + " ")
		}
	}
	return b.String()
}

// TestPRIV11_WhatIsPrivateIsNotAsked: a message that is private, or of a private conversation, is asked of no server that is
// not on this machine; words alone find then, and that is said.
func TestPRIV11_WhatIsPrivateIsNotAsked(t *testing.T) {
	d, out := leaving(t, "", `notes.put {"id":"n","title":"Public","body":"scales of the fish"}`, `memory.add {"id":"m","statement":"I weigh the fish"}`,
		`notes.put {"id":"p","title":"Zqsecret","body":"x","private":true}`)
	d.until("the vectors", func() bool {
		return len(d.do("notes.search", `{"query":"fish","mode":"semantic"}`)["hits"].([]any)) > 0
	})
	hidden := d.do("chat.put", `{"private":true}`)["id"].(string)
	open := d.do("chat.put", `{}`)["id"].(string)
	mixed := d.do("chat.append", `{"messages":[{"role":"user","content":"What about the scales?"},{"role":"user","content":"The Zqword scales?","private":true}]}`)["conversationId"].(string)
	named := d.do("chat.append", `{"messages":[{"role":"user","content":"What about [[Zqsecret]]?"}]}`)["conversationId"].(string)
	d.do("notes.put", `{"id":"w","title":"Zqwords","body":"Zqword","private":true}`)
	out.take()
	for _, call := range []string{
		`context.assemble {"text":"and why?","conversationId":"` + mixed + `","audience":"local","searchNotes":3,"memories":5}`,
		`context.assemble {"text":"and why is it of the fish?","conversationId":"` + named + `","audience":"local","searchNotes":3,"memories":5}`,
		`context.assemble {"text":"and why?","history":[{"role":"user","text":"What about [[Zqsecret]] and @Zqsecret?"}],"audience":"local","searchNotes":3,"memories":5}`,
		`chat.send {"stream":false,"provider":"near","private":true,"text":"Zqword about the fish"}`,
		`chat.send {"stream":false,"provider":"near","conversationId":"` + hidden + `","text":"Zqword about the fish"}`,
		`context.assemble {"text":"Zqword about the fish","conversationId":"` + hidden + `","audience":"local","searchNotes":3,"memories":5}`,
		`refs.gather {"text":"Zqword about the fish","conversationId":"` + hidden + `","audience":"local"}`,
		`memory.search {"query":"Zqword about the fish","conversationId":"` + hidden + `"}`,
		`memory.search {"query":"Zqword about the fish","inConversation":"` + hidden + `"}`,
		`chat.search {"query":"Zqword about the fish","conversationId":"` + hidden + `"}`,
		`books.search {"query":"Zqword about the fish","conversationId":"` + hidden + `"}`,
		`refs.gather {"text":"Zqword about the fish","conversationId":"` + hidden + `"}`,
		`context.assemble {"text":"Zqword about the fish","conversationId":"` + hidden + `","searchNotes":3,"memories":5}`,
		`memory.search {"query":"Zqword about the fish","conversationId":"` + hidden + `","audience":"remote"}`,
		`context.assemble {"text":"What says [[Zqsecret]] and @Zqsecret of the fish?","audience":"local","searchNotes":3,"memories":5}`,
		`notes.search {"query":"[[Zqsecret]] of the fish"}`,
		`memory.search {"query":"ctxd://note/p says of the fish"}`,
		`notes.search {"query":"Zqsecret"}`,
	} {
		method, params, _ := strings.Cut(call, " ")
		got := d.do(method, params)
		if method != "chat.send" && strings.Contains(params, hidden) {
			text, _ := json.Marshal(got)
			if method == "memory.search" && !strings.Contains(string(text), "is private, and the embedder is on another machine") {
				t.Errorf("%s: nothing says that words alone were asked: %.600s", call, text)
			}
		}
		for _, text := range out.take() {
			if strings.Contains(strings.ToLower(text), "zq") || strings.Contains(text, "note/p") {
				t.Errorf("%s: %.300s", call, text)
			}
		}
	}
	d.do("context.assemble", `{"text":"What of the other fish?","conversationId":"`+open+`","audience":"local","searchNotes":3}`)
	if len(out.take()) == 0 {
		t.Error("a public question is not asked either")
	}
}
