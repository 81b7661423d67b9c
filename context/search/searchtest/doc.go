// Package searchtest is what the tests of search and its rooms stand on: a store of notes,
// the writing of many of them, and the waiting for what comes by itself. Only tests import
// it; it knows no index, so that tests within the rooms of indexes can use it too.
package searchtest
