package rpc

import (
	"slices"

	"github.com/ctxd/ctxd/rpc/books"
	"github.com/ctxd/ctxd/rpc/learning"
	"github.com/ctxd/ctxd/rpc/memories"
	"github.com/ctxd/ctxd/rpc/personalities"
)

// Methods returns the method table: every method of the contract, and no other.
func Methods() []Method {
	return slices.Concat([]Method{
		storeless("initialize", initialize),
		last(storeless("shutdown", shutdown)),

		method("notes.put", scope.notesPut),
		method("notes.patch", scope.notesPatch),
		method("notes.putMany", scope.notesPutMany),
		method("notes.get", scope.notesGet),
		method("notes.list", scope.notesList),
		method("notes.archive", scope.notesArchive),
		method("notes.unarchive", scope.notesUnarchive),
		method("notes.delete", scope.notesDelete),
		method("notes.complete", scope.notesComplete),
		method("notes.resolve", scope.notesResolve),
		method("notes.search", scope.notesSearch),
		method("notes.similar", scope.notesSimilar),
		method("notes.links", scope.notesLinks),
		method("tags.list", scope.tagsList),

		method("types.put", scope.typesPut),
		method("types.get", scope.typesGet),
		method("types.list", scope.typesList),
		method("types.delete", scope.typesDelete),

		method("entities.put", scope.entitiesPut),
		method("entities.patch", scope.entitiesPatch),
		method("entities.putMany", scope.entitiesPutMany),
		method("entities.get", scope.entitiesGet),
		method("entities.list", scope.entitiesList),
		method("entities.trash", scope.entitiesTrash),
		method("entities.restore", scope.entitiesRestore),
		method("entities.delete", scope.entitiesDelete),
		method("entities.complete", scope.entitiesComplete),

		method("wql.query", scope.wqlQuery),
		method("wql.check", scope.wqlCheck),

		method("graph.neighbors", scope.graphNeighbors),
		method("graph.path", scope.graphPath),
		method("graph.stats", scope.graphStats),

		method("context.assemble", scope.contextAssemble),
		method("context.recent", scope.contextRecent),
		storeless("refs.parse", refsParse),
		method("refs.complete", scope.refsComplete),
		method("refs.resolve", scope.refsResolve),
		method("refs.gather", scope.refsGather),
		method("refs.rename", scope.refsRename),

		of("memory.add", scope.memories, (*memories.Room).Add),
		of("memory.addMany", scope.memories, (*memories.Room).AddMany),
		of("memory.get", scope.memories, (*memories.Room).Get),
		of("memory.list", scope.memories, (*memories.Room).List),
		of("memory.versions", scope.memories, (*memories.Room).Versions),
		of("memory.update", scope.memories, (*memories.Room).Update),
		of("memory.pin", scope.memories, (*memories.Room).Pin),
		of("memory.archive", scope.memories, (*memories.Room).Archive),
		of("memory.restore", scope.memories, (*memories.Room).Restore),
		of("memory.retract", scope.memories, (*memories.Room).Retract),
		of("memory.delete", scope.memories, (*memories.Room).Delete),
		of("memory.forget", scope.memories, (*memories.Room).Forget),
		wholeStore("memory.export", (*Rooms).memoryExport),
		wholeStore("memory.import", (*Rooms).memoryImport),
		of("memory.recordUse", scope.memories, (*memories.Room).RecordUse),
		of("memory.search", scope.memories, (*memories.Room).Search),
		of("memory.similar", scope.memories, (*memories.Room).Similar),
		of("memory.profile", scope.memories, (*memories.Room).Profile),
		of("memory.stats", scope.memories, (*memories.Room).Stats),
		of("memory.synonyms.put", scope.memories, (*memories.Room).PutSynonyms),
		of("memory.synonyms.list", scope.memories, (*memories.Room).Synonyms),
		of("memory.synonyms.delete", scope.memories, (*memories.Room).DeleteSynonyms),

		of("contexts.put", scope.memories, (*memories.Room).PutContext),
		of("contexts.get", scope.memories, (*memories.Room).GetContext),
		of("contexts.list", scope.memories, (*memories.Room).Contexts),
		of("contexts.link", scope.memories, (*memories.Room).Link),
		of("contexts.unlink", scope.memories, (*memories.Room).Unlink),
		of("contexts.delete", scope.memories, (*memories.Room).DeleteContext),
	}, learningMethods(), chatMethods(), daemonMethods())
}

// learningMethods are those of what is learned from use, and of books.
func learningMethods() []Method {
	return []Method{
		of("memory.recordResponse", scope.learning, (*learning.Room).RecordResponse),
		of("memory.recordOutcome", scope.learning, (*learning.Room).RecordOutcome),
		of("memory.detectOutcome", scope.learning, (*learning.Room).DetectOutcome),
		of("memory.promote", scope.learning, (*learning.Room).Promote),
		of("memory.events", scope.learning, (*learning.Room).Events),

		of("memory.concepts", scope.learned, (*learning.Concepts).List),
		of("memory.concept", scope.learned, (*learning.Concepts).Get),
		of("memory.conceptPath", scope.learned, (*learning.Concepts).Path),
		of("memory.actionEffectiveness", scope.learned, (*learning.Concepts).Actions),
		of("memory.getContextInsights", scope.learned, (*learning.Concepts).Insight),

		of("memory.upkeep", scope.learning, (*learning.Room).Upkeep),
		of("memory.conflicts", scope.learning, (*learning.Room).Conflicts),
		of("memory.settle", scope.learning, (*learning.Room).Settle),

		of("books.put", scope.shelf, (*books.Room).Put),
		of("books.get", scope.shelf, (*books.Room).Get),
		of("books.list", scope.shelf, (*books.Room).List),
		of("books.search", scope.shelf, (*books.Room).Search),
		of("books.publish", scope.shelf, (*books.Room).Publish),
		of("books.remove", scope.shelf, (*books.Room).Remove),
	}
}

// chatMethods are those of conversations and tools.
func chatMethods() []Method {
	return []Method{
		method("chat.create", scope.chatCreate),
		method("chat.append", scope.chatAppend),
		method("chat.send", scope.chatSend),
		method("chat.cancel", scope.chatCancel),
		method("chat.follow", scope.chatFollow),
		method("chat.get", scope.chatGet),
		method("chat.inspect", scope.chatInspect),
		method("chat.list", scope.chatList),
		method("chat.search", scope.chatSearch),
		method("chat.actions", scope.chatActions),
		method("chat.confirmAction", scope.chatConfirmAction),
		method("chat.rejectAction", scope.chatRejectAction),
		method("chat.update", scope.chatUpdate),
		method("chat.archive", scope.chatArchive),
		method("chat.unarchive", scope.chatUnarchive),
		method("chat.export", scope.chatExport),
		wholeStore("chat.import", (*Rooms).chatImport),
		method("chat.providers", scope.chatProviders),
		method("chat.delete", scope.chatDelete),
		method("chat.stats", scope.chatStats),
		method("chat.forNote", scope.chatForNote),
		method("chat.graph", scope.chatGraph),
		method("chat.highlights", scope.chatHighlights),
		method("chat.suggest", scope.chatSuggest),
		method("chat.references", scope.chatReferences),

		method("intent.route", scope.intentRoute),

		of("personality.list", scope.voices, (*personalities.Room).List),
		of("personality.put", scope.voices, (*personalities.Room).Put),
		of("personality.get", scope.voices, (*personalities.Room).Get),
		of("personality.activate", scope.voices, (*personalities.Room).Activate),
		of("personality.delete", scope.voices, (*personalities.Room).Delete),
		storeless("personality.validate", personalityValidate),
		of("personality.export", scope.voices, (*personalities.Room).Export),
		of("personality.import", scope.voices, (*personalities.Room).Import),

		storeless("tools.list", toolsList),
		method("tools.call", scope.toolsCall),
	}
}

// daemonMethods are those about privacy, vaults, events and the daemon itself: the rest of the table.
func daemonMethods() []Method {
	return []Method{
		method("privacy.list", scope.privacyList),
		method("privacy.prose", scope.privacyProse),

		method("vault.import", scope.vaultImport),
		method("vault.list", scope.vaultList),
		method("vault.status", scope.vaultStatus),
		method("vault.unresolved", scope.vaultUnresolved),
		method("vault.unwatch", scope.vaultUnwatch),
		method("vault.forget", scope.vaultForget),

		storeless("events.subscribe", eventsSubscribe),
		storeless("events.unsubscribe", eventsUnsubscribe),

		storeless("admin.health", adminHealth),
		figures("admin.stats", (*Rooms).adminStats),
		storeless("admin.connections", adminConnections),
		wholeStore("admin.backup", (*Rooms).adminBackup),
		replacing("admin.restore", adminRestore),
		wholeStore("admin.reindex", (*Rooms).adminReindex),
		replacing("admin.check", adminCheck),
		wholeStore("admin.compact", (*Rooms).adminCompact),
		storeless("admin.stop", adminStop),
		storeless("rpc.discover", discover),
	}
}
