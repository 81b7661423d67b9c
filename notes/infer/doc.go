// Package infer reads from the frontmatter of notes what it says of the entities that the
// notes describe: their type, the fields that a type gets which nobody has declared, and
// the values of its fields.
//
// It reads texts and keeps nothing, so its functions may be called concurrently. Package
// notes calls it when a note is written, and package watch when it imports a vault. It is
// apart from package notes because it needs no store: what is inferred depends on texts
// and on a type alone, and on no other note.
package infer
