// Package doctor is ctxd doctor: it looks at everything that can go wrong, says what it found and how to repair it,
// and changes nothing unless it is told to.
//
// doctor.go examines folder, store, index, daemon, embedder, reranker and disk and gives a verdict; search.go,
// reranker.go, distiller.go, prompts.go and shared.go have the checks of one part each. store.go looks at the files of
// a store in detail beside a running daemon, and store_mend.go compares two stores and puts a damaged one together in
// a new folder. A checkup is a line with a state; a new one is a function in the list of doctor.go.
//
// The commands are used by one goroutine. Only cmd/ctxd calls them.
//
// Wall: subject: ctxd doctor.
package doctor
