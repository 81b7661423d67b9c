package protocol

import (
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
)

// ChatMessageDraft is what a client says of a new message.
type ChatMessageDraft struct {
	Role            string     `json:"role" enum:"user,assistant,system" jsonschema:"who said it"`
	Content         string     `json:"content" jsonschema:"what was typed or answered, at most 1 MiB"`
	CreatedAt       *time.Time `json:"createdAt,omitempty" jsonschema:"when it was said; now when absent"`
	ClientMessageID string     `json:"clientMessageId,omitempty" jsonschema:"an id of the client's own: a message with one that is there already stores nothing"`
	Private         bool       `json:"private,omitempty" jsonschema:"keep it from remote models"`
}

// ChatPut are the parameters of chat.put.
type ChatPut struct {
	ID              string   `json:"id,omitempty" jsonschema:"id of the conversation; a new UUID when absent"`
	Title           string   `json:"title,omitempty" jsonschema:"its title, at most 200 characters; the beginning of its first message of a user when absent"`
	SystemPrompt    string   `json:"systemPrompt,omitempty" jsonschema:"what the model is told before everything else, at most 64 KiB"`
	Provider        string   `json:"provider,omitempty" jsonschema:"which provider answers: letters, digits, _ and -, at most 64; the one that is configured when absent"`
	Model           string   `json:"model,omitempty" jsonschema:"which of its models, at most 200 characters; the one that is configured when absent"`
	MaxContext      *int     `json:"maxContext,omitempty" min:"1000" max:"10000000" jsonschema:"how many tokens the model is given at most; when absent 32768, or less where the server tells that the model takes less"`
	Temperature     *float64 `json:"temperature,omitempty" min:"0" max:"2" jsonschema:"of the sampling; that of the model when absent"`
	Private         bool     `json:"private,omitempty" jsonschema:"keep it from remote models"`
	PinnedNoteIDs   []string `json:"pinnedNoteIds,omitempty" jsonschema:"notes that stand in every prompt of the conversation, at most 100; a prompt shows five"`
	PinnedMemoryIDs []string `json:"pinnedMemoryIds,omitempty" jsonschema:"memories that stand in every prompt of the conversation, at most 100"`
	IfVersion       *int     `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to replace; 0: it must not exist yet"`
}

// ChatAppend are the parameters of chat.append.
type ChatAppend struct {
	ConversationID string             `json:"conversationId,omitempty" jsonschema:"id or handle of the conversation; a new one when absent"`
	Title          string             `json:"title,omitempty" jsonschema:"title of a new conversation, at most 200 characters; the beginning of its first message of a user when absent"`
	Private        bool               `json:"private,omitempty" jsonschema:"keep a new conversation from remote models"`
	Messages       []ChatMessageDraft `json:"messages" jsonschema:"what was said, 1 to 100 messages"`
	MemoryIDs      []string           `json:"memoryIds,omitempty" jsonschema:"the memories that the prompt showed for the last message of role assistant, at most 100: its references. With a private one among them the message is private"`
}

// ChatAppended is the result of chat.append.
type ChatAppended struct {
	ConversationID string             `json:"conversationId" jsonschema:"id of the conversation"`
	Messages       []ChatMessageAdded `json:"messages" jsonschema:"what has become of each, in the order of the call"`
}

// ChatMessageAdded names a message of a conversation.
type ChatMessageAdded struct {
	ID     string `json:"id" jsonschema:"id of the message"`
	Index  int    `json:"index" jsonschema:"its number in the conversation, from 1; 0 when the reader does not see it"`
	Hash   string `json:"hash,omitempty" jsonschema:"its name in the conversation; absent where it would tell something private"`
	Repeat bool   `json:"repeat" jsonschema:"whether it was there already"`
	record.Waits
}

// ChatGet are the parameters of chat.get.
type ChatGet struct {
	Ref    string `json:"ref" jsonschema:"id of the conversation, a handle with or without @, or the beginning of an id, of at least 8 characters"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before; absent for the first"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"1000" default:"50" jsonschema:"messages of a page"`
	Branch string `json:"branch,omitempty" jsonschema:"id of a message: the newest branch that has it, instead of the newest of all"`
	Reads
}

// ChatPage is the result of chat.get.
type ChatPage struct {
	Conversation *record.Conversation  `json:"conversation" jsonschema:"the conversation"`
	Messages     []*record.ChatMessage `json:"messages" jsonschema:"its messages, the first first: those of one branch"`
	Branches     []ChatBranch          `json:"branches,omitempty" jsonschema:"on the first page: where other branches begin"`
	NextCursor   string                `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// ChatBranch is where a branch begins.
type ChatBranch struct {
	MessageID string `json:"messageId" jsonschema:"id of its first message, which chat.get takes as branch"`
	Index     int    `json:"index" jsonschema:"number of that message in the conversation, from 1"`
	ParentID  string `json:"parentId" jsonschema:"id of the message that it follows, empty for none"`
	Role      string `json:"role" jsonschema:"user, assistant or system"`
	Preview   string `json:"preview" jsonschema:"the beginning of what it says, in one line"`
}

// ChatList are the parameters of chat.list.
type ChatList struct {
	Archived bool `json:"archived,omitempty" jsonschema:"the archived conversations instead of the others"`
	Page
	Reads
}

// Conversations is the result of chat.list.
type Conversations struct {
	Conversations []*record.Conversation `json:"conversations" jsonschema:"the conversations, the one changed last first"`
	NextCursor    string                 `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// ChatSearch are the parameters of chat.search.
type ChatSearch struct {
	Query          string `json:"query" jsonschema:"words to look for; a remote reader searches what he may see"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"100" default:"10" jsonschema:"hits at most"`
	Mode           string `json:"mode,omitempty" enum:"hybrid,lexical,semantic" default:"hybrid" jsonschema:"how to search: lexical (by words), semantic (by meaning) or hybrid (both); without vectors hybrid falls back to words and the result says so, and semantic fails"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"id or handle of the conversation to look in, archived or not; all when absent"`
	Archived       bool   `json:"archived,omitempty" jsonschema:"archived conversations too"`
	Explain        bool   `json:"explain,omitempty" jsonschema:"explain the score of each hit"`
	Reads
}

// ChatHit is one message that was found.
type ChatHit struct {
	ConversationID string    `json:"conversationId" jsonschema:"id of its conversation"`
	Handle         string    `json:"handle,omitempty" jsonschema:"handle of its conversation; absent where it would tell something private"`
	Title          string    `json:"title" jsonschema:"title of its conversation"`
	ID             string    `json:"id" jsonschema:"id of the message"`
	Index          int       `json:"index" jsonschema:"its number in the conversation, from 1"`
	Hash           string    `json:"hash,omitempty" jsonschema:"its name in the conversation; absent where it would tell something private"`
	Role           string    `json:"role" jsonschema:"user, assistant or system"`
	Private        bool      `json:"private" jsonschema:"whether it is private"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was said"`
	Score          float64   `json:"score" jsonschema:"greater is better; comparable within one result only"`
	By             string    `json:"by" enum:"words,meaning,both" jsonschema:"what found it: meaning where it has none of the words"`
	Snippet        string    `json:"snippet" jsonschema:"the passage of it that matches best; for a message found only by meaning, the nearest part"`
	Ranges         [][2]int  `json:"ranges" jsonschema:"what matched in the snippet: UTF-16 offsets, half-open"`

	Signals map[string]float64 `json:"signals,omitempty" jsonschema:"with explain: what counted, by name, as in notes.search"`
}

// ChatFound is the result of chat.search.
type ChatFound struct {
	Hits       []ChatHit         `json:"hits" jsonschema:"best first"`
	Mode       string            `json:"mode" enum:"hybrid,lexical,semantic" jsonschema:"the mode that was used; lexical for a hybrid search without a part by meaning"`
	Degraded   *Degraded         `json:"degraded,omitempty" jsonschema:"what could not take part"`
	Corrected  map[string]string `json:"corrected,omitempty" jsonschema:"words of the query that are in no message, each with the word that differs by one edit and was looked for in its place"`
	Nothing    *SearchNothing    `json:"nothing,omitempty" jsonschema:"why nothing was found; absent where there are hits"`
	Confidence string            `json:"confidence,omitempty" enum:"high,medium,low" jsonschema:"how sure it is that the hits answer; absent of a search by meaning alone, and of a list"`
	Reason     string            `json:"reason,omitempty" jsonschema:"why it is so sure"`
	Understood *SearchUnderstood `json:"understood,omitempty" jsonschema:"how the query was read: with explain, and when it has problems"`
	Fused      *SearchFused      `json:"fused,omitempty" jsonschema:"with explain, for a hybrid search: the weight of each list"`
	Stages     []SearchStage     `json:"stages,omitempty" jsonschema:"with explain: the time of each stage"`
}

// ChatPatch are the parameters of chat.patch. Absent members stay as they are.
type ChatPatch struct {
	ID        string  `json:"id" jsonschema:"id of the conversation"`
	Title     *string `json:"title,omitempty" jsonschema:"its title; empty for the beginning of its first message of a user"`
	Private   *bool   `json:"private,omitempty" jsonschema:"whether it is kept from remote models"`
	IfVersion *int    `json:"ifVersion,omitempty" min:"1" jsonschema:"the version to change; another one is a conflict"`

	SystemPrompt    Optional[string]   `json:"systemPrompt,omitzero" jsonschema:"what the model is told before everything else, at most 64 KiB; null for nothing"`
	Provider        Optional[string]   `json:"provider,omitzero" jsonschema:"which provider answers; null for the one that is configured"`
	Model           Optional[string]   `json:"model,omitzero" jsonschema:"which of its models; null for the one that is configured"`
	MaxContext      Optional[int]      `json:"maxContext,omitzero" min:"1000" max:"10000000" jsonschema:"how many tokens the model is given at most; null for the usual"`
	Temperature     Optional[float64]  `json:"temperature,omitzero" min:"0" max:"2" jsonschema:"of the sampling; null for that of the model"`
	PinnedNoteIDs   Optional[[]string] `json:"pinnedNoteIds,omitzero" jsonschema:"notes that stand in every prompt of the conversation, in place of those that do now; null for none"`
	PinnedMemoryIDs Optional[[]string] `json:"pinnedMemoryIds,omitzero" jsonschema:"memories that stand in every prompt of the conversation, in place of those that do now; null for none"`
}

// ChatActions are the parameters of chat.actions.
type ChatActions struct {
	ConversationID string `json:"conversationId,omitempty" jsonschema:"id or handle of the conversation; all when absent"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"1000" default:"50" jsonschema:"actions at most"`
	Reads
}

// ChatActionList is the result of chat.actions.
type ChatActionList struct {
	Actions []ChatWaiting `json:"actions" jsonschema:"those that wait for the user, the oldest first"`
	Total   int           `json:"total" jsonschema:"how many wait"`
}

// ChatWaiting is an action that waits for the user.
type ChatWaiting struct {
	ConversationID string            `json:"conversationId" jsonschema:"the conversation in which it was proposed"`
	Handle         string            `json:"handle,omitempty" jsonschema:"handle of the conversation; absent where it would tell something private"`
	Title          string            `json:"title" jsonschema:"title of the conversation"`
	Action         record.ChatAction `json:"action" jsonschema:"the action"`
}

// ChatConfirm are the parameters of chat.confirm.
type ChatConfirm struct {
	ID   string         `json:"id" jsonschema:"id of the action"`
	Args map[string]any `json:"args,omitempty" jsonschema:"in the place of proposed args of the same names, null for none; those that are absent stay. Empty: the user has looked at the records since, and what is there may be overwritten"`
}

// ChatReject are the parameters of chat.reject.
type ChatReject struct {
	ID string `json:"id" jsonschema:"id of the action"`
}

// ChatDecided is the result of chat.confirm and chat.reject.
type ChatDecided struct {
	record.ChatAction
	Repeat   bool     `json:"repeat" jsonschema:"whether it was so before, so that nothing was done: a client that does it itself has been told to"`
	Warnings []string `json:"warnings" jsonschema:"what of its args was left out, each a sentence for people"`
}

// ChatConversation are the parameters of chat.cancel.
type ChatConversation struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
}

// ChatCancelled is the result of chat.cancel.
type ChatCancelled struct {
	Cancelled bool `json:"cancelled" jsonschema:"whether an answer was being given"`
}

// ChatFollow are the parameters of chat.follow.
type ChatFollow struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
	Stop           bool   `json:"stop,omitempty" jsonschema:"follow it no longer"`
	Reads
}

// ChatFollowed is the result of chat.follow.
type ChatFollowed struct {
	Following      bool   `json:"following" jsonschema:"whether the connection gets the deltas of the conversation"`
	ConversationID string `json:"conversationId" jsonschema:"id of the conversation, which the deltas have"`
	MessageID      string `json:"messageId,omitempty" jsonschema:"id of the answer that is being given, whose deltas come from now on; absent: none"`
}

// ChatInspect are the parameters of chat.inspect.
type ChatInspect struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
	Index          int    `json:"index,omitempty" min:"1" jsonschema:"number of an answer, or of the message that it answers: the newest one of its branch then; the newest answer of the newest branch when absent"`
	Reads
}

// ChatProviders are the parameters of chat.providers.
type ChatProviders struct {
	Probe bool `json:"probe,omitempty" jsonschema:"also ask the server of each which models it has, which may take 5 s; it costs nothing"`
	Reads
}

// ChatProviderList is the result of chat.providers.
type ChatProviderList struct {
	Default   string         `json:"default" jsonschema:"name of the one that answers unless a conversation names another; none for nobody"`
	Providers []ChatProvider `json:"providers" jsonschema:"those that are configured; openai and anthropic always are, with or without a key"`
	Spending  *ChatSpending  `json:"spending,omitempty" jsonschema:"what was spent on them; absent for a remote reader"`
}

// ChatProvider is a provider of language models. It never holds a key.
type ChatProvider struct {
	Name       string        `json:"name" jsonschema:"its name in the settings chat.providers.NAME"`
	Kind       string        `json:"kind" enum:"openai,anthropic" jsonschema:"its protocol: openai, the chat completions that local servers have too; or anthropic, the Messages API"`
	Base       string        `json:"base" jsonschema:"address of its server"`
	Model      string        `json:"model,omitempty" jsonschema:"the model that it is asked for unless a conversation names another; absent when none is configured"`
	Local      bool          `json:"local" jsonschema:"whether nothing leaves this machine; only then it gets private records"`
	KeyPresent bool          `json:"keyPresent" jsonschema:"whether there is a key where the settings say; a server on this machine may need none"`
	Default    bool          `json:"default" jsonschema:"whether it answers unless a conversation names another"`
	Why        string        `json:"why,omitempty" jsonschema:"why it can't be asked now, such as a missing key or a budget that is used up; absent when it can"`
	Hint       string        `json:"hint,omitempty" jsonschema:"what to do about that"`
	LeavesOut  []ChatLeftOut `json:"leavesOut,omitempty" jsonschema:"what requests are sent without, as its settings say or since its server refused it"`
	Probe      *ChatProbe    `json:"probe,omitempty" jsonschema:"what its server says; absent without probe, and when a key is missing"`
}

// ChatLeftOut is what requests to a model are sent without.
type ChatLeftOut struct {
	Model   string   `json:"model,omitempty" jsonschema:"the model; absent for all of them"`
	Members []string `json:"members" jsonschema:"as in the setting chat.providers.NAME.leaveOut"`
}

// ChatProbe is what the server of a provider said when it was asked which models it has.
type ChatProbe struct {
	Reached bool     `json:"reached" jsonschema:"whether it answered, whatever it said"`
	Models  []string `json:"models" jsonschema:"the models that it has, at most 1000"`
	Total   int      `json:"total" jsonschema:"how many it has"`
	Context int      `json:"context,omitempty" jsonschema:"how many tokens the model of the provider takes, as the server tells; absent where it does not"`
	Without []string `json:"without,omitempty" jsonschema:"what the server tells that the model does not take: tools, images"`
	Error   string   `json:"error,omitempty" jsonschema:"why there is no list of models; absent when there is one"`
	Hint    string   `json:"hint,omitempty" jsonschema:"what to do about that"`
	MS      int64    `json:"ms" jsonschema:"milliseconds that it took"`
}

// ChatID are the parameters of chat.delete.
type ChatID struct {
	ID string `json:"id" jsonschema:"id of the conversation"`
}

// ChatExport are the parameters of chat.export.
type ChatExport struct {
	Ref    string `json:"ref" formerly:"id" jsonschema:"the conversation, as for chat.get"`
	Format string `json:"format,omitempty" enum:"markdown,json" default:"markdown" jsonschema:"markdown: for people to read; json: everything, for chat.import"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the piece before; absent for the first"`
	Reads
}

// ChatExported is the result of chat.export.
type ChatExported struct {
	Text       string `json:"text" jsonschema:"the export, or about a MiB of it"`
	NextCursor string `json:"nextCursor,omitempty" jsonschema:"cursor of the next piece of a long conversation; absent on the last. The texts of all pieces, joined, are the export"`
}

// ChatImport are the parameters of chat.import.
type ChatImport struct {
	Path    string `json:"path,omitempty" jsonschema:"absolute path of what chat.export gave as json, of a data export of ChatGPT, Claude or Gemini (the .zip, or the JSON in it), or of a session of Claude Code, Codex CLI, Gemini CLI or OpenCode, or a folder of these"`
	Data    string `json:"data,omitempty" jsonschema:"instead of path: what the file would hold, at most 1 MiB"`
	Private bool   `json:"private,omitempty" jsonschema:"keep new conversations from remote models"`
	DryRun  bool   `json:"dryRun,omitempty" jsonschema:"report what would be imported, and change nothing"`
}

// ChatImported is the result of chat.import.
type ChatImported struct {
	DryRun        bool          `json:"dryRun" jsonschema:"whether nothing was changed"`
	Conversations int           `json:"conversations" jsonschema:"new conversations"`
	Continued     int           `json:"continued" jsonschema:"conversations that were there and have new messages"`
	Unchanged     int           `json:"unchanged" jsonschema:"conversations that were there with all their messages"`
	Messages      int           `json:"messages" jsonschema:"messages that were stored"`
	Known         int           `json:"known" jsonschema:"messages that were there"`
	TooLarge      int           `json:"tooLarge" jsonschema:"messages that are too large to be stored"`
	Full          int           `json:"full" jsonschema:"messages for which their conversation has no room"`
	Empty         int           `json:"empty" jsonschema:"conversations in which nothing was said; left out"`
	Branches      int           `json:"branches" jsonschema:"branches that were left out: the newest one of a conversation is imported"`
	Attachments   int           `json:"attachments" jsonschema:"images and files, of which the message has the name only"`
	Conversation  string        `json:"conversation,omitempty" jsonschema:"of what chat.export gave: id of the conversation"`
	HandleTaken   bool          `json:"handleTaken,omitempty" jsonschema:"of what chat.export gave: its handle is taken, so that it got another one"`
	Skipped       int           `json:"skipped" jsonschema:"how often something could not be read"`
	Problems      []ChatProblem `json:"problems" jsonschema:"the first 100 of those"`
}

// ChatProblem is a part of an export that could not be read.
type ChatProblem struct {
	File   string `json:"file,omitempty" jsonschema:"the file in the .zip"`
	Number int    `json:"number" jsonschema:"number of the conversation in its file, from 1"`
	Offset int64  `json:"offset" jsonschema:"first byte of the part, from 0"`
	End    int64  `json:"end" jsonschema:"first byte after it"`
	Reason string `json:"reason" jsonschema:"why it was not read"`
}

const (
	exampleConversationID = `{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e"}`
	exampleConversation   = `{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"weekend_trip_k3x9","aliases":[],"title":"Weekend trip","private":false,` +
		`"messages":2,"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:01:00Z","version":1,"maxContext":32768,"pinnedNoteIds":[],"pinnedMemoryIds":[]}`
	exampleChatMessage = `{"id":"16fd2706-8baf-433b-82eb-8c7fada847da","conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","index":1,"hash":"a3f20k",` +
		`"role":"user","content":"Where could we hike in May?","private":false,"createdAt":"2026-03-04T09:00:00Z","finish":"complete","references":[]}`
	exampleAction = `{"id":"36fd2706-8baf-433b-82eb-8c7fada847da","type":"createTask","args":{"title":"Book the hut"},"status":"proposed",` +
		`"messageId":"26fd2706-8baf-433b-82eb-8c7fada847da","reason":"You asked for it.","expiresAt":"2026-03-05T09:00:02Z"}`
)

var chatMethods = []Method{
	describe[ChatPut, record.Conversation]("chat.put", Mutation,
		"Begin a conversation, before anything is said in it, or replace its settings; those that are absent are cleared.",
		"What is pinned in it stands in each prompt that context.assemble makes for it. What of that is deleted or archived later is left out, and the report says so.",
		Example{`{"title":"Weekend trip","pinnedMemoryIds":["550e8400-e29b-41d4-a716-446655440000"]}`, `{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"weekend_trip_k3x9","aliases":[],"title":"Weekend trip","private":false,` +
			`"messages":0,"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:00:00Z","version":1,"maxContext":32768,"pinnedNoteIds":[],"pinnedMemoryIds":["550e8400-e29b-41d4-a716-446655440000"]}`},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ChatAppend, ChatAppended]("chat.append", Mutation,
		"Keep what was said in a conversation, a new one when none is named.",
		"All messages or none. A message with the clientMessageId of one that is there stores nothing, and says which conversation is meant when none is named. "+
			"A conversation that begins with private messages alone is private. memoryIds count no use: memory.use does, once for an answer. An answer that is a repeat keeps the references that it has.",
		Example{
			`{"title":"Weekend trip","messages":[{"role":"user","content":"Where could we hike in May?","clientMessageId":"m1"}]}`,
			`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","messages":[{"id":"16fd2706-8baf-433b-82eb-8c7fada847da","index":1,"hash":"a3f20k","repeat":false}]}`,
		},
		CodeNotFound, CodeLimit, CodeUnavailable),
	job(JobChat, describe[turn.ChatSend, turn.ChatSent]("chat.send", Job,
		"Say something in a conversation, a new one when none is named, and have a language model answer.",
		"The message is stored before a provider is asked. The prompt is that of context.assemble; the model may call tools, which read as the provider does: one that is not local gets nothing private. "+
			"While the answer is given, chat.delta tells of it. $/cancelRequest, chat.cancel and the end of the connection stop it; what came of it stays, and says how it ended. "+
			"One answer at a time is given in a conversation: another call is a conflict, whose data.ref is the id of the answer. Without a provider the answer says how to configure one, and the report what a model would be given.",
		Example{
			`{"text":"Where could we hike in May?","stream":false}`,
			`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","content":"In the Alps the lower paths are open.","userMessage":` + exampleChatMessage + `,` +
				`"assistantMessage":{"id":"26fd2706-8baf-433b-82eb-8c7fada847da","conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","index":2,"hash":"b7k2m1","role":"assistant",` +
				`"content":"In the Alps the lower paths are open.","private":false,"createdAt":"2026-03-04T09:00:02Z","finish":"complete","references":[],"usage":{"in":812,"out":11},"provider":"ollama","model":"llama3.2"},` +
				`"references":[],"actions":[],"warnings":[],"timings":{"assemble":0.9,"store":0.4,"firstDelta":310,"provider":820,"keep":0.5,"own":2.1},"repeat":false}`,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeDeadline, CodeUnavailable)),
	describe[ChatConversation, ChatCancelled]("chat.cancel", Mutation,
		"Stop the answer that is being given in a conversation.",
		"Its chat.send is answered with cancelled, and what came of the answer is stored.",
		Example{`{"conversationId":"weekend_trip_k3x9"}`, `{"cancelled":true}`}, CodeNotFound),
	describe[ChatFollow, ChatFollowed]("chat.follow", Read,
		"Get the deltas of every answer that is given in a conversation, whoever asks for it, until the connection ends.",
		"For a remote reader there are only the answers that remote models give. A connection that reads too slowly is closed.",
		Example{`{"conversationId":"weekend_trip_k3x9"}`, `{"following":true,"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e"}`}, CodeNotFound),
	describe[ChatGet, ChatPage]("chat.get", Read,
		"Read a conversation and a page of its messages.", "A remote reader has numbers of his own for the messages that he sees.",
		Example{`{"ref":"weekend_trip_k3x9","limit":1}`, `{"conversation":` + exampleConversation + `,"messages":[` + exampleChatMessage + `],"nextCursor":"MQA"}`},
		CodeNotFound),
	describe[ChatInspect, turn.ChatInspected]("chat.inspect", Read,
		"Tell what a model was given for an answer, and why: sections of the prompt, records with how they came there, what was left out, rounds with calls of tools, times and tokens.",
		"A trace is kept with each answer of chat.send, as far as the answer came: ids, sizes and times of then, and no text. Titles are those of now, as the reader sees them. "+
			"The system prompt itself is not kept; context.assemble makes the one that it would be now, and prompt.hash tells whether it is the same. An answer that was appended or imported has no trace, and why says so.",
		Example{
			`{"conversationId":"weekend_trip_k3x9","index":2}`,
			`{"conversation":` + exampleConversation + `,"question":` + exampleChatMessage + `,"answer":{"id":"26fd2706-8baf-433b-82eb-8c7fada847da",` +
				`"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","index":2,"hash":"b7k2m1","role":"assistant","content":"In the Alps the lower paths are open.","private":false,` +
				`"createdAt":"2026-03-04T09:00:02Z","finish":"complete","references":[],"usage":{"in":812,"out":11},"provider":"ollama","model":"llama3.2"},` +
				`"trace":{"remote":false,"asked":true,"prompt":{"chars":1204,"budget":60000,"own":0,"tokens":804,"sections":[{"name":"search","chars":1204,"budget":8000,"items":1}]},` +
				`"references":[{"kind":"note","id":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Huts in the Alps","status":"ok","origin":"search","section":"search","chars":1180,"used":true}],` +
				`"dropped":[],"history":{"messages":0,"chars":0,"dropped":0},"attached":{"images":0,"files":0,"chars":0},"tools":9,` +
				`"rounds":[{"ms":820,"firstMs":310,"tries":1,"usage":{"in":812,"out":11},"finish":"stop","calls":[]}],"stages":[{"name":"search","ms":0.4}],` +
				`"timings":{"assemble":0.9,"store":0.4,"firstDelta":310,"provider":820,"own":1.6}}}`,
		},
		CodeNotFound),
	describe[ChatList, Conversations]("chat.list", Read,
		"List conversations, the one changed last first.", "",
		Example{`{"limit":1}`, `{"conversations":[` + exampleConversation + `]}`}),
	describe[ChatSearch, ChatFound]("chat.search", Read,
		"Find messages by the words and the meaning of a query.",
		"Words are ORed; \"quoted phrases\", -word, role:, tier:, before: and after: are met by every hit. tier:working is what was said in the last 24 hours, tier:history the rest. "+
			"What is said in code counts less. explain says what counted, as notes.search does.",
		Example{
			`{"query":"hike in may","limit":1}`,
			`{"hits":[{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"weekend_trip_k3x9","title":"Weekend trip","id":"16fd2706-8baf-433b-82eb-8c7fada847da",` +
				`"index":1,"hash":"a3f20k","role":"user","private":false,"createdAt":"2026-03-04T09:00:00Z","score":0.82,"by":"both","snippet":"Where could we hike in May?","ranges":[[15,19],[23,26]]}],"mode":"hybrid"}`,
		},
		CodeNotFound, CodeLimit, CodeDeadline, CodeUnavailable),
	describe[ChatActions, ChatActionList]("chat.actions", Read,
		"List what answers propose to do and wait for the user to confirm.",
		"An action waits for 24 hours. chat.get shows those of each answer, with what has become of them.",
		Example{`{"limit":1}`, `{"actions":[{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"weekend_trip_k3x9","title":"Weekend trip","action":` + exampleAction + `}],"total":1}`},
		CodeNotFound),
	describe[ChatConfirm, ChatDecided]("chat.confirm", Mutation,
		"Do what an answer proposes. It is for a person who was shown the action: no model may call it.",
		"assignEntity writes the entity, in the same transaction. forClient tells that the client does it: it creates the task, or writes the line of edit. "+
			"An action that was confirmed is not done again. One whose record is gone becomes failed. It is a conflict when it was rejected or has expired or failed, "+
			"and when something would be overwritten that is newer than the proposal.",
		Example{
			`{"id":"36fd2706-8baf-433b-82eb-8c7fada847da"}`,
			`{"id":"36fd2706-8baf-433b-82eb-8c7fada847da","type":"assignEntity","args":{"entityId":"hive","field":"lead","targetId":"ann"},"status":"confirmed","messageId":"26fd2706-8baf-433b-82eb-8c7fada847da",` +
				`"reason":"You said that Ann leads it.","version":3,"expiresAt":"2026-03-05T09:00:02Z","decidedAt":"2026-03-04T09:05:00Z","repeat":false,"warnings":[]}`,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ChatReject, ChatDecided]("chat.reject", Mutation,
		"Have what an answer proposes not be done.", "It is a conflict when the action was confirmed, or has expired or failed.",
		Example{
			`{"id":"46fd2706-8baf-433b-82eb-8c7fada847da"}`,
			`{"id":"46fd2706-8baf-433b-82eb-8c7fada847da","type":"createTask","args":{"title":"Book the hut"},"status":"rejected","messageId":"26fd2706-8baf-433b-82eb-8c7fada847da",` +
				`"reason":"You asked for it.","expiresAt":"2026-03-05T09:00:02Z","decidedAt":"2026-03-04T09:05:00Z","repeat":false,"warnings":[]}`,
		},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ChatPatch, record.Conversation]("chat.patch", Mutation,
		"Change the title of a conversation, whether it is private, what answers in it and what is pinned in it.",
		"Its handle stays. What was remembered from a conversation that becomes private is private too. Pins of a remote reader replace those that he sees.",
		Example{`{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","title":"Weekend trip"}`, exampleConversation},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ByID, record.Conversation]("chat.archive", Mutation,
		"Take a conversation out of the list of conversations.", "It stays, and is still read by id and handle.",
		Example{exampleConversationID, exampleConversation}, CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ByID, record.Conversation]("chat.restore", Mutation,
		"Bring an archived conversation back.", "",
		Example{exampleConversationID, exampleConversation}, CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ChatExport, ChatExported]("chat.export", Read,
		"Export a conversation for people to read, or as JSON for chat.import.",
		"The JSON has all that is kept of the conversation but how its answers were given, which chat.inspect tells; for a remote reader it has what he sees, and is not imported. In Markdown each line of what was said begins with >, and no other line does.",
		Example{`{"ref":"weekend_trip_k3x9"}`, `{"text":"<!-- ctxd conversation -->\n# Weekend trip\n\n- Handle: @weekend_trip_k3x9\n- Begun: 2026-03-04T09:00:00Z\n- Changed: 2026-03-04T09:01:00Z\n- Messages: 1\n\n## 1. user, 2026-03-04T09:00:00Z\n\n> Where could we hike in May?\n"}`},
		CodeNotFound),
	job(JobImport, wholeStore(describe[ChatImport, ChatImported]("chat.import", Job,
		"Import a conversation that chat.export gave as JSON, the conversations of a data export of ChatGPT, Claude or Gemini, or sessions of coding agents.",
		"An own export comes back with its ids, handles as far as they are free, times, pins and settings, whole or not at all; a conversation that goes on otherwise here is a conflict. The file is read as a stream. Imported again, it adds only what is new; an import that was stopped is completed by the next one. "+
			"Of a damaged file what is whole is imported, and an error says where it ends.",
		Example{
			`{"path":"/home/me/conversations.json"}`,
			`{"dryRun":false,"conversations":120,"continued":0,"unchanged":3,"messages":4100,"known":60,"tooLarge":0,"full":0,"empty":2,"branches":11,"attachments":9,"skipped":0,"problems":[]}`,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable))),
	describe[ChatProviders, ChatProviderList]("chat.providers", Read,
		"List the configured providers of language models, and on demand what their servers offer.",
		"Keys are never shown, only whether there is one. probe asks the servers which models they have. One that does not answer is no error: its entry says why.",
		Example{
			`{"probe":true}`,
			`{"default":"ours","providers":[{"name":"ours","kind":"openai","base":"http://127.0.0.1:11434/v1","model":"llama3.2","local":true,"keyPresent":false,"default":true,"probe":{"reached":true,"models":["llama3.2:latest"],"total":1,"ms":4}}],"spending":{"today":[],"total":[]}}`,
		}),
	describe[ChatID, Deleted]("chat.delete", Mutation,
		"Delete a conversation with all its messages.", "What was remembered from it stays; memory.forget deletes that.",
		Example{exampleConversationID, exampleConversationID}, CodeNotFound, CodeUnavailable),
}
