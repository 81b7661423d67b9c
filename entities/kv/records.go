package kv

import "github.com/ctxd/ctxd/entities/record"

// Clients see what a store tells of itself: it is declared in package record.

// Status is the state of a store.
type Status = record.StoreStatus

// Deleted says which files were deleted by somebody else.
type Deleted = record.StoreDeleted

// Recovery is what Open found and did.
type Recovery = record.StoreRecovery

// Manifest is what a backup holds.
type Manifest = record.StoreManifest

// InspectedFile is what Inspect found in a file.
type InspectedFile = record.StoreInspectedFile
