// Package oneline makes one line of a text that a person is to see in a list: of a paragraph of a note, or of what a
// language model answered when it was asked for a title or a sentence. A line has no control characters, nothing
// hidden, no line break, and is cut between graphemes, in code points.
//
// Functions are pure and take time linear in the text. Rooms that ask models in the background call them.
package oneline
