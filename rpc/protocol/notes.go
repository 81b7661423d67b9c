package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// NoteRecord are the members of a note that a client may give. Those that the
// daemon keeps itself are accepted and left unused, so that a record can be
// read, changed and put back.
type NoteRecord struct {
	ID        string     `json:"id,omitempty" jsonschema:"id, 1 to 64 letters, digits, hyphens and underscores; a new UUID when absent"`
	Title     string     `json:"title,omitempty" jsonschema:"title, at most 512 characters; when absent it is taken from the text"`
	Body      string     `json:"body,omitempty" long:"true" jsonschema:"Markdown, at most 4 MiB; frontmatter counts as on import"`
	Path      string     `json:"path,omitempty" jsonschema:"path with / between folders; no two notes have one path"`
	Folder    string     `json:"folder,omitempty" jsonschema:"folder of a note without a path"`
	Tags      []string   `json:"tags,omitempty" jsonschema:"tags without #, added to those in the text"`
	Aliases   []string   `json:"aliases,omitempty" jsonschema:"other titles, added to those in the frontmatter"`
	Private   bool       `json:"private,omitempty" jsonschema:"keep it from remote models"`
	CreatedAt *time.Time `json:"createdAt,omitempty" jsonschema:"time of creation; used only for a new record"`

	UpdatedAt   *time.Time `json:"updatedAt,omitempty" jsonschema:"set by the daemon, ignored here"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty" jsonschema:"set by the daemon, ignored here"`
	VaultBacked bool       `json:"vaultBacked,omitempty" jsonschema:"set by the daemon, ignored here"`
	EntityID    string     `json:"entityId,omitempty" jsonschema:"set by the daemon, ignored here"`
	Version     int        `json:"version,omitempty" jsonschema:"set by the daemon, ignored here; see ifVersion"`
}

// NotePut are the parameters of notes.put.
type NotePut struct {
	NoteRecord
	Vault     string `json:"vault,omitempty" jsonschema:"make a file of this vault, where the setting vault.write allows it: at path, or in folder under the title; without a folder where the vault's own settings put new notes, / is its root"`
	Day       string `json:"day,omitempty" jsonschema:"make the note of a day of the vault, at the place and with the template that the vault's own settings say: today, yesterday, tomorrow or YYYY-MM-DD in the zone of the daemon; body is added behind the template. If it is there, it is a conflict with it as the candidate"`
	IfVersion *int   `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to replace; 0: it must not exist yet"`
	Conditions
	Returns
}

// Conditions are the parameters of methods that write a text.
type Conditions struct {
	IfHash string `json:"ifHash,omitempty" jsonschema:"hash of the text that is replaced, as notes.get gave it: another text is a conflict, with data.sides"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"answer what would change, and change nothing"`
}

// NotePatch are the parameters of notes.patch. Absent members stay as they are.
type NotePatch struct {
	ID        string             `json:"id" jsonschema:"id of the note"`
	Title     Optional[string]   `json:"title,omitzero" jsonschema:"title, at most 512 characters; null to take it from the text"`
	Body      *string            `json:"body,omitempty" long:"true" jsonschema:"Markdown, at most 4 MiB"`
	Append    *string            `json:"append,omitempty" long:"true" jsonschema:"in the place of body: lines to add at the end of the text, whoever else writes meanwhile"`
	Path      Optional[string]   `json:"path,omitzero" jsonschema:"path with / between folders; null for none"`
	Folder    Optional[string]   `json:"folder,omitzero" jsonschema:"folder of a note without a path; null for none"`
	Tags      Optional[[]string] `json:"tags,omitzero" jsonschema:"tags apart from those in the text; null for none"`
	Aliases   Optional[[]string] `json:"aliases,omitzero" jsonschema:"other titles apart from those in the frontmatter; null for none"`
	Private   *bool              `json:"private,omitempty" jsonschema:"keep it from remote models"`
	IfVersion *int               `json:"ifVersion,omitempty" min:"0" jsonschema:"the version to change; another one is a conflict"`
	Conditions
	Returns
}

// NoteDeleted is the result of notes.delete.
type NoteDeleted struct {
	Versioned
	Trash string `json:"trash,omitempty" jsonschema:"where the file of a note from a vault is now, within the vault"`
}

// NotePutMany are the parameters of notes.putMany.
type NotePutMany struct {
	Notes []NoteRecord `json:"notes" jsonschema:"at most 1,000"`
	Returns
}

// NoteList is the result of notes.putMany.
type NoteList struct {
	Notes []NoteSaved `json:"notes" jsonschema:"the notes"`
}

// NoteGet are the parameters of notes.get.
type NoteGet struct {
	Ref   string `json:"ref" formerly:"id,path,title" jsonschema:"id, path, title or alias of the note, vault:path, [[a link]], or the beginning of its id, of at least 8 characters; compared without case, but for ids and paths"`
	Vault string `json:"vault,omitempty" jsonschema:"look in the vault of this name only, for a path or a title"`
	Reads
}

// NoteSaved is the result of notes.put and notes.patch.
type NoteSaved struct {
	record.Note
	Body  string `json:"body,omitempty" jsonschema:"its text, Markdown; with return: full alone"`
	Hash  string `json:"hash,omitempty" jsonschema:"of a file: that of its text, for ifHash"`
	Diff  string `json:"diff,omitempty" jsonschema:"of a file, or with dryRun: what changes in the text, as a unified diff"`
	Write string `json:"write,omitempty" jsonschema:"of a file: id of the write, for vault.undo"`
	record.Waits
}

// NoteFull is the result of notes.get.
type NoteFull struct {
	record.Note
	record.Waits
	Hash      string                `json:"hash,omitempty" jsonschema:"SHA-256 of the text in hexadecimal digits, for ifHash; absent when parts of the text are not shown"`
	Link      string                `json:"link,omitempty" jsonschema:"what stands between [[ and ]] in a link to it, where other notes are called so; absent: its title"`
	Others    []fault.Candidate     `json:"others,omitempty" jsonschema:"other notes that ref could mean as well, of which the rules of links have chosen this one; the nearest three"`
	Vault     string                `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Links     []record.NoteLink     `json:"links" jsonschema:"links of the note, in the order of its text"`
	Backlinks []record.NoteBacklink `json:"backlinks" jsonschema:"notes that link to it, by title"`
}

// NoteFilter are the parameters of notes.list.
type NoteFilter struct {
	Archived bool   `json:"archived,omitempty" jsonschema:"archived notes instead"`
	Tag      string `json:"tag,omitempty" jsonschema:"notes with this tag or one below it"`
	Folder   string `json:"folder,omitempty" jsonschema:"notes in this folder or one below it"`
	Type     string `json:"type,omitempty" jsonschema:"notes that describe an entity of this type"`
	Vault    string `json:"vault,omitempty" jsonschema:"notes of the vault of this name"`

	ChangedSince string `json:"changedSince,omitempty" jsonschema:"notes changed on or after this date: today, yesterday, 7d, 2w, 2026-01 or 2026-01-31, or a time (RFC 3339)"`
	Sort         string `json:"sort,omitempty" enum:"title,updated" default:"title" jsonschema:"the order: by title, or what was changed last first"`
	Page
	Reads
}

// The orders of NoteFilter.
const (
	SortTitle   = "title"
	SortUpdated = "updated"
)

// NoteHead is a note without its text.
type NoteHead struct {
	ID          string     `json:"id" jsonschema:"id of the note"`
	Title       string     `json:"title" jsonschema:"its title"`
	Link        string     `json:"link,omitempty" jsonschema:"what stands between [[ and ]] in a link to it, where other notes are called so; absent: its title"`
	Vault       string     `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path        string     `json:"path,omitempty" jsonschema:"its path"`
	Folder      string     `json:"folder,omitempty" jsonschema:"its folder"`
	Tags        []string   `json:"tags" jsonschema:"its tags"`
	Aliases     []string   `json:"aliases" jsonschema:"its other titles"`
	Private     bool       `json:"private" jsonschema:"whether it is kept from remote models"`
	VaultBacked bool       `json:"vaultBacked" jsonschema:"whether it comes from a file"`
	CreatedAt   time.Time  `json:"createdAt" jsonschema:"when it was made"`
	UpdatedAt   time.Time  `json:"updatedAt" jsonschema:"when it was changed last"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty" jsonschema:"when it was archived"`
	Version     int        `json:"version" jsonschema:"counts its changes, from 1"`
	EntityID    string     `json:"entityId,omitempty" jsonschema:"the entity made from it"`
}

// NotePage is the result of notes.list.
type NotePage struct {
	Notes      []NoteHead `json:"notes" jsonschema:"the notes, without their texts"`
	Total      int        `json:"total" jsonschema:"number of items on all pages"`
	NextCursor string     `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// NoteComplete are the parameters of notes.complete.
type NoteComplete struct {
	Prefix string `json:"prefix" jsonschema:"what was typed so far"`
	From   string `json:"from,omitempty" jsonschema:"id of the note that is edited: insert is for a link in it, and not for a message"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"100" default:"8" jsonschema:"items at most"`
	Reads
}

// NoteItem is one note that a typed text may mean.
type NoteItem struct {
	ID     string   `json:"id" jsonschema:"id of the note"`
	Title  string   `json:"title" jsonschema:"the title or alias that matched the prefix"`
	Insert string   `json:"insert,omitempty" jsonschema:"what to write between [[ and ]] so that the link leads to this note alone; absent when no text does: then only the id names it"`
	Vault  string   `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path   string   `json:"path,omitempty" jsonschema:"its path"`
	Match  [][2]int `json:"match" jsonschema:"ranges of the title that matched: UTF-16 offsets, half-open"`
}

// NoteItems is the result of notes.complete.
type NoteItems struct {
	Items []NoteItem `json:"items" jsonschema:"best first: prefix, word prefix, substring, fuzzy; recent first among equals"`
}

// NoteResolve are the parameters of notes.resolve.
type NoteResolve struct {
	Link string `json:"link" jsonschema:"a wikilink, or the text between its brackets"`
	From string `json:"from,omitempty" jsonschema:"id of the note that contains the link; nearer notes win"`
	Reads
}

// NoteResolved is the result of notes.resolve.
type NoteResolved struct {
	ID         string            `json:"id,omitempty" jsonschema:"the note; absent when there is none, or several"`
	Vault      string            `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path       string            `json:"path,omitempty" jsonschema:"its path"`
	Heading    string            `json:"heading,omitempty" jsonschema:"the heading that the link points to"`
	Block      string            `json:"block,omitempty" jsonschema:"the block that the link points to"`
	Candidates []fault.Candidate `json:"candidates" jsonschema:"the notes that an ambiguous link may mean"`
}

// NoteSearch are the parameters of notes.search.
type NoteSearch struct {
	Query   string       `json:"query" jsonschema:"words to look for; when empty, the notes that the filter lets through, the last changed first"`
	Limit   int          `json:"limit,omitempty" min:"1" max:"100" default:"10" jsonschema:"hits at most"`
	Mode    string       `json:"mode,omitempty" enum:"hybrid,lexical,semantic" default:"hybrid" jsonschema:"how to search: lexical (by words), semantic (by meaning) or hybrid (both); without vectors hybrid falls back to words and the result says so, and semantic fails"`
	Filter  SearchFilter `json:"filter,omitzero" jsonschema:"which notes to look in"`
	Explain bool         `json:"explain,omitempty" jsonschema:"explain the score of each hit"`
	Reads
}

// NoteSimilar are the parameters of notes.similar.
type NoteSimilar struct {
	Ref   string `json:"ref" formerly:"id" jsonschema:"the note, as for notes.get"`
	Limit int    `json:"limit,omitempty" min:"1" max:"100" default:"10" jsonschema:"hits at most"`
	Reads
}

// SearchExplain are the parameters of search.explain.
type SearchExplain struct {
	Ref    string       `json:"ref" jsonschema:"the note that is followed, as for notes.get"`
	Query  string       `json:"query" jsonschema:"the query, as for notes.search"`
	Filter SearchFilter `json:"filter,omitzero" jsonschema:"which notes to look in"`
	Reads
}

// SearchExplained says where one note stands in a search, and what counted.
type SearchExplained struct {
	SearchResult // of the hybrid search, with its first hit alone

	Note    SearchHit      `json:"note" jsonschema:"the note, with all that counted for it; its score is 0 where it has no place"`
	Place   int            `json:"place" jsonschema:"its place among the hits, from 1; 0 when it is not among the first 100"`
	Passes  bool           `json:"passes" jsonschema:"whether the filter lets it through, and it is not archived"`
	Words   SearchStanding `json:"words" jsonschema:"the list by words alone"`
	Meaning SearchStanding `json:"meaning" jsonschema:"the list by meaning alone"`
}

// SearchStanding is where a note stands in one list of a search.
type SearchStanding struct {
	Place   int     `json:"place" jsonschema:"from 1; 0 when it is not among the first 1,000"`
	Score   float64 `json:"score" jsonschema:"what it has there, also without a place; 0: nothing"`
	Best    float64 `json:"best" jsonschema:"what the first has"`
	Missing string  `json:"missing,omitempty" jsonschema:"why there is no such list"`
}

// SearchFilter says which notes a search looks in.
type SearchFilter struct {
	Tags     []string `json:"tags,omitempty" jsonschema:"notes with all of these tags"`
	Folder   string   `json:"folder,omitempty" jsonschema:"notes in this folder or one below it"`
	Types    []string `json:"types,omitempty" jsonschema:"notes that describe an entity of one of these types"`
	Vaults   []string `json:"vaults,omitempty" jsonschema:"notes in one of these vaults"`
	After    string   `json:"after,omitempty" jsonschema:"changed on or after this date: today, yesterday, 7d or 2w ago, 2026-01, 2026-01-31, or a time (RFC 3339)"`
	Before   string   `json:"before,omitempty" jsonschema:"changed before this date or time"`
	Archived bool     `json:"archived,omitempty" jsonschema:"archived notes too"`
}

// SearchHit is one note that was found.
type SearchHit struct {
	ID      string             `json:"id" jsonschema:"id of the note"`
	Title   string             `json:"title" jsonschema:"its title"`
	Link    string             `json:"link,omitempty" jsonschema:"what stands between [[ and ]] in a link to it, where other notes are called so; absent: its title"`
	Vault   string             `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path    string             `json:"path,omitempty" jsonschema:"its path"`
	Score   float64            `json:"score" jsonschema:"greater is better; comparable within one result only: of lexical BM25, of semantic the mean of two cosines, of hybrid from 0 to 1, the weighted sum of both lists"`
	By      string             `json:"by" enum:"words,meaning,both" jsonschema:"what found it: meaning where it has none of the words"`
	Snippet string             `json:"snippet" jsonschema:"the passage of its text that matches best; for a note found only by meaning, the nearest part"`
	Ranges  [][2]int           `json:"ranges" jsonschema:"what matched in the snippet: UTF-16 offsets, half-open"`
	Signals map[string]float64 `json:"signals,omitempty" jsonschema:"with explain: what counted, by name. lexical: score of its words, word:W, prefix:W, typo:W and field:F how that came about; semantic: how near it is, the mean of part, the cosine of its nearest part, and whole, that of all of its parts together; chunk: which part that is, from 1; late: the mean, over the words of the question, of the cosine of the nearest word of its nearest part, where notes are encoded; rank:lexical and rank:semantic: places in the two lists, from 1; fused:lexical and fused:semantic: what each list adds to the score, as the last of a full list that it is not in; fused:assumed: what is added to a note without vectors, of whose meaning nothing is known: what its words are worth"`
}

// Degraded says which stage could not take part in an answer.
type Degraded struct {
	Stage string `json:"stage" jsonschema:"the stage that was left out"`
	Why   string `json:"why" jsonschema:"the reason"`
}

// SearchResult is the result of notes.search and notes.similar.
type SearchResult struct {
	Hits     []SearchHit `json:"hits" jsonschema:"best first"`
	Mode     string      `json:"mode" enum:"hybrid,lexical,semantic" jsonschema:"the mode that was used; lexical for a hybrid search without a part by meaning, such as one of only filters and phrases"`
	Degraded *Degraded   `json:"degraded,omitempty" jsonschema:"what could not take part"`

	Corrected map[string]string `json:"corrected,omitempty" jsonschema:"words of the query that are in no note, each with the word that differs by one edit and was looked for in its place"`
	Nothing   *SearchNothing    `json:"nothing,omitempty" jsonschema:"why nothing was found; absent where there are hits"`

	Confidence string `json:"confidence,omitempty" enum:"high,medium,low" jsonschema:"how sure it is that the hits answer; absent of a search by meaning alone, of a list, and of notes.similar"`
	Reason     string `json:"reason,omitempty" jsonschema:"why it is so sure"`

	Answer     *SearchAnswer     `json:"answer,omitempty" jsonschema:"with explain: what says whether a hit answers, where words were compared one by one"`
	Understood *SearchUnderstood `json:"understood,omitempty" jsonschema:"how the query was read: with explain, and when it has problems; absent when its words were not looked at"`
	Fused      *SearchFused      `json:"fused,omitempty" jsonschema:"with explain, for a hybrid search: the weight of each list"`
	Stages     []SearchStage     `json:"stages,omitempty" jsonschema:"with explain: the time of each stage"`
}

// SearchNothing says that nothing was found.
type SearchNothing struct {
	Why string `json:"why" jsonschema:"as in: nothing is about zzzqqqxxx"`
}

// SearchAnswer is what says whether a hit of a search answers: a query of which a word is unknown finds nothing where likely is
// under floor.
type SearchAnswer struct {
	Likely  float64 `json:"likely" jsonschema:"how likely it is that a hit answers, 0 to 1"`
	Floor   float64 `json:"floor" jsonschema:"what that is at least, for anything to be found by words that are in part unknown"`
	Matched float64 `json:"matched" jsonschema:"the share of the query's information (idf) that the nearest hit matches, by the nearest word of it to each word of the query"`
	Unknown float64 `json:"unknown" jsonschema:"the mean cosine of the nearest words to those that no note has; 0.6 where there are none"`
	Near    float64 `json:"near" jsonschema:"how near notes are by the table of vectors"`
	Words   int     `json:"words" jsonschema:"words of the query that were compared"`
}

// SearchFused says how a hybrid search made one list of two.
type SearchFused struct {
	By      string  `json:"by" enum:"score,rank" jsonschema:"score: a weighted sum of the scores, each in proportion to the best of its list; rank: of 1 / (60 + place)"`
	Words   float64 `json:"words" jsonschema:"weight of the search by words in hybrid search"`
	Meaning float64 `json:"meaning" jsonschema:"weight of the search by meaning in hybrid search"`
	Known   float64 `json:"known" jsonschema:"the share of the query's information (idf) that is in words of any note, 0 where the words of a query in another language are left out; the lower it is, the less the list by words counts"`
}

// SearchUnderstood says how a query was read.
type SearchUnderstood struct {
	Words   []SearchWord `json:"words" jsonschema:"its words; a hit has any of them"`
	Ignored []string     `json:"ignored" jsonschema:"stop words, which count only when there are no other words"`
	Phrases []string     `json:"phrases" jsonschema:"phrases that every hit has"`
	Without []string     `json:"without" jsonschema:"words and phrases that no hit has"`
	Filters []string     `json:"filters" jsonschema:"filters in the query, as written"`

	Problems []SearchProblem `json:"problems" jsonschema:"parts of the query that may have been meant in another way than they were read"`
}

// SearchProblem is a part of a query that may have been meant in another way.
type SearchProblem struct {
	Text    string `json:"text" jsonschema:"as written"`
	Message string `json:"message" jsonschema:"what is wrong with it"`
	Nearest string `json:"nearest,omitempty" jsonschema:"what may have been meant, to write in its place"`
}

// SearchWord is one word of a query, and what it stands for.
type SearchWord struct {
	Word     string   `json:"word" jsonschema:"folded: without case and diacritics, for comparison"`
	Stem     string   `json:"stem" jsonschema:"words with the same stem are found"`
	As       string   `json:"as" enum:"word,prefix,typo" jsonschema:"how it was read: word; prefix: it may be unfinished; typo: no note has it, and it stands for words that differ by one edit"`
	Notes    int      `json:"notes" jsonschema:"notes that it was found in, before filters"`
	Means    []string `json:"means" jsonschema:"the most frequent words that a prefix or a typo stands for"`
	MeansAll int      `json:"meansAll" jsonschema:"how many they are"`
}

// SearchStage is one part of the work of a search.
type SearchStage struct {
	Stage string `json:"stage" enum:"words,embed,vectors,fuse,snippets" jsonschema:"words: search by words; embed: vector of the query; vectors: search by meaning; fuse: combining both lists; snippets"`
	US    int64  `json:"us" jsonschema:"microseconds"`
}

// NoteRef are the parameters of notes.links.
type NoteRef struct {
	Ref string `json:"ref" formerly:"id" jsonschema:"the note, as for notes.get"`
	Reads
}

// NoteLinks is the result of notes.links.
type NoteLinks struct {
	Outgoing   []record.NoteLink     `json:"outgoing" jsonschema:"links of the note that have a target, in the order of its text"`
	Incoming   []record.NoteBacklink `json:"incoming" jsonschema:"notes that link to it, by title"`
	Unresolved []record.NoteLink     `json:"unresolved" jsonschema:"links of the note without a target"`
}

// TagFilter are the parameters of tags.list.
type TagFilter struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"tags that begin with this"`
	Page
	Reads
}

// TagPage is the result of tags.list.
type TagPage struct {
	Tags       []record.NoteTag `json:"tags" jsonschema:"the tags"`
	Total      int              `json:"total" jsonschema:"number of items on all pages"`
	NextCursor string           `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

var noteMethods = []Method{
	describe[NotePut, NoteSaved]("notes.put", Mutation,
		"Create or replace a note; fields that are absent are cleared.",
		"Of a note from a vault the text alone changes, where the setting vault.write allows it; vault makes a new file. An unknown id creates a note with that id, which a remote connection cannot choose. Frontmatter with a type also creates an entity.",
		Example{
			`{"id":"kickoff","title":"Kickoff","body":"See [[Project Alpha]]. #planning","ifVersion":0}`,
			exampleSaved,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[NotePatch, NoteSaved]("notes.patch", Mutation,
		"Change only the given fields of a note.",
		"The text of a note from a vault is written into its file where the setting vault.write allows it, with its line endings and byte order mark; title, path, folder, tags and aliases change only with the file.",
		Example{`{"id":"kickoff","tags":["planning"],"ifVersion":1}`, exampleSaved},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[NotePutMany, NoteList]("notes.putMany", Mutation,
		"Create or replace up to 1,000 notes in one transaction.", "A remote connection cannot choose the id of a new note.",
		Example{
			`{"notes":[{"id":"kickoff","title":"Kickoff","body":"See [[Project Alpha]]. #planning"}]}`,
			`{"notes":[` + exampleSaved + `]}`,
		},
		CodeNotFound, CodeConflict, CodeLimit, CodeUnavailable),
	describe[NoteGet, NoteFull]("notes.get", Read,
		"Read a note with its links.",
		"When several notes are meant, the error has them as candidates; when none is, those that may be meant.",
		Example{
			`{"ref":"kickoff"}`,
			exampleNote[:len(exampleNote)-1] +
				`,"links":[{"target":"Project Alpha","embed":false,"line":1,"id":"alpha","title":"Project Alpha"}],"backlinks":[{"id":"minutes","title":"Minutes","line":3,"count":1}]}`,
		},
		CodeNotFound, CodeConflict),
	describe[NoteFilter, NotePage]("notes.list", Read,
		"List notes by title, without their bodies.", "",
		Example{
			`{"tag":"planning","limit":1}`,
			`{"notes":[{"id":"kickoff","title":"Kickoff","tags":["planning"],"aliases":[],"private":false,"vaultBacked":false,"createdAt":"2026-01-31T09:30:00Z","updatedAt":"2026-01-31T09:30:00Z","version":1}],"total":60,"nextCursor":"MQ"}`,
		}),
	describe[ByID, Versioned]("notes.archive", Mutation,
		"Hide a note from menus, lists and prompts; its entity is archived.", "",
		Example{`{"id":"kickoff"}`, `{"id":"kickoff","version":2}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ByID, Versioned]("notes.restore", Mutation,
		"Restore an archived note and its entity.", "",
		Example{`{"id":"kickoff"}`, `{"id":"kickoff","version":3}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[ByID, NoteDeleted]("notes.delete", Mutation,
		"Delete a note permanently; its entity is archived.",
		"The file of a note from a vault is never deleted: it moves to the folder .trash of the vault, where the setting vault.write allows it.",
		Example{`{"id":"kickoff","ifVersion":3}`, `{"id":"kickoff","version":4}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	describe[NoteComplete, NoteItems]("notes.complete", Read,
		"Complete the title of a note.", "",
		Example{`{"prefix":"kick"}`, `{"items":[{"id":"kickoff","title":"Kickoff","match":[[0,4]]}]}`}),
	describe[NoteResolve, NoteResolved]("notes.resolve", Read,
		"Find the note that a wikilink means.", "",
		Example{`{"link":"[[Kickoff#Goals]]"}`, `{"id":"kickoff","heading":"Goals","candidates":[]}`},
		CodeNotFound),
	describe[NoteSearch, SearchResult]("notes.search", Read,
		"Find notes by the words and the meaning of a query.",
		"Words are ORed; \"quoted phrases\", -word, tag:, path:, type:, conflict:, before: and after: are met by every hit; conflict: alone finds the notes with copies that a synchroniser left, conflict:name some of them, and their snippets name the copies. A hybrid search waits at most 150 ms for the vector of the query.",
		Example{
			`{"query":"kickoff goals","limit":1}`,
			`{"hits":[{"id":"kickoff","title":"Kickoff","score":0.82,"by":"both","snippet":"See Project Alpha.","ranges":[]}],"mode":"hybrid"}`,
		},
		CodeLimit, CodeDeadline),
	describe[NoteSimilar, SearchResult]("notes.similar", Read,
		"Find notes that are similar to a note.",
		"Stored vectors are compared; nothing is embedded. While the note has no vector, its words are searched for: mode is then lexical, and degraded says why. Archived notes are left out.",
		Example{
			`{"ref":"kickoff","limit":1}`,
			`{"hits":[{"id":"alpha","title":"Project Alpha","score":0.61,"by":"meaning","snippet":"The plan of the project.","ranges":[]}],"mode":"semantic"}`,
		},
		CodeNotFound, CodeDeadline),
	describe[SearchExplain, SearchExplained]("search.explain", Read,
		"Say where one note stands in a search, and why.",
		"It searches by words, by meaning and by both, and follows the note through them, also where it is not found.",
		Example{
			`{"ref":"alpha","query":"kickoff goals"}`,
			`{"hits":[{"id":"kickoff","title":"Kickoff","score":0.82,"by":"both","snippet":"See Project Alpha.","ranges":[]}],"mode":"hybrid","note":{"id":"alpha","title":"Project Alpha","score":0.4,"by":"meaning","snippet":"The plan.","ranges":[]},"place":3,"passes":true,"words":{"place":0,"score":0,"best":4.1},"meaning":{"place":2,"score":0.4,"best":0.5}}`,
		},
		CodeNotFound, CodeLimit, CodeDeadline),
	describe[NoteRef, NoteLinks]("notes.links", Read,
		"List the links from a note, the links to it, and its links without a target.", "",
		Example{
			`{"ref":"kickoff"}`,
			`{"outgoing":[{"target":"Project Alpha","embed":false,"line":1,"id":"alpha","title":"Project Alpha"}],"incoming":[],"unresolved":[]}`,
		},
		CodeNotFound),
	describe[TagFilter, TagPage]("tags.list", Read,
		"List tags with their numbers of notes, most frequent first.", "",
		Example{`{"prefix":"plan"}`, `{"tags":[{"name":"planning","count":7}],"total":1}`}),
}

const (
	exampleNote  = `{"id":"kickoff","title":"Kickoff","body":"See [[Project Alpha]]. #planning",` + exampleHead
	exampleSaved = `{"id":"kickoff","title":"Kickoff",` + exampleHead
	exampleHead  = `"tags":["planning"],"aliases":[],"private":false,"vaultBacked":false,"createdAt":"2026-01-31T09:30:00Z","updatedAt":"2026-01-31T09:30:00Z","version":1}`
)
