// Package schema is the declared types that a WQL query is read by, as they were at one
// moment.
//
// It is the part of package wql that knows types alone and nothing of programs: which types
// a name stands for, of which each vault may have one, and how people and cycles call a field.
// A Schema is not changed once it is made, so any number of goroutines may read it.
package schema
