package protocol

import "github.com/ctxd/ctxd/notes/watch"

// VaultImport are the parameters of vault.import.
type VaultImport struct {
	Path   string `json:"path" jsonschema:"absolute path of the folder"`
	Watch  bool   `json:"watch,omitempty" jsonschema:"follow the folder from then on"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"count and report, change nothing"`
	Name   string `json:"name,omitempty" jsonschema:"name of the vault; that of its folder when absent"`
}

// VaultName names a vault.
type VaultName struct {
	Vault string `json:"vault" jsonschema:"name of the vault"`
}

// VaultMaybe are the parameters of vault.status.
type VaultMaybe struct {
	Vault string `json:"vault,omitempty" jsonschema:"name of the vault; may be absent when there is only one"`
}

// VaultList is the result of vault.list.
type VaultList struct {
	Vaults []watch.Status `json:"vaults" jsonschema:"the vaults by name"`
}

// VaultForgotten is the result of vault.forget.
type VaultForgotten struct {
	Vault string `json:"vault" jsonschema:"name of the vault"`
	Notes int    `json:"notes" jsonschema:"notes that were removed with it, their entities too"`
}

var vaultMethods = []Method{
	describe[VaultImport, watch.Result]("vault.import", Job,
		"Read a folder of Markdown files: notes, the entities that their frontmatter describes, and types.",
		"Nothing is ever written into the folder. A folder that was imported before is compared with what is known of it.",
		Example{`{"path":"/home/me/Notes"}`, `{"vault":"Notes","notes":60,"entities":40,"links":210,"unresolved":3,"written":60,"removed":0,"skipped":[{"path":"scan.pdf","reason":"not Markdown"}],"ms":35}`},
		CodeNotFound, CodeConflict, CodeUnavailable, CodeLimit),
	describe[Empty, VaultList]("vault.list", Read,
		"List the known vaults.", "",
		Example{`{}`, `{"vaults":[` + exampleVault + `]}`}),
	describe[VaultMaybe, watch.Status]("vault.status", Read,
		"Say how a vault stands.", "",
		Example{`{"vault":"Notes"}`, exampleVault}, CodeNotFound, CodeConflict),
	describe[VaultName, VaultForgotten]("vault.forget", Mutation,
		"Remove a vault with every record that came from it; its folder stays as it is.", "",
		Example{`{"vault":"Notes"}`, `{"vault":"Notes","notes":60}`},
		CodeNotFound, CodeConflict, CodeUnavailable),
}

const exampleVault = `{"vault":"Notes","path":"/home/me/Notes","watching":false,"notes":60,"links":210,"unresolved":3,"markdownLinks":4,"lastScanAt":"2026-01-31T09:30:00Z","stale":false,"errors":[]}`
