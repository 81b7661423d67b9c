// Package searchtest has what the tests of package search and of its packages share: it
// opens stores, writes many notes, and waits for what happens in the background. Only tests
// import it. It imports no index, so that the tests inside the packages of indexes can
// import it too.
package searchtest
