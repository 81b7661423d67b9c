// Package entities holds the typed records of a person's world: people,
// projects, decisions and whatever other types they declare.
//
// A Type declares fields; an Entity is a record of one type. The Store checks
// every write against the type, names the field at fault, and keeps all
// records in memory as well, so that reads cost a map look-up.
//
// What records are made of is declared in entities/record; entities/names finds names and
// handles. README.md says what a client needs to know.
//
//   - types.go, typesof.go, schema.go, writetype.go: types, and which of several vaults' one a name means
//   - store.go, load.go, members.go, lookup.go, called.go: what is in memory, and how a record is found
//   - write.go, values.go, limits.go: writes, checked against the type
//   - record.go, format1.go: what is stored
//   - effective.go, unresolved.go: references resolved, and those that lead nowhere
//   - inherit.go, public.go: privacy that entities inherit from notes, and what public records alone use of a type
//   - past*.go: what private records were called
//
// # Records and effective entities
//
// What is written is kept as it was written. What the Store hands out is the
// effective entity: references that a vault states as links ("[[Engineering]]")
// are resolved to ids, and values that the type no longer declares are left
// out. Both follow at once when notes or types change, because they are
// computed and not stored: a link that was broken works as soon as its target
// exists, and a field that is declared again has its values back. Links are
// resolved by the function given to SetResolver; package notes gives it.
//
// # Concurrency
//
// All methods are safe for concurrent use. Reads never wait for the disk.
// Records are shared: neither the Store nor a caller changes one after it was
// handed out. A write returns when it is durable and every derived view has
// it, so a caller reads its own writes.
//
// The Store refines the change set of a commit for the views that come after
// it (see kv.ChangeSet): entity changes carry effective entities, and entities
// that changed only because a link or a type changed are added. It must
// therefore be opened before any view that listens to entity changes. Types, references,
// inherited privacy and former names are all worked out from that one change set, under one
// lock, before the commit returns.
//
// Wall: subject: typed records and the types that a person declares for them.
package entities
