package record

import "time"

// VaultStatus is the state of an imported vault.
type VaultStatus struct {
	Vault          string    `json:"vault" jsonschema:"name of the vault"`
	Path           string    `json:"path" jsonschema:"its folder"`
	Watching       bool      `json:"watching" jsonschema:"whether its folder is followed"`
	Notes          int       `json:"notes" jsonschema:"its notes"`
	Links          int       `json:"links" jsonschema:"wikilinks and Markdown links to files of the vault, every occurrence outside code and comments"`
	Unresolved     int       `json:"unresolved" jsonschema:"links without a target"`
	UnresolvedRefs int       `json:"unresolvedRefs,omitempty" jsonschema:"references in fields that lead to no record; absent when there is none, and in lists of vaults"`
	MarkdownLinks  int       `json:"markdownLinks" jsonschema:"how many of the links are Markdown links: [text](file.md)"`
	Attachments    int       `json:"attachments" jsonschema:"its files that are no notes: pictures, PDF and the like; links to them are resolved"`
	LastScanAt     time.Time `json:"lastScanAt" jsonschema:"when its folder was last compared with the store"`
	Stale          bool      `json:"stale" jsonschema:"whether it may differ from the disk: its folder is not there, or could not be read"`
	// Errors are what the last scan could not take in. One with the path "." is
	// about the vault as a whole: why it is stale, or what it is followed by.
	Errors []VaultSkip `json:"errors" jsonschema:"what the last import skipped; an entry with the path . is about the whole vault: why it is stale, or why changes are not noticed"`
}

// VaultResult says what an import did.
type VaultResult struct {
	Vault      string      `json:"vault" jsonschema:"name of the vault"`
	Notes      int         `json:"notes" jsonschema:"notes of the vault"`
	Entities   int         `json:"entities" jsonschema:"entities made from them"`
	Links      int         `json:"links" jsonschema:"wikilinks and Markdown links to files of the vault, every occurrence"`
	Unresolved int         `json:"unresolved" jsonschema:"links without a target"`
	Written    int         `json:"written" jsonschema:"notes that were new or had changed"`
	Removed    int         `json:"removed" jsonschema:"notes whose file is gone"`
	Inferred   []string    `json:"inferred,omitempty" jsonschema:"types that were made from frontmatter"`
	Skipped    []VaultSkip `json:"skipped" jsonschema:"files and values that were skipped or read in part, with the reason"`
	Ms         int64       `json:"ms" jsonschema:"milliseconds that it took"`
	DryRun     bool        `json:"dryRun,omitempty" jsonschema:"whether nothing was changed"`
	Watching   bool        `json:"watching,omitempty" jsonschema:"whether the folder is followed"`
}

// VaultSkip is one thing that an import did not take in, or not whole.
type VaultSkip struct {
	Path   string `json:"path" jsonschema:"path within the vault"`
	Reason string `json:"reason" jsonschema:"why it was skipped"`
	CopyOf string `json:"copyOf,omitempty" jsonschema:"path of the note that it is a copy of, left by a synchroniser after a conflict; absent for everything else"`
	LeftBy string `json:"leftBy,omitempty" jsonschema:"the synchroniser that left the copy"`
}

// VaultWrite is a write of ctxd into a file of a vault.
type VaultWrite struct {
	ID      string    `json:"id" jsonschema:"id of the write, for vault.undo"`
	Vault   string    `json:"vault" jsonschema:"name of the vault"`
	Path    string    `json:"path" jsonschema:"of the file, within the vault"`
	To      string    `json:"to,omitempty" jsonschema:"where the file was moved: into the trash folder, or back"`
	NoteID  string    `json:"noteId,omitempty" jsonschema:"id of its note"`
	Action  string    `json:"action" enum:"create,change,trash,restore" jsonschema:"what was done: a new file, another text, a move to the trash folder of the vault, or back"`
	At      time.Time `json:"at" jsonschema:"when"`
	Client  string    `json:"client,omitempty" jsonschema:"the program that wrote, as it named itself"`
	Remote  bool      `json:"remote,omitempty" jsonschema:"whether it was a remote connection"`
	Private bool      `json:"private,omitempty" jsonschema:"whether the note was private then"`
	Added   int       `json:"added,omitempty" jsonschema:"lines that were added"`
	Removed int       `json:"removed,omitempty" jsonschema:"lines that were removed"`
	Diff    string    `json:"diff,omitempty" jsonschema:"what changed, as a unified diff; absent above 64 KiB, and for a remote reader"`
	Undoes  string    `json:"undoes,omitempty" jsonschema:"the write that it has undone"`
	Undone  string    `json:"undone,omitempty" jsonschema:"the write that has undone it"`
}
