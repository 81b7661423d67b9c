// Package typesource keeps what public notes alone have given to the types that are made
// from frontmatter, so that a reader who sees no private record is told no more (PRIV-4).
//
// It is the part of package notes that has to do with types and not with notes: its records
// are kept by type, and go, or get a vault, with the type.
package typesource
