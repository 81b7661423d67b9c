// Package text knows of strings what every layer has to: when two names are the same name, how
// many characters a string has, where it may be cut, and what one line of it is.
//
//   - fold.go, natural.go: [Fold] is the form under which names of notes, entities, types, fields and
//     tags are compared (Unicode NFC, full case folding), [CompareNatural] the order in which they are
//     listed (digits by their value)
//   - before.go, scripts.go: where a name may stand in a text. [ContextOfMark] is the one place that
//     decides what may stand before the @ or # of a reference
//   - chars_*.go: characters in the unit of budgets, places to cut at, hidden characters
//   - oneline.go: one line of a text, for lists and from answers of language models
//   - day.go: the day of a time, in the zone of this machine
//   - first.go: the first elements of an order, without sorting all
//   - unified.go: the difference of two texts as a unified diff
//   - pattern.go: regular expressions that are compiled when they are first used
//
// Any package may call it; it imports nothing of ours. It holds no state: all functions may be
// called concurrently, and a [TopList] belongs to one goroutine.
//
// Wall: promise: declarations of records and clients compare names without an index or a store.
package text
