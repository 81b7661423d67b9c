package rpc

import (
	"slices"
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
		method("notes.restore", scope.notesRestore),
		method("notes.delete", scope.notesDelete),
		method("notes.complete", scope.notesComplete),
		method("notes.resolve", scope.notesResolve),
		method("notes.search", scope.notesSearch),
		method("notes.similar", scope.notesSimilar),
		method("search.explain", scope.searchExplain),
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
		method("entities.archive", scope.entitiesArchive),
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

		of("memory.add", scope.ofMemories, (*memoryHandlers).Add),
		of("memory.addMany", scope.ofMemories, (*memoryHandlers).AddMany),
		of("memory.get", scope.ofMemories, (*memoryHandlers).Get),
		of("memory.list", scope.ofMemories, (*memoryHandlers).List),
		of("memory.versions", scope.ofMemories, (*memoryHandlers).Versions),
		of("memory.patch", scope.ofMemories, (*memoryHandlers).Patch),
		of("memory.archive", scope.ofMemories, (*memoryHandlers).Archive),
		of("memory.restore", scope.ofMemories, (*memoryHandlers).Restore),
		of("memory.retract", scope.ofMemories, (*memoryHandlers).Retract),
		of("memory.delete", scope.ofMemories, (*memoryHandlers).Delete),
		method("memory.forget", scope.memoryForget),
		wholeStore("memory.export", (*Deps).memoryExport),
		wholeStore("memory.import", (*Deps).memoryImport),
		of("memory.use", scope.ofMemories, (*memoryHandlers).Use),
		of("memory.search", scope.ofMemories, (*memoryHandlers).Search),
		of("memory.similar", scope.ofMemories, (*memoryHandlers).Similar),
		of("memory.profile", scope.ofMemories, (*memoryHandlers).Profile),
		of("memory.stats", scope.ofMemories, (*memoryHandlers).Stats),
		of("synonyms.put", scope.ofMemories, (*memoryHandlers).PutSynonyms),
		of("synonyms.list", scope.ofMemories, (*memoryHandlers).Synonyms),
		of("synonyms.delete", scope.ofMemories, (*memoryHandlers).DeleteSynonyms),

		of("contexts.put", scope.ofMemories, (*memoryHandlers).PutContext),
		of("contexts.get", scope.ofMemories, (*memoryHandlers).GetContext),
		of("contexts.list", scope.ofMemories, (*memoryHandlers).Contexts),
		of("contexts.link", scope.ofMemories, (*memoryHandlers).Link),
		of("contexts.unlink", scope.ofMemories, (*memoryHandlers).Unlink),
		of("contexts.delete", scope.ofMemories, (*memoryHandlers).DeleteContext),
	}, learningMethods(), chatMethods(), daemonMethods())
}

// learningMethods are those of what is learned from use, and of books.
func learningMethods() []Method {
	return []Method{
		of("memory.outcome", scope.ofLearning, (*learningHandlers).Outcome),
		of("memory.judge", scope.ofLearning, (*learningHandlers).Judge),
		of("memory.promote", scope.ofLearning, (*learningHandlers).Promote),
		of("memory.events", scope.ofLearning, (*learningHandlers).Events),

		of("concepts.list", scope.ofConcepts, (*conceptHandlers).List),
		of("concepts.get", scope.ofConcepts, (*conceptHandlers).Get),
		of("concepts.path", scope.ofConcepts, (*conceptHandlers).Path),
		of("memory.effectiveness", scope.ofConcepts, (*conceptHandlers).Actions),
		of("memory.insights", scope.ofConcepts, (*conceptHandlers).Insight),

		of("memory.upkeep", scope.ofLearning, (*learningHandlers).Upkeep),
		of("memory.conflicts", scope.ofLearning, (*learningHandlers).Conflicts),
		of("memory.settle", scope.ofLearning, (*learningHandlers).Settle),

		of("books.add", scope.ofBooks, (*bookHandlers).Add),
		of("books.get", scope.ofBooks, (*bookHandlers).Get),
		of("books.list", scope.ofBooks, (*bookHandlers).List),
		of("books.search", scope.ofBooks, (*bookHandlers).Search),
		of("books.publish", scope.ofBooks, (*bookHandlers).Publish),
		of("books.delete", scope.ofBooks, (*bookHandlers).Delete),
	}
}

// chatMethods are those of conversations and tools.
func chatMethods() []Method {
	return []Method{
		method("chat.put", scope.chatPut),
		method("chat.append", scope.chatAppend),
		method("chat.send", scope.chatSend),
		method("chat.cancel", scope.chatCancel),
		method("chat.follow", scope.chatFollow),
		method("chat.get", scope.chatGet),
		method("chat.inspect", scope.chatInspect),
		method("chat.list", scope.chatList),
		method("chat.search", scope.chatSearch),
		method("chat.actions", scope.chatActions),
		method("chat.confirm", scope.chatConfirm),
		method("chat.reject", scope.chatReject),
		method("chat.patch", scope.chatPatch),
		method("chat.archive", scope.chatArchive),
		method("chat.restore", scope.chatRestore),
		method("chat.export", scope.chatExport),
		wholeStore("chat.import", (*Deps).chatImport),
		method("chat.providers", scope.chatProviders),
		method("chat.delete", scope.chatDelete),
		method("chat.stats", scope.chatStats),
		method("chat.citations", scope.chatCitations),
		method("chat.graph", scope.chatGraph),
		method("chat.highlights", scope.chatHighlights),
		method("chat.suggest", scope.chatSuggest),
		method("chat.references", scope.chatReferences),

		method("intent.route", scope.intentRoute),

		of("personality.list", scope.ofPersonalities, (*personalityHandlers).List),
		of("personality.put", scope.ofPersonalities, (*personalityHandlers).Put),
		of("personality.get", scope.ofPersonalities, (*personalityHandlers).Get),
		of("personality.activate", scope.ofPersonalities, (*personalityHandlers).Activate),
		of("personality.delete", scope.ofPersonalities, (*personalityHandlers).Delete),
		storeless("personality.validate", personalityValidate),
		of("personality.export", scope.ofPersonalities, (*personalityHandlers).Export),
		of("personality.import", scope.ofPersonalities, (*personalityHandlers).Import),

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
		method("vault.problems", scope.vaultProblems),
		wholeStore("vault.planRename", (*Deps).vaultPlanRename),
		wholeStore("vault.checkNote", (*Deps).vaultCheckNote),
		method("vault.history", scope.vaultHistory),
		method("vault.undo", scope.vaultUndo),
		method("vault.unwatch", scope.vaultUnwatch),
		method("vault.forget", scope.vaultForget),

		storeless("events.subscribe", eventsSubscribe),
		storeless("events.unsubscribe", eventsUnsubscribe),

		of("sync.status", scope.ofSync, (*syncHandlers).Status),
		of("sync.remove", scope.ofSync, (*syncHandlers).Remove),
		of("sync.leave", scope.ofSync, (*syncHandlers).Leave),
		of("sync.conflicts", scope.ofSync, (*syncHandlers).Conflicts),
		of("sync.settle", scope.ofSync, (*syncHandlers).Settle),

		storeless("admin.health", adminHealth),
		figures("admin.stats", (*Deps).adminStats),
		storeless("admin.connections", adminConnections),
		wholeStore("admin.backup", (*Deps).adminBackup),
		replacing("admin.restore", adminRestore),
		wholeStore("admin.reindex", (*Deps).adminReindex),
		replacing("admin.check", adminCheck),
		wholeStore("admin.compact", (*Deps).adminCompact),
		storeless("admin.stop", adminStop),
		storeless("rpc.discover", discover),
	}
}
