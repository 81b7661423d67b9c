package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// MemoryDraft is what a client may say of a new memory.
type MemoryDraft struct {
	ID        string   `json:"id,omitempty" jsonschema:"id, 1 to 64 letters, digits, hyphens and underscores; a new UUID when absent"`
	Handle    string   `json:"handle,omitempty" jsonschema:"what @ names it by, 3 to 60 characters; made of the statement when absent"`
	Tier      string   `json:"tier,omitempty" enum:"working,history,patterns,memoryBank" default:"memoryBank" jsonschema:"how long it is kept: a day, a month, or until somebody says otherwise"`
	Kind      string   `json:"kind,omitempty" enum:"fact,preference,identity,goal,value,project,skill,decision,task,event,lesson,solution,takeaway" default:"fact" jsonschema:"what sort of statement it is"`
	Statement string   `json:"statement" jsonschema:"one statement about the person or their world, at most 8,000 characters"`
	Summary   string   `json:"summary,omitempty" jsonschema:"the statement in short, at most 200 characters; needed for a statement of more than 2,000"`
	Questions []string `json:"questions,omitempty" jsonschema:"questions that it answers, at most 8"`
	Domains   []string `json:"domains,omitempty" jsonschema:"areas of life that it belongs to, such as health"`
	Tags      []string `json:"tags,omitempty" jsonschema:"tags; a/b is a tag below a"`
	Contexts  []string `json:"contexts,omitempty" jsonschema:"ids of the contexts that it belongs to"`
	EntityIDs []string `json:"entityIds,omitempty" jsonschema:"entities that it is about; those that the statement names when absent"`
	NoteIDs   []string `json:"noteIds,omitempty" jsonschema:"notes that it is about"`

	Importance   *float64 `json:"importance,omitempty" min:"0" max:"1" jsonschema:"how much it matters; 0.7 when absent"`
	Confidence   *float64 `json:"confidence,omitempty" min:"0" max:"1" jsonschema:"how sure it is; 0.7 when absent; under 0.3 it is deprecated"`
	Pinned       bool     `json:"pinned,omitempty" jsonschema:"show it in every prompt that shows memories"`
	AlwaysInject bool     `json:"alwaysInject,omitempty" jsonschema:"show it in every profile; for the tier memoryBank and the kind identity"`
	Private      bool     `json:"private,omitempty" jsonschema:"keep it from remote models"`

	ValidFrom  *time.Time         `json:"validFrom,omitempty" jsonschema:"since when it holds in the world"`
	ValidTo    *time.Time         `json:"validTo,omitempty" jsonschema:"until when it held"`
	Source     *MemorySourceDraft `json:"source,omitempty" jsonschema:"where it comes from; the client when absent"`
	Supersedes []string           `json:"supersedes,omitempty" jsonschema:"ids of memories that hold no more because of it"`
	CreatedAt  *time.Time         `json:"createdAt,omitempty" jsonschema:"when it was written down; now when absent"`
}

// MemorySourceDraft is what a client may say of where a memory comes from. On which machine it is written the daemon
// knows.
type MemorySourceDraft struct {
	Kind           string   `json:"kind" jsonschema:"user, assistant, client, extraction or import"`
	Client         string   `json:"client,omitempty" jsonschema:"name of the program that gave it"`
	ConversationID string   `json:"conversationId,omitempty" jsonschema:"the conversation that it comes from"`
	MessageIDs     []string `json:"messageIds,omitempty" jsonschema:"the messages that it comes from"`
	NoteID         string   `json:"noteId,omitempty" jsonschema:"the note that it comes from; a memory of a private note is private"`
}

// MemoryAdd are the parameters of memory.add.
type MemoryAdd struct {
	MemoryDraft
	Returns
	Similar bool `json:"similar,omitempty" jsonschema:"look for memories that say much the same, too; it takes a search"`
}

// MemoryAddMany are the parameters of memory.addMany.
type MemoryAddMany struct {
	Memories []MemoryDraft `json:"memories" jsonschema:"at most 1,000"`
	Returns
}

// maxBrief is how many bytes of a statement a reply has that is not asked for in full.
const maxBrief = 2 << 10

// MemorySaved is a memory in the reply of a method that writes it.
type MemorySaved struct {
	record.Memory
	Statement string `json:"statement,omitempty" jsonschema:"what it says; when it is longer than 2,048 bytes, with return: full alone"`
}

// SavedMemory returns a memory as the reply has it, its statement whole if that is asked for; nil for nil.
func SavedMemory(m *record.Memory, whole bool) *MemorySaved {
	if m == nil {
		return nil
	}
	out := &MemorySaved{Memory: *m}
	if whole || len(m.Statement) <= maxBrief {
		out.Statement = m.Statement
	}
	return out
}

// Record returns the memory with the statement that the reply has.
func (m *MemorySaved) Record() *record.Memory {
	out := m.Memory
	out.Statement = m.Statement
	return &out
}

// MemoryAdded is what has become of a draft.
type MemoryAdded struct {
	Memory    *MemorySaved `json:"memory" jsonschema:"the memory"`
	Duplicate bool         `json:"duplicate" jsonschema:"whether one of that tier said the same already: it is mentioned once more, and nothing else was written"`

	Similar []SimilarMemory `json:"similar,omitempty" jsonschema:"memories that say much the same, the nearest first, at most 3; only of memory.add, when asked for: nothing is merged"`
}

// MemoryAddedMany is the result of memory.addMany.
type MemoryAddedMany struct {
	Memories []MemoryAdded `json:"memories" jsonschema:"what has become of each, in the order of the call"`
}

// MemoryRef are the parameters of methods that read one memory.
type MemoryRef struct {
	Ref string `json:"ref" formerly:"id" jsonschema:"an id, a number as 42, #42 or claim_42, a handle with or without @, or the beginning of an id, of at least 8 characters"`
	Reads
}

// MemoryFilter are the parameters of memory.list.
type MemoryFilter struct {
	Tiers     []string   `json:"tiers,omitempty" jsonschema:"memories of these tiers only"`
	Kinds     []string   `json:"kinds,omitempty" jsonschema:"of these kinds only"`
	Status    []string   `json:"status,omitempty" jsonschema:"of these statuses only; active and contested when absent"`
	Tags      []string   `json:"tags,omitempty" jsonschema:"with each of these tags or domains, or one below it"`
	Contexts  []string   `json:"contexts,omitempty" jsonschema:"in one of these contexts, by id"`
	EntityIDs []string   `json:"entityIds,omitempty" jsonschema:"about one of these entities"`
	Pinned    *bool      `json:"pinned,omitempty" jsonschema:"those that are pinned, or those that are not"`
	After     *time.Time `json:"after,omitempty" jsonschema:"written down at this time or later"`
	Before    *time.Time `json:"before,omitempty" jsonschema:"written down before this time"`
	Validity  string     `json:"validity,omitempty" enum:"current,any" default:"current" jsonschema:"current: what holds now; any: also what holds no more or not yet. With status all of that status are listed"`
	Sort      string     `json:"sort,omitempty" formerly:"sortBy" enum:"updated,created,quality,use" default:"updated" jsonschema:"what comes first: the last changed, the newest, the best, the most used"`
	Page
	Reads
}

// AnyValidity is the validity of MemoryFilter and MemorySearch that asks for all.
const AnyValidity = "any"

// All reports whether the filter leaves no memory out that is found by default.
func (f *MemoryFilter) All() bool {
	return len(f.Tiers)+len(f.Kinds)+len(f.Status)+len(f.Tags)+len(f.Contexts)+len(f.EntityIDs) == 0 &&
		f.Pinned == nil && f.After == nil && f.Before == nil
}

// MemoryPage is the result of memory.list.
type MemoryPage struct {
	Memories   []*record.Memory `json:"memories" jsonschema:"the memories"`
	Total      int              `json:"total" jsonschema:"number of items on all pages"`
	NextCursor string           `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// MemoryVersions is the result of memory.versions.
type MemoryVersions struct {
	Versions []record.MemoryVersion `json:"versions" jsonschema:"what it said before, the latest first"`
}

// MemoryPatch are the parameters of memory.patch. Absent members stay as they are.
type MemoryPatch struct {
	ID        string             `json:"id,omitempty" jsonschema:"id of the memory; or give match"`
	Match     string             `json:"match,omitempty" jsonschema:"a text that says which memory is meant: the best hit of memory.search if it is clearly better than the second"`
	Tier      *string            `json:"tier,omitempty" enum:"working,history,patterns,memoryBank" jsonschema:"its tier; its time in it begins anew"`
	Kind      *string            `json:"kind,omitempty" enum:"fact,preference,identity,goal,value,project,skill,decision,task,event,lesson,solution,takeaway" jsonschema:"what sort of statement it is"`
	Statement *string            `json:"statement,omitempty" jsonschema:"the statement, at most 8,000 characters; number and handle stay"`
	Summary   Optional[string]   `json:"summary,omitzero" jsonschema:"the statement in short; null for none"`
	Questions Optional[[]string] `json:"questions,omitzero" jsonschema:"questions that it answers; null for none"`
	Domains   Optional[[]string] `json:"domains,omitzero" jsonschema:"areas of life; null for none"`
	Tags      Optional[[]string] `json:"tags,omitzero" jsonschema:"tags; null for none"`
	Contexts  Optional[[]string] `json:"contexts,omitzero" jsonschema:"ids of the contexts that it belongs to; null for none"`
	EntityIDs Optional[[]string] `json:"entityIds,omitzero" jsonschema:"entities that it is about; null for none"`
	NoteIDs   Optional[[]string] `json:"noteIds,omitzero" jsonschema:"notes that it is about; null for none"`

	Importance   *float64            `json:"importance,omitempty" min:"0" max:"1" jsonschema:"how much it matters"`
	Confidence   *float64            `json:"confidence,omitempty" min:"0" max:"1" jsonschema:"how sure it is; an active memory under 0.3 is deprecated, a deprecated one from 0.3 on active"`
	Pinned       *bool               `json:"pinned,omitempty" jsonschema:"show it in every prompt that shows memories"`
	AlwaysInject *bool               `json:"alwaysInject,omitempty" jsonschema:"show it in every profile"`
	Private      *bool               `json:"private,omitempty" jsonschema:"keep it from remote models; one that comes from something private stays private"`
	ValidFrom    Optional[time.Time] `json:"validFrom,omitzero" jsonschema:"since when it holds in the world; null for unknown"`
	ValidTo      Optional[time.Time] `json:"validTo,omitzero" jsonschema:"until when it held; null for unknown"`
	Source       *MemorySourceDraft  `json:"source,omitempty" jsonschema:"where it comes from now"`
	Status       *string             `json:"status,omitempty" enum:"contested" jsonschema:"contested, of an active memory; other methods give the other statuses"`
	IfVersion    *int                `json:"ifVersion,omitempty" min:"1" jsonschema:"the version to change; another one is a conflict"`
	Returns
}

// MemoryRestore are the parameters of memory.restore.
type MemoryRestore struct {
	ID        string `json:"id" jsonschema:"id of the memory"`
	Version   int    `json:"version,omitempty" min:"1" jsonschema:"a former version, whose statement and summary come back as a new one; absent for an archived memory that is to come back as it is"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"1" jsonschema:"the version to change; another one is a conflict"`
	Returns
}

// MemoryDelete are the parameters of memory.delete.
type MemoryDelete struct {
	ID        string `json:"id" jsonschema:"id of the memory"`
	Force     bool   `json:"force,omitempty" jsonschema:"delete it although it is neither archived nor retracted"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"1" jsonschema:"the version to delete; another one is a conflict"`
}

// Deleted is the result of methods that delete one record.
type Deleted struct {
	ID string `json:"id" jsonschema:"id of the record that is gone"`
}

// MemoryForget are the parameters of memory.forget.
type MemoryForget struct {
	ConversationID string `json:"conversationId,omitempty" jsonschema:"what was made from this conversation"`
	NoteID         string `json:"noteId,omitempty" jsonschema:"what was made from this note"`
	Client         string `json:"client,omitempty" jsonschema:"what this program gave"`
	All            bool   `json:"all,omitempty" jsonschema:"every memory, every context and all synonyms"`
	EntityID       string `json:"entityId,omitempty" jsonschema:"what is linked to this entity, or has all words of a name of it"`
	About          string `json:"about,omitempty" maxChars:"200" jsonschema:"what has all of these words, in any form and order, also in a former version"`

	From     *time.Time `json:"from,omitempty" jsonschema:"with entityId or about: written down or said at this time or later"`
	To       *time.Time `json:"to,omitempty" jsonschema:"with entityId or about: written down or said before this time"`
	Messages bool       `json:"messages,omitempty" jsonschema:"with entityId or about: messages of conversations as well, with titles and handles that say it"`
	Hash     string     `json:"hash,omitempty" jsonschema:"the hash that a dry run gave; required with entityId and about"`
	DryRun   bool       `json:"dryRun,omitempty" jsonschema:"list them only"`
}

// MemoryForgotten is the result of memory.forget.
type MemoryForgotten struct {
	IDs       []string `json:"ids" jsonschema:"the memories, at most 1,000 of them, by number"`
	Total     int      `json:"total" jsonschema:"how many there are in all"`
	Forgotten int      `json:"forgotten" jsonschema:"how many are gone; 0 for a dry run"`
	Contexts  int      `json:"contexts" jsonschema:"contexts that are gone, or would be; 0 without all"`
	Synonyms  int      `json:"synonyms" jsonschema:"sets of synonyms that are gone, or would be; 0 without all"`

	Messages      int            `json:"messages" jsonschema:"messages that are gone, or would be; 0 without messages"`
	Conversations int            `json:"conversations" jsonschema:"conversations of which no message is left"`
	Titles        int            `json:"titles" jsonschema:"conversations of which the title, the handle or the system prompt is another one"`
	Hash          string         `json:"hash,omitempty" jsonschema:"of a dry run with entityId or about: what the call that deletes has to bring"`
	Receipt       *ForgetReceipt `json:"receipt,omitempty" jsonschema:"what went; not of a dry run"`
}

// ForgetReceipt proves what memory.forget has deleted, and tells nothing of it to who does not know the ids.
type ForgetReceipt struct {
	At    time.Time `json:"at" jsonschema:"when it was done"`
	Salt  string    `json:"salt" jsonschema:"32 hexadecimal digits, of this receipt alone"`
	IDs   []string  `json:"ids" jsonschema:"SHA-256 of the salt and the id, in hexadecimal, of each memory, and of conversation/index of each message; at most 1,000"`
	Empty bool      `json:"empty" jsonschema:"whether looking for it again found nothing, in memories and, with messages, in conversations"`
	Left  []string  `json:"left" jsonschema:"what still has it: what admin.compact has to do"`
}

// MemoryExport are the parameters of memory.export.
type MemoryExport struct {
	Path   string `json:"path" jsonschema:"absolute path of the file to write, outside the daemon's data folder"`
	Format string `json:"format,omitempty" enum:"jsonl,markdown" default:"jsonl" jsonschema:"jsonl: all of them, for memory.import; markdown: for people to read"`
	Force  bool   `json:"force,omitempty" jsonschema:"replace a file that is there"`
}

// MemoryImport are the parameters of memory.import.
type MemoryImport struct {
	Path   string `json:"path" jsonschema:"absolute path of the file, or of a folder of Markdown files of basic-memory"`
	Format string `json:"format,omitempty" enum:"jsonl,basic-memory,mem0,lines" jsonschema:"what the file is; found out when absent"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"only tell what would be done"`
}

// MemoryUse are the parameters of memory.use.
type MemoryUse struct {
	IDs []string `json:"ids" jsonschema:"the memories that were used, at most 200"`
}

// Counted is the result of memory.use.
type Counted struct {
	Counted int `json:"counted" jsonschema:"how many were counted: unknown and repeated ids are not"`
}

// MemoryProfile are the parameters of memory.profile.
type MemoryProfile struct {
	Limit int `json:"limit,omitempty" min:"1" max:"50" default:"12" jsonschema:"items at most"`
	Reads
}

// MemorySimilar are the parameters of memory.similar.
type MemorySimilar struct {
	Ref   string `json:"ref" formerly:"id" jsonschema:"the memory, as for memory.get"`
	Limit int    `json:"limit,omitempty" min:"1" max:"50" default:"5" jsonschema:"memories at most"`
	Reads
}

// MemorySearch are the parameters of memory.search.
type MemorySearch struct {
	Query          string          `json:"query" jsonschema:"a question, or words of what is looked for"`
	Kinds          []string        `json:"kinds,omitempty" enum:"memories,messages,passages" jsonschema:"what is searched; memories and messages when absent"`
	Tiers          []string        `json:"tiers,omitempty" jsonschema:"of these tiers only; a message is working on the day on which it was said, then history"`
	Status         []string        `json:"status,omitempty" jsonschema:"of these statuses only; active and contested when absent"`
	Tags           []string        `json:"tags,omitempty" jsonschema:"with each of these tags or domains, or one below it"`
	Contexts       []string        `json:"contexts,omitempty" jsonschema:"in one of these contexts, by id"`
	EntityIDs      []string        `json:"entityIds,omitempty" jsonschema:"about one of these entities"`
	ConversationID string          `json:"conversationId,omitempty" jsonschema:"the conversation that asks, any id of the client's: what is shown is kept for it, so that memory.outcome can score it; it leaves nothing out"`
	InConversation string          `json:"inConversation,omitempty" jsonschema:"messages of this conversation, memories that stem from it, and passages of its books, only"`
	After          *time.Time      `json:"after,omitempty" jsonschema:"written down at this time or later"`
	Before         *time.Time      `json:"before,omitempty" jsonschema:"written down before this time"`
	Validity       string          `json:"validity,omitempty" enum:"current,any" default:"current" jsonschema:"current: what holds now, or on the days that the question is about; any: also what holds no more or not yet"`
	AsOf           *time.Time      `json:"asOf,omitempty" jsonschema:"what held at this time, superseded and deprecated memories included"`
	Limit          int             `json:"limit,omitempty" min:"1" max:"50" default:"5" jsonschema:"hits at most"`
	Sort           string          `json:"sort,omitempty" formerly:"sortBy" enum:"relevance,recency,score" default:"relevance" jsonschema:"relevance: the best first, in the order that the stages give; recency: the hits with at least half of the best score by time, the latest first; score: by score alone"`
	MinScore       float64         `json:"minScore,omitempty" min:"0" max:"1" jsonschema:"hits with at least this score"`
	Diversity      bool            `json:"diversity,omitempty" jsonschema:"show of memories that say nearly the same only the surest"`
	Stages         map[string]bool `json:"stages,omitempty" jsonschema:"stages of the ranking to switch on or off, by name"`
	Explain        bool            `json:"explain,omitempty" jsonschema:"say what each stage did"`
	Reads
}

// MemoryHit is a memory or a message that was found.
type MemoryHit struct {
	Kind           string             `json:"kind" enum:"memories,messages,passages" jsonschema:"what it is"`
	ID             string             `json:"id" jsonschema:"its id"`
	Ref            string             `json:"ref,omitempty" jsonschema:"number of a memory, as in #42"`
	Position       int                `json:"position" jsonschema:"its place, from 1"`
	Tier           string             `json:"tier,omitempty" jsonschema:"tier of a memory"`
	Status         string             `json:"status,omitempty" jsonschema:"status of a memory"`
	Holds          string             `json:"holds,omitempty" jsonschema:"of a memory that does not hold now: when it holds, such as until 2020-05-01 or from 2039-01-01"`
	ConversationID string             `json:"conversationId,omitempty" jsonschema:"conversation of a message"`
	Index          int                `json:"index,omitempty" jsonschema:"number of a message in its conversation, from 1"`
	Role           string             `json:"role,omitempty" jsonschema:"who said a message"`
	Passage        *record.Passage    `json:"passage,omitempty" jsonschema:"of a passage of a book: where it stands, and how to cite it"`
	Text           string             `json:"text" jsonschema:"the statement, what was said or the passage, whole; with asOf what a memory said then"`
	Score          float64            `json:"score" jsonschema:"how well it answers, 0 to 1, in hundredths"`
	CreatedAt      time.Time          `json:"createdAt" jsonschema:"when it was written down or said"`
	OlderThan      string             `json:"olderThan,omitempty" jsonschema:"id of a memory that says something else of the same, and is newer"`
	Ranges         [][2]int           `json:"ranges" jsonschema:"matches in text: UTF-16, half-open"`
	Signals        map[string]float64 `json:"signals,omitempty" jsonschema:"with explain: the relevance, and what each stage made of the hit: a factor, what it adds for support, a probability for rerank"`
}

// MemoryUnderstood says how a question was read.
type MemoryUnderstood struct {
	Words     []string            `json:"words" jsonschema:"its words, folded"`
	Unknown   []string            `json:"unknown" jsonschema:"those that nothing has"`
	Ignored   []string            `json:"ignored" jsonschema:"words that say nothing"`
	EntityIDs []string            `json:"entityIds" jsonschema:"entities that it names"`
	From      *time.Time          `json:"from,omitempty" jsonschema:"begin of the days that it names"`
	To        *time.Time          `json:"to,omitempty" jsonschema:"end of them"`
	Recent    bool                `json:"recent" jsonschema:"whether it asks for what is new"`
	Sort      string              `json:"sort" enum:"relevance,recency,score" jsonschema:"the order of the hits"`
	Synonyms  map[string][]string `json:"synonyms,omitempty" jsonschema:"by some of its words, the words that count nearly as much; see synonyms.put"`
}

// MemoryStage says what a stage of the ranking did.
type MemoryStage struct {
	Stage   string `json:"stage" jsonschema:"its name"`
	On      bool   `json:"on" jsonschema:"whether it was applied"`
	Skipped string `json:"skipped,omitempty" jsonschema:"why it did nothing"`
	Changed int    `json:"changed" jsonschema:"hits whose score or place it changed"`
	US      int64  `json:"us" jsonschema:"time in microseconds"`
}

// MemoryFound is the result of memory.search.
type MemoryFound struct {
	Hits       []MemoryHit      `json:"hits" jsonschema:"best first"`
	Understood MemoryUnderstood `json:"understood" jsonschema:"how the question was read"`
	Confidence string           `json:"confidence" enum:"high,medium,low" jsonschema:"how sure it is that the hits answer; with low a client should say that it does not know"`
	Reason     string           `json:"reason" jsonschema:"why it is so sure"`
	Degraded   *Degraded        `json:"degraded,omitempty" jsonschema:"what could not take part"`
	Stages     []MemoryStage    `json:"stages,omitempty" jsonschema:"with explain: what each stage did, in order"`
}

// SimilarMemory is a memory that says much the same as another.
type SimilarMemory struct {
	Memory  *record.Memory `json:"memory" jsonschema:"the memory"`
	Cosine  float64        `json:"cosine" jsonschema:"how near it is, up to 1; 0 when it was found by its words"`
	Differs []string       `json:"differs" enum:"negation,number,date,name" jsonschema:"in what the two statements differ"`
}

// SimilarMemories is the result of memory.similar.
type SimilarMemories struct {
	Hits     []SimilarMemory `json:"hits" jsonschema:"the nearest first"`
	Degraded *Degraded       `json:"degraded,omitempty" jsonschema:"why some may be missing, or were found by words; absent otherwise"`
}

// MemoryList is the result of memory.profile.
type MemoryList struct {
	Memories []*record.Memory `json:"memories" jsonschema:"what is always injected, then the best of the kinds identity, preference, goal and project"`
}

// MemoryStats is the result of memory.stats.
type MemoryStats struct {
	Total        int              `json:"total" jsonschema:"memories in all"`
	Tiers        map[string]int   `json:"tiers" jsonschema:"how many there are of each tier"`
	Kinds        map[string]int   `json:"kinds" jsonschema:"how many there are of each kind"`
	Status       map[string]int   `json:"status" jsonschema:"how many there are of each status"`
	Bank         int              `json:"bank" jsonschema:"active memories of the tier memoryBank"`
	MaxBank      int              `json:"maxBank" jsonschema:"how many of these there may be"`
	Queue        int              `json:"queue" jsonschema:"memories that wait for their vectors; 0 for a remote reader"`
	MostUsed     []*record.Memory `json:"mostUsed" jsonschema:"those that were used most, at most 5"`
	OldestUnused *record.Memory   `json:"oldestUnused,omitempty" jsonschema:"the oldest that was never used; absent when there is none"`
}

// SynonymsPut are the parameters of synonyms.put.
type SynonymsPut struct {
	Words   []string `json:"words" jsonschema:"2 to 16 words that mean the same, such as ux and user experience"`
	Private bool     `json:"private,omitempty" jsonschema:"keep them from remote models, and from what these search for"`
}

// SynonymsList is the result of synonyms.list.
type SynonymsList struct {
	Synonyms []*record.Synonyms `json:"synonyms" jsonschema:"sets of words that mean the same, by their first words"`
}

// SynonymsDelete are the parameters of synonyms.delete.
type SynonymsDelete struct {
	Words []string `json:"words" jsonschema:"at most 16 words that mean the same as others no more"`
}

// SynonymsDeleted is the result of synonyms.delete.
type SynonymsDeleted struct {
	Deleted int `json:"deleted" jsonschema:"how many of the words had synonyms"`
}

// ContextPut are the parameters of contexts.put.
type ContextPut struct {
	ID          string `json:"id,omitempty" jsonschema:"id of the context; a new UUID when absent"`
	Name        string `json:"name" jsonschema:"its name, at most 200 characters"`
	Description string `json:"description,omitempty" jsonschema:"what it is about, at most 2,000 characters"`
	ParentID    string `json:"parentId,omitempty" jsonschema:"the context above it; absent at the top"`
	Handle      string `json:"handle,omitempty" jsonschema:"what @ names a new one by; made of the name when absent"`
	Private     bool   `json:"private,omitempty" jsonschema:"keep it from remote models; its memories are private by themselves only"`
	IfVersion   *int   `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to replace; 0: it must not exist yet"`
}

// ContextRef are the parameters of contexts.get.
type ContextRef struct {
	Ref string `json:"ref" jsonschema:"an id, a handle with or without @, a name, or the beginning of an id, of at least 8 characters"`
	Reads
}

// ContextFull is the result of contexts.get.
type ContextFull struct {
	record.CountedContext
	Children []record.CountedContext `json:"children" jsonschema:"the contexts directly below it, by name"`
}

// ContextFilter are the parameters of contexts.list.
type ContextFilter struct {
	ParentID string `json:"parentId,omitempty" jsonschema:"those directly below this one; those at the top when absent"`
	Tree     bool   `json:"tree,omitempty" jsonschema:"all of them, whatever they lie below"`
	Reads
}

// ContextList is the result of contexts.list.
type ContextList struct {
	Contexts []record.CountedContext `json:"contexts" jsonschema:"the contexts, by name"`
}

// ContextDelete are the parameters of contexts.delete.
type ContextDelete struct {
	ID      string `json:"id" jsonschema:"id of the context"`
	Subtree bool   `json:"subtree,omitempty" jsonschema:"delete those below it too; else they move up"`
}

// ContextDeleted is the result of contexts.delete.
type ContextDeleted struct {
	ID       string `json:"id" jsonschema:"id of the context that is gone"`
	Moved    int    `json:"moved" jsonschema:"contexts that moved up, or were deleted with it"`
	Unlinked int    `json:"unlinked" jsonschema:"memories that belonged to what is gone"`
}

// ContextLink are the parameters of contexts.link and contexts.unlink.
type ContextLink struct {
	ID        string   `json:"id" jsonschema:"id of the context"`
	MemoryIDs []string `json:"memoryIds" jsonschema:"ids of memories, at most 200"`
}

// Linked is the result of contexts.link.
type Linked struct {
	Added int `json:"added" jsonschema:"memories that did not belong to it before"`
}

// Unlinked is the result of contexts.unlink.
type Unlinked struct {
	Removed int `json:"removed" jsonschema:"memories that belonged to it before"`
}

const (
	exampleMemory = `{"id":"550e8400-e29b-41d4-a716-446655440000","number":42,"handle":"prefer_morning_workouts_a3f2","aliases":[],` +
		`"tier":"memoryBank","kind":"preference","statement":"I prefer morning workouts","questions":["When do I train?"],` +
		`"domains":["health"],"tags":["sport"],"entityIds":[],"noteIds":[],"status":"active","importance":0.7,"confidence":0.9,` +
		`"pinned":false,"alwaysInject":false,"private":false,"source":{"kind":"user"},"evidence":[],"evidenceCount":0,` +
		`"confidenceAt":"2026-03-04T09:00:00Z","supersedes":[],"contradicts":[],"createdAt":"2026-03-04T09:00:00Z",` +
		`"updatedAt":"2026-03-04T09:00:00Z","tierSince":"2026-03-04T09:00:00Z","version":1,"quality":0.63,"contexts":["health"],` +
		`"use":{"uses":0,"worked":0,"failed":0,"partial":0,"unknown":0,"mentioned":0,"score":0.5,"wilson":0.5}}`
	exampleContext = `{"id":"health","handle":"health_goals_context","aliases":[],"name":"Health Goals","private":false,` +
		`"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:00:00Z","version":1}`
	exampleSynonyms = `{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","words":["ux","user experience"],"private":false,"updatedAt":"2026-03-04T09:00:00Z"}`
	exampleMemoryID = `{"id":"550e8400-e29b-41d4-a716-446655440000"}`
	exampleMemory42 = `{"ref":"#42"}`
)

// exampleCounted is exampleContext with its memories counted.
var exampleCounted = exampleContext[:len(exampleContext)-1] + `,"memories":1,"withBelow":1}`

var memoryMethods = []Method{
	describe[MemoryAdd, MemoryAdded]("memory.add", Mutation,
		"Write one memory down: a statement about the person or their world.",
		"The same statement again in the same tier, compared without case, blanks and the punctuation at its end, makes no second memory. "+
			"What it supersedes holds no more. Over the cap of the tier memoryBank the active memory that is worth least is archived, never one that is pinned or always injected. "+
			"A remote connection chooses no id, and finds no duplicate in what is private.",
		Example{`{"statement":"I prefer morning workouts","kind":"preference","tags":["sport"]}`, `{"memory":` + exampleMemory + `,"duplicate":false}`},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[MemoryAddMany, MemoryAddedMany]("memory.addMany", Mutation,
		"Write up to 1,000 memories down in one transaction.", "All or none. An error names the one at fault.",
		Example{`{"memories":[{"statement":"I prefer morning workouts"}]}`, `{"memories":[{"memory":` + exampleMemory + `,"duplicate":false}]}`},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[MemoryRef, record.Memory]("memory.get", Read,
		"Read a memory by id, handle or number.",
		"A former handle leads to it too. One that was merged leads to what it was merged into. One that was retracted is found by its id alone.",
		Example{`{"ref":"#42"}`, exampleMemory}, CodeNotFound),
	describe[MemoryFilter, MemoryPage]("memory.list", Read,
		"List memories.", "",
		Example{`{"kinds":["preference"],"limit":1}`, `{"memories":[` + exampleMemory + `],"total":1}`}),
	describe[MemoryRef, MemoryVersions]("memory.versions", Read,
		"List what a memory said before.", "",
		Example{exampleMemory42, `{"versions":[{"version":1,"statement":"I like morning workouts","quality":0.49,"source":{"kind":"user"},"updatedAt":"2026-03-01T09:00:00Z"}]}`},
		CodeNotFound),
	describe[MemoryPatch, MemorySaved]("memory.patch", Mutation,
		"Change only the given parts of a memory; what it said before is kept.", "",
		Example{`{"id":"550e8400-e29b-41d4-a716-446655440000","confidence":0.9}`, exampleMemory},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ByID, MemorySaved]("memory.archive", Mutation,
		"Take a memory out of what is found.", "It is still found by id, handle and number. Nothing automatic deletes it.",
		Example{exampleMemoryID, exampleMemory}, CodeNotFound, CodeConflict, CodeUnavailable),
	describe[MemoryRestore, MemorySaved]("memory.restore", Mutation,
		"Bring an archived memory back, or what it said in a former version.", "",
		Example{exampleMemoryID, exampleMemory}, CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ByID, MemorySaved]("memory.retract", Mutation,
		"Say that a memory was wrong.", "It is found by its id alone from then on, and cannot be changed.",
		Example{exampleMemoryID, exampleMemory}, CodeNotFound, CodeConflict, CodeUnavailable),
	describe[MemoryDelete, Deleted]("memory.delete", Mutation,
		"Delete a memory with its versions, its counters and what other memories say of it.",
		"One that is neither archived nor retracted needs force. Its number is not used again.",
		Example{`{"id":"550e8400-e29b-41d4-a716-446655440000","force":true}`, exampleMemoryID},
		CodeNotFound, CodeConflict, CodeUnavailable),
	wholeStore(describe[MemoryForget, MemoryForgotten]("memory.forget", Mutation,
		"Delete all memories that stem from a conversation, a note or a program, or that are about something; or all, with contexts and synonyms.",
		"Notes stay, and so do conversations without messages. What is about something is listed by a dry run first: the call that deletes brings its hash, and is refused (1002) when something else is about it by then. Many are deleted in several transactions. If the daemon stops between two of them, or one is refused, the next start continues with the memories.",
		Example{
			`{"about":"Ida passport","messages":true,"dryRun":true}`,
			`{"ids":["550e8400-e29b-41d4-a716-446655440000"],"total":1,"forgotten":0,"contexts":0,"synonyms":0,"messages":2,"conversations":0,"titles":1,"hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`,
		},
		CodeNotFound, CodeConflict, CodeUnavailable)),
	job(JobBackup, wholeStore(describe[MemoryExport, record.MemoryExported]("memory.export", Job,
		"Write all memories to a file: with their versions, counters, contexts and former handles, synonyms, and the numbers that were used.",
		"Private memories are in it, too. The file appears only when it is complete, and only this user can read it.",
		Example{`{"path":"/home/me/memories.jsonl"}`, `{"path":"/home/me/memories.jsonl","format":"jsonl","memories":2,"contexts":1,"synonyms":0,"versions":0,"bytes":1893}`},
		CodeNotFound, CodeConflict))),
	job(JobImport, wholeStore(describe[MemoryImport, record.MemoryImported]("memory.import", Job,
		"Read memories from a file: of memory.export, basic-memory or mem0, or one memory a line.",
		"The whole file is checked first; one that cannot be read changes nothing. Numbers and handles are kept where they are free, synonyms are joined with those that are there, and what does not fit is listed. Importing again takes nothing in twice, and goes on with an import that was interrupted.",
		Example{
			`{"path":"/home/me/memories.jsonl","dryRun":true}`,
			`{"format":"jsonl","dryRun":true,"memories":1,"contexts":0,"synonyms":0,"versions":0,"numbers":0,"same":1,"archived":0,"left":0,"conflicts":[{"line":3,"id":"550e8400-e29b-41d4-a716-446655440000","field":"number","message":"the number 2 is taken","taken":true}],"conflictsTotal":1}`,
		},
		CodeNotFound, CodeConflict, CodeLimit))),
	describe[MemoryUse, Counted]("memory.use", Mutation,
		"Count that memories were used.", "It changes no memory: neither its version nor what is indexed of it.",
		Example{`{"ids":["550e8400-e29b-41d4-a716-446655440000"]}`, `{"counted":1}`}, CodeUnavailable),
	describe[MemorySearch, MemoryFound]("memory.search", Read,
		"Find the memories and messages that answer a question.",
		"By words and by meaning, ranked by stages, which stages switches on and off for one call. Nothing is counted by it. reason says why nothing was found.",
		Example{
			`{"query":"When do I work out?","limit":1}`,
			`{"hits":[{"kind":"memories","id":"550e8400-e29b-41d4-a716-446655440000","ref":"#42","position":1,"tier":"memoryBank","status":"active","text":"I prefer morning workouts","score":0.52,"createdAt":"2026-03-04T09:00:00Z","ranges":[[17,25]]}],"understood":{"words":["work","out"],"unknown":[],"ignored":["when","do"],"entityIds":[],"recent":false,"sort":"relevance"},"confidence":"medium","reason":"nothing is very near to the question"}`,
		}),
	describe[MemorySimilar, SimilarMemories]("memory.similar", Read,
		"Find the memories that say much the same as one, the nearest first.",
		"Active and contested ones. It compares vectors that are stored and embeds nothing; while the memory has none, it looks for its words and says so.",
		Example{exampleMemory42, `{"hits":[{"memory":` + exampleMemory + `,"cosine":0.83,"differs":["negation"]}]}`},
		CodeNotFound),
	describe[MemoryProfile, MemoryList]("memory.profile", Read,
		"Read what is known about the person: where a conversation begins.", "",
		Example{`{"limit":1}`, `{"memories":[` + exampleMemory + `]}`}),
	describe[ReadAll, MemoryStats]("memory.stats", Read,
		"Count memories.", "",
		Example{`{}`, `{"total":1,"tiers":{"memoryBank":1},"kinds":{"preference":1},"status":{"active":1},"bank":1,"maxBank":1000,"queue":0,"mostUsed":[],"oldestUnused":` + exampleMemory + `}`}),

	describe[SynonymsPut, record.Synonyms]("synonyms.put", Mutation,
		"Have words mean the same when memories and messages are searched.",
		"Sets that have one of the words are joined, private ones with private ones. In effect at the next call.",
		Example{`{"words":["ux","user experience"]}`, exampleSynonyms}, CodeLimit, CodeUnavailable),
	describe[ReadAll, SynonymsList]("synonyms.list", Read,
		"List the words that mean the same.", "",
		Example{`{}`, `{"synonyms":[` + exampleSynonyms + `]}`}),
	describe[SynonymsDelete, SynonymsDeleted]("synonyms.delete", Mutation,
		"Have words mean the same as others no more.", "A word that is left alone goes too.",
		Example{`{"words":["ux"]}`, `{"deleted":1}`}, CodeLimit, CodeUnavailable),

	describe[ContextPut, record.Context]("contexts.put", Mutation,
		"Create or replace a context: a part of a life that memories belong to.",
		"Contexts form a tree. An unknown id creates the context with that id; a remote connection gives none to a new one. The handle stays when the name changes.",
		Example{`{"id":"health","name":"Health Goals"}`, exampleContext}, CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[ContextRef, ContextFull]("contexts.get", Read,
		"Read a context with what lies directly below it.", "",
		Example{`{"ref":"@health_goals_context"}`, exampleCounted[:len(exampleCounted)-1] + `,"children":[]}`}, CodeNotFound),
	describe[ContextFilter, ContextList]("contexts.list", Read,
		"List contexts by name.", "",
		Example{`{}`, `{"contexts":[` + exampleCounted + `]}`}, CodeNotFound),
	describe[ContextLink, Linked]("contexts.link", Mutation,
		"Have memories belong to a context.", "All or none.",
		Example{`{"id":"health","memoryIds":["550e8400-e29b-41d4-a716-446655440000"]}`, `{"added":1}`},
		CodeNotFound, CodeLimit, CodeUnavailable),
	describe[ContextLink, Unlinked]("contexts.unlink", Mutation,
		"Have memories belong to a context no more.", "All or none.",
		Example{`{"id":"health","memoryIds":["550e8400-e29b-41d4-a716-446655440000"]}`, `{"removed":1}`},
		CodeNotFound, CodeLimit, CodeUnavailable),
	describe[ContextDelete, ContextDeleted]("contexts.delete", Mutation,
		"Delete a context; it deletes no memory.", "",
		Example{`{"id":"health"}`, `{"id":"health","moved":0,"unlinked":1}`}, CodeNotFound, CodeUnavailable),
}
