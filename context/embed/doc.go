// Package embed says what turns text into vectors: the [Embedder] and what tells of it.
// The cosine of two vectors says how near two texts are in meaning.
//
// Each kind of embedder is a package below this one, and imports it:
//
//   - table is the model that is always there, a table of one vector a token, compiled
//     into the program, or another one from a file;
//   - runner is a child process with a transformer model;
//   - endpoint asks a server that speaks the protocol of OpenAI's embeddings.
//
// Whoever asks for vectors knows this package alone; cmd/ctxd/daemon chooses the
// embedder. A program of tests has embedtest.
//
// An Embedder lives as long as the daemon. All methods may be called concurrently.
package embed
