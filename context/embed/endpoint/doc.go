// Package endpoint is the embedder that asks a server which speaks the protocol of
// OpenAI's embeddings, as llama.cpp, Ollama and many others do; and the [Reranker] that
// asks one which has /v1/rerank.
//
// Without Options.AllowRemote only this machine is dialled, whatever a name resolves to,
// and no proxy is asked. Questions go before passages; passages are sent in batches.
// What fails for a reason that passes is sent again after a growing pause, and an
// endpoint that goes on failing is left alone for a while (a circuit breaker). Replies
// are read strictly and within bounds: what does not fit is an error, and nothing of it
// is used. No text and no key is in an error or in the log.
//
// The two share how a server is reached and what is said of its failures (package dial), and
// nothing else: a reranker answers within its timeout or not at all, and a reply of which some
// entries are odd is used without them.
//
// [HTTP] and [Reranker] are safe for concurrent use; Close ends them, with the calls that
// wait.
package endpoint
