// Package clock finds out when memories were written, where the clock of the machine stood wrong for a time. Numbers are
// given in order, so a memory was not written before one with a smaller number. Making a [Log] costs O(n log n), asking it
// O(log n); it is for one goroutine and keeps nothing after that.
package clock
