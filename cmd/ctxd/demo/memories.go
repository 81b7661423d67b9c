package demo

import (
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/remembered"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// shownMemories is how many of the memories the demo lists, the newest.
const shownMemories = 3

// remembers writes down what the person whose vault it is has said before: first the contexts, then
// all memories at once.
func (j *job) remembers() error {
	set, err := remembered.Load()
	if err != nil {
		return err
	}
	for _, c := range set.Contexts {
		put := protocol.ContextPut{ID: c.ID, Name: c.Name, Description: c.Description, ParentID: c.ParentID}
		if err := j.client.Call(j.ctx, "contexts.put", put, nil); err != nil {
			return err
		}
	}
	many := protocol.MemoryAddMany{Memories: make([]protocol.MemoryDraft, len(set.Memories))}
	ids := make(map[string]string) // of notes, by path
	for i, m := range set.Memories {
		for _, path := range m.Notes {
			if ids[path], err = j.noteID(ids[path], path); err != nil {
				return err
			}
		}
		many.Memories[i] = draftOf(m, ids)
	}
	var added protocol.MemoryAddedMany
	if err := j.call("memory.addMany", many, &added, nil); err != nil {
		return err
	}
	j.did.Memories = added.Memories
	j.show.remembered(j.last(), len(set.Contexts), added.Memories)
	return nil
}

// noteID returns the id of the note of a path, unless it is known.
func (j *job) noteID(known, path string) (string, error) {
	if known != "" {
		return known, nil
	}
	var n record.Note
	err := j.client.Call(j.ctx, "notes.get", protocol.NoteGet{Path: path}, &n)
	return n.ID, err
}

// draftOf returns a memory as a client writes it down. What it is about is left to the daemon, which
// finds the entities that the statement names.
func draftOf(m remembered.Memory, noteIDs map[string]string) protocol.MemoryDraft {
	d := protocol.MemoryDraft{
		ID: m.ID, Tier: m.Tier, Kind: m.Kind, Statement: m.Statement, Questions: m.Questions,
		Domains: m.Domains, Tags: m.Tags, Contexts: m.Contexts, Supersedes: m.Supersedes,
		Importance: &m.Importance, Confidence: &m.Confidence,
		Pinned: m.Pinned, AlwaysInject: m.AlwaysInject, Private: m.Private, CreatedAt: &m.CreatedAt,
	}
	for _, path := range m.Notes {
		d.NoteIDs = append(d.NoteIDs, noteIDs[path])
	}
	if m.Conversation != "" {
		d.Source = &record.MemorySource{Kind: "user"}
	}
	return d
}
