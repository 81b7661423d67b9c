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

var vaultMethods = []Method{
	job(JobImport, wholeStore(describe[VaultImport, record.VaultResult]("vault.import", Job,
		"Import a folder of Markdown files: notes, the entities that their frontmatter describes, and types.",
		"Nothing is ever written into the folder. A folder that was imported before is compared with what is known of it: "+
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
