package memory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

var number = regexp.MustCompile(`"number":\d+,`)

// all is what every reading method tells a remote reader of some memories.
func (w *world) all(refs []string, context string) string {
	w.Helper()
	var b strings.Builder
	tell := func(what string, values ...any) {
		text, err := json.Marshal(values)
		must(w, err)
		fmt.Fprintf(&b, "%s: %s\n", what, number.ReplaceAll(text, nil)) // private memories leave gaps in numbers
	}
	ctx, v := w.Context(), w.remote
	for _, ref := range refs {
		m, err := w.mem.Get(v, ref)
		tell("get "+ref, m, fmt.Sprint(err))
		past, err := w.mem.Versions(ctx, v, ref)
		tell("versions "+ref, past, fmt.Sprint(err))
		ids, wrong := w.mem.Single(v, ref)
		tell("single "+ref, ids, wrong)
	}
	for _, sort := range []string{memory.ByUpdated, memory.ByCreated, memory.ByQuality, memory.ByUse} {
		list, total, more, err := w.mem.List(ctx, v, memory.Filter{Sort: sort}, nil, 50)
		must(w, err)
		tell("list by "+sort, list, total, more)
	}
	for _, status := range record.MemoryStatuses {
		list, total, _, err := w.mem.List(ctx, v, memory.Filter{Status: []string{status}}, nil, 50)
		must(w, err)
		tell("list "+status, list, total)
	}
	for _, f := range []memory.Filter{{Holding: true}, {Pinned: ptr(true)}, {Pinned: ptr(false)}, {Tags: []string{"t"}}} {
		list, total, _, err := w.mem.List(ctx, v, f, nil, 50)
		must(w, err)
		tell("list", list, total)
	}
	tell("stats", w.mem.Stats(v))
	tell("profile", w.mem.Profile(v, memory.MaxProfile))
	known, held, more := w.mem.Standing(v, 50)
	tell("standing", known, held, more)
	tell("seen", w.mem.Seen(v, refs))
	tell("shown", w.mem.Shown(v, refs))
	tell("tagged", w.mem.Group(v, audience.GroupTag, "t"))
	tree, deeper := w.mem.Tree(v, context, 3)
	tell("tree", tree, deeper)
	c, below, n, err := w.mem.GetContext(v, context)
	must(w, err)
	tell("context", c, below, n)
	tell("counted", w.mem.Counted(v, []*memory.Context{c}))
	return b.String()
}

// twoWorlds are two stores that differ by private memories alone.
type twoWorlds struct {
	with, without *world
	context       string
	ids           []string // of the public memories
	private       int      // how many private ones there are
}

func openTwo(t testing.TB) *twoWorlds {
	t.Helper()
	w := &twoWorlds{with: open(t, memory.Limits{}), without: open(t, memory.Limits{}), context: "ctx"}
	for _, of := range []*world{w.with, w.without} {
		_, err := of.mem.PutContext(t.Context(), of.local, memory.ContextDraft{ID: w.context, Name: "Home", Handle: "home_context"}, nil)
		must(t, err)
	}
	for i, kind := range []string{record.MemoryFact, record.MemoryPreference, record.MemoryGoal} {
		id := fmt.Sprint("open", i)
		w.ids = append(w.ids, id)
		_ = w.both(func(of *world) error {
			of.add(memory.Draft{
				ID: id, Handle: fmt.Sprintf("open_memory_%d", i), Statement: fmt.Sprintf("The house has %d rooms.", i+3), Kind: kind,
				Tags: []string{"t"}, Contexts: []string{w.context}, Pinned: i == 1, Tier: record.TierBank,
			})
			return nil
		})
	}
	return w
}

// both does the same in both stores, which must come to the same, and returns what.
func (w *twoWorlds) both(fn func(of *world) error) error {
	w.with.Helper()
	a, b := fn(w.with), fn(w.without)
	if failure(a) != failure(b) {
		w.with.Fatalf("with private memories: %s\nwithout: %s", failure(a), failure(b))
	}
	return a
}

func failure(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return fmt.Sprintf("%v %v %q %q %v", f.Kind, f.Reason, f.Msg, f.Hint, f.Version)
	}
	return fmt.Sprint(err)
}

func (w *twoWorlds) pass() {
	w.with.pass(time.Minute)
	w.without.pass(time.Minute)
}

// same fails unless a remote reader is told the same of both.
func (w *twoWorlds) same(after string) {
	w.with.Helper()
	a, b := w.with.all(w.ids, w.context), w.without.all(w.ids, w.context)
	if a == b {
		return
	}
	was, is := strings.Split(b, "\n"), strings.Split(a, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			w.with.Fatalf("after %s\nwith private memories: %s\nwithout: %s", after, is[i], was[i])
		}
	}
}

func (w *twoWorlds) supersede(id string, private bool) *record.Memory {
	w.private++
	return w.with.add(memory.Draft{
		ID: fmt.Sprint("secret", w.private), Statement: fmt.Sprintf("The secret house has %d rooms.", w.private),
		Supersedes: []string{id}, Private: private,
	})
}

func TestPRIV16_WhatAPrivateMemorySupersedesIsSoForLocalReadersOnly(t *testing.T) {
	w := openTwo(t)
	w.same("the beginning")
	w.pass()
	for _, id := range w.ids {
		secret := w.supersede(id, true)
		w.same("a private memory superseded " + id)
		m := w.with.get(id)
		if m.Status != record.MemorySuperseded || m.SupersededBy != secret.ID || m.ValidTo == nil || m.Version != 2 {
			t.Errorf("a local reader sees %+v", m.MemoryRecord)
		}
	}
	w.with.sound()
	if d := w.with.mem.Profile(w.with.local, 12); len(d) != 0 {
		t.Errorf("a local reader has %d superseded memories in the profile", len(d))
	}
}

func TestPRIV16_ASupersedingIsShownWithWhatSuperseded(t *testing.T) {
	w := openTwo(t)
	w.pass()
	id := w.ids[1]
	secret := w.supersede(id, true)
	w.same("superseding")
	_, err := w.with.mem.Update(t.Context(), w.with.local, memory.Patch{ID: secret.ID, Private: ptr(false)}, nil)
	must(t, err)
	m, err := w.with.mem.Get(w.with.remote, id)
	must(t, err)
	if m.Status != record.MemorySuperseded || m.SupersededBy != secret.ID || m.Version != 2 {
		t.Errorf("after what superseded it was made public, a remote reader sees %+v", m.MemoryRecord)
	}
	_, err = w.with.mem.Update(t.Context(), w.with.local, memory.Patch{ID: secret.ID, Private: ptr(true)}, nil)
	must(t, err)
	w.same("it was made private again")
	must(t, w.with.mem.Delete(t.Context(), w.with.local, secret.ID, true, nil))
	w.same("it was deleted")
	if m := w.with.get(id); m.Status != record.MemorySuperseded {
		t.Errorf("a local reader sees it as %s", m.Status)
	}
	w.with.sound()
}

func TestPRIV16_ADeletedPublicMemoryHasSupersededForAll(t *testing.T) {
	w := open(t, memory.Limits{})
	old := w.say("I live in Bonn.")
	by := w.add(memory.Draft{Statement: "I live in Rome.", Supersedes: []string{old.ID}})
	must(t, w.mem.Delete(t.Context(), w.local, by.ID, true, nil))
	for _, v := range []*audience.View{w.local, w.remote} {
		if m, err := w.mem.Get(v, old.ID); err != nil || m.Status != record.MemorySuperseded || m.Version != 3 {
			t.Errorf("%v, %+v", err, m)
		}
	}
}

// Whatever is done in a store with private memories, a remote reader is told and may do the same as without them.
func TestPRIV16_SupersededMemoriesAreThoseOfAStoreWithoutPrivateOnes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := openTwo(t)
		next := 0
		for range rapid.IntRange(3, 10).Draw(rt, "steps") {
			w.pass()
			id := rapid.SampledFrom(w.ids).Draw(rt, "id")
			what := rapid.SampledFrom([]string{
				"supersede", "supersede", "hide", "delete", "patch", "if", "status", "archive", "restore", "retract", "again", "local", "renew", "bring",
			}).Draw(rt, "what")
			version := ptr(rapid.IntRange(1, 6).Draw(rt, "version"))
			ctx := t.Context()
			secrets := func() (list []string) {
				for i := range w.private {
					if _, err := w.with.mem.Get(w.with.local, fmt.Sprint("secret", i+1)); err == nil {
						list = append(list, fmt.Sprint("secret", i+1))
					}
				}
				return list
			}
			next++
			switch what {
			case "supersede":
				if w.with.get(id).Current() && w.with.get(id).ID == id {
					w.supersede(id, true)
				}
			case "hide": // shown for a moment, and hidden again
				if list := secrets(); len(list) > 0 {
					secret := rapid.SampledFrom(list).Draw(rt, "secret")
					for _, private := range []bool{false, true} {
						_, err := w.with.mem.Update(ctx, w.with.local, memory.Patch{ID: secret, Private: &private}, nil)
						must(t, err)
					}
				}
			case "delete":
				if list := secrets(); len(list) > 0 {
					must(t, w.with.mem.Delete(ctx, w.with.local, rapid.SampledFrom(list).Draw(rt, "secret"), true, nil))
				}
			case "patch":
				_ = w.both(func(of *world) error {
					_, err := of.mem.Update(ctx, of.remote, memory.Patch{ID: id, Statement: ptr(fmt.Sprint("Said anew ", next))}, nil)
					return err
				})
			case "if":
				_ = w.both(func(of *world) error {
					_, err := of.mem.Update(ctx, of.remote, memory.Patch{ID: id, Summary: ptr(fmt.Sprint("Short ", next))}, version)
					return err
				})
			case "status":
				_ = w.both(func(of *world) error {
					_, err := of.mem.Update(ctx, of.remote, memory.Patch{ID: id, Confidence: ptr(float64(next%2) * 0.8)}, nil)
					return err
				})
			case "archive":
				_ = w.both(func(of *world) error { _, err := of.mem.Archive(ctx, of.remote, id, nil); return err })
			case "restore":
				_ = w.both(func(of *world) error { _, err := of.mem.Restore(ctx, of.remote, id, 0, nil); return err })
			case "bring":
				_ = w.both(func(of *world) error { _, err := of.mem.Restore(ctx, of.remote, id, *version, nil); return err })
			case "retract":
				if next%3 == 0 {
					_ = w.both(func(of *world) error { _, err := of.mem.Retract(ctx, of.remote, id, nil); return err })
				}
			case "again": // the same statement
				_ = w.both(func(of *world) error {
					m, err := of.mem.Get(of.remote, id)
					if err != nil {
						return err
					}
					added, err := of.mem.Add(ctx, of.remote, []memory.Draft{{
						ID: fmt.Sprint("again", next), Handle: fmt.Sprint("again_memory_", next), Statement: m.Statement, Tier: m.Tier,
					}})
					if err == nil && !added[0].Duplicate && !slices.Contains(w.ids, added[0].Memory.ID) {
						w.ids = append(w.ids, added[0].Memory.ID)
					}
					return err
				})
			case "local":
				_ = w.both(func(of *world) error {
					_, err := of.mem.Update(ctx, of.local, memory.Patch{ID: id, Tags: &[]string{"t", fmt.Sprint("x", next)}}, nil)
					return err
				})
			case "renew":
				_ = w.both(func(of *world) error {
					_, err := of.mem.Add(ctx, of.remote, []memory.Draft{{
						ID: fmt.Sprint("new", next), Handle: fmt.Sprint("new_memory_", next), Statement: fmt.Sprint("It is ", next), Supersedes: []string{id},
					}})
					if err == nil && !slices.Contains(w.ids, fmt.Sprint("new", next)) {
						w.ids = append(w.ids, fmt.Sprint("new", next))
					}
					return err
				})
			}
			w.same(what + " " + id)
		}
		w.with.sound()
	})
}

func TestPRIV16_NobodyIsToldOfASupersedingThatHeDoesNotSee(t *testing.T) {
	w := open(t, memory.Limits{})
	old := w.say("I live in Bonn.")
	var heard []string
	w.db.OnCommit(func(cs *kv.ChangeSet) {
		shown := memory.ShownChanges(cs, w.remote, w.mem.Stored)
		for _, ch := range cs.Changes {
			if _, now, ok := shown(ch); ok && now != nil {
				heard = append(heard, now.Statement)
			}
		}
	})
	secret := w.add(memory.Draft{Statement: "I live in Rome.", Supersedes: []string{old.ID}, Private: true})
	must(t, w.mem.Delete(t.Context(), w.local, secret.ID, true, nil))
	if len(heard) > 0 {
		t.Errorf("a remote reader hears of %q", heard)
	}
	_, err := w.mem.Update(t.Context(), w.remote, memory.Patch{ID: old.ID, Summary: ptr("Bonn")}, nil)
	must(t, err)
	if len(heard) != 1 {
		t.Errorf("a remote reader hears of %q", heard)
	}
}

// TestPRIV16_ChangesAreToldAsTheReaderSeesThem: also when a private memory has superseded the one that changes long before.
func TestPRIV16_ChangesAreToldAsTheReaderSeesThem(t *testing.T) {
	w := openTwo(t)
	heard := make(map[*world]string)
	for _, of := range []*world{w.with, w.without} {
		of.db.OnCommit(func(cs *kv.ChangeSet) {
			shown := memory.ShownChanges(cs, of.remote, of.mem.Stored)
			for _, ch := range cs.Changes {
				if old, now, ok := shown(ch); ok && slices.Contains(w.ids, ch.ID) {
					heard[of] += fmt.Sprintf("%s: %t to %t\n", ch.ID, old.Live(), now.Live())
				}
			}
		})
	}
	w.supersede("open0", true)
	w.pass()
	for _, step := range []func(of *world) error{
		func(of *world) error { return second(of.mem.Archive(t.Context(), of.remote, "open0", nil)) },
		func(of *world) error { return second(of.mem.Restore(t.Context(), of.remote, "open0", 0, nil)) },
		func(of *world) error {
			return second(of.mem.Update(t.Context(), of.remote, memory.Patch{ID: "open0", Summary: ptr("rooms")}, nil))
		},
	} {
		if err := w.both(step); err != nil {
			t.Fatal(err)
		}
		w.pass()
	}
	if heard[w.with] != heard[w.without] || strings.Count(heard[w.with], "\n") != 3 {
		t.Errorf("with private memories a remote reader hears\n%swithout\n%s", heard[w.with], heard[w.without])
	}
}

func second[T any](_ T, err error) error { return err }

func TestPRIV16_ASupersededMemoryEndsForRemoteReadersAtTheEndOfItsTime(t *testing.T) {
	w := openTwo(t)
	id := "short"
	w.ids = append(w.ids, id)
	_ = w.both(func(of *world) error {
		of.add(memory.Draft{ID: id, Handle: "short_memory_1", Statement: "It rains.", Tier: record.TierWorking})
		return nil
	})
	w.pass()
	w.supersede(id, true)
	w.with.pass(25 * time.Hour)
	w.without.pass(25 * time.Hour)
	for _, of := range []*world{w.with, w.without} {
		_, err := of.mem.Expire(t.Context())
		must(t, err)
	}
	w.same("the end of its time")
	if m, err := w.with.mem.Get(w.with.remote, id); err != nil || m.Status != record.MemoryArchived {
		t.Errorf("%v: %+v", err, m)
	}
	if n, err := w.with.mem.Expire(t.Context()); n != 0 || err != nil {
		t.Errorf("it ended again: %d, %v", n, err)
	}
}
