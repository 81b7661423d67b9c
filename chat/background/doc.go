// Package background asks models what nobody waits for, or what may be left out when much was spent: titles of
// conversations, sentences about notes, facts that a person tells, how answers went, and what of the memories that were
// found matters. It tells learning of what answers stood on.
//
// README.md names the promises.
//
// # Parts
//
//   - titles.go: titles that a model makes of conversations
//   - summary.go, maker.go, line.go, prose.go: what a note is about, in a line
//   - facts.go, facts_model.go: facts that a person tells about themselves, and advice about pairs of facts
//   - feedback_*.go: how answers went, and which memories they stood on
//   - distill.go: what of the memories for a message matters
//
// # Who may call it
//
// Handlers of rpc, when an answer is stored or when somebody asks; the daemon, which opens what belongs to a store.
// What is asked goes through a [llm.Queue] or a provider of chat/llm, by the templates of chat/prompts.
//
// # Lifetime and concurrency
//
// Titler, Summarizer and OutcomeDetector live as long as the daemon: they reach the stores by Enter, and Close ends
// them. The rest belongs to one store. All methods may be called concurrently.
//
// Wall: subject: what ctxd asks models for itself.
package background
