package turn

import (
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// ChatSend are the parameters of chat.send.
type ChatSend struct {
	ConversationID     string          `json:"conversationId,omitempty" jsonschema:"id or handle of the conversation; a new one when absent, which an error names in data.ref"`
	Text               string          `json:"text,omitempty" jsonschema:"what the user typed, at most 1 MiB; @handle, #42 and [[Title]] in it are references. It may be absent only with regenerate or where something is attached"`
	ClientMessageID    string          `json:"clientMessageId,omitempty" jsonschema:"an id of the client's own: said again, the message is not stored again, and its answer is the stored one"`
	Private            bool            `json:"private,omitempty" jsonschema:"keep the message and its answer from remote models; the provider must be local then"`
	Replaces           string          `json:"replaces,omitempty" jsonschema:"id of a message of the user in whose place this one is said: a new branch of the conversation begins with it"`
	ParentID           string          `json:"parentId,omitempty" jsonschema:"id of the message that this one follows; the last one of the newest branch when absent. After an earlier message, or on another branch, a new branch begins"`
	Regenerate         string          `json:"regenerate,omitempty" jsonschema:"id of a message of the user that is to be answered anew, or of its answer: the new answer begins a branch"`
	MentionedNoteIDs   []string        `json:"mentionedNoteIds,omitempty" jsonschema:"pinned notes of this message, before those in the text"`
	MentionedEntityIDs []string        `json:"mentionedEntityIds,omitempty" jsonschema:"mentioned entities, before those in the text"`
	AttachedMemoryIDs  []string        `json:"attachedMemoryIds,omitempty" jsonschema:"memories that the user attached, for this message alone"`
	CalendarEvents     []prompt.Event  `json:"calendarEvents,omitempty" jsonschema:"calendar events from the client"`
	ActionItems        []prompt.Action `json:"actionItems,omitempty" jsonschema:"open action items that the client knows of"`
	Images             []ChatImage     `json:"images,omitempty" jsonschema:"pictures for this message, at most 5 and 8 MiB in all"`
	Files              []ChatFile      `json:"files,omitempty" jsonschema:"texts for this message, at most 5 of 20000 characters each"`
	Provider           string          `json:"provider,omitempty" jsonschema:"which provider answers; that of the conversation when absent"`
	Model              string          `json:"model,omitempty" jsonschema:"which of its models; that of the conversation when absent"`
	Memories           *int            `json:"memories,omitempty" min:"0" max:"20" jsonschema:"memories and messages that a search adds to the prompt; 5 when absent"`
	SearchNotes        *int            `json:"searchNotes,omitempty" min:"0" max:"8" jsonschema:"notes that a search adds to the prompt; 3 when absent"`
	Passages           *int            `json:"passages,omitempty" min:"0" max:"8" jsonschema:"passages of books that a search adds to the prompt, those of the conversation among them; 3 when absent"`
	Tools              *bool           `json:"tools,omitempty" jsonschema:"whether the model may call tools, which read; true when absent"`
	Intents            *bool           `json:"intents,omitempty" jsonschema:"whether what the text orders (/remember, remember that …) is proposed, see intent.route; true when absent. Of a text that is commands alone no model is asked then"`
	TrackReferences    *bool           `json:"trackReferences,omitempty" jsonschema:"whether the answer keeps what it stands on; true when absent"`
	Retry              *bool           `json:"retry,omitempty" jsonschema:"whether it is waited for a provider that is busy (a warning says how long), and asked again; true when absent. Otherwise the call fails at once"`
	Stream             *bool           `json:"stream,omitempty" jsonschema:"whether the caller gets chat.delta notifications; true when absent. Who follows the conversation gets them in any case"`
}

// ChatImage is a picture that the model is shown.
type ChatImage struct {
	Path string `json:"path,omitempty" jsonschema:"absolute path of the picture; not for a remote connection"`
	Data string `json:"data,omitempty" jsonschema:"the picture in base64, instead of a path: PNG, JPEG, GIF or WebP"`
}

// ChatFile is a text that the model is shown.
type ChatFile struct {
	Name string `json:"name" jsonschema:"what it is called"`
	Text string `json:"text" jsonschema:"what is in it"`
	Path string `json:"path,omitempty" jsonschema:"absolute path of the file, which makes the message as private as a note in that place; it is not read, and no model is told of it. Not for a remote connection"`
}

// ChatSent is the result of chat.send.
type ChatSent struct {
	ConversationID   string                 `json:"conversationId" jsonschema:"id of the conversation"`
	Content          string                 `json:"content" jsonschema:"the answer"`
	UserMessage      *record.ChatMessage    `json:"userMessage" jsonschema:"the message that was answered"`
	AssistantMessage *record.ChatMessage    `json:"assistantMessage" jsonschema:"the answer as it is stored"`
	References       []record.ChatReference `json:"references" jsonschema:"what the answer stands on"`
	Actions          []record.ChatAction    `json:"actions" jsonschema:"what the answer proposes to do; nothing of it is done before somebody confirms it"`
	Warnings         []record.ChatWarning   `json:"warnings" jsonschema:"what went otherwise than it was asked for"`
	Report           *prompt.Report         `json:"report,omitempty" jsonschema:"what the model was given, and why; absent for a stored answer"`
	Memory           *record.MemoryMeta     `json:"memory,omitempty" jsonschema:"what the answer has to do with what is remembered; absent for one that used no memory"`
	Timings          map[string]float64     `json:"timings" jsonschema:"milliseconds of each stage: assemble, distill, store, intents, firstDelta, provider, tools, references, keep, and own for all but distill and provider"`
	Repeat           bool                   `json:"repeat" jsonschema:"whether message and answer were there already, so that no provider was asked"`
}

// Kinds of deltas.
const (
	Text       = "text"       // a piece of the answer
	Reasoning  = "reasoning"  // a piece of what the model thinks before it
	Replace    = "replace"    // what stands for all of the answer so far
	ToolCall   = "toolCall"   // the model calls a tool
	ToolResult = "toolResult" // what the tool gave
	References = "references" // what the answer stands on
	Action     = "action"     // what it proposes
	Warning    = "warning"    // what went otherwise
	Done       = "done"       // the answer has ended
)

// ChatDelta is a piece of an answer that is being given.
type ChatDelta struct {
	ConversationID string         `json:"conversationId" jsonschema:"id of the conversation"`
	MessageID      string         `json:"messageId" jsonschema:"id of the answer"`
	ClientMessage  string         `json:"clientMessageId,omitempty" jsonschema:"of the first delta, and of one with the number 0: the id that the client gave to the message that is answered"`
	Seq            int            `json:"seq" jsonschema:"number of the delta in the answer, from 1 without gaps; 0 of the warning of what is private and not given to a provider that is not local, which comes first, for local readers alone"`
	LastSeq        int            `json:"lastSeq,omitempty" jsonschema:"of texts that were joined for a slow reader: the number of the last one"`
	Type           string         `json:"type" enum:"text,reasoning,replace,toolCall,toolResult,references,action,warning,done" jsonschema:"what it is"`
	Text           string         `json:"text,omitempty" jsonschema:"of text and reasoning: the piece. The texts of an answer, joined, are its content. Of replace: what the texts so far are replaced with, since the model was thinking; its thoughts come again as reasoning"`
	Data           *ChatDeltaData `json:"data,omitempty" jsonschema:"of the other types: what it says"`
}

// ChatDeltaData is what a delta says that is no piece of a text. The members are those of its type.
type ChatDeltaData struct {
	Call       *record.ChatToolCall   `json:"call,omitempty" jsonschema:"of toolCall and toolResult: the call"`
	Result     string                 `json:"result,omitempty" jsonschema:"of toolResult: what the model was given"`
	References []record.ChatReference `json:"references,omitempty" jsonschema:"of references"`
	Action     *record.ChatAction     `json:"action,omitempty" jsonschema:"of action"`
	Warning    *record.ChatWarning    `json:"warning,omitempty" jsonschema:"of warning"`
	Finish     string                 `json:"finish,omitempty" jsonschema:"of done: complete, cancelled, interrupted or failed"`
	Usage      *record.ChatUsage      `json:"usage,omitempty" jsonschema:"of done: what the answer cost"`
}

// Join joins the texts among deltas that wait, so that fewer are sent and none is lost.
func Join(waiting []ChatDelta) []ChatDelta {
	kept := waiting[:0]
	var pieces []byte
	begun := false // the last of kept is a text that pieces go on with
	flush := func() {
		if begun && len(pieces) > 0 {
			kept[len(kept)-1].Text += string(pieces)
		}
		pieces, begun = pieces[:0], false
	}
	for _, d := range waiting {
		isText := d.Type == Text || d.Type == Reasoning
		if n := len(kept); begun && isText {
			last := &kept[n-1]
			if last.Type == d.Type && last.MessageID == d.MessageID {
				pieces = append(pieces, d.Text...)
				last.LastSeq = max(d.Seq, d.LastSeq)
				continue
			}
		}
		flush()
		kept = append(kept, d)
		begun = isText
	}
	flush()
	return kept
}
