// Package life tells what became of a memory: Changes and Step say in words what an event of learning changed, and Write
// makes the page of ctxd inspect memory --html, with what the memory says and said, what supports it, its outcomes and
// score over time, its moves, what it contradicts and merged with, and what it ranks by. The page is one file that loads
// nothing and runs no script; texts of a person are escaped by the template.
//
// Scores, confidences and ranks are shares of 0 to 1. Write takes O(events and versions), asks nobody, and all functions
// may be called concurrently. The only error is one of the template.
package life
