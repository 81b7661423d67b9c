package vault

import "github.com/ctxd/ctxd/entities/record"

// What is told of vaults is declared in package record, because clients see it.

type (
	// Status is the state of an imported vault.
	Status = record.VaultStatus
	// ImportResult is what an import did.
	ImportResult = record.VaultResult
	// ImportSkip is one thing that an import did not take in, or not whole.
	ImportSkip = record.VaultSkip
)
