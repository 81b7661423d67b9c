// Package report draws the report of a prompt: what went in and why, what it
// cost, what was left out, and how long the stages took. It draws what an import
// found as well.
//
// ctxd inspect context and ctxd demo show it under the prompt. The walk over
// entities is drawn as a tree in which each item stands once. The goldens in
// testdata hold the drawing for a pipe and for terminals. It keeps no state.
package report
