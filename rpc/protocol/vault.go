package protocol

import (
	"github.com/ctxd/ctxd/entities/record"
)

// VaultImport are the parameters of vault.import.
type VaultImport struct {
	Path   string `json:"path" jsonschema:"absolute path of the folder"`
	Watch  bool   `json:"watch,omitempty" jsonschema:"follow the folder from now on, also after a restart; not in a dry run"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"report what would be imported, and change nothing"`
	Name   string `json:"name,omitempty" jsonschema:"name of the vault; that of its folder when absent"`
}

// VaultName names a vault.
type VaultName struct {
	Vault string `json:"vault" jsonschema:"name of the vault"`
}

// VaultMaybe are the parameters of vault.status.
type VaultMaybe struct {
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
	Reads
}

// VaultUnresolved are the parameters of vault.unresolved.
type VaultUnresolved struct {
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
	Limit int    `json:"limit,omitempty" min:"1" max:"10000" default:"100" jsonschema:"targets at most"`
	Reads
}

// Unresolved is the result of vault.unresolved.
type Unresolved struct {
	Vault      string                  `json:"vault" jsonschema:"name of the vault"`
	Links      int                     `json:"links" jsonschema:"links that lead nowhere, every occurrence"`
	Targets    int                     `json:"targets" jsonschema:"different targets that they name"`
	Unresolved []record.NoteUnresolved `json:"unresolved" jsonschema:"the targets, the most frequent first"`
}

// VaultProblems are the parameters of vault.problems.
type VaultProblems struct {
	Vault string               `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
	Kinds []record.ProblemKind `json:"kinds,omitempty" enum:"vault.folder,file.skipped,file.copy,type.declaration,frontmatter,private.doubt,type.names,field.value,field.reference,field.ambiguous,query,link.unresolved,link.ambiguous,link.heading,link.block,link.chosen,duplicate.title,duplicate.alias,duplicate.path,duplicate.block,note.empty,attachment.text,file.excluded" jsonschema:"only problems of these kinds; all when absent"`
	Page
	Reads
}

// VaultProblemPage is the result of vault.problems.
type VaultProblemPage struct {
	Vault      string                     `json:"vault" jsonschema:"name of the vault"`
	Folder     string                     `json:"folder" jsonschema:"absolute path of its folder"`
	Problems   []record.VaultProblem      `json:"problems" jsonschema:"the problems of this page, by kind, path and line"`
	Counts     map[record.ProblemKind]int `json:"counts" jsonschema:"how many there are of each kind, whatever kinds were asked for; kinds without any are absent"`
	Total      int                        `json:"total" jsonschema:"how many there are of the kinds that were asked for, over all pages"`
	NextCursor string                     `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// VaultList is the result of vault.list.
type VaultList struct {
	Vaults []record.VaultStatus `json:"vaults" jsonschema:"the vaults by name"`
}

// VaultForget are the parameters of vault.forget.
type VaultForget struct {
	Vault  string `json:"vault" jsonschema:"name of the vault"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"report what would be removed, and change nothing"`
}

// VaultForgotten is the result of vault.forget.
type VaultForgotten struct {
	Vault  string   `json:"vault" jsonschema:"name of the vault"`
	Notes  int      `json:"notes" jsonschema:"notes that were removed with it"`
	Copies []string `json:"copies" jsonschema:"paths of the deleted files with earlier states of the store: the copy from before the last restore, the one from before an upgrade, damaged files"`
	DryRun bool     `json:"dryRun,omitempty" jsonschema:"true when nothing was changed"`
}

// VaultPlanRename are the parameters of vault.planRename.
type VaultPlanRename struct {
	Vault   string   `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
	Kind    string   `json:"kind" enum:"note,heading,block,tag,files" jsonschema:"what gets another name: a note, a heading, the identifier of a block, a tag, or files and folders that move"`
	Path    string   `json:"path,omitempty" jsonschema:"of the note that is renamed, or that has the heading or the block; within the vault"`
	Line    int      `json:"line,omitempty" min:"1" jsonschema:"line of the heading or of the identifier of the block"`
	Old     string   `json:"old,omitempty" jsonschema:"the tag, or the name of the note that is replaced; the name of its file when absent"`
	New     string   `json:"new,omitempty" jsonschema:"the new name"`
	What    string   `json:"what,omitempty" enum:"both,file,title" default:"both" jsonschema:"of a note: its file, and its title and first heading where they are the old name; or one of the two"`
	Moves   []Move   `json:"moves,omitempty" jsonschema:"files and folders that are about to move, at most 10,000"`
	Buffers []Buffer `json:"buffers,omitempty" jsonschema:"texts that are not saved yet, at most 1,000: they count in place of the files"`
}

// Move is a file or folder that gets another path.
type Move struct {
	From string `json:"from" jsonschema:"path within the vault"`
	To   string `json:"to" jsonschema:"the new path within the vault"`
}

// Buffer is the text of an open file.
type Buffer struct {
	Path string `json:"path" jsonschema:"path within the vault"`
	Text string `json:"text" jsonschema:"what the file would hold if it was saved now"`
}

// RenamePlan is the result of vault.planRename.
type RenamePlan struct {
	Vault    string          `json:"vault" jsonschema:"name of the vault"`
	Folder   string          `json:"folder" jsonschema:"absolute path of its folder"`
	Files    []FileEdits     `json:"files" jsonschema:"the texts that change, by path"`
	Moves    []Move          `json:"moves" jsonschema:"files to move once their texts are changed; those that were asked for are not repeated"`
	Problems []RenameProblem `json:"problems" jsonschema:"places that cannot be kept as they are"`
}

// FileEdits are the edits of one file.
type FileEdits struct {
	Path  string     `json:"path" jsonschema:"path within the vault, before anything moves"`
	Edits []TextEdit `json:"edits" jsonschema:"in the order of the text, without overlaps"`
}

// TextEdit replaces a part of a text.
type TextEdit struct {
	Range [2]int `json:"range" jsonschema:"the part, in UTF-16 code units of the text without a byte order mark; the end is not in it"`
	Line  int    `json:"line" jsonschema:"line on which it begins, from 1"`
	Old   string `json:"old" jsonschema:"what stands there; a text that has something else there has changed since"`
	New   string `json:"new" jsonschema:"what is to stand there"`
}

// RenameProblem is a place that a rename does not keep as it is.
type RenameProblem struct {
	Path string `json:"path" jsonschema:"path within the vault"`
	Line int    `json:"line" jsonschema:"line, from 1"`
	Text string `json:"text" jsonschema:"the link or the tag as it is written"`
	Why  string `json:"why" jsonschema:"the reason, for a person"`
}

// NoteCheck are the parameters of vault.checkNote.
type NoteCheck struct {
	Vault   string   `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
	Path    string   `json:"path" jsonschema:"of the note, within the vault"`
	Buffers []Buffer `json:"buffers,omitempty" jsonschema:"texts that are not saved yet, that of the note among them, at most 1,000: they count in place of the files"`
}

// NoteChecked is the result of vault.checkNote.
type NoteChecked struct {
	Problems []NoteProblem `json:"problems" jsonschema:"in the order of the text, at most 500"`
}

// NoteProblem is something about a place of a note.
type NoteProblem struct {
	Range    [2]int             `json:"range" jsonschema:"the place, in UTF-16 code units of the text without a byte order mark; the end is not in it"`
	Line     int                `json:"line" jsonschema:"line on which it begins, from 1"`
	Code     record.ProblemKind `json:"code" enum:"frontmatter,private.doubt,type.names,field.value,field.reference,field.ambiguous,query,link.unresolved,link.ambiguous,link.heading,link.block,link.chosen,duplicate.title,duplicate.alias,duplicate.path,duplicate.block,note.empty,type.inferred" jsonschema:"what it is about, as in vault.problems: link.chosen is a link that could mean several notes, of which the rules choose one"`
	Severity string             `json:"severity" enum:"error,warning,information,hint" jsonschema:"how much it matters"`
	Message  string             `json:"message" jsonschema:"what is wrong, for a person"`
	Fixes    []NoteFix          `json:"fixes,omitempty" jsonschema:"what may have been meant, the likeliest first"`
	Create   string             `json:"create,omitempty" jsonschema:"path of the note that a link waits for, where the vault keeps such notes"`
	Type     string             `json:"type,omitempty" jsonschema:"name of the type that it is about"`
	Others   []string           `json:"others,omitempty" jsonschema:"paths of other notes that have to do with it"`
}

// NoteFix is a text that solves a problem.
type NoteFix struct {
	Title string `json:"title" jsonschema:"what it does, for a person"`
	New   string `json:"new" jsonschema:"what is to stand at the range of the problem"`
}

// VaultHistory are the parameters of vault.history.
type VaultHistory struct {
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault; all when absent"`
	Path  string `json:"path,omitempty" jsonschema:"only writes of this file, within its vault"`
	Page
	Reads
}

// VaultWrites is the result of vault.history.
type VaultWrites struct {
	Writes     []record.VaultWrite `json:"writes" jsonschema:"the writes, the latest first"`
	Total      int                 `json:"total" jsonschema:"number of items on all pages"`
	NextCursor string              `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// VaultUndo are the parameters of vault.undo.
type VaultUndo struct {
	ID     string `json:"id" jsonschema:"id of the write"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"answer what would change, and change nothing"`
}

// VaultUndone is the result of vault.undo.
type VaultUndone struct {
	ID     string `json:"id,omitempty" jsonschema:"id of the write that has undone it, which can be undone itself; absent in a dry run"`
	Vault  string `json:"vault" jsonschema:"name of the vault"`
	Path   string `json:"path" jsonschema:"where the file is then, within the vault"`
	NoteID string `json:"noteId,omitempty" jsonschema:"id of its note; absent when there is none then"`
	Diff   string `json:"diff,omitempty" jsonschema:"what changes in the text, as a unified diff; absent when the file moves, and for a remote connection"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"true when nothing was changed"`
}

var vaultMethods = []Method{
	job(JobImport, wholeStore(describe[VaultImport, record.VaultResult]("vault.import", Job,
		"Import a folder of Markdown files: notes, the entities that their frontmatter describes, and types.",
		"Nothing is written into the folder. A folder that was imported before is compared with what is known of it: "+
			"files of the same size and time are not read again, and a file that moved keeps its ids. "+
			"With watch, changes on the disk appear within a moment from then on, until vault.unwatch. "+
			"A folder that was imported before and is empty now is refused: a disk that is not mounted looks like that. "+
			"A folder is one vault whatever path it is given by. A folder inside another vault, or around one, is refused unless .ctxdignore excludes it there.",
		Example{
			`{"path":"/home/me/Notes"}`,
			`{"vault":"Notes","notes":60,"entities":40,"links":210,"unresolved":3,"written":60,"removed":0,"skipped":[{"path":"old.md","reason":"not UTF-8 text"}],"ms":35}`,
		},
		CodeNotFound, CodeConflict, CodeUnavailable, CodeLimit))),
	describe[ReadAll, VaultList]("vault.list", Read,
		"List the vaults.", "",
		Example{`{}`, `{"vaults":[` + exampleVault + `]}`}),
	describe[VaultMaybe, record.VaultStatus]("vault.status", Read,
		"Report the state of a vault.", "",
		Example{`{"vault":"Notes"}`, exampleStatus}, CodeNotFound, CodeConflict),
	describe[VaultUnresolved, Unresolved]("vault.unresolved", Read,
		"List the links of a vault that lead nowhere, by target.", "",
		Example{
			`{"vault":"Notes"}`,
			`{"vault":"Notes","links":2,"targets":1,"unresolved":[{"target":"Zeppelin","count":2,"from":[{"id":"3f1c","title":"Ideas","path":"Ideas.md","line":7,"count":2}]}]}`,
		},
		CodeNotFound, CodeConflict),
	describe[VaultProblems, VaultProblemPage]("vault.problems", Read,
		"List what is wrong in a vault, by kind, path and line: each problem with what mends it.",
		"Links, fields and frontmatter as vault.checkNote tells of one note; files that were not read; copies that a synchroniser left, with a diff against their note; names that are given twice. "+
			"Every count of vault.status has its problems here: unresolved those of link.unresolved and link.ambiguous, unresolvedRefs those of field.reference and field.ambiguous, and errors those of vault.folder, file.*, type.*, frontmatter, private.doubt and field.value. "+
			"A list goes on behind the place where a page ended, also when notes have changed meanwhile. "+
			"It takes time for each link of the vault when something was written since the call before, else for the page alone. "+
			"A remote reader is told of public notes as if there were no others, and of no copies.",
		Example{
			`{"vault":"Notes","kinds":["link.unresolved"],"limit":1}`,
			`{"vault":"Notes","folder":"/home/me/Notes","problems":[{"kind":"link.unresolved","path":"Ideas.md","line":1,"what":"no note is called Kickof; did you mean Kickoff?","fix":"link to Kickoff.md, or create Kickof.md"}],"counts":{"link.unresolved":3,"duplicate.title":2},"total":3,"nextCursor":"bGluay51bnJlc29sdmVkLzEvMABJZGVhcy5tZA"}`,
		},
		CodeNotFound, CodeConflict),
	wholeStore(describe[VaultPlanRename, RenamePlan]("vault.planRename", Read,
		"Work out what a rename changes in all files of a vault; nothing is written.",
		"Every link leads afterwards where it led: links to what is renamed get its new name, and links that the new name would lead elsewhere name their target more exactly. "+
			"An editor applies the edits, then the moves. Links from unsaved texts count, and edits of those are of the text that was given.",
		Example{
			`{"vault":"Notes","kind":"files","moves":[{"from":"Boss.md","to":"People/Boss.md"}]}`,
			`{"vault":"Notes","folder":"/home/me/Notes","files":[{"path":"Ideas.md","edits":[{"range":[9,16],"line":1,"old":"Boss.md","new":"People/Boss.md"}]}],"moves":[],"problems":[]}`,
		},
		CodeNotFound, CodeConflict, CodeLimit)),
	wholeStore(describe[NoteCheck, NoteChecked]("vault.checkNote", Read,
		"Say what is wrong with the text of a note, and what may have been meant.",
		"Links that lead nowhere or could mean several notes, headings and blocks that are not there, frontmatter that cannot be read, values that do not fit their field, queries in fenced blocks of wql, names that are given twice.",
		Example{
			`{"vault":"Notes","path":"Ideas.md","buffers":[{"path":"Ideas.md","text":"See [[Kickof]]"}]}`,
			`{"problems":[{"range":[6,12],"line":1,"code":"link.unresolved","severity":"warning","message":"no note is called Kickof; did you mean Kickoff?","fixes":[{"title":"Link to Kickoff.md","new":"Kickoff"}],"create":"Kickof.md"}]}`,
		},
		CodeNotFound, CodeConflict, CodeLimit)),
	describe[VaultHistory, VaultWrites]("vault.history", Read,
		"List what ctxd has written into vaults, the latest first.",
		"It lies in the store of this machine: the last 10,000 writes, or 32 MiB of texts. A remote reader is told of public notes alone, and not what their texts were.",
		Example{
			`{"vault":"Notes","limit":1}`,
			`{"writes":[{"id":"mkxw0k8c","vault":"Notes","path":"Inbox.md","noteId":"3f1c","action":"change","at":"2026-01-31T09:30:00Z","client":"ctxd mcp","added":1,"diff":"--- a/Inbox.md\n+++ b/Inbox.md\n@@ -1 +1,2 @@\n call Bob\n+call Alice\n"}],"total":1}`,
		}),
	describe[VaultUndo, VaultUndone]("vault.undo", Mutation,
		"Take a write into a vault back.",
		"The file gets the text that it had; one that was made goes to the trash folder of the vault, and one that went there comes back. A file that has changed since is a conflict with reason changed.",
		Example{`{"id":"mkxw0k8c"}`, `{"id":"mkxw0m2a","vault":"Notes","path":"Inbox.md","noteId":"3f1c","diff":"--- a/Inbox.md\n+++ b/Inbox.md\n@@ -1,2 +1 @@\n call Bob\n-call Alice\n"}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
	wholeStore(describe[VaultName, record.VaultStatus]("vault.unwatch", Mutation,
		"Stop following the folder of a vault; its notes stay.", "",
		Example{`{"vault":"Notes"}`, exampleVault}, CodeNotFound, CodeUnavailable)),
	wholeStore(describe[VaultForget, VaultForgotten]("vault.forget", Mutation,
		"Remove a vault and every record that came from it; its folder stays as it is.",
		"A large vault is removed in several transactions. If the daemon stops between two of them, the next start continues. "+
			"Files in the store's folder that hold earlier states are removed too, so that nothing of the vault remains there; "+
			"a restore cannot be undone afterwards.",
		Example{`{"vault":"Notes"}`, `{"vault":"Notes","notes":60,"copies":[]}`},
		CodeNotFound, CodeConflict, CodeUnavailable)),
}

const (
	exampleVault  = exampleFacts + `}`
	exampleStatus = exampleFacts + `,"unresolvedRefs":1}`
	exampleFacts  = `{"vault":"Notes","path":"/home/me/Notes","watching":false,"notes":60,"links":210,"unresolved":3,"markdownLinks":4,"attachments":12,"lastScanAt":"2026-01-31T09:30:00Z","stale":false,"errors":[]`
)
