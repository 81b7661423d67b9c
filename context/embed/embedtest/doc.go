// Package embedtest is what tests of embedders, and of what asks them, share. [Bags] is an
// embedder of its own: the vector of a text is the sum of those of its words, so that texts
// with a word in common are near, and a test can hold it, have it fail or refuse, or change
// its model under whoever asks it. It may be used concurrently; its fields are set under its
// lock, by Set. quality.go measures how well vectors rank the texts of labelled sets, beside
// plain BM25. Only tests import this package.
//
// Wall: test helper: an embedder that tests hold, fail and change, and the measuring of vectors.
package embedtest
