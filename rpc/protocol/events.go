package protocol

import "reflect"

// Topic names a kind of event. It is also the name of the notification that
// tells of one.
type Topic string

// The topics.
const (
	TopicNotes       Topic = "notes.changed"
	TopicEntities    Topic = "entities.changed"
	TopicMemory      Topic = "memory.changed"
	TopicChat        Topic = "chat.changed"
	TopicIndex       Topic = "index.progress"
	TopicHealth      Topic = "health.changed"
	TopicPersonality Topic = "personality.changed"
)

// TopicNumber is the place of a topic in TopicTable. Arrays over the topics have
// TopicCount elements.
type TopicNumber int

// The topics by number, in the order of their names.
const (
	ChatTopic TopicNumber = iota
	EntitiesTopic
	HealthTopic
	IndexTopic
	MemoryTopic
	NotesTopic
	PersonalityTopic
	TopicCount
)

// MergeRule says what becomes of events that a client is too slow to read.
type MergeRule uint8

// The rules of merging.
const (
	MergeRecords MergeRule = iota + 1 // the ids are united, each with what happened to it last
	MergeLatest                       // the last event stands for those before it
)

// RemoteRule says what a connection that reads for a remote audience gets of an
// event.
type RemoteRule uint8

// The rules for a remote audience.
const (
	RemoteVisible   RemoteRule = iota + 1 // only ids of records that such a reader may see
	RemoteUncounted                       // without numbers that count private records
	RemoteNone                            // nothing
)

// TopicInfo describes a topic: its notification, and how its events are delivered.
type TopicInfo struct {
	Name        Topic
	Payload     reflect.Type // params of the notification
	Merge       MergeRule
	Remote      RemoteRule
	Summary     string // one line
	Description string // what the summary leaves out; may be empty
	Example     string // the params as JSON
}

// TopicTable describes all topics.
var TopicTable = [TopicCount]TopicInfo{
	ChatTopic: {
		TopicChat, reflect.TypeFor[ChatChanged](), MergeRecords, RemoteVisible,
		"Conversations were changed.", "One for each commit and kind. A message that was added changes its conversation.",
		`{"ids":["6fa459ea-ee8a-3ca4-894e-db77e160355e"],"kind":"put","seq":45}`,
	},
	EntitiesTopic: {
		TopicEntities, reflect.TypeFor[EntitiesChanged](), MergeRecords, RemoteVisible,
		"Entities were changed.",
		"One for each commit and kind. An entity also counts as changed when its reference leads elsewhere because a note was renamed.",
		`{"ids":["alice"],"kind":"put","seq":42}`,
	},
	HealthTopic: {
		TopicHealth, reflect.TypeFor[Health](), MergeLatest, RemoteUncounted,
		"The status or the warnings of the daemon have changed.",
		"The params are those of the result of admin.health. Changes outside the daemon, such as a full disk, are found within 30 seconds.",
		exampleHealth,
	},
	IndexTopic: {
		TopicIndex, reflect.TypeFor[IndexProgress](), MergeLatest, RemoteNone,
		"A vault is being imported, or notes are being embedded.",
		"At most one event in 100 ms for each stage; the last one of a stage is always sent.",
		`{"stage":"read","done":120,"total":400,"vault":"Notes"}`,
	},
	MemoryTopic: {
		TopicMemory, reflect.TypeFor[MemoryChanged](), MergeRecords, RemoteVisible,
		"Memories were changed.", "One for each commit and kind. Counting a use changes no memory.",
		`{"ids":["550e8400-e29b-41d4-a716-446655440000"],"kind":"put","seq":44}`,
	},
	NotesTopic: {
		TopicNotes, reflect.TypeFor[NotesChanged](), MergeRecords, RemoteVisible,
		"Notes were changed.", "One for each commit and kind.",
		`{"ids":["n1","n2"],"kind":"archive","seq":43}`,
	},
	PersonalityTopic: {
		TopicPersonality, reflect.TypeFor[PersonalityChanged](), MergeRecords, RemoteNone,
		"How the assistant is to speak has changed.", "One for each commit and kind. Prompts that are made from now on are other ones where it concerns the active personality.",
		`{"ids":["ada"],"kind":"activate","seq":46}`,
	},
}

// Topics are the names of all topics, sorted.
var Topics = func() (names []Topic) {
	for _, t := range TopicTable {
		names = append(names, t.Name)
	}
	return names
}()

// EventTopics are the parameters and the result of events.subscribe and
// events.unsubscribe.
type EventTopics struct {
	Topics []Topic `json:"topics" jsonschema:"names of topics, in any order; in a result those now in effect, sorted"`
}

// NotesChanged is the parameter of notes.changed.
type NotesChanged struct {
	IDs  []string `json:"ids" jsonschema:"the notes; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,archive,restore,delete,many" jsonschema:"what happened to them; many: too many to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// EntitiesChanged is the parameter of entities.changed.
type EntitiesChanged struct {
	IDs  []string `json:"ids" jsonschema:"the entities; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,archive,restore,delete,many" jsonschema:"what happened to them; many: too many to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// MemoryChanged is the parameter of memory.changed.
type MemoryChanged struct {
	IDs  []string `json:"ids" jsonschema:"the memories; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,archive,restore,delete,many" jsonschema:"what happened to them; archive: it is found no more when no status is asked for; restore: it is again; many: too many to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// ChatChanged is the parameter of chat.changed.
type ChatChanged struct {
	IDs  []string `json:"ids" jsonschema:"the conversations; empty when kind is many"`
	Kind string   `json:"kind" enum:"put,archive,restore,delete,many" jsonschema:"what happened to them; put: made, changed, or said more in; many: too many to list, read everything again"`
	Seq  uint64   `json:"seq" jsonschema:"number of the commit, as in admin.health; of several that were merged, the last"`
}

// The kinds of NotesChanged, EntitiesChanged, MemoryChanged and ChatChanged.
const (
	ChangePut        = "put" // made, changed, or shown differently because of what it refers to
	ChangeArchive    = "archive"
	ChangeRestore    = "restore"
	ChangeDelete     = "delete"
	ChangeActivate   = "activate"
	ChangeDeactivate = "deactivate"
	ChangeMany       = "many"
)

// IndexProgress is the parameter of index.progress.
type IndexProgress struct {
	Stage string `json:"stage" jsonschema:"the stage: those of an import; embed: notes are being embedded; model: notes are being embedded with another model; tokens: they are being encoded"`
	Done  int64  `json:"done" jsonschema:"units of work that are done"`
	Total int64  `json:"total" jsonschema:"total units of work; 0 when unknown"`
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault that is being read"`
	Kind  string `json:"kind,omitempty" jsonschema:"what is being embedded, such as memories; absent for notes"`
}

var eventMethods = []Method{
	storeless(describe[EventTopics, EventTopics]("events.subscribe", Control,
		"Subscribe to events, by topic.",
		"Adds to the topics in effect. An event of another connection's change may come before the answer to the call that made it, or after it; "+
			"the events of one connection are in the order of the commits. Subscribe first, then read, so that nothing falls between. "+
			"A client that reads slowly gets merged events: each id once, with its latest change.",
		Example{`{"topics":["notes.changed","health.changed"]}`, `{"topics":["health.changed","notes.changed"]}`})),
	storeless(describe[EventTopics, EventTopics]("events.unsubscribe", Control,
		"Unsubscribe from events, by topic.",
		"Topics without a subscription are ignored. An event that is on its way may still arrive.",
		Example{`{"topics":["health.changed"]}`, `{"topics":["notes.changed"]}`})),
}
