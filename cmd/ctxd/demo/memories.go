package demo

import (
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/remembered"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// shownMemories is how many of the memories the demo lists, the newest.
const shownMemories = 3

// Questions to the memories. One is answered by a fact, the other by the newer of two.
const (
	askedFact   = "Which acid cost me a queen?"
	askedNewest = "When does the second lot ship?"
	recallHits  = 2
)

// sources holds the ids of what memories come from and are about.
type sources struct {
	notes         map[string]string   // by path
	conversations map[string]string   // by id in the sample
	messages      map[string][]string // of a conversation, by index
}

// remembers writes down what the person whose vault it is has said before: first the conversations and
// the contexts, then all memories at once.
func (j *job) remembers() error {
	set, err := remembered.Load()
	if err != nil {
		return err
	}
	from, err := j.says(set)
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
	for i, m := range set.Memories {
		for _, path := range m.Notes {
			if from.notes[path], err = j.noteID(from.notes[path], path); err != nil {
				return err
			}
		}
		many.Memories[i] = draftOf(m, from)
	}
	var added protocol.MemoryAddedMany
	if err := j.call("memory.addMany", many, &added, nil); err != nil {
		return err
	}
	j.did.Memories = added.Memories
	j.show.remembered(j.last(), &set, added.Memories)
	return nil
}

// says keeps the conversations, as a client does that asks the model itself.
func (j *job) says(set remembered.Set) (sources, error) {
	from := sources{make(map[string]string), make(map[string]string), make(map[string][]string)}
	for _, c := range set.Conversations {
		said := protocol.ChatAppend{Title: c.Title, Private: c.Private}
		for _, m := range set.Messages {
			if m.Conversation == c.ID {
				said.Messages = append(said.Messages, protocol.ChatMessageDraft{
					Role: m.Role, Content: m.Text, CreatedAt: &m.CreatedAt, Private: m.Private,
				})
			}
		}
		var kept protocol.ChatAppended
		if err := j.client.Call(j.ctx, "chat.append", said, &kept); err != nil {
			return from, err
		}
		from.conversations[c.ID] = kept.ConversationID
		for _, m := range kept.Messages {
			from.messages[c.ID] = append(from.messages[c.ID], m.ID)
		}
	}
	return from, nil
}

// noteID returns the id of the note of a path, unless it is known.
func (j *job) noteID(known, path string) (string, error) {
	if known != "" {
		return known, nil
	}
	var n record.Note
	err := j.client.Call(j.ctx, "notes.get", protocol.NoteGet{Ref: path}, &n)
	return n.ID, err
}

// draftOf returns a memory as a client writes it down. What it is about is left to the daemon, which
// finds the entities that the statement names.
func draftOf(m remembered.Memory, from sources) protocol.MemoryDraft {
	d := protocol.MemoryDraft{
		ID: m.ID, Tier: m.Tier, Kind: m.Kind, Statement: m.Statement, Questions: m.Questions,
		Domains: m.Domains, Tags: m.Tags, Contexts: m.Contexts, Supersedes: m.Supersedes,
		Importance: &m.Importance, Confidence: &m.Confidence,
		Pinned: m.Pinned, AlwaysInject: m.AlwaysInject, Private: m.Private, CreatedAt: &m.CreatedAt,
	}
	for _, path := range m.Notes {
		d.NoteIDs = append(d.NoteIDs, from.notes[path])
	}
	if m.Conversation != "" {
		d.Source = &protocol.MemorySourceDraft{Kind: "user", ConversationID: from.conversations[m.Conversation]}
		for _, i := range m.Messages {
			d.Source.MessageIDs = append(d.Source.MessageIDs, from.messages[m.Conversation][i])
		}
	}
	return d
}

// recalls asks what is remembered: a fact, and what has changed since it was first said.
func (j *job) recalls() error {
	for _, question := range []string{askedFact, askedNewest} {
		var found protocol.MemoryFound
		err := j.call("memory.search", protocol.MemorySearch{Query: question, Kinds: []string{"memories"}, Limit: recallHits}, &found, nil)
		if err != nil {
			return err
		}
		j.did.Recalled = append(j.did.Recalled, recalled{question, found})
		j.show.recalled(j.last(), question, &found)
	}
	return nil
}
