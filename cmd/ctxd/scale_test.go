package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/facts"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// scale is how large a store is that a person has filled for years.
type scale struct {
	memories, messages int
}

const perTalk = 40 // messages of a conversation

func (s scale) notes() int { return s.memories / 20 }
func (s scale) talks() int { return s.messages / perTalk }

// settings are those of a daemon over such a store.
func (s scale) settings() []string { return []string{fmt.Sprint("memory.bank=", s.memories)} }

// scaleStore returns the folder of a store of a size, which is made once in a process and is not to be changed.
func scaleStore(tb testing.TB, s scale) string {
	tb.Helper()
	prepared.mu.Lock()
	defer prepared.mu.Unlock()
	dir := filepath.Join(benchFolder(tb), fmt.Sprintf("scale-%d-%d-format-%d", s.memories, s.messages, daemon.StoreFormat))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir
	}
	made := dir + ".tmp"
	rooms := openBench(tb, made, config.Records{Memory: memory.Limits{Bank: s.memories}})
	err := errors.Join(s.fill(tb.Context(), rooms), rooms.KV.Snapshot(tb.Context()), rooms.KV.Close(), os.Rename(made, dir))
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// fill writes notes and entities, contexts, memories that name them, and conversations that stand on memories and notes.
// What is said is what the labelled facts and messages say, each with words of its own.
func (s scale) fill(ctx context.Context, rooms *rpc.Deps) error {
	set, err := facts.Load()
	if err != nil {
		return err
	}
	w := &scaleWriter{scale: s, rooms: rooms, view: rooms.Audience.View(audience.Local), set: &set, rng: rand.New(rand.NewPCG(1, 2))}
	for title := range fixtures.StandardTitles(s.notes()) {
		w.titles = append(w.titles, title)
	}
	for thing := range fixtures.StandardThings(s.notes() / 5) {
		w.names = append(w.names, thing.Name)
	}
	w.words = append(w.words, fixtures.StandardQueries(1, 4000)...)
	return cmp.Or(fillStandard(ctx, rooms, s.notes()), w.contexts(ctx), w.memories(ctx), w.talks(ctx))
}

type scaleWriter struct {
	scale
	rooms *rpc.Deps
	view  *audience.View
	set   *facts.Set
	rng   *rand.Rand

	titles, names, words []string
}

// word is one of few or one that is rare.
func (w *scaleWriter) word() string {
	return w.words[min(int(w.rng.ExpFloat64()*float64(len(w.words))/8), len(w.words)-1)]
}

func (w *scaleWriter) contexts(ctx context.Context) error {
	for i := range 50 {
		d := memory.ContextDraft{ID: fmt.Sprint("part-", i), Name: fmt.Sprint("Part of life ", i), Private: i%10 == 9}
		if i >= 10 {
			d.ParentID = fmt.Sprint("part-", i%10)
		}
		if _, err := w.rooms.Memory.PutContext(ctx, w.view, d, nil); err != nil {
			return err
		}
	}
	return nil
}

// statement is one of those of the labelled facts with words of its own, or one about an entity. Each fiftieth says
// what the one before it says, each twentieth another number of the same thing.
func (w *scaleWriter) statement(i int, before string) string {
	name := w.names[w.rng.IntN(len(w.names))]
	switch {
	case i%50 == 49:
		return "By the way, " + before
	case i%20 == 10:
		return fmt.Sprintf("The %s of %s costs %d euros.", w.words[i/20%len(w.words)], w.names[i/20%len(w.names)], 10+i%700)
	case i%20 == 11:
		return fmt.Sprintf("The %s of %s costs %d euros now.", w.words[i/20%len(w.words)], w.names[i/20%len(w.names)], 900+i%700)
	case i%3 == 0:
		return fmt.Sprintf("I met %s about the %s and the %s of %s.", name, w.word(), w.word(), w.word())
	}
	return w.varied(w.set.Memories[w.rng.IntN(len(w.set.Memories))].Statement)
}

func (w *scaleWriter) varied(text string) string {
	return strings.TrimRight(text, ".?! ") + " with the " + w.word() + " and the " + w.word() + "."
}

// scaleTiers are the tiers of each twenty memories: four in five are facts, which upkeep looks at.
var scaleTiers = slices.Concat(
	slices.Repeat([]string{record.TierPatterns}, 14), slices.Repeat([]string{record.TierBank}, 2),
	slices.Repeat([]string{record.TierHistory}, 3), []string{record.TierWorking})

func (w *scaleWriter) memories(ctx context.Context) error {
	var drafts []memory.Draft
	said := "I live by the sea."
	start := time.Now().Add(-3 * 365 * 24 * time.Hour)
	for i := range w.scale.memories {
		said = w.statement(i, said)
		of := w.set.Memories[i%len(w.set.Memories)]
		d := memory.Draft{
			ID: fmt.Sprint("memory-", i), Tier: scaleTiers[i%len(scaleTiers)], Kind: of.Kind, Statement: said, Tags: of.Tags,
			Private: i%20 == 5, CreatedAt: start.Add(time.Duration(i) * 10 * time.Minute),
		}
		if d.Tier == record.TierBank && d.Kind == record.MemoryTakeaway {
			d.Kind = record.MemoryFact
		}
		if i%5 == 0 {
			d.Contexts = []string{fmt.Sprint("part-", i/5%50)}
		}
		drafts = append(drafts, d)
		if len(drafts) == memory.MaxMany || i == w.scale.memories-1 {
			if _, err := w.rooms.Memory.Add(ctx, w.view, drafts); err != nil {
				return err
			}
			drafts = drafts[:0]
		}
	}
	return nil
}

func (w *scaleWriter) talks(ctx context.Context) error {
	start := time.Now().Add(-3 * 365 * 24 * time.Hour)
	for talk := range w.scale.talks() {
		req := chat.AppendRequest{NewID: fmt.Sprint("talk-", talk), Past: true, CreatedAt: start.Add(time.Duration(talk) * 5 * time.Hour), Private: talk%50 == 7}
		req.Title = w.varied(w.set.Questions[talk%len(w.set.Questions)].Text)
		for i := range perTalk {
			text := w.varied(w.set.Messages[w.rng.IntN(len(w.set.Messages))].Text)
			if i%8 == 3 {
				text += " See [[" + w.titles[w.rng.IntN(len(w.titles))] + "]]."
			}
			req.Messages = append(req.Messages, chat.Draft{
				ID: fmt.Sprintf("talk-%d-%d", talk, i), Role: record.Roles[i%2], Content: text, CreatedAt: req.CreatedAt.Add(time.Duration(i) * time.Minute),
			})
		}
		for range 5 {
			req.MemoryIDs = append(req.MemoryIDs, fmt.Sprint("memory-", w.rng.IntN(w.scale.memories)))
		}
		if _, err := w.rooms.Chat.Append(ctx, w.view, req); err != nil {
			return err
		}
	}
	return nil
}

type scaleRead struct{ method, params string }

// scaleReads are calls of every method that reads, with the places of records in them.
var scaleReads = []scaleRead{
	{"admin.connections", ``},
	{"admin.health", ``},
	{"admin.stats", ``},
	{"books.list", ``},
	{"books.search", `{"query":"{words}"}`},
	{"chat.actions", ``},
	{"chat.citations", `{"noteId":"{note}"}`},
	{"chat.export", `{"ref":"{talk}"}`},
	{"chat.follow", `{"conversationId":"{talk}"}`},
	{"chat.get", `{"ref":"{talk}"}`},
	{"chat.graph", ``},
	{"chat.graph", `{"nodes":400,"format":"svg"}`},
	{"chat.highlights", `{"messageId":"{talk}-39"}`},
	{"chat.inspect", `{"conversationId":"{talk}","index":40}`},
	{"chat.list", ``},
	{"chat.list", `{"limit":500}`},
	{"chat.providers", ``},
	{"chat.references", `{"conversationId":"{talk}","index":40}`},
	{"chat.search", `{"query":"{words}"}`},
	{"chat.stats", ``},
	{"chat.stats", `{"since":"30d"}`},
	{"chat.suggest", `{"conversationId":"{talk}"}`},
	{"concepts.get", `{"ref":"{concept}"}`},
	{"concepts.list", ``},
	{"concepts.list", `{"sort":"recent","limit":500}`},
	{"concepts.list", `{"sort":"oldest","since":"2026-01-01T00:00:00Z"}`},
	{"concepts.path", `{"from":"{concept}","to":"roof"}`},
	{"context.assemble", `{"text":"What about {name} and the {words}?"}`},
	{"context.assemble", `{"text":"What about {name} and the {words}?","memories":20,"recall":{"mode":"both"},"conversationId":"{talk}"}`},
	{"context.recent", ``},
	{"contexts.get", `{"ref":"part-3"}`},
	{"contexts.list", ``},
	{"entities.complete", `{"prefix":"{letter}"}`},
	{"entities.get", `{"ref":"thing-1"}`},
	{"entities.list", `{"limit":500}`},
	{"graph.neighbors", `{"ref":"thing-1","depth":4}`},
	{"graph.path", `{"from":"thing-1","to":"thing-7"}`},
	{"graph.stats", ``},
	{"intent.route", `{"text":"/remember I like {words}"}`},
	{"memory.conflicts", ``},
	{"memory.effectiveness", `{"task":"mend the {words}"}`},
	{"memory.events", ``},
	{"memory.events", `{"id":"{memory}"}`},
	{"memory.get", `{"ref":"{memory}"}`},
	{"memory.get", `{"ref":"#{number}"}`},
	{"memory.insights", `{"text":"How do I mend the {words}?","conversationId":"{talk}"}`},
	{"memory.list", ``},
	{"memory.list", `{"sort":"created","limit":500}`},
	{"memory.list", `{"sort":"quality"}`},
	{"memory.list", `{"sort":"use"}`},
	{"memory.list", `{"tags":["work"],"validity":"any","tiers":["patterns"]}`},
	{"memory.list", `{"contexts":["part-3"]}`},
	{"memory.list", `{"entityIds":["thing-1"]}`},
	{"memory.list", `{"status":["contested","superseded"]}`},
	{"memory.profile", ``},
	{"memory.search", `{"query":"{words}"}`},
	{"memory.search", `{"query":"What did I say about the {words} last week?","limit":50,"kinds":["memories","messages"],"explain":true}`},
	{"memory.search", `{"query":"{words}","sort":"recency","tags":["work"]}`},
	{"memory.search", `{"query":"{words}","contexts":["part-3"],"conversationId":"{talk}"}`},
	{"memory.similar", `{"ref":"{memory}"}`},
	{"memory.stats", ``},
	{"memory.versions", `{"ref":"{memory}"}`},
	{"notes.complete", `{"prefix":"{letter}"}`},
	{"notes.get", `{"ref":"{note}"}`},
	{"notes.links", `{"ref":"{note}"}`},
	{"notes.list", `{"limit":500}`},
	{"notes.resolve", `{"link":"[[{title}]]"}`},
	{"notes.search", `{"query":"{words}"}`},
	{"notes.similar", `{"ref":"{note}"}`},
	{"personality.export", `{}`},
	{"personality.list", ``},
	{"privacy.list", ``},
	{"privacy.prose", ``},
	{"refs.complete", `{"prefix":""}`},
	{"refs.complete", `{"prefix":"@{letter}"}`},
	{"refs.complete", `{"prefix":"#1"}`},
	{"refs.complete", `{"prefix":"{letter}","kinds":["tag","domain"]}`},
	{"refs.gather", `{"text":"#{number} and @part_of_life_3_context what about the {words}?"}`},
	{"refs.parse", `{"text":"#{number} and [[{title}]]"}`},
	{"refs.resolve", `{"refs":["#{number}","part-3","{talk}","{name}"]}`},
	{"rpc.discover", ``},
	{"search.explain", `{"ref":"{note}","query":"{words}"}`},
	{"sync.conflicts", ``},
	{"sync.status", ``},
	{"synonyms.list", ``},
	{"tags.list", ``},
	{"tools.list", ``},
	{"tools.call", `{"name":"search_notes","arguments":{"query":"{words}"}}`},
	{"types.get", `{"ref":"Project"}`},
	{"types.list", ``},
	{"vault.history", ``},
	{"vault.list", ``},
	{"wql.check", `{"query":"SELECT p FROM Project"}`},
	{"wql.query", `{"query":"SELECT p FROM Project WHERE p.score > 500"}`},
	{"wql.query", `{"query":"SELECT COUNT(*) FROM vault.Task t WHERE t.done = false"}`},
}

// scaleUnread are methods that read and are not called, with the reason.
var scaleUnread = map[string]string{
	"books.get":            "there are no books",
	"personality.get":      "no personality is active",
	"personality.validate": "it reads no record",
	"vault.checkNote":      "there is no vault",
	"vault.planRename":     "there is no vault",
	"vault.problems":       "there is no vault",
	"vault.status":         "there is no vault",
	"vault.unresolved":     "there is no vault",
}

// asker has the places of records.
type asker struct {
	scale

	titles, names, ids []string // of notes, of entities, of notes
}

func (s scale) asker(tb testing.TB, c *client.Client) *asker {
	tb.Helper()
	a := &asker{scale: s, titles: slices.Collect(fixtures.StandardTitles(s.notes()))}
	for thing := range fixtures.StandardThings(s.notes() / 5) {
		a.names = append(a.names, thing.Name)
	}
	var page protocol.NotePage
	if err := c.Call(tb.Context(), "notes.list", protocol.NoteFilter{Page: protocol.Page{Limit: 50}}, &page); err != nil {
		tb.Fatal(err)
	}
	for _, n := range page.Notes {
		a.ids = append(a.ids, n.ID)
	}
	return a
}

// params returns those of a call, of other records each time.
func (a *asker) params(of string, i int) json.RawMessage {
	talk, mem := i*7919%a.talks(), i*7907%a.memories
	return json.RawMessage(cmp.Or(strings.NewReplacer(
		"{talk}", fmt.Sprint("talk-", talk), "{memory}", fmt.Sprint("memory-", mem), "{number}", fmt.Sprint(mem+1),
		"{words}", fixtures.StandardQueries(1+i%3, 8)[i%8], "{concept}", []string{"garden", "kitchen", "holiday"}[i%3],
		"{letter}", string(rune('a'+i%26)), "{note}", a.ids[i%len(a.ids)], "{title}", a.titles[i%len(a.titles)],
		"{name}", a.names[i%len(a.names)],
	).Replace(of), "{}"))
}

// took is how long the calls of one kind took.
type took struct {
	method, params string
	first, longest time.Duration // of all calls but the first
	cpu            time.Duration // of the daemon, the most that one of these has taken
}

// readAll makes each of the calls a number of times, as a local and as a remote reader.
func readAll(tb testing.TB, p *measured, s scale, audience string, times int) (all []took) {
	tb.Helper()
	c, err := client.Dial(tb.Context(), p.socket, client.Options{Name: "benchmark", Audience: audience})
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	ask := s.asker(tb, c)
	for _, call := range scaleReads {
		if audience == protocol.Remote && protocol.Lookup(call.method).LocalOnly() {
			continue
		}
		t := took{method: call.method, params: call.params}
		for i := range times {
			before, began := p.cpu(tb), time.Now()
			err := c.Call(tb.Context(), call.method, ask.params(call.params, i), nil)
			wait := time.Since(began)
			if i == 0 {
				t.first = wait
			} else {
				t.longest, t.cpu = max(t.longest, wait), max(t.cpu, p.cpu(tb)-before)
			}
			if err != nil && (audience == protocol.Local || fault.KindOf(err) != fault.NotFound) {
				tb.Errorf("%s %s: %v", call.method, ask.params(call.params, i), err)
			}
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(max(b.first, b.longest), max(a.first, a.longest)) })
	return all
}

func longest(all []took) (first, later time.Duration) {
	for _, t := range all {
		first, later = max(first, t.first), max(later, t.longest)
	}
	return first, later
}

// TestREL18_EveryReadIsMeasured makes the calls of the benchmark in a small store, and upkeep of it.
func TestREL18_EveryReadIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for i := range protocol.Methods {
		m := &protocol.Methods[i]
		is := func(name string) bool { return name == m.Name }
		called := slices.ContainsFunc(scaleReads, func(r scaleRead) bool { return is(r.method) })
		if _, left := scaleUnread[m.Name]; (m.Mode == protocol.Read) != (called || left) || called && left {
			t.Errorf("%s is a method of mode %s; called: %v, left out: %v", m.Name, m.Mode, called, left)
		}
	}
	s := scale{1000, 2000}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(scaleStore(t, s))); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, "ctxd", dir, s.settings()...)
	defer p.end(t)
	p.settle(t)
	for _, audience := range []string{protocol.Local, protocol.Remote} {
		if all := readAll(t, p, s, audience, 2); len(all) < 60 {
			t.Errorf("%s: %d calls", audience, len(all))
		}
	}
	var checked protocol.Checked
	if p.call(t, "admin.check", nil, &checked); !checked.OK {
		t.Errorf("%+v", checked)
	}
	var kept, again record.Upkept
	if p.call(t, "memory.upkeep", nil, &kept); kept.Facts < 700 || kept.Total == 0 || kept.Pairs == 0 {
		t.Errorf("upkeep: %d facts, %d changes, %d pairs", kept.Facts, kept.Total, kept.Pairs)
	}
	if p.call(t, "memory.upkeep", nil, &again); again.Total != 0 {
		t.Errorf("upkeep of what has not changed: %+v", again)
	}
}
