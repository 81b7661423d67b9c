package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Where records begin in a journal, and the parts of their headers that say so;
// entities/kv/disk/doc.go draws them.
const (
	journalHeader = 32
	recordHeader  = 44
	recordSize    = 32 // offset of the size of the payload
)

// TestREL4_RoomsWithoutOneTransaction damages each transaction of a journal in
// turn in a full campaign, one in twenty otherwise, one in five in a short one. What is left has holes: notes without their entities, entities without
// their types, paths of notes that are not there. All rooms must open over it,
// answer, and take writes.
func TestREL4_RoomsWithoutOneTransaction(t *testing.T) {
	campaign.Only(t)
	whole, vault := filepath.Join(t.TempDir(), "whole"), t.TempDir()
	if err := fixtures.CopyVault(vault); err != nil {
		t.Fatal(err)
	}
	again := protocol.VaultImport{Path: vault, Name: "Combwright"}
	s := openGolden(t, whole)
	s.putSeparately()
	s.ask("vault.import", again)
	s.change()
	s.changeMore()
	s.talkOn()
	s.close()
	journal, records := journalOf(t, whole)
	if len(records) < 30 {
		t.Fatalf("the journal has %d transactions only", len(records))
	}
	for i := 0; i < len(records); i += damages(20, 5, 1) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			copyFiles(t, whole, dir)
			damage(t, filepath.Join(dir, journal), records[i])
			s := openGolden(t, dir)
			defer s.close()
			if st := s.rooms.KV.Status(); st.Mode != "read-write" || st.Recovered.Lost != 1 || st.Seq+1 < uint64(len(records)) {
				t.Fatalf("of %d transactions one is damaged, and the store says %+v", len(records), st)
			}
			s.wantFitting()
			s.wantHidden()
			s.askAll()
			s.writeAll()
			s.ask("vault.import", again) // it mends what came from there
			s.askAll()
			s.wantFitting()
		})
	}
}

// TestREL4_MendedByALaterStart damages a transaction of a conversation and has the store opened without its
// rooms, as a command does that makes a backup, or a daemon that is killed at once. The loss is told to that
// one, and yet the next start of the rooms mends what does not fit together.
func TestREL4_MendedByALaterStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openGolden(t, dir)
	s.importVault()
	s.change()
	s.talkOn()
	s.close()
	journal, records := journalOf(t, dir)
	damage(t, filepath.Join(dir, journal), records[len(records)-6]) // what is said of the last week
	db, err := kv.Open(dir, daemon.StoreOptions(config.Store{}))
	if err != nil {
		t.Fatal(err)
	}
	lost := db.Status().Recovered.Lost
	if err := db.Close(); err != nil || lost != 1 {
		t.Fatalf("%d transactions lost, %v", lost, err)
	}
	s = openGolden(t, dir)
	defer s.close()
	s.wantFitting()
	gone := 0
	for _, c := range s.conversations() {
		s.messagesOf(c)
		gone += c.Lost
	}
	if gone != 2 {
		t.Errorf("%d messages are lost, want 2", gone)
	}
	if s.rooms.KV.Unmended() {
		t.Error("the records fit together, and nobody has said so")
	}
}

// journalOf returns the name of the only segment and where the payloads of its
// records lie.
func journalOf(t *testing.T, dir string) (name string, payloads [][2]int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "journal-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("segments %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := journalHeader; at < len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+recordSize:]))
		payloads = append(payloads, [2]int{at + recordHeader, size})
		at += recordHeader + size
	}
	return filepath.Base(files[0]), payloads
}

// damage flips a bit in the middle of a payload.
func damage(t *testing.T, file string, payload [2]int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		data[payload[0]+payload[1]/2] ^= 1
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// putSeparately writes some notes of the sample vault, each in a transaction of its
// own: with their entities and types, and links between them.
func (s *openStore) putSeparately() {
	s.t.Helper()
	err := fs.WalkDir(fixtures.Vault(), ".", func(name string, entry fs.DirEntry, err error) error {
		folder, _, _ := strings.Cut(name, "/")
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" || !slices.Contains([]string{"People", "Projects", "Teams", "Decisions"}, folder) {
			return err
		}
		body, err := fs.ReadFile(fixtures.Vault(), name)
		if err != nil {
			return err
		}
		params, err := json.Marshal(protocol.NotePut{NoteRecord: protocol.NoteRecord{Body: string(body), Path: name}})
		if err != nil {
			return err
		}
		s.must("notes.put", string(params))
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// ask calls a method that may refuse, but must not break.
func (s *openStore) ask(method string, params any) {
	s.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	if r := s.call(method, text); r.Code == protocol.CodeInternal || r.Code == protocol.CodeInvalidParams {
		s.t.Errorf("%s %s: code %d", method, text, r.Code)
	}
}

// askAll asks for everything that there is.
func (s *openStore) askAll() {
	s.t.Helper()
	var ids []string
	for n := range s.rooms.Notes.All() {
		ids = append(ids, n.ID)
	}
	for _, id := range ids {
		s.ask("notes.get", protocol.NoteGet{Ref: id})
		s.ask("notes.links", protocol.NoteRef{Ref: id})
	}
	var mentioned, all []string
	for e := range s.rooms.Entities.All() {
		all = append(all, e.ID)
		mentioned = append(mentioned, "@["+e.Name+"]")
	}
	for _, id := range all {
		s.ask("entities.get", protocol.EntityGet{Ref: id, Resolve: graph.MaxResolve})
		s.ask("graph.neighbors", protocol.GraphNeighbors{Ref: id, Depth: 2})
	}
	s.ask("notes.list", protocol.NoteFilter{})
	s.ask("notes.search", protocol.NoteSearch{Query: "alice project"})
	s.ask("notes.complete", protocol.NoteComplete{Prefix: "a"})
	s.ask("notes.resolve", protocol.NoteResolve{Link: "Project Alpha"})
	s.ask("tags.list", protocol.TagFilter{})
	s.ask("entities.list", protocol.EntityFilter{})
	s.ask("graph.stats", protocol.Empty{})
	s.ask("vault.list", protocol.Empty{})
	for _, t := range s.rooms.Entities.Types() {
		s.ask("wql.query", protocol.WQLQuery{Query: "SELECT p FROM " + t.Name + " p"})
		s.ask("entities.list", protocol.EntityFilter{Type: t.Name})
	}
	for _, m := range s.memories() {
		s.ask("memory.get", protocol.MemoryRef{Ref: m.ID})
		s.ask("memory.get", protocol.MemoryRef{Ref: m.Handle})
		s.ask("memory.versions", protocol.MemoryRef{Ref: m.ID})
	}
	s.ask("memory.profile", protocol.MemoryProfile{})
	s.ask("memory.stats", protocol.ReadAll{})
	s.ask("memory.search", protocol.MemorySearch{Query: "hives of bees"})
	s.ask("synonyms.list", protocol.ReadAll{})
	s.ask("contexts.list", protocol.ContextFilter{Tree: true})
	for _, c := range s.conversations() {
		s.ask("chat.get", protocol.ChatGet{Ref: c.ID})
		s.ask("chat.get", protocol.ChatGet{Ref: c.Handle})
	}
	s.ask("chat.search", protocol.ChatSearch{Query: "honey"})
	s.ask("context.assemble", gather.Params{Text: strings.Join(mentioned[:min(20, len(mentioned))], " "), SearchNotes: 3})
}

// writeAll writes to everything that there is.
func (s *openStore) writeAll() {
	s.t.Helper()
	var own []*notes.Note
	for n := range s.rooms.Notes.All() {
		if !n.VaultBacked {
			own = append(own, n)
		}
	}
	for i, n := range own {
		body := n.Body + "\nWritten to after damage, see [[Hive Log]].\n"
		s.ask("notes.patch", protocol.NotePatch{ID: n.ID, Body: &body})
		switch i % 4 {
		case 0:
			s.ask("notes.archive", protocol.ByID{ID: n.ID})
		case 1:
			s.ask("notes.delete", protocol.ByID{ID: n.ID})
		case 2:
			s.ask("notes.patch", map[string]any{"id": n.ID, "title": "Another title"})
		}
	}
	var ents []string
	for e := range s.rooms.Entities.All() {
		ents = append(ents, e.ID)
	}
	for i, id := range ents {
		switch i % 3 {
		case 0:
			s.ask("entities.archive", protocol.ByID{ID: id})
		case 1:
			s.ask("entities.patch", map[string]any{"id": id, "private": true})
		case 2:
			s.ask("entities.delete", protocol.ByID{ID: id})
		}
	}
	for _, t := range slices.Clone(s.rooms.Entities.Types()) {
		s.ask("types.put", map[string]any{"name": t.Name, "fields": t.Fields, "force": true})
	}
	s.writeMemories()
	s.writeConversations()
	s.must("notes.put", `{"id":"after","title":"After the damage","body":"See [[Project Alpha]] and [[Batch two]].","path":"Batch/one.md-x.md"}`)
	if st := s.rooms.KV.Status(); st.Mode != "read-write" {
		s.t.Errorf("after some writes the store is %s: %s", st.Mode, st.Reason)
	}
}

// memories returns all of them, whatever their status.
func (s *openStore) memories() []*record.Memory {
	s.t.Helper()
	params, err := json.Marshal(protocol.MemoryFilter{Status: record.MemoryStatuses, Sort: "created"})
	if err != nil {
		s.t.Fatal(err)
	}
	var page protocol.MemoryPage
	s.read(s.must("memory.list", string(params)), &page)
	return page.Memories
}

// writeMemories writes to memories and contexts. No number is given to a second memory, and in the
// end all records fit together.
func (s *openStore) writeMemories() {
	s.t.Helper()
	numbers := make(map[int64]string)
	once := func(m *record.Memory) {
		s.t.Helper()
		if by := numbers[m.Number]; by != "" && by != m.ID {
			s.t.Errorf("%s and %s have the number %d", by, m.ID, m.Number)
		}
		numbers[m.Number] = m.ID
	}
	all := s.memories()
	for _, m := range all {
		once(m)
	}
	for i, m := range all {
		said := m.Statement + ", written to after damage"
		s.ask("memory.patch", protocol.MemoryPatch{ID: m.ID, Statement: &said})
		s.ask("memory.use", protocol.MemoryUse{IDs: []string{m.ID}})
		switch i % 4 {
		case 0:
			s.ask("memory.archive", protocol.ByID{ID: m.ID})
		case 1:
			s.ask("memory.delete", protocol.MemoryDelete{ID: m.ID, Force: true})
		case 2:
			s.ask("memory.retract", protocol.ByID{ID: m.ID})
		}
	}
	for _, id := range []string{"bees", "honey"} {
		s.ask("contexts.put", protocol.ContextPut{ID: id, Name: "After the damage " + id})
		s.ask("contexts.delete", protocol.ContextDelete{ID: id})
	}
	for i := range 10 {
		var added protocol.MemoryAdded
		s.read(s.must("memory.add", fmt.Sprintf(`{"statement":"I write statement %d after the damage"}`, i)), &added)
		once(added.Memory.Record())
	}
}

// talkOn says more in the conversations of change, and more of memories.
func (s *openStore) talkOn() {
	s.t.Helper()
	s.must("synonyms.put", `{"words":["hive","bee house"]}`)
	s.must("synonyms.put", `{"words":["bee house","skep"]}`)
	s.must("chat.append", `{"messages":[{"role":"user","content":"Who buys honey?","clientMessageId":"k5"},{"role":"assistant","content":"The shop in Linz."}]}`)
	s.must("memory.add", `{"id":"m29","statement":"The shop in Linz buys honey","source":{"kind":"extraction","conversationId":"<chat k5>"}}`)
	for i := range 6 {
		s.must("chat.append", fmt.Sprintf(`{"conversationId":"<chat k5>","messages":[{"role":"user","content":"And what of week %d?","clientMessageId":"w%d","private":%v},{"role":"assistant","content":"Ten jars."}]}`, i, i, i%3 == 1))
	}
	s.must("refs.rename", `{"ref":"@`+s.handleOf("k5")+`","handle":"who_buys"}`)
	s.must("chat.patch", `{"id":"<chat k5>","private":true}`)
	s.must("chat.append", `{"conversationId":"<chat k5>","messages":[{"role":"user","content":"And the bakery?","clientMessageId":"k6"}]}`)
	s.must("chat.append", `{"title":"Swarms","messages":[{"role":"user","content":"When do they swarm?","clientMessageId":"k7"}]}`)
	s.must("chat.archive", `{"id":"<chat k7>"}`)
}

// handleOf returns the handle of the conversation in which a client gave a message an id.
func (s *openStore) handleOf(clientID string) string {
	s.t.Helper()
	var page protocol.ChatPage
	s.read(s.must("chat.get", `{"ref":"<chat `+clientID+`>"}`), &page)
	return page.Conversation.Handle
}

// conversations returns all of them.
func (s *openStore) conversations() (all []*record.Conversation) {
	s.t.Helper()
	for _, archived := range []bool{false, true} {
		params, err := json.Marshal(protocol.ChatList{Archived: archived})
		if err != nil {
			s.t.Fatal(err)
		}
		var page protocol.Conversations
		s.read(s.must("chat.list", string(params)), &page)
		all = append(all, page.Conversations...)
	}
	return all
}

// messagesOf returns the messages of a conversation that are there. That some are not it says itself.
func (s *openStore) messagesOf(c *record.Conversation) (all []*record.ChatMessage) {
	s.t.Helper()
	p := protocol.ChatGet{Ref: c.ID, Limit: 2}
	for {
		params, err := json.Marshal(p)
		if err != nil {
			s.t.Fatal(err)
		}
		var page protocol.ChatPage
		s.read(s.must("chat.get", string(params)), &page)
		all = append(all, page.Messages...)
		if page.NextCursor == "" {
			break
		}
		p.Cursor = page.NextCursor
	}
	if len(all)+c.Lost != c.Messages {
		s.t.Errorf("conversation %s has %d messages, of which %d are lost, and gives %d", c.ID, c.Messages, c.Lost, len(all))
	}
	return all
}

// writeConversations writes to conversations. What is said gets the next number, and is found.
func (s *openStore) writeConversations() {
	s.t.Helper()
	for i, c := range s.conversations() {
		before := s.messagesOf(c)
		var added protocol.ChatAppended
		s.read(s.must("chat.append", fmt.Sprintf(`{"conversationId":%q,"messages":[{"role":"user","content":"Said after the damage %d"}]}`, c.ID, i)), &added)
		if m := added.Messages[0]; m.Index != c.Messages+1 {
			s.t.Errorf("behind message %d of %s stands %+v", c.Messages, c.ID, m)
		}
		for _, m := range before {
			if m.Index > c.Messages {
				s.t.Errorf("conversation %s has %d messages, and one has the number %d", c.ID, c.Messages, m.Index)
			}
		}
		switch i % 4 {
		case 0:
			s.ask("chat.archive", protocol.ChatID{ID: c.ID})
		case 1:
			s.ask("chat.delete", protocol.ChatID{ID: c.ID})
		case 2:
			private := true
			s.ask("chat.patch", protocol.ChatPatch{ID: c.ID, Private: &private})
		}
	}
}

// wantHidden checks that nothing that stems from a private conversation is public.
func (s *openStore) wantHidden() {
	s.t.Helper()
	private := make(map[string]bool)
	for _, c := range s.conversations() {
		private[c.ID] = c.Private
	}
	for _, m := range s.memories() {
		if private[m.Source.ConversationID] && !m.Private {
			s.t.Errorf("memory %s is public, and stems from a private conversation", m.ID)
		}
	}
}

// wantFitting checks that all records of memories and conversations fit together.
func (s *openStore) wantFitting() {
	s.t.Helper()
	err := s.rooms.KV.View(s.t.Context(), func(tx *kv.Tx) error {
		for _, check := range []func(*kv.Tx) ([]string, error){memory.Check, chat.Check} {
			problems, err := check(tx)
			if err != nil {
				return err
			}
			for _, p := range problems {
				s.t.Error(p)
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}
