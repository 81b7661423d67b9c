package document

import (
	"encoding/json"

	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// Spoken returns the message that a Doc of a Source of messages is as concepts see it, numbered among those that are not
// private if public.
func Spoken(d text.Doc, public bool) concepts.Said {
	conversation, m := Message(d)
	out := concepts.Said{ID: m.ID, Conversation: conversation, Index: m.Index, Role: m.Role, At: m.CreatedAt}
	if public {
		out.Index = m.PublicIndex
	}
	if m.Role != record.RoleAssistant || len(m.Members) == 0 {
		return out
	}
	var calls []record.ChatToolCall
	read(m.Members["toolCalls"], &calls)
	for _, call := range calls {
		out.Tools = append(out.Tools, call.Name)
	}
	var named []record.ChatReference
	read(m.Members["references"], &named)
	for _, r := range named {
		if r.MemoryID != "" {
			out.Memories = append(out.Memories, r.MemoryID)
		}
	}
	return out
}

// read reads a member that is no field of a message. One that this program does not understand is as none.
func read(data json.RawMessage, into any) {
	if len(data) > 0 {
		_ = json.Unmarshal(data, into)
	}
}
