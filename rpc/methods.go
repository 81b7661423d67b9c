package rpc

// Methods returns the method table: every method of the contract, and no other.
func Methods() []Method {
	return []Method{
		roomless("initialize", initialize),
		roomless("shutdown", shutdown),

		method("notes.put", (*Rooms).notesPut),
		method("notes.patch", (*Rooms).notesPatch),
		method("notes.putMany", (*Rooms).notesPutMany),
		method("notes.get", (*Rooms).notesGet),
		method("notes.list", (*Rooms).notesList),
		method("notes.archive", (*Rooms).notesArchive),
		method("notes.unarchive", (*Rooms).notesUnarchive),
		method("notes.delete", (*Rooms).notesDelete),
		method("notes.complete", (*Rooms).notesComplete),
		method("notes.resolve", (*Rooms).notesResolve),
		method("notes.search", (*Rooms).notesSearch),
		method("notes.links", (*Rooms).notesLinks),
		method("tags.list", (*Rooms).tagsList),

		method("types.put", (*Rooms).typesPut),
		method("types.get", (*Rooms).typesGet),
		method("types.list", (*Rooms).typesList),
		method("types.delete", (*Rooms).typesDelete),

		method("entities.put", (*Rooms).entitiesPut),
		method("entities.patch", (*Rooms).entitiesPatch),
		method("entities.putMany", (*Rooms).entitiesPutMany),
		method("entities.get", (*Rooms).entitiesGet),
		method("entities.list", (*Rooms).entitiesList),
		method("entities.trash", (*Rooms).entitiesTrash),
		method("entities.restore", (*Rooms).entitiesRestore),
		method("entities.delete", (*Rooms).entitiesDelete),
		method("entities.complete", (*Rooms).entitiesComplete),

		method("wql.query", (*Rooms).wqlQuery),
		method("wql.check", (*Rooms).wqlCheck),

		method("graph.neighbors", (*Rooms).graphNeighbors),
		method("graph.path", (*Rooms).graphPath),
		method("graph.stats", (*Rooms).graphStats),

		method("context.assemble", (*Rooms).contextAssemble),
		method("context.recent", (*Rooms).contextRecent),

		method("vault.import", (*Rooms).vaultImport),
		method("vault.list", (*Rooms).vaultList),
		method("vault.status", (*Rooms).vaultStatus),
		method("vault.unresolved", (*Rooms).vaultUnresolved),
		method("vault.unwatch", (*Rooms).vaultUnwatch),
		method("vault.forget", (*Rooms).vaultForget),

		roomless("events.subscribe", eventsSubscribe),
		roomless("events.unsubscribe", eventsUnsubscribe),

		roomless("admin.health", adminHealth),
		method("admin.stats", (*Rooms).adminStats),
		roomless("admin.connections", adminConnections),
		method("admin.backup", (*Rooms).adminBackup),
		roomless("admin.restore", adminRestore),
		method("admin.reindex", (*Rooms).adminReindex),
		roomless("admin.check", adminCheck),
		roomless("admin.stop", adminStop),
		roomless("rpc.discover", discover),
	}
}
