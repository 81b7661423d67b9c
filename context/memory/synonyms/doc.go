// Package synonyms says which words mean the same to the person, and what that adds to the words of a
// question. Package memory keeps the sets as records; a View finds them.
//
// A View has no lock: its owner has one. The functions may be called concurrently.
package synonyms
