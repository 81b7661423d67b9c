// Package ignore matches paths against patterns as git does for .gitignore
// (https://git-scm.com/docs/gitignore): what a person leaves out of a vault, and the
// folders whose notes are private.
//
// Parse reads patterns, Match asks them. Both are pure, and patterns are not changed, so
// any goroutine may use them. Match takes O(patterns · length of the path²) at worst.
//
// It differs from git in three things. A character is one of Unicode, not a byte: "?"
// matches an é. Paths and patterns are compared in the form that Comparable returns. And
// only git asks for the type of a file: here the caller tells what is a folder.
//
// A test compares it with git itself.
//
// Wall: second user: notes asks it for private folders, notes/vault for what is left out
package ignore
