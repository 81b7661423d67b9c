package chat

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// traces are kept by the id of a conversation and that of an answer.
var traces = kv.NewCollection("message-trace", recordCodec)

func traceKey(conversationID, messageID string) string { return conversationID + "/" + messageID }

// PutTrace keeps what is known of an answer, in the place of what was known before.
func PutTrace(tx *kv.Tx, conversationID, messageID string, t *Trace) error {
	return traces.Put(tx, traceKey(conversationID, messageID), t)
}

// GetTrace returns what is known of an answer, nil for nothing.
func GetTrace(tx *kv.Tx, conversationID, messageID string) (*Trace, error) {
	return traces.Get(tx, traceKey(conversationID, messageID))
}

// DeleteTrace forgets what is known of an answer, or with the messageID "" of all of a conversation.
func DeleteTrace(tx *kv.Tx, conversationID, messageID string) error {
	if messageID != "" {
		return traces.Delete(tx, traceKey(conversationID, messageID))
	}
	return deleteThose(tx, conversationID+"/", func(string) bool { return true })
}

// MendTraces forgets what is known of answers that are not there. there tells of one by the ids of its conversation and of
// itself.
func MendTraces(tx *kv.Tx, there func(conversationID, messageID string) bool) error {
	return deleteThose(tx, "", func(key string) bool {
		id, messageID, _ := strings.Cut(key, "/")
		return !there(id, messageID)
	})
}

func deleteThose(tx *kv.Tx, prefix string, gone func(key string) bool) error {
	var keys []string
	for key := range traces.All(tx, prefix) {
		if gone(key) {
			keys = append(keys, key)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		if err := traces.Delete(tx, key); err != nil {
			return err
		}
	}
	return nil
}

// CheckTraces says which records are of answers that are not there, and which are none that this program keeps. O(traces).
func CheckTraces(tx *kv.Tx, there func(conversationID, messageID string) bool) (problems []string) {
	for key, t := range traces.All(tx, "") {
		id, messageID, _ := strings.Cut(key, "/")
		if !there(id, messageID) {
			problems = append(problems, fmt.Sprintf("what is kept of how message %s of conversation %s was answered is of no message", messageID, id))
		}
		if !t.sound() {
			problems = append(problems, fmt.Sprintf("what is kept of how message %s of conversation %s was answered can't be right", messageID, id))
		}
	}
	return problems
}

// sound reports whether a Record may be one that was made here.
func (t *Trace) sound() bool {
	if len(t.References) > MaxTraceReferences || len(t.Dropped) > MaxTraceDrops || len(t.Rounds) > MaxTraceRounds || t.calls() > maxTraceCalls ||
		len(t.Sections) > maxParts || len(t.Stages) > maxParts || len(t.Times) > maxParts {
		return false
	}
	ok := isWord(t.Failure) && len(t.Hash) <= 64 && (t.Hash == "" || isWord(t.Hash[:min(len(t.Hash), maxWord)]))
	for _, s := range t.Sections {
		ok = ok && isWord(s.Name)
	}
	for _, list := range [][]TraceStage{t.Stages, t.Times} {
		for _, s := range list {
			ok = ok && isWord(s.Name)
		}
	}
	for i := range t.References {
		r := &t.References[i]
		ok = ok && isWord(r.Kind) && isWord(r.Origin) && isWord(string(r.How)) && r.ID == idOf(r.Kind, r.ID) &&
			r.Section >= 0 && r.Section <= len(t.Sections) && len(r.Tools) <= maxParts
		for _, tool := range r.Tools {
			ok = ok && isWord(tool)
		}
	}
	for _, d := range t.Dropped {
		ok = ok && isWord(d.Kind) && isWord(string(d.Reason)) && d.ID == idOf(d.Kind, d.ID)
	}
	for i := range t.Rounds {
		ok = ok && isWord(t.Rounds[i].Finish)
		for _, c := range t.Rounds[i].Calls {
			ok = ok && isWord(c.Name)
		}
	}
	return ok
}

// isWord reports whether a text is a word of this program, or "".
func isWord(text string) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(text) <= maxWord
}

// isMessage reports whether an id is that of a message, or the place of one: the id of its conversation and its index.
func isMessage(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '/' {
			return false
		}
	}
	return id != "" && len(id) <= maxID && strings.Count(id, "/") <= 1
}
