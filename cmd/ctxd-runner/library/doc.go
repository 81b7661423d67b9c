// Package library finds and opens the native library of the model runner before github.com/kelindar/search does.
//
// That package looks for libllama_go while it is initialised, in places that are not ours (LD_LIBRARY_PATH, /usr/lib,
// the working directory), and panics when it is not there. This one is initialised first: Go initialises the packages
// that are ready in the order of their import paths, and all that library imports is imported by kelindar/search as
// well. It takes the library from the folder that CTXD_LLAMA_DIR names, or beside the program, or in the folder llama
// beside the program, and from nowhere else; without one it says so in a sentence and ends the process. Only
// cmd/ctxd-runner may import it.
//
// Wall: promise: it is initialised before kelindar/search, which Go does for a package of its own only.
package library
