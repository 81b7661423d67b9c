//go:build race

package main

// underRace tells that the race detector watches the tests and the programs that they start.
const underRace = true
