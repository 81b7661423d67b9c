// Package chars knows of characters what a prompt has to: how many a text has
// in the unit of budgets, where it may be cut, and which characters end a line
// or show nothing.
//
// It is pure and keeps no state. All functions are linear in the length of
// what they look at.
package chars
