package rpc

import (
	"slices"

	"github.com/ctxd/ctxd/rpc/books"
	"github.com/ctxd/ctxd/rpc/learning"
	"github.com/ctxd/ctxd/rpc/memories"
	"github.com/ctxd/ctxd/rpc/personalities"
	"github.com/ctxd/ctxd/rpc/syncing"
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

		of("memory.add", scope.ofMemories, (*memories.Room).Add),
		of("memory.addMany", scope.ofMemories, (*memories.Room).AddMany),
		of("memory.get", scope.ofMemories, (*memories.Room).Get),
		of("memory.list", scope.ofMemories, (*memories.Room).List),
		of("memory.versions", scope.ofMemories, (*memories.Room).Versions),
		of("memory.update", scope.ofMemories, (*memories.Room).Update),
		of("memory.pin", scope.ofMemories, (*memories.Room).Pin),
		of("memory.archive", scope.ofMemories, (*memories.Room).Archive),
		of("memory.restore", scope.ofMemories, (*memories.Room).Restore),
		of("memory.retract", scope.ofMemories, (*memories.Room).Retract),
		of("memory.delete", scope.ofMemories, (*memories.Room).Delete),
		of("memory.forget", scope.ofMemories, (*memories.Room).Forget),
		wholeStore("memory.export", (*Rooms).memoryExport),
		wholeStore("memory.import", (*Rooms).memoryImport),
		of("memory.recordUse", scope.ofMemories, (*memories.Room).RecordUse),
		of("memory.search", scope.ofMemories, (*memories.Room).Search),
		of("memory.similar", scope.ofMemories, (*memories.Room).Similar),
		of("memory.profile", scope.ofMemories, (*memories.Room).Profile),
		of("memory.stats", scope.ofMemories, (*memories.Room).Stats),
		of("memory.synonyms.put", scope.ofMemories, (*memories.Room).PutSynonyms),
		of("memory.synonyms.list", scope.ofMemories, (*memories.Room).Synonyms),
		of("memory.synonyms.delete", scope.ofMemories, (*memories.Room).DeleteSynonyms),

		of("contexts.put", scope.ofMemories, (*memories.Room).PutContext),
		of("contexts.get", scope.ofMemories, (*memories.Room).GetContext),
		of("contexts.list", scope.ofMemories, (*memories.Room).Contexts),
		of("contexts.link", scope.ofMemories, (*memories.Room).Link),
		of("contexts.unlink", scope.ofMemories, (*memories.Room).Unlink),
		of("contexts.delete", scope.ofMemories, (*memories.Room).DeleteContext),
	}, learningMethods(), chatMethods(), daemonMethods())
}

// learningMethods are those of what is learned from use, and of books.
func learningMethods() []Method {
	return []Method{
		of("memory.recordResponse", scope.ofLearning, (*learning.Room).RecordResponse),
		of("memory.recordOutcome", scope.ofLearning, (*learning.Room).RecordOutcome),
		of("memory.detectOutcome", scope.ofLearning, (*learning.Room).DetectOutcome),
		of("memory.promote", scope.ofLearning, (*learning.Room).Promote),
		of("memory.events", scope.ofLearning, (*learning.Room).Events),

		of("memory.concepts", scope.ofConcepts, (*learning.Concepts).List),
		of("memory.concept", scope.ofConcepts, (*learning.Concepts).Get),
		of("memory.conceptPath", scope.ofConcepts, (*learning.Concepts).Path),
		of("memory.actionEffectiveness", scope.ofConcepts, (*learning.Concepts).Actions),
		of("memory.getContextInsights", scope.ofConcepts, (*learning.Concepts).Insight),

		of("memory.upkeep", scope.ofLearning, (*learning.Room).Upkeep),
		of("memory.conflicts", scope.ofLearning, (*learning.Room).Conflicts),
		of("memory.settle", scope.ofLearning, (*learning.Room).Settle),

		of("books.put", scope.ofBooks, (*books.Room).Put),
		of("books.get", scope.ofBooks, (*books.Room).Get),
		of("books.list", scope.ofBooks, (*books.Room).List),
		of("books.search", scope.ofBooks, (*books.Room).Search),
		of("books.publish", scope.ofBooks, (*books.Room).Publish),
		of("books.remove", scope.ofBooks, (*books.Room).Remove),
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

		of("personality.list", scope.ofPersonalities, (*personalities.Room).List),
		of("personality.put", scope.ofPersonalities, (*personalities.Room).Put),
		of("personality.get", scope.ofPersonalities, (*personalities.Room).Get),
		of("personality.activate", scope.ofPersonalities, (*personalities.Room).Activate),
		of("personality.delete", scope.ofPersonalities, (*personalities.Room).Delete),
		storeless("personality.validate", personalityValidate),
		of("personality.export", scope.ofPersonalities, (*personalities.Room).Export),
		of("personality.import", scope.ofPersonalities, (*personalities.Room).Import),

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
		wholeStore("vault.planRename", (*Rooms).vaultPlanRename),
		wholeStore("vault.checkNote", (*Rooms).vaultCheckNote),
		method("vault.unwatch", scope.vaultUnwatch),
		method("vault.forget", scope.vaultForget),

		storeless("events.subscribe", eventsSubscribe),
		storeless("events.unsubscribe", eventsUnsubscribe),

		of("sync.status", scope.ofSync, (*syncing.Room).Status),
		of("sync.remove", scope.ofSync, (*syncing.Room).Remove),
		of("sync.leave", scope.ofSync, (*syncing.Room).Leave),
		of("sync.conflicts", scope.ofSync, (*syncing.Room).Conflicts),
		of("sync.resolve", scope.ofSync, (*syncing.Room).Resolve),

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
