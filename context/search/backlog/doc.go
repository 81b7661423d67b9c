// Package backlog is where commits wait in their order for a view of the store that enters
// large ones in the background.
//
// A view whose OnCommit handler would take a second for a large commit puts that into its
// Backlog, and those that come before it is entered: no writer waits for them. Whoever asks
// the view waits until it is as new as Last. Only package lexical uses it. All methods may be
// called concurrently.
package backlog
