// Package rerank says what reads a question together with each of some texts and
// scores how well the text answers it: the [Reranker]. It is slower than comparing
// vectors and tells more, so a search gives it only the best of what it found.
//
// The implementations are beside the embedders, because they share what those run on:
//
//   - endpoint asks a server that has /v1/rerank;
//   - runner is a child process with a cross-encoder.
//
// This room is apart from package embed, because a reranker gives no vectors: nothing
// of it is stored, and an index never waits for one.
//
// # Scores
//
// A score is a logit: any number, 0 for a text that is as likely to answer as not. The
// sigmoid of it is a probability, and the caller takes that sigmoid. Some models and
// servers give the probability itself, and nothing in a reply tells which it is, so the
// caller of an endpoint names the [Scale]. [Read] turns both into logits.
//
// A text without a score has [None]: an empty one, one that the server left out, one
// with a score that is no number, or one with two different scores. Check a score with
// [Given] before you compute with it: None is not a number.
//
// All functions may be called concurrently.
package rerank
