// Package feedback tells the rooms of learning what answers of conversations stood on: which memories a model was shown
// for an answer, and which of them the answer names.
//
// A [Detector] has a model read the end of a conversation and say how the last answer went that the user has reacted to,
// when somebody asks for it or every four turns in the background. The model is the one that gave the last answer; one that
// is not local is asked about nothing private. It is given 500 characters of each message of four turns, answers in JSON,
// and scores nothing unless its confidence is above 0.7. Nothing that waits is kept over a start.
//
// Everything is read through the View of the reader. All functions may be called concurrently. A lookup of an answer costs
// O(messages behind it), mostly one page. The error is NotFound for a message that the reader does not see.
package feedback
