package record

import "time"

// Tiers of memories.
const (
	TierWorking  = "working"    // of the day
	TierHistory  = "history"    // of the last weeks
	TierPatterns = "patterns"   // what proved itself
	TierBank     = "memoryBank" // facts about the person, until they say otherwise
)

// Tiers are all tiers, the most fleeting first.
var Tiers = []string{TierWorking, TierHistory, TierPatterns, TierBank}

// Kinds of memories that rules name.
const (
	MemoryFact       = "fact"
	MemoryPreference = "preference"
	MemoryIdentity   = "identity"
	MemoryGoal       = "goal"
	MemoryValue      = "value"
	MemoryProject    = "project"
	MemoryLesson     = "lesson"
	MemorySkill      = "skill"
	MemorySolution   = "solution"
	MemoryTakeaway   = "takeaway"
)

// MemoryKinds are all kinds of memories.
var MemoryKinds = []string{
	MemoryFact, MemoryPreference, MemoryIdentity, MemoryGoal, MemoryValue, MemoryProject, MemorySkill, "decision",
	"task", "event", MemoryLesson, MemorySolution, MemoryTakeaway,
}

// Statuses of memories.
const (
	MemoryActive     = "active"
	MemoryContested  = "contested"  // something contradicts it, and nobody has settled which holds
	MemorySuperseded = "superseded" // it held once; another does now
	MemoryDeprecated = "deprecated" // its confidence is low
	MemoryArchived   = "archived"
	MemoryMerged     = "merged" // into another, which says it too
	MemoryRetracted  = "retracted"
)

// MemoryStatuses are all statuses of memories.
var MemoryStatuses = []string{
	MemoryActive, MemoryContested, MemorySuperseded, MemoryDeprecated, MemoryArchived, MemoryMerged, MemoryRetracted,
}

// MemorySources are the kinds of sources of memories.
var MemorySources = []string{"user", "assistant", "client", "extraction", "import"}

// MemorySource says where a memory comes from.
type MemorySource struct {
	Kind           string   `json:"kind" jsonschema:"user, assistant, client, extraction or import"`
	Client         string   `json:"client,omitempty" jsonschema:"name of the program that gave it"`
	ConversationID string   `json:"conversationId,omitempty" jsonschema:"the conversation that it comes from"`
	MessageIDs     []string `json:"messageIds,omitempty" jsonschema:"the messages that it comes from"`
	NoteID         string   `json:"noteId,omitempty" jsonschema:"the note that it comes from; a memory of a private note is private"`
	Machine        string   `json:"machine,omitempty" jsonschema:"name of the machine that it was written on, in a store of several machines; the daemon sets it, and remote readers are not shown it"`
}

// MemoryRecord is one memory as it is stored: one statement about a person or their world.
type MemoryRecord struct {
	ID        string   `json:"id" jsonschema:"id of the memory"`
	Number    int64    `json:"number" jsonschema:"its number, 1, 2, 3 …: #42 and @claim_42 name the memory 42; never used again"`
	Handle    string   `json:"handle,omitempty" jsonschema:"what @ names it by; absent where it would tell a private name"`
	Aliases   []string `json:"aliases" jsonschema:"its former handles"`
	Tier      string   `json:"tier" jsonschema:"working, history, patterns or memoryBank"`
	Kind      string   `json:"kind" jsonschema:"fact, preference, identity, goal, value, project, skill, decision, task, event, lesson, solution or takeaway"`
	Statement string   `json:"statement" jsonschema:"the statement"`
	Summary   string   `json:"summary,omitempty" jsonschema:"the statement in short"`
	Questions []string `json:"questions" jsonschema:"questions that it answers"`
	Domains   []string `json:"domains" jsonschema:"areas of life that it belongs to, such as health"`
	Tags      []string `json:"tags" jsonschema:"its tags, without #"`
	EntityIDs []string `json:"entityIds" jsonschema:"entities that it is about"`
	NoteIDs   []string `json:"noteIds" jsonschema:"notes that it is about"`
	Status    string   `json:"status" jsonschema:"active, contested, superseded, deprecated, archived, merged or retracted"`

	Importance   float64 `json:"importance" jsonschema:"how much it matters, 0 to 1"`
	Confidence   float64 `json:"confidence" jsonschema:"how sure it is, 0 to 1"`
	Pinned       bool    `json:"pinned" jsonschema:"whether it is in every prompt that shows memories"`
	AlwaysInject bool    `json:"alwaysInject" jsonschema:"whether it is in every profile"`
	Private      bool    `json:"private" jsonschema:"whether it is kept from remote models"`

	ValidFrom *time.Time   `json:"validFrom,omitempty" jsonschema:"since when it holds in the world"`
	ValidTo   *time.Time   `json:"validTo,omitempty" jsonschema:"until when it held"`
	Source    MemorySource `json:"source" jsonschema:"where it comes from"`

	Evidence       []string   `json:"evidence" jsonschema:"ids of the last messages and memories that support it"`
	EvidenceCount  int        `json:"evidenceCount" jsonschema:"how many supported it in all"`
	LastEvidenceAt *time.Time `json:"lastEvidenceAt,omitempty" jsonschema:"when the last one did"`
	EvidenceUpTo   *time.Time `json:"evidenceUpTo,omitempty" jsonschema:"up to when sources were counted"`
	ConfidenceAt   time.Time  `json:"confidenceAt" jsonschema:"since when the confidence stands"`

	Supersedes   []string `json:"supersedes" jsonschema:"memories that held before it"`
	SupersededBy string   `json:"supersededBy,omitempty" jsonschema:"the memory that holds now"`
	MergedInto   string   `json:"mergedInto,omitempty" jsonschema:"the memory that it was merged into"`
	Contradicts  []string `json:"contradicts" jsonschema:"memories that say otherwise"`

	CreatedAt  time.Time  `json:"createdAt" jsonschema:"when it was written down"`
	UpdatedAt  time.Time  `json:"updatedAt" jsonschema:"time of the last change; it never goes back"`
	ArchivedAt *time.Time `json:"archivedAt,omitempty" jsonschema:"when it was archived; absent while it is not"`
	TierSince  time.Time  `json:"tierSince" jsonschema:"since when it is of its tier"`
	Version    int        `json:"version" jsonschema:"counts its changes, from 1"`
}

// Current reports whether the memory is found when no status is asked for.
func (m *MemoryRecord) Current() bool {
	return m.Status == MemoryActive || m.Status == MemoryContested
}

// Live is Current, under the name that events ask all records by.
func (m *MemoryRecord) Live() bool { return m.Current() }

// Outcomes of the use of a memory, and of an answer.
const (
	OutcomeWorked  = "worked"
	OutcomeFailed  = "failed"
	OutcomePartial = "partial"
	OutcomeUnknown = "unknown"

	OutcomeUnscored = "unscored" // of an answer that used memories, and nobody has told how it went
)

// Outcomes are all of them, the best first.
var Outcomes = []string{OutcomeWorked, OutcomePartial, OutcomeFailed, OutcomeUnknown}

// MemoryUse counts how a memory was used. It is kept apart from the memory, which it does not change.
type MemoryUse struct {
	Uses        int        `json:"uses" jsonschema:"how often a client said that it used the memory"`
	Worked      int        `json:"worked" jsonschema:"uses that helped"`
	Failed      int        `json:"failed" jsonschema:"uses that did not help"`
	Partial     int        `json:"partial" jsonschema:"uses that helped in part"`
	Unknown     int        `json:"unknown" jsonschema:"uses of which nobody knows"`
	Mentioned   int        `json:"mentioned" jsonschema:"how often the same was said again"`
	LastUsedAt  *time.Time `json:"lastUsedAt,omitempty" jsonschema:"time of the last use"`
	Score       float64    `json:"score" jsonschema:"how well it did, 0 to 1: 0.5 at the start, worked adds 0.2, partial 0.05, failed takes 0.3"`
	LastOutcome string     `json:"lastOutcome,omitempty" jsonschema:"worked, failed, partial or unknown"`
	Wilson      float64    `json:"wilson" jsonschema:"lower bound of the share of worked among worked and failed at 95 %; 0.5 for none"`
}

// Memory is one memory as clients see it.
type Memory struct {
	MemoryRecord
	Quality  float64   `json:"quality" jsonschema:"importance times confidence"`
	Contexts []string  `json:"contexts" jsonschema:"ids of the contexts that it belongs to"`
	Use      MemoryUse `json:"use" jsonschema:"how it was used"`
	Indexed  string    `json:"indexed,omitempty" enum:"words,meaning,failed" jsonschema:"how it is found now: by its words, by its meaning too, or by its words alone because the embedder refused it; only in memory.get and memory.list"`
	Waits
}

// MemoryVersion is what a memory said before a change.
type MemoryVersion struct {
	Version   int          `json:"version" jsonschema:"its version then"`
	Statement string       `json:"statement" jsonschema:"what it said"`
	Summary   string       `json:"summary,omitempty" jsonschema:"that in short"`
	Quality   float64      `json:"quality" jsonschema:"importance times confidence then"`
	Source    MemorySource `json:"source" jsonschema:"where it came from"`
	Private   bool         `json:"private,omitempty" jsonschema:"whether the memory was private then"`
	UpdatedAt time.Time    `json:"updatedAt" jsonschema:"when that was written"`
}

// Context is a part of a person's life or work that memories belong to. Contexts form a tree.
type Context struct {
	ID          string    `json:"id" jsonschema:"id of the context"`
	Handle      string    `json:"handle,omitempty" jsonschema:"what @ names it by"`
	Aliases     []string  `json:"aliases" jsonschema:"its former handles"`
	Name        string    `json:"name" jsonschema:"its name"`
	Description string    `json:"description,omitempty" jsonschema:"what it is about"`
	ParentID    string    `json:"parentId,omitempty" jsonschema:"the context above it; absent at the top"`
	Private     bool      `json:"private" jsonschema:"whether it is kept from remote models"`
	CreatedAt   time.Time `json:"createdAt" jsonschema:"when it was made"`
	UpdatedAt   time.Time `json:"updatedAt" jsonschema:"time of the last change; it never goes back"`
	Version     int       `json:"version" jsonschema:"counts its changes, from 1"`
}

// ContextCounts say how many active and contested memories there are in a context for a reader.
type ContextCounts struct {
	Memories  int `json:"memories" jsonschema:"how many active and contested memories belong to it"`
	WithBelow int `json:"withBelow" jsonschema:"how many belong to it or to a context up to ten levels below it, each once"`
}

// CountedContext is a context with its memories counted.
type CountedContext struct {
	Context
	ContextCounts
}

// MemoryExported says what an export of memories wrote.
type MemoryExported struct {
	Path     string `json:"path" jsonschema:"the file"`
	Format   string `json:"format" jsonschema:"jsonl or markdown"`
	Memories int    `json:"memories" jsonschema:"memories in it"`
	Contexts int    `json:"contexts" jsonschema:"contexts in it"`
	Synonyms int    `json:"synonyms" jsonschema:"sets of synonyms in it"`
	Versions int    `json:"versions" jsonschema:"former versions in it"`
	Bytes    int64  `json:"bytes" jsonschema:"size of the file"`
}

// MemoryImported says what an import of memories has done, or would do.
type MemoryImported struct {
	Format    string           `json:"format" jsonschema:"how the file was read: jsonl, basic-memory, mem0 or lines"`
	DryRun    bool             `json:"dryRun" jsonschema:"whether nothing was written"`
	Memories  int              `json:"memories" jsonschema:"memories that are new"`
	Contexts  int              `json:"contexts" jsonschema:"contexts that are new"`
	Synonyms  int              `json:"synonyms" jsonschema:"sets of synonyms that are new, or have new words"`
	Versions  int              `json:"versions" jsonschema:"former versions of memories that are new"`
	Numbers   int              `json:"numbers" jsonschema:"numbers of deleted memories that are not given any more from now on"`
	Same      int              `json:"same" jsonschema:"memories, contexts and sets of synonyms that were there already"`
	Archived  int              `json:"archived" jsonschema:"memories that the cap of memoryBank archives, those that are worth least"`
	Left      int              `json:"left" jsonschema:"memories, contexts and sets of synonyms that were not taken in; each is a conflict"`
	Conflicts []MemoryConflict `json:"conflicts" jsonschema:"what did not fit, at most the first 1000"`
	Total     int              `json:"conflictsTotal" jsonschema:"conflicts in all"`
}

// MemoryConflict is what an import met with one of its records.
type MemoryConflict struct {
	File    string `json:"file,omitempty" jsonschema:"the file, where several are read"`
	Line    int    `json:"line" jsonschema:"the line; of mem0 the place in its list, from 1"`
	ID      string `json:"id,omitempty" jsonschema:"id of the memory, context or set of synonyms"`
	Field   string `json:"field,omitempty" jsonschema:"the member that does not fit"`
	Message string `json:"message" jsonschema:"why"`
	Taken   bool   `json:"taken" jsonschema:"whether it was taken in all the same, with another value in that member or without it"`
}
