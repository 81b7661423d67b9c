// Package embed turns text into vectors (an [Embedder]), and scores how well texts answer a
// question (a [Reranker]). The cosine of two vectors says how near two texts are in meaning.
//
//   - embed.go, rerank.go: the two interfaces, what tells of them, scores
//   - table*.go: the embedder that is always there, a table of one vector a token, compiled into
//     the program, or another one from a file ([BuiltinTable], [LazyTable])
//   - encoder*.go: a transformer in the program that gives a vector for each word ([Encoder], and
//     [PacedEncoder] for a daemon); kernels in assembly
//   - runner*.go: an embedder and a reranker in a child process, cmd/ctxd-runner, with a
//     transformer model ([Runner], [RerankRunner])
//   - endpoint_*.go: those that ask a server ([Endpoint], [RerankEndpoint])
//
// cmd/ctxd/daemon chooses and closes them; search, context/learn, context/recall and rpc ask for
// vectors and scores by the interfaces alone. Tests have embedtest. The package knows no notes
// and no index.
//
// An Embedder or a Reranker lives as long as the daemon. All methods may be called concurrently.
//
// Wall: subject: vectors and scores, and the models that make them.
package embed
