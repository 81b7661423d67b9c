// Package searchtest has what the tests of package search and of the packages below it share: it
// opens stores, writes many notes, and waits for what happens in the background. Only tests
// import it. It imports no index, so that the tests inside the packages of indexes can
// import it too.
//
// Wall: test helper: stores and notes for the tests of search and of the packages below it.
package searchtest
