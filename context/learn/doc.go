// Package learn learns from what becomes of memories: it scores what helped and what failed, moves memories between the
// tiers, keeps facts in order, and tells a person of each change. README.md names the promises.
//
// # Parts
//
//   - learn.go: all parts over one store: opened, kept and checked together, and told what is deleted
//   - events*.go: the log of what learning did to memories
//   - outcomes*.go: what was shown in conversations, and the scores of it
//   - promote.go: the moves of memories between the tiers
//   - pairs_*.go: how two statements stand to each other, by rules
//   - phrases*.go: what a text speaks of
//   - upkeep_*.go: facts that are supported, fade, contradict each other or are merged
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader; chat/background, which tells it of answers and advises it by a model;
// context/learn/concepts. The daemon opens it behind the memories.
//
// # Lifetime and concurrency
//
// [Stores] live as long as the store below them. Nothing has to be closed; [Stores.Flush] writes what is not written
// yet. All methods may be called concurrently.
//
// Wall: subject: how memories change by what became of their use.
package learn
