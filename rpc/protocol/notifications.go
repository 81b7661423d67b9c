package protocol

import "reflect"

// Notification describes a message that nobody answers.
type Notification struct {
	Name        string
	Summary     string       // one line
	Description string       // what the summary leaves out; may be empty
	FromClient  bool         // else it is sent by the daemon
	Topic       bool         // sent to connections that subscribed to a topic of that name
	Params      reflect.Type // a struct
	Example     string       // its params as JSON
}

// notify describes a notification whose parameter is a P.
func notify[P any](name, summary, description, example string) Notification {
	return Notification{Name: name, Summary: summary, Description: description, Params: reflect.TypeFor[P](), Example: example}
}

func fromClient(n Notification) Notification {
	n.FromClient = true
	return n
}

func topic(n Notification) Notification {
	n.Topic = true
	return n
}

// The notifications that stand outside the topics: the client's, then the
// daemon's.
const (
	NotifyInitialized = "initialized"
	NotifyExit        = "exit"
	NotifyCancel      = "$/cancelRequest"
	NotifyProgress    = "$/progress"
)

// Notifications are all notifications: those of the client, then those of the
// daemon.
var Notifications = []Notification{
	fromClient(notify[Empty](NotifyInitialized, "The answer to initialize has come.", "", `{}`)),
	fromClient(notify[Empty](NotifyExit, "Close the connection.", "", `{}`)),
	fromClient(notify[Cancel](NotifyCancel, "Withdraw a call.",
		"A read or a mutation that has not begun is answered with Cancelled; a mutation under way completes and answers as if nothing had been said; a job stops between two transactions.",
		`{"id":7}`)),
	notify[Progress](NotifyProgress, "How far a call with a progressToken has come.", "Sent to the connection that the call came on.",
		`{"token":"import-1","kind":"report","message":"read","done":120,"total":400}`),
	topic(notify[EntitiesChanged](string(TopicEntities), "Entities were changed.",
		"One for each commit and kind. An entity whose reference leads elsewhere now, because a note was renamed, was changed too.",
		`{"ids":["alice"],"kind":"put","seq":42}`)),
	topic(notify[Health](string(TopicHealth), "The daemon's status or its warnings are others than before.",
		"As admin.health answers. Changes that nothing in the daemon notices, such as a disk that fills up, are found within 30 seconds.", exampleHealth)),
	topic(notify[IndexProgress](string(TopicIndex), "A vault is being read, or vectors of notes are being made.", "At most one in 100 ms for a stage; the last of a stage is always sent.",
		`{"stage":"read","done":120,"total":400,"vault":"Notes"}`)),
	topic(notify[NotesChanged](string(TopicNotes), "Notes were changed.", "One for each commit and kind.",
		`{"ids":["n1","n2"],"kind":"archive","seq":43}`)),
}
