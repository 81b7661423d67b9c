// Package feedback tells the rooms of learning what answers of conversations stood on: which memories a model was shown
// for an answer, and which of them the answer names.
//
// It reads through the View of the reader, and keeps nothing. All functions may be called concurrently. A lookup costs
// O(messages behind the answer), mostly one page. The error is NotFound for a message that the reader does not see.
package feedback
