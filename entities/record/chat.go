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

// How a message ended.
const (
	FinishComplete    = "complete"    // it was said to its end
	FinishCancelled   = "cancelled"   // who asked has left
	FinishInterrupted = "interrupted" // the provider, or the daemon, broke off
	FinishFailed      = "failed"      // it could not be gone on with
)

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
	UsualContext    bool     `json:"-"` // nobody has set MaxContext
	Temperature     *float64 `json:"temperature,omitempty" jsonschema:"of the sampling, 0 to 2; absent: that of the model"`
	PinnedNoteIDs   []string `json:"pinnedNoteIds" jsonschema:"notes that stand in every prompt of the conversation"`
	PinnedMemoryIDs []string `json:"pinnedMemoryIds" jsonschema:"memories that stand in every prompt of the conversation"`
	Waits
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
	Finish         string    `json:"finish" jsonschema:"complete: it was said to its end; cancelled: who asked stopped it; interrupted: it broke off; failed: it could not be gone on with"`

	References []ChatReference `json:"references" jsonschema:"what the message refers to; of an answer also what the model was shown for it"`

	ParentID  *string        `json:"parentId,omitempty" jsonschema:"of the first message of a branch: the message that it follows, empty for none; absent: it follows the one before it"`
	Reasoning string         `json:"reasoning,omitempty" jsonschema:"of an answer: what the model thought before it, as it told"`
	ToolCalls []ChatToolCall `json:"toolCalls,omitempty" jsonschema:"of an answer: the tools that the model called for it, in order"`
	Actions   []ChatAction   `json:"actions,omitempty" jsonschema:"of an answer: what it proposes to do"`
	Warnings  []ChatWarning  `json:"warnings,omitempty" jsonschema:"of an answer: what went otherwise than it was asked for"`
	Usage     *ChatUsage     `json:"usage,omitempty" jsonschema:"of an answer: what it cost"`
	Outcome   string         `json:"outcome,omitempty" enum:"unscored,worked,failed,partial,unknown" jsonschema:"how it went: unscored for an answer that used memories and of which nobody has told; absent for others of which nobody has"`
	Memory    *MemoryMeta    `json:"memory,omitempty" jsonschema:"of an answer that used memories: what it has to do with them; from chat.send, chat.get and chat.inspect"`
	Provider  string         `json:"provider,omitempty" jsonschema:"of an answer: the provider that gave it"`
	Model     string         `json:"model,omitempty" jsonschema:"of an answer: the model, as its provider calls it"`
	Waits
}

// ChatToolCall is a call of a tool that a model made.
type ChatToolCall struct {
	ID        string `json:"id" jsonschema:"id of the call in its message"`
	Name      string `json:"name" jsonschema:"the tool"`
	Arguments string `json:"arguments" jsonschema:"what the model wrote as arguments, in general JSON"`
	Round     int    `json:"round" jsonschema:"in which round of the answer it was called, from 1"`
	Failed    bool   `json:"failed,omitempty" jsonschema:"whether it could not be done: the model was told why"`
	Chars     int    `json:"chars" jsonschema:"characters of the result that the model was given"`
}

// ChatWarning says what of an answer went otherwise than it was asked for.
type ChatWarning struct {
	About   string `json:"about" jsonschema:"what it is about: a stage of the answer, a tool, or a reference as it was typed"`
	Message string `json:"message" jsonschema:"one sentence for people"`
}

// AboutPrivate is what a ChatWarning is about that tells of private records: it is for local readers alone.
const AboutPrivate = "private"

// ChatUsage is what an answer cost, in tokens.
type ChatUsage struct {
	In        int64 `json:"in" jsonschema:"tokens that the model was given, in all rounds"`
	Out       int64 `json:"out" jsonschema:"tokens that it gave"`
	Cached    int64 `json:"cached,omitempty" jsonschema:"of in: those that the provider had in a cache"`
	Estimated bool  `json:"estimated,omitempty" jsonschema:"whether the provider did not count all of them"`
}

// ChatAction is something that an answer proposes. Nothing of it is done before somebody confirms it.
type ChatAction struct {
	ID        string            `json:"id" jsonschema:"id of the action, which chat.confirm and chat.reject take"`
	Type      string            `json:"type" enum:"createTask,assignEntity,remember,forget,pin,search,book" jsonschema:"what is to be done"`
	Args      map[string]any    `json:"args" jsonschema:"with what: of createTask title, details, due, entityIds and noteId; of assignEntity entityId, field and targetId; of remember statement, kind, summary, conversationId and messageId; of forget memoryId and statement; of pin conversationId, noteId, memoryId and label; of search query; of book path and conversationId. Of a confirmed one they are those that were confirmed"`
	Names     map[string]string `json:"names,omitempty" jsonschema:"what the entities and notes of the args are called, by their ids, as far as the reader sees them"`
	Status    string            `json:"status" enum:"proposed,confirmed,rejected,expired,failed" jsonschema:"what has become of it: it waits for the user; the user said yes, or no; nobody said anything for 24 hours; it was confirmed and could not be done"`
	MessageID string            `json:"messageId" jsonschema:"the answer that proposes it"`
	Reason    string            `json:"reason" jsonschema:"why it is proposed: in the words of the model, or what of the message orders it"`
	Edit      *ToolEdit         `json:"edit,omitempty" jsonschema:"the line of a file of a vault that a person changes, since the record is made from it; of a confirmed createTask the line that was appended to a note"`
	Version   int               `json:"version,omitempty" jsonschema:"of assignEntity and forget: version of the record when it was proposed"`
	ExpiresAt *time.Time        `json:"expiresAt,omitempty" jsonschema:"until when it can be confirmed"`
	DecidedAt *time.Time        `json:"decidedAt,omitempty" jsonschema:"when the user has confirmed or rejected it"`
	ForClient bool              `json:"forClient,omitempty" jsonschema:"of a confirmed one: the client does it. It creates the task, shows what the search finds, reads the file with books.add, or writes the line of edit into the file"`
	Failure   string            `json:"failure,omitempty" jsonschema:"of a failed one: why it could not be done"`
}

// ActionTime is how long an action waits for the user.
const ActionTime = 24 * time.Hour

// What becomes of an action.
const (
	ActionProposed  = "proposed"
	ActionConfirmed = "confirmed"
	ActionRejected  = "rejected"
	ActionExpired   = "expired"
	ActionFailed    = "failed"
)

// ChatReference is a note or a memory that a message names, or that an answer stood on. There is one for each record,
// however often and by whatever it is named. Of one that leads to no note, noteId and relativePath are absent.
type ChatReference struct {
	Wikilink string `json:"wikilink,omitempty" jsonschema:"of a note: the link as it was typed first, or one that leads to the note"`
	NoteID   string `json:"noteId,omitempty" jsonschema:"id of the note"`
	Path     string `json:"relativePath,omitempty" jsonschema:"path of the note in its vault, when the message was said"`
	Heading  string `json:"heading,omitempty" jsonschema:"the heading that the link leads to"`
	Block    string `json:"block,omitempty" jsonschema:"the block that the link leads to"`
	Alias    string `json:"alias,omitempty" jsonschema:"what the link shows in the place of the title"`
	Embed    bool   `json:"embed,omitempty" jsonschema:"whether it is ![[…]]"`

	Kind      string `json:"kind,omitempty" enum:"attachment" jsonschema:"attachment where the link leads to a file that is no note; else absent"`
	EntityID  string `json:"entityId,omitempty" jsonschema:"id of an entity that the user named; noteId is that of the note that it is made from, if it is"`
	PassageID string `json:"passageId,omitempty" jsonschema:"in the place of a note: id of a passage of a book"`

	Type    string   `json:"referenceType,omitempty" enum:"direct,search" jsonschema:"of all but memories: a link or a mention of the message names it, or a tool or a search has found it"`
	Status  string   `json:"status,omitempty" enum:"ok,broken,ambiguous,deleted" jsonschema:"of a note: whether it was there when the message was said"`
	Reason  string   `json:"reason,omitempty" jsonschema:"why it is not ok, for people"`
	Summary string   `json:"summary,omitempty" jsonschema:"what the note is about, in a line; absent where it has no text"`
	Snippet string   `json:"contextSnippet,omitempty" jsonschema:"what of the note was shown, or how it was found"`
	Tools   []string `json:"tools,omitempty" jsonschema:"the tools that showed it, in order"`
	Used    bool     `json:"used,omitempty" jsonschema:"whether the answer stands on it: the model has read of a note, the answer cites a memory or a passage, or has words of a memory that a tool gave; absent: it was only found"`
	Spans   [][2]int `json:"spans,omitempty" jsonschema:"places of the links in the content of the message: UTF-16 code units, half-open"`

	Ranges [][2]int `json:"ranges,omitempty" jsonschema:"places of excerpts that the model was shown, in the body of the note as the reader sees it: UTF-16 code units, half-open"`
	Hash   string   `json:"hash,omitempty" jsonschema:"SHA-256 of that body, with ranges"`

	MemoryID string `json:"memoryId,omitempty" jsonschema:"in the place of a note: id of a memory"`
	Ref      string `json:"ref,omitempty" jsonschema:"of a memory what # names it by, of an entity what @ does, of a passage how to cite it: book, section, page"`
}

// ReferAttachment is the kind of a reference to a file that is no note.
const ReferAttachment = "attachment"

// How a message came to refer to a note.
const (
	ReferDirect = "direct"
	ReferSearch = "search"
)

// Whether a note is there that a message refers to.
const (
	ReferOK        = "ok"
	ReferBroken    = "broken"    // there is no such note
	ReferAmbiguous = "ambiguous" // there are several of that name
	ReferDeleted   = "deleted"   // it was there
)
