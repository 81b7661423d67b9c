package background_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// script is how the model answers.
type script = func(r *provider.Request, to *provider.Reply)

// house is a store with memories, and what makes prompts of them with a model that distils.
type house struct {
	*testing.T
	memory        *memory.Store
	chat          *chat.Store
	prompts       *gather.Gatherer
	providers     *llm.Set
	local, remote *audience.View
	server        *provider.Server
	found         found

	mu     sync.Mutex
	script script
}

// found answers a search with the memories of ids and the messages that a test names.
type found struct {
	h        *house
	ids      []string
	messages []recall.Hit
}

func (f *found) Search(_ context.Context, v *audience.View, _ recall.Request) (*recall.Result, error) {
	res := &recall.Result{}
	for _, m := range f.h.memory.Shown(v, f.ids) {
		if m != nil {
			res.Hits = append(res.Hits, recall.Hit{ID: m.ID, Memory: m})
		}
	}
	res.Hits = append(res.Hits, f.messages...)
	return res, nil
}

// options are what a house is built with.
type options struct {
	local  bool // the model is
	key    string
	budget llm.Budget
	limit  time.Duration // of the model; 0: patience
}

// hurried is time as providers see it, without pauses between tries.
var hurried = llm.Timing{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}

func build(t *testing.T, o options) *house {
	t.Helper()
	h := &house{T: t}
	h.found.h = h
	h.server = provider.Start(func(r *provider.Request, to *provider.Reply) {
		h.mu.Lock()
		answer := h.script
		h.mu.Unlock()
		answer(r, to)
	})
	t.Cleanup(h.server.Close)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	h.must(err)
	t.Cleanup(func() { _ = db.Close() })
	var engine *wql.Engine
	ents, err := entities.Open(db, entities.Options{CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic {
		return engine.CheckField(ty, f)
	}})
	h.must(err)
	engine = wql.New(ents, wql.Options{})
	ns, err := notes.Open(db, ents, notes.Options{})
	h.must(err)
	db.OnCommit(engine.Apply)
	seen := audience.Open(db, audience.Stores{Entities: ents, Notes: ns, WQL: engine, Graph: graph.Open(db, ents, ns, engine)})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	pins := new(chat.Pins)
	h.memory, err = memory.Open(db, memory.Options{
		Entity: entities.EntityRecords.Has, Conversation: chat.State, HandleTaken: chat.HasHandle,
		Deleted: pins.Unpin,
	})
	h.must(err)
	h.chat, err = chat.Open(db, chat.Options{
		Pins: pins, Memories: h.memory, Remote: h.remote,
	})
	h.must(err)
	h.must(db.Mended())
	if o.key == "" {
		o.key = "none"
	}
	h.providers, err = llm.NewSet(llm.SetOptions{Budget: o.budget, Time: hurried, Providers: []llm.Options{
		{Name: "cheap", Kind: llm.OpenAI, Base: h.server.URL, Model: "large", Key: o.key, Local: o.local},
	}})
	h.must(err)
	t.Cleanup(h.providers.Close)
	d, err := background.NewDistiller(background.DistillerOptions{Providers: h.providers, Provider: "cheap", Model: "small/1", Prompts: prompts.BuiltIn()})
	h.must(err)
	if o.limit == 0 {
		o.limit = patience
	}
	h.prompts = gather.Open(db, seen, gather.Options{
		Refs:     gather.NewResolver(gather.ResolverOptions{Memories: h.memory, Conversation: h.chat.Handled, Message: h.chat.Referred}),
		Memories: h.memory, Finder: &h.found, Conversations: h.chat, Distiller: d, DistillTime: o.limit,
	})
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// says has the model answer by a script.
func (h *house) says(s script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script = s
}

// texts are what the model was asked about, by their refs, in its last question.
func (h *house) texts() map[string]string {
	h.Helper()
	list := h.server.Requests()
	if len(list) == 0 {
		h.Fatal("the model was not asked")
	}
	return textsOf(&list[len(list)-1])
}

func textsOf(r *provider.Request) map[string]string {
	texts := map[string]string{}
	for part := range strings.SplitSeq(r.Last(), `<item ref="`) {
		ref, rest, ok := strings.Cut(part, "\">\n")
		text, _, whole := strings.Cut(rest, "\n</item>")
		if ok && whole {
			texts[ref] = text
		}
	}
	return texts
}

// excerpt is what a model keeps of a text.
type excerpt struct {
	Ref  string `json:"ref"`
	Text string `json:"text"`
}

// keeping is a model that shortens the texts that have an entry, and leaves the others out.
func keeping(short map[string]string) script {
	return func(r *provider.Request, to *provider.Reply) {
		list := []excerpt{}
		for ref, text := range textsOf(r) {
			if kept, ok := short[text]; ok {
				list = append(list, excerpt{ref, kept})
			}
		}
		out, err := json.Marshal(list)
		if err != nil {
			panic(err)
		}
		to.Text(string(out[:len(out)/2]), string(out[len(out)/2:]))
	}
}

func (h *house) add(m memory.Draft) *record.Memory {
	h.Helper()
	out, err := h.memory.Add(h.Context(), h.local, []memory.Draft{m})
	h.must(err)
	return out[0].Memory
}

// params are those of a prompt that has all that was added.
func params(text string) prompt.Params { return prompt.Params{Text: text, Memories: 10} }

// assemble makes a prompt, and with it the one that is not distilled.
func (h *house) assemble(v *audience.View, p prompt.Params) (res, plain *prompt.Result) {
	h.Helper()
	by := gather.Readers{Prompt: v, Report: h.local}
	plain, err := h.prompts.Preview(h.Context(), by, p)
	h.must(err)
	res, text, err := h.prompts.AssembleThen(h.Context(), by, p, func() error { return nil })
	h.must(err)
	if text != plain.System {
		h.Errorf("without the model the text is said to be\n%s\nand is\n%s", text, plain.System)
	}
	return res, plain
}

// stage is what a report says of the distillation; nil for nothing.
func stage(res *prompt.Result) *prompt.Stage {
	for i := range res.Report.Stages {
		if res.Report.Stages[i].Name == gather.DistillStage {
			return &res.Report.Stages[i]
		}
	}
	return nil
}

// by are readers of this machine.
func by(h *house) gather.Readers { return gather.Readers{Prompt: h.local, Report: h.local} }
