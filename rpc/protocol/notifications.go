package protocol

import (
	"reflect"

	"github.com/ctxd/ctxd/chat/turn"
)

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
	return Notification{
		Name: name, Summary: summary, Description: description, Params: reflect.TypeFor[P](),
		Example: example,
	}
}

func fromClient(n Notification) Notification {
	n.FromClient = true
	return n
}

// The notifications that stand outside the topics: the client's, then the
// daemon's.
const (
	NotifyInitialized = "initialized"
	NotifyExit        = "exit"
	NotifyCancel      = "$/cancelRequest"
	NotifyProgress    = "$/progress"
	NotifyChatDelta   = "chat.delta"
)

// Notifications are all notifications: those of the client, then those of the
// daemon, of which those of the topics come last.
var Notifications = func() []Notification {
	all := []Notification{
		fromClient(notify[Empty](NotifyInitialized, "The client has received the answer to initialize.", "", `{}`)),
		fromClient(notify[Empty](NotifyExit, "Close the connection.", "", `{}`)),
		fromClient(notify[Cancel](NotifyCancel, "Cancel a call.",
			"A read, and a mutation that has not begun, is answered with cancelled. A mutation in progress completes and answers as usual. A job stops between two transactions.",
			`{"id":7}`)),
		notify[ProgressParams](NotifyProgress, "The progress of a call that has a progressToken.",
			"Sent on the connection of the call, as the Language Server Protocol has it; done and total are beyond it.",
			`{"token":"import-1","value":{"kind":"report","message":"read","percentage":30,"done":120,"total":400}}`),
		notify[turn.ChatDelta](NotifyChatDelta, "A piece of an answer that is being given.",
			"Sent to the connection that called chat.send, before its reply, and to those that follow the conversation. None is lost; the texts that wait for a slow reader come joined.",
			`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","messageId":"16fd2706-8baf-433b-82eb-8c7fada847da","seq":1,"type":"text","text":"In May, "}`),
	}
	for _, t := range TopicTable {
		all = append(all, Notification{
			Name: string(t.Name), Summary: t.Summary, Description: t.Description, Topic: true, Params: t.Payload,
			Example: t.Example,
		})
	}
	return all
}()
