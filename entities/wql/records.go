package wql

import "github.com/ctxd/ctxd/entities/record"

// Clients see what queries answer: it is declared in package record.

// Row is an entity that a query found.
type Row = record.WQLRow

// Plan says how a query was run.
type Plan = record.WQLPlan

// TypePlan is the part of a plan that is about one type.
type TypePlan = record.WQLTypePlan

// IndexUse is an index that a query asked, or might have asked.
type IndexUse = record.WQLIndexUse
