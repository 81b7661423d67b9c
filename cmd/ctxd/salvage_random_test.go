package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// known is all that a store answers of memories, former versions, contexts, synonyms, conversations and messages, each
// by its kind and id.
type known map[string]string

// chapter is what a store knows after a call.
type chapter struct {
	after uint64 // the last transaction of the call
	known known
}

// saga is the life of a store: what it knew after each call.
type saga struct {
	*openStore
	rng      *rand.Rand
	n        int
	chapters []chapter
}

// knows asks for everything. What says of a record that it is indexed comes later, and is left out.
func (s *openStore) knows() known {
	s.t.Helper()
	k := make(known)
	keep := func(kind, id string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			s.t.Fatal(err)
		}
		k[kind+" "+id] = string(text)
	}
	for _, m := range s.memories() {
		m.Indexed = ""
		keep("memory", m.ID, m)
		var before protocol.MemoryVersions
		s.read(s.must("memory.versions", `{"ref":"`+m.ID+`"}`), &before)
		keep("versions", m.ID, before)
	}
	var tree protocol.ContextList
	s.read(s.must("contexts.list", `{"tree":true}`), &tree)
	for _, c := range tree.Contexts {
		keep("context", c.ID, c)
	}
	var sets protocol.SynonymsList
	s.read(s.must("synonyms.list", `{}`), &sets)
	for _, set := range sets.Synonyms {
		keep("synonyms", set.ID, set)
	}
	for _, c := range s.conversations() {
		keep("conversation", c.ID, c)
		for _, m := range s.messagesOf(c) {
			keep("message", m.ID, m)
		}
	}
	return k
}

// one of a list, which may be empty.
func (g *saga) one(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return list[g.rng.IntN(len(list))]
}

// ids are those of a kind that are known by now.
func (g *saga) idsOf(kind string) (list []string) {
	for key := range g.chapters[len(g.chapters)-1].known {
		if id, ok := strings.CutPrefix(key, kind+" "); ok {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// step makes one call, which may be refused, and writes down what the store knows then.
func (g *saga) step() {
	g.t.Helper()
	g.n++
	memory, talk := g.one(g.idsOf("memory")), g.one(g.idsOf("conversation"))
	words := []string{"hive", "skep", "bee house", "honey", "nectar"}
	yes := func() bool { return g.rng.IntN(4) == 0 }
	said := func() []protocol.ChatMessageDraft {
		return []protocol.ChatMessageDraft{
			{Role: record.RoleUser, Content: fmt.Sprintf("Message %d %s", g.n, strings.Repeat("words ", g.rng.IntN(30))), Private: yes()},
			{Role: record.RoleAssistant, Content: fmt.Sprintf("Answer %d", g.n)},
		}
	}
	draft := protocol.MemoryDraft{
		ID: fmt.Sprintf("m%d", g.n), Statement: fmt.Sprintf("I know thing %d", g.n), Private: yes(),
		Tags: []string{"things"}, Tier: record.Tiers[g.rng.IntN(len(record.Tiers))],
	}
	switch g.rng.IntN(20) {
	case 0, 1:
		if contexts := g.idsOf("context"); len(contexts) > 0 {
			draft.Contexts = []string{g.one(contexts)}
		}
		g.ask("memory.add", draft)
	case 2:
		draft.Source = &protocol.MemorySourceDraft{Kind: "extraction", ConversationID: talk}
		g.ask("memory.add", draft)
	case 3:
		draft.Supersedes = []string{memory}
		g.ask("memory.add", draft)
	case 4, 5:
		text := fmt.Sprintf("I know better since %d", g.n)
		g.ask("memory.patch", protocol.MemoryPatch{ID: memory, Statement: &text})
	case 6, 7:
		g.ask("memory.use", protocol.MemoryUse{IDs: []string{memory}})
	case 8:
		g.ask("memory.archive", protocol.ByID{ID: memory})
	case 9:
		g.ask("memory.delete", protocol.MemoryDelete{ID: memory, Force: true})
	case 10:
		parent := ""
		if contexts := g.idsOf("context"); len(contexts) > 0 {
			parent = g.one(contexts)
		}
		g.ask("contexts.put", protocol.ContextPut{ID: fmt.Sprintf("c%d", g.n), Name: fmt.Sprintf("Context %d", g.n), ParentID: parent, Private: yes()})
	case 11:
		g.ask("contexts.link", protocol.ContextLink{ID: g.one(g.idsOf("context")), MemoryIDs: []string{memory}})
	case 12:
		g.ask("synonyms.put", protocol.SynonymsPut{Words: []string{words[g.rng.IntN(3)], words[2+g.rng.IntN(3)], fmt.Sprint("word", g.n)}, Private: yes()})
	case 13, 14:
		g.ask("chat.append", protocol.ChatAppend{Title: fmt.Sprintf("Talk %d", g.n), Messages: said(), Private: yes()})
	case 15, 16, 17:
		g.ask("chat.append", protocol.ChatAppend{ConversationID: talk, Messages: said()})
	case 18:
		g.ask("refs.rename", map[string]any{"ref": "@" + g.handleOfMemory(memory), "handle": fmt.Sprintf("handle_%d", g.n)})
	case 19:
		switch g.rng.IntN(3) {
		case 0:
			g.ask("chat.archive", protocol.ByID{ID: talk})
		case 1:
			private := true
			g.ask("chat.patch", protocol.ChatPatch{ID: talk, Private: &private})
		default:
			g.ask("chat.delete", protocol.ChatID{ID: talk})
		}
	}
	g.chapters = append(g.chapters, chapter{g.rooms.KV.Status().Seq, g.knows()})
}

// handleOfMemory returns its handle, "none" without it.
func (g *saga) handleOfMemory(id string) string {
	var m record.Memory
	text, ok := g.chapters[len(g.chapters)-1].known["memory "+id]
	if !ok {
		return "none"
	}
	g.read(json.RawMessage(text), &m)
	return m.Handle
}

// lives returns the saga of a new store, by a seed.
func lives(t *testing.T, dir string, seed uint64, steps int, between func(g *saga)) *saga {
	t.Helper()
	g := &saga{openStore: openGolden(t, dir), rng: rand.New(rand.NewPCG(seed, 500))}
	g.chapters = []chapter{{g.rooms.KV.Status().Seq, g.knows()}}
	for range steps {
		g.step()
		if between != nil {
			between(g)
		}
	}
	return g
}

// untouched are the records that no lost transaction has changed, with what is known of them.
func (g *saga) untouched(lost map[uint64]bool) known {
	last := g.chapters[len(g.chapters)-1].known
	left := make(known)
	for key, text := range last {
		left[key] = text
	}
	for i := 1; i < len(g.chapters); i++ {
		was, is := g.chapters[i-1], g.chapters[i]
		hit := false
		for seq := was.after + 1; seq <= is.after; seq++ {
			hit = hit || lost[seq]
		}
		if !hit {
			continue
		}
		for key, text := range is.known {
			if was.known[key] != text {
				delete(left, key)
			}
		}
	}
	return left
}

// span is where a transaction lies in a journal.
type span struct {
	seq      uint64
	from, to int
}

// spansOf returns the transactions of a journal.
func spansOf(data []byte) (list []span) {
	for at := journalHeader; at < len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+recordSize:]))
		list = append(list, span{binary.LittleEndian.Uint64(data[at+8:]), at, at + recordHeader + size})
		at = list[len(list)-1].to
	}
	return list
}

// asPrivate is a record as it is once it is taken for private: what stems from a conversation whose record is gone, or
// whose last change is, may be so.
func asPrivate(text string) string {
	return strings.Replace(text, `"private":false`, `"private":true`, 1)
}

// without is a memory as it is once contexts are gone that it belongs to.
func (s *openStore) without(text string, now known) string {
	s.t.Helper()
	var m record.Memory
	s.read(json.RawMessage(text), &m)
	m.Contexts = slices.DeleteFunc(m.Contexts, func(id string) bool { return now["context "+id] == "" })
	left, err := json.Marshal(&m)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(left)
}

// wantKept checks that records are as they were, or private on the safe side, and that memories belong to what is left
// of their contexts.
func (s *openStore) wantKept(want known) {
	s.t.Helper()
	got := s.knows()
	for key, text := range want {
		if strings.HasPrefix(key, "memory ") {
			text = s.without(text, got)
		}
		if is := got[key]; is != text && is != asPrivate(text) {
			s.t.Errorf("%s was %s\nand is %s", key, text, is)
		}
	}
}

// goesOnWriting writes to all that is there, and then everything fits together still. damaged is a file whose damage
// no start has met, as it reads the newest snapshot alone: admin.check tells of it; "" for none.
func (s *openStore) goesOnWriting(damaged string) {
	s.t.Helper()
	s.wantFitting()
	s.wantHidden()
	s.writeMemories()
	s.writeConversations()
	s.wantFitting()
	var checked protocol.Checked
	s.read(s.must("admin.check", `{}`), &checked)
	tells := slices.ContainsFunc(checked.Problems, func(p string) bool { return strings.HasPrefix(p, damaged+" is damaged") })
	if checked.OK != (damaged == "") || tells != (damaged != "") || len(checked.Drift) > 0 {
		s.t.Errorf("admin.check: %+v, want damage of %q", checked, damaged)
	}
}

// damages is how often a test of random damage damages something.
func damages(quick, short, full int) int {
	if !campaign.Runs() {
		return quick
	}
	return campaign.Figure(short, full)
}

// TestREL4_RandomFlipsUnderMemoriesAndConversations flips random bits of the journal of a store of memories and
// conversations. What was lost is told, everything fits together, is mended where it has to be, and takes writes; each
// record that no damaged transaction has changed is as it was.
func TestREL4_RandomFlipsUnderMemoriesAndConversations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	rng := rand.New(rand.NewPCG(16, 4))
	const each = 8 // damages of one store
	for round := range (damages(4, 16, 1000) + each - 1) / each {
		whole := filepath.Join(t.TempDir(), "whole")
		g := lives(t, whole, uint64(round), 70, nil)
		g.close()
		name, _ := journalOf(t, whole)
		data, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		list := spansOf(data)
		for i := range min(each, damages(4, each, each)) {
			t.Run(fmt.Sprintf("%d,%d", round, i), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data")
				copyFiles(t, whole, dir)
				hit, lost := slices.Clone(data), make(map[uint64]bool)
				for range 1 + rng.IntN(4) {
					bit := 8*journalHeader + rng.IntN(8*(len(data)-journalHeader))
					hit[bit/8] ^= 1 << (bit % 8)
					for _, sp := range list {
						if bit/8 >= sp.from && bit/8 < sp.to {
							lost[sp.seq] = true
						}
					}
				}
				if err := os.WriteFile(filepath.Join(dir, name), hit, 0o600); err != nil {
					t.Fatal(err)
				}
				s := openGolden(t, dir)
				defer s.close()
				if st := s.rooms.KV.Status(); st.Mode != "read-write" || st.Recovered.Lost != uint64(len(lost)) {
					t.Fatalf("%d transactions are damaged, and the store says %+v", len(lost), st)
				}
				s.wantKept(g.untouched(lost))
				s.goesOnWriting("")
			})
		}
	}
}

// TestREL2_RandomCutsUnderMemoriesAndConversations cuts the journal of a store of memories and conversations at random
// places, as a power cut does with a daemon that was not stopped: what comes behind is not there, or is zeros. What was
// acknowledged before is there to the letter, and nothing else.
func TestREL2_RandomCutsUnderMemoriesAndConversations(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 2))
	const each = 8 // cuts of one store
	for round := range (damages(4, 16, 1000) + each - 1) / each {
		dir, whole := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "whole")
		g := lives(t, dir, 1000+uint64(round), 70, nil)
		copyFiles(t, dir, whole) // as it is while it runs
		g.close()
		name, _ := journalOf(t, whole)
		data, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		list := spansOf(data)
		for i := range min(each, damages(4, each, each)) {
			t.Run(fmt.Sprintf("%d,%d", round, i), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data")
				copyFiles(t, whole, dir)
				at := list[0].to + rng.IntN(len(data)-list[0].to)
				cut := slices.Clone(data[:at])
				if rng.IntN(2) == 0 {
					cut = append(cut, make([]byte, min(len(data)-at, 1+rng.IntN(4096)))...)
				}
				last := uint64(0)
				for _, sp := range list {
					if sp.to <= at {
						last = sp.seq
					}
				}
				if err := os.WriteFile(filepath.Join(dir, name), cut, 0o600); err != nil {
					t.Fatal(err)
				}
				s := openGolden(t, dir)
				defer s.close()
				if st := s.rooms.KV.Status(); st.Mode != "read-write" || st.Recovered.Lost != 0 || st.Seq < last {
					t.Fatalf("transaction %d is the last whole one, and the store says %+v", last, st)
				}
				s.wantAsAfter(g, last)
				s.goesOnWriting("")
			})
		}
	}
}

// wantAsAfter checks that all is as it was after a transaction, where a call ended with it.
func (s *openStore) wantAsAfter(g *saga, last uint64) {
	s.t.Helper()
	for i := len(g.chapters) - 1; i >= 0; i-- {
		c := &g.chapters[i]
		if c.after != last {
			continue
		}
		got := s.knows()
		for key := range got {
			if _, ok := c.known[key]; !ok {
				s.t.Errorf("%s is there, and was not after transaction %d", key, last)
			}
		}
		for key, text := range c.known {
			if got[key] != text {
				s.t.Errorf("%s was %s\nand is %s", key, text, got[key])
			}
		}
		return
	}
}

// TestREL4_RandomFlipsInASnapshotOfMemories flips random bits of one of two snapshots of a store of memories and
// conversations: the other one and the journal behind it have everything.
func TestREL4_RandomFlipsInASnapshotOfMemories(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 44))
	whole := filepath.Join(t.TempDir(), "whole")
	g := lives(t, whole, 77, 70, func(g *saga) {
		if g.n == 30 || g.n == 60 {
			g.snapshot()
		}
	})
	g.close()
	snapshots, err := filepath.Glob(filepath.Join(whole, "snapshot-*"))
	if err != nil || len(snapshots) != 2 {
		t.Fatalf("snapshots %q, %v", snapshots, err)
	}
	for i := range damages(4, 10, 400) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			copyFiles(t, whole, dir)
			file := filepath.Join(dir, filepath.Base(snapshots[i%2]))
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
			}
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openGolden(t, dir)
			defer s.close()
			if st := s.rooms.KV.Status(); st.Mode != "read-write" || st.Recovered.Lost != 0 {
				t.Fatalf("a snapshot is damaged, and the store says %+v", st)
			}
			s.wantAsAfter(g, g.chapters[len(g.chapters)-1].after)
			damaged := ""
			if i%2 == 0 { // of the older one
				damaged = filepath.Base(file)
			}
			s.goesOnWriting(damaged)
		})
	}
}
