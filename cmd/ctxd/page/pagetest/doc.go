// Package pagetest looks at written pages for tests: whether texts that were written elsewhere have become markup of a
// page, and whether a browser would run or load anything. It is for the tests of packages that write pages with
// cmd/ctxd/page, and O(size of the page). It keeps nothing, and may be called concurrently.
//
// Wall: test helper: it parses HTML for tests of pages, which no program does.
package pagetest
