package protocol

import (
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Renamed are the methods of protocol 1 that have other names now, and what to call in the place of those that are gone.
// Parameters that have other names say so with the tag formerly. Both go with protocol 3.
var Renamed = map[string]string{
	"notes.unarchive": "notes.restore", "entities.trash": "entities.archive",
	"memory.update": "memory.patch", "memory.pin": "memory.patch {id, pinned}", "memory.recordUse": "memory.use",
	"memory.recordResponse": "memory.outcome", "memory.recordOutcome": "memory.outcome {ids, outcome}", "memory.detectOutcome": "memory.judge",
	"memory.synonyms.put": "synonyms.put", "memory.synonyms.list": "synonyms.list", "memory.synonyms.delete": "synonyms.delete",
	"memory.concepts": "concepts.list", "memory.concept": "concepts.get {ref}", "memory.conceptPath": "concepts.path",
	"memory.actionEffectiveness": "memory.effectiveness", "memory.getContextInsights": "memory.insights",
	"books.put": "books.add", "books.remove": "books.delete", "sync.resolve": "sync.settle",
	"chat.create": "chat.put", "chat.update": "chat.patch", "chat.unarchive": "chat.restore",
	"chat.confirmAction": "chat.confirm", "chat.rejectAction": "chat.reject", "chat.forNote": "chat.citations",
}

// Instead says what to call in the place of a method that does not exist: its new name, else those that are spelt like
// it, else where they are listed.
func Instead(method string) string {
	if now := Renamed[method]; now != "" {
		return "it is called " + now + " since protocol " + Version
	}
	const most = 64 // no method has a longer name, and looking costs its length
	if len(method) <= most {
		if near := text.Nearest(method, Names()); len(near) > 0 {
			return "did you mean " + strings.Join(near, " or ") + "?"
		}
	}
	return "rpc.discover lists the methods"
}
