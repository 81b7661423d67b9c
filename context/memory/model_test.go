package memory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// remembered is what the model knows of a memory.
type remembered struct {
	number             int64
	statement, status  string
	tier               string
	private            bool
	version, mentioned int
	supersededBy       string
	supersedes         []string
	contexts           map[string]bool
	said               int // former versions
}

// TestMEM_AsThePlainModel does anything in any order, and compares the store with a model that
// keeps what should be there in a map: before and after it is opened anew.
func TestMEM_AsThePlainModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		w := openIn(t, dir, memory.Limits{})
		defer func() { _ = w.db.Close() }()
		ctx := t.Context()
		model := make(map[string]*remembered)
		var order []string // of the ids
		last := int64(0)
		contexts := map[string]bool{}
		one := func() string {
			return rapid.SampledFrom(append([]string{"none"}, order...)).Draw(rt, "id")
		}
		statement := func() string {
			return "statement " + rapid.SampledFrom([]string{"one", "two", "three", "four", "five"}).Draw(rt, "statement")
		}
		wants := func(err error, kind fault.Kind) {
			if fault.KindOf(err) != kind {
				rt.Fatalf("error %v, want one of kind %v", err, kind)
			}
		}
		found := func(m *remembered) bool {
			return m.status == record.MemoryActive || m.status == record.MemoryContested
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				d := memory.Draft{
					Statement: statement(), Private: rapid.Bool().Draw(rt, "private"),
					Tier: rapid.SampledFrom([]string{record.TierBank, record.TierPatterns}).Draw(rt, "tier"),
				}
				for c := range contexts {
					d.Contexts = append(d.Contexts, c)
				}
				var same string
				for id, m := range model {
					if m.statement == d.Statement && m.tier == d.Tier && m.private == d.Private && (found(m) || m.status == record.MemoryDeprecated) {
						same = id
					}
				}
				list, err := w.mem.Add(ctx, w.local, []memory.Draft{d})
				must(t, err)
				got := list[0]
				if got.Duplicate != (same != "") {
					rt.Fatalf("%q in %s: duplicate is %v", d.Statement, d.Tier, got.Duplicate)
				}
				if got.Duplicate {
					if m := model[got.Memory.ID]; m == nil || m.statement != d.Statement {
						rt.Fatalf("the duplicate is %+v", got.Memory)
					}
					model[got.Memory.ID].mentioned++
					return
				}
				last++
				in := make(map[string]bool)
				for c := range contexts {
					in[c] = true
				}
				model[got.Memory.ID] = &remembered{
					number: last, statement: d.Statement, status: record.MemoryActive, tier: d.Tier,
					private: d.Private, version: 1, contexts: in,
				}
				order = append(order, got.Memory.ID)
			},
			"supersede": func(*rapid.T) {
				id := one()
				old := model[id]
				w.pass(time.Second)
				list, err := w.mem.Add(ctx, w.local, []memory.Draft{{
					Statement: "what holds now, number " + fmt.Sprint(last+1), Supersedes: []string{id}, Tier: record.TierPatterns,
				}})
				switch {
				case old == nil:
					wants(err, fault.NotFound)
					return
				case !found(old):
					wants(err, fault.Conflict)
					return
				}
				must(t, err)
				m := list[0].Memory
				last++
				old.status, old.supersededBy, old.version = record.MemorySuperseded, m.ID, old.version+1
				model[m.ID] = &remembered{
					number: last, statement: m.Statement, status: record.MemoryActive, tier: m.Tier, private: old.private,
					version: 1, supersedes: []string{id}, contexts: map[string]bool{},
				}
				order = append(order, m.ID)
			},
			"say otherwise": func(*rapid.T) {
				id, text := one(), "another "+statement()
				m := model[id]
				_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Statement: &text}, nil)
				switch {
				case m == nil:
					wants(err, fault.NotFound)
					return
				case m.status == record.MemoryRetracted:
					wants(err, fault.Conflict)
					return
				}
				must(t, err)
				if m.statement != text {
					m.said++
				}
				m.statement, m.version = text, m.version+1
			},
			"archive": func(*rapid.T) {
				id := one()
				m := model[id]
				_, err := w.mem.Archive(ctx, w.local, id, nil)
				switch {
				case m == nil:
					wants(err, fault.NotFound)
				case !found(m) && m.status != record.MemoryDeprecated:
					wants(err, fault.Conflict)
				default:
					must(t, err)
					m.status, m.version = record.MemoryArchived, m.version+1
				}
			},
			"restore": func(*rapid.T) {
				id := one()
				m := model[id]
				_, err := w.mem.Restore(ctx, w.local, id, 0, nil)
				switch {
				case m == nil:
					wants(err, fault.NotFound)
				case m.status != record.MemoryArchived:
					wants(err, fault.Conflict)
				default:
					must(t, err)
					m.status, m.version = record.MemoryActive, m.version+1
				}
			},
			"retract": func(*rapid.T) {
				id := one()
				m := model[id]
				_, err := w.mem.Retract(ctx, w.local, id, nil)
				switch {
				case m == nil:
					wants(err, fault.NotFound)
				case m.status == record.MemoryRetracted:
					wants(err, fault.Conflict)
				default:
					must(t, err)
					m.status, m.version = record.MemoryRetracted, m.version+1
				}
			},
			"delete": func(*rapid.T) {
				id, force := one(), rapid.Bool().Draw(rt, "force")
				m := model[id]
				err := w.mem.Delete(ctx, w.local, id, force, nil)
				switch {
				case m == nil:
					wants(err, fault.NotFound)
					return
				case !force && m.status != record.MemoryArchived && m.status != record.MemoryRetracted:
					wants(err, fault.Conflict)
					return
				}
				must(t, err)
				delete(model, id)
				order = slices.DeleteFunc(order, func(have string) bool { return have == id })
				for _, other := range model {
					changed := other.supersededBy == id || slices.Contains(other.supersedes, id)
					if other.supersededBy == id {
						other.supersededBy = ""
					}
					other.supersedes = slices.DeleteFunc(other.supersedes, func(have string) bool { return have == id })
					if changed {
						other.version++
					}
				}
			},
			"context": func(*rapid.T) {
				id := rapid.SampledFrom([]string{"c1", "c2"}).Draw(rt, "context")
				if !contexts[id] {
					_, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{ID: id, Name: "Context " + id}, nil)
					must(t, err)
					contexts[id] = true
					return
				}
				_, unlinked, err := w.mem.DeleteContext(ctx, w.local, id, false)
				must(t, err)
				delete(contexts, id)
				for _, m := range model {
					if m.contexts[id] {
						delete(m.contexts, id)
						unlinked--
					}
				}
				if unlinked != 0 {
					rt.Fatalf("%d more were taken out of %s than belonged to it", unlinked, id)
				}
			},
			"use": func(*rapid.T) {
				id := one()
				n, err := w.mem.Use(ctx, w.local, []string{id})
				must(t, err)
				if (n == 1) != (model[id] != nil) {
					rt.Fatalf("%s was counted %d times", id, n)
				}
			},
			"open anew": func(*rapid.T) {
				ids, now := w.ids, w.now
				must(t, w.db.Close())
				w = openIn(t, dir, memory.Limits{})
				w.ids, w.now = ids, now
			},
			"": func(*rapid.T) { w.compare(rt, model) },
		})
		w.sound()
	})
}

// compare fails when the store has not what a model has.
func (w *world) compare(rt *rapid.T, model map[string]*remembered) {
	list, _, _, err := w.mem.List(w.Context(), w.local, memory.Filter{Status: record.MemoryStatuses}, nil, 1e6)
	must(w, err)
	if len(list) != len(model) {
		rt.Fatalf("%d memories, want %d", len(list), len(model))
	}
	public := 0
	for _, m := range list {
		want := model[m.ID]
		if want == nil {
			rt.Fatalf("%s should not be there", m.ID)
			return // which Fatalf does not say of itself
		}
		in := make(map[string]bool)
		for _, c := range m.Contexts {
			in[c] = true
		}
		got := &remembered{
			number: m.Number, statement: m.Statement, status: m.Status, tier: m.Tier, private: m.Private, version: m.Version,
			mentioned: m.Use.Mentioned, supersededBy: m.SupersededBy, supersedes: m.Supersedes, contexts: in, said: want.said,
		}
		if g, w := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *want); g != w {
			rt.Fatalf("%s is\n%s, want\n%s", m.ID, g, w)
		}
		former, err := w.mem.Versions(w.Context(), w.local, m.ID)
		must(w, err)
		if len(former) != want.said {
			rt.Fatalf("%s has %d former versions, want %d", m.ID, len(former), want.said)
		}
		if _, err := w.mem.Get(w.remote, m.ID); (err == nil) != !m.Private {
			rt.Fatalf("%s, private %v, for a remote reader: %v", m.ID, m.Private, err)
		}
		if !m.Private {
			public++
		}
		if found, err := w.mem.Get(w.local, m.Handle); m.Status != record.MemoryRetracted && (err != nil || found.ID != m.ID) {
			rt.Fatalf("%s is not found by %s: %v", m.ID, m.Handle, err)
		}
	}
	if n := w.mem.Stats(w.remote).Total; n != public {
		rt.Fatalf("a remote reader counts %d, want %d", n, public)
	}
	problems := 0
	must(w, w.db.View(w.Context(), func(tx *kv.Tx) error {
		list, err := memory.Check(tx)
		problems = len(list)
		return err
	}))
	if problems > 0 {
		rt.Fatalf("%d problems", problems)
	}
}
