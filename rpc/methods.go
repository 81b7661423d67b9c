package rpc

import "slices"

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

		method("memory.add", scope.memoryAdd),
		method("memory.addMany", scope.memoryAddMany),
		method("memory.get", scope.memoryGet),
		method("memory.list", scope.memoryList),
		method("memory.versions", scope.memoryVersions),
		method("memory.update", scope.memoryUpdate),
		method("memory.pin", scope.memoryPin),
		method("memory.archive", scope.memoryArchive),
		method("memory.restore", scope.memoryRestore),
		method("memory.retract", scope.memoryRetract),
		method("memory.delete", scope.memoryDelete),
		method("memory.forget", scope.memoryForget),
		wholeStore("memory.export", (*Rooms).memoryExport),
		wholeStore("memory.import", (*Rooms).memoryImport),
		method("memory.recordUse", scope.memoryRecordUse),
		method("memory.search", scope.memorySearch),
		method("memory.similar", scope.memorySimilar),
		method("memory.profile", scope.memoryProfile),
		method("memory.stats", scope.memoryStats),
		method("memory.synonyms.put", scope.synonymsPut),
		method("memory.synonyms.list", scope.synonymsList),
		method("memory.synonyms.delete", scope.synonymsDelete),

		method("contexts.put", scope.contextsPut),
		method("contexts.get", scope.contextsGet),
		method("contexts.list", scope.contextsList),
		method("contexts.link", scope.contextsLink),
		method("contexts.unlink", scope.contextsUnlink),
		method("contexts.delete", scope.contextsDelete),
	}, chatMethods(), daemonMethods())
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
