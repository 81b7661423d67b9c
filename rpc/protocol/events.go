package protocol

// Topic names a kind of event. It is also the name of the notification that
// tells of one.
type Topic string

// The topics.
const (
	TopicNotes    Topic = "notes.changed"
	TopicEntities Topic = "entities.changed"
	TopicIndex    Topic = "index.progress"
	TopicHealth   Topic = "health.changed"
)

// Topics are all topics, in the order of their names.
var Topics = []Topic{TopicEntities, TopicHealth, TopicIndex, TopicNotes}

// EventTopics are the parameters and the result of events.subscribe and
// events.unsubscribe.
type EventTopics struct {
	Topics []Topic `json:"topics" jsonschema:"names of topics, in any order; in a result those now in effect, sorted"`
}

// NotesChanged is the parameter of notes.changed.
type NotesChanged struct {
	IDs  []string `json:"ids" jsonschema:"the notes; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,archive,unarchive,delete,many" jsonschema:"what happened to them; many: too much to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// EntitiesChanged is the parameter of entities.changed.
type EntitiesChanged struct {
	IDs  []string `json:"ids" jsonschema:"the entities; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,trash,restore,delete,many" jsonschema:"what happened to them; many: too much to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// The kinds of NotesChanged and EntitiesChanged.
const (
	ChangePut       = "put" // made, changed, or shown differently because of what it refers to
	ChangeArchive   = "archive"
	ChangeUnarchive = "unarchive"
	ChangeTrash     = "trash"
	ChangeRestore   = "restore"
	ChangeDelete    = "delete"
	ChangeMany      = "many"
)

// IndexProgress is the parameter of index.progress.
type IndexProgress struct {
	Stage string `json:"stage" jsonschema:"what is being done: stages of the reading of a vault; embed, with notes for units: vectors are made; model: the same for another model"`
	Done  int64  `json:"done" jsonschema:"units of work that are done"`
	Total int64  `json:"total" jsonschema:"units of work in all, 0 when that is not known"`
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault that is being read"`
}

var eventMethods = []Method{
	atOnce(describe[EventTopics, EventTopics]("events.subscribe", Control,
		"Have the daemon tell of changes, by topic.",
		"Adds to the topics in effect. An event of another connection's change may come before the answer to the call that made it, or after it; "+
			"the events of one connection are in the order of the commits. Subscribe first, then read, so that nothing falls between. "+
			"A client that reads slowly gets events merged: an id once, with what happened to it last.",
		Example{`{"topics":["notes.changed","health.changed"]}`, `{"topics":["health.changed","notes.changed"]}`})),
	atOnce(describe[EventTopics, EventTopics]("events.unsubscribe", Control,
		"Have the daemon no longer tell of changes, by topic.",
		"A topic that is not in effect is passed over. An event that was under way may still come.",
		Example{`{"topics":["health.changed"]}`, `{"topics":["notes.changed"]}`})),
}
