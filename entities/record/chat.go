package record

import "time"

// Roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
)

// Roles are all roles of messages.
var Roles = []string{RoleUser, RoleAssistant, RoleSystem}

// FinishComplete says of a message that it was said to its end.
const FinishComplete = "complete"

// Conversation is a chat as a reader sees it, without its messages.
type Conversation struct {
	ID         string     `json:"id" jsonschema:"id of the conversation"`
	Handle     string     `json:"handle,omitempty" jsonschema:"what @ names it by; absent where it would tell something private"`
	Aliases    []string   `json:"aliases" jsonschema:"its former handles"`
	Title      string     `json:"title" jsonschema:"its title: until one is set, the beginning of the first message of a user"`
	Private    bool       `json:"private" jsonschema:"whether it is private"`
	Messages   int        `json:"messages" jsonschema:"how many messages it has; they have the numbers from 1 to this"`
	Lost       int        `json:"lost,omitempty" jsonschema:"how many of them damage to the store has taken: their numbers lead to nothing; absent: none"`
	ArchivedAt *time.Time `json:"archivedAt,omitempty" jsonschema:"since when it is archived"`
	CreatedAt  time.Time  `json:"createdAt" jsonschema:"when it was created"`
	UpdatedAt  time.Time  `json:"updatedAt" jsonschema:"when it was changed, or a message was added"`
	Version    int        `json:"version" jsonschema:"counts changes of the conversation, not its messages"`

	SystemPrompt    string   `json:"systemPrompt,omitempty" jsonschema:"what the model is told before everything else"`
	Provider        string   `json:"provider,omitempty" jsonschema:"which provider answers; absent: the one that is configured"`
	Model           string   `json:"model,omitempty" jsonschema:"which of its models; absent: the one that is configured"`
	MaxContext      int      `json:"maxContext" jsonschema:"how many tokens the model is given at most"`
	Temperature     *float64 `json:"temperature,omitempty" jsonschema:"of the sampling, 0 to 2; absent: that of the model"`
	PinnedNoteIDs   []string `json:"pinnedNoteIds" jsonschema:"notes that stand in every prompt of the conversation"`
	PinnedMemoryIDs []string `json:"pinnedMemoryIds" jsonschema:"memories that stand in every prompt of the conversation"`
}

// ChatMessage is one message of a conversation as a reader sees it.
type ChatMessage struct {
	ID             string    `json:"id" jsonschema:"id of the message"`
	ConversationID string    `json:"conversationId" jsonschema:"the conversation that it belongs to"`
	Index          int       `json:"index" jsonschema:"its number in the conversation, from 1"`
	Hash           string    `json:"hash,omitempty" jsonschema:"its name in the conversation; absent where it would tell something private"`
	Role           string    `json:"role" jsonschema:"user, assistant or system"`
	Content        string    `json:"content" jsonschema:"what was typed or answered"`
	Private        bool      `json:"private" jsonschema:"whether it is private"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was said"`
	Finish         string    `json:"finish" jsonschema:"complete: it was said to its end"`

	References []ChatReference `json:"references" jsonschema:"what the model was shown for this answer"`
}

// ChatReference is a record that an answer stood on.
type ChatReference struct {
	MemoryID string `json:"memoryId" jsonschema:"id of a memory"`
	Ref      string `json:"ref" jsonschema:"what # names it by"`
}
