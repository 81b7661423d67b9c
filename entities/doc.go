// Package entities holds the typed records of a person's world: people,
// projects, decisions and whatever other types they declare.
//
// A Type declares fields; an Entity is a record of one type. The Store checks
// every write against the type, names the field at fault, and keeps all
// records in memory as well, so that reads cost a map look-up.
//
// What records are made of is declared in package record, below this one; names and
// handles are found by package names. README.md says what a client needs to know.
//
// # Records and effective entities
//
// What is written is kept as it was written. What the Store hands out is the
// effective entity: references that a vault states as links ("[[Engineering]]")
// are resolved to ids, and values that the type no longer declares are left
// out. Both follow at once when notes or types change, because they are
// computed and not stored: a link that was broken works as soon as its target
// exists, and a field that is declared again has its values back. Links are
// resolved by the function given to SetResolver; the notes room gives it.
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
// therefore be opened before any room that listens to entity changes.
//
// # Size
//
// The package has some 2,500 lines: types, references that are resolved, privacy that is
// inherited and names that private entities had are all worked out from one change set
// under one lock, before the commit returns. Apart from each other they would hand that
// change set around.
package entities
