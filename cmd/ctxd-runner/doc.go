// Command ctxd-runner turns texts into vectors with a transformer model, or with -rank scores them against a question
// with a cross-encoder, for ctxd, which starts it as a child and talks to it over a socket that it inherits. A crash
// of native code ends this process and not the daemon.
//
// It is the only importer of github.com/kelindar/search, which panics while it is initialised if its native library is
// not there; cmd/ctxd-runner/library, which is initialised before, says so in words. There are no tests in this
// package for the same reason: tests in context/embed run the program, and skip where the library is absent. Building
// it needs nothing but Go; native/ has the sources of the library and the script that builds it.
//
// All that is not native lives in context/embed: the protocol, the loop that serves, the care for long and odd texts.
// Standard output and error are not part of the protocol; the daemon keeps the last words said there.
//
// Wall: dependency: kelindar/search loads native code, which may crash and panics at import without its library.
package main
