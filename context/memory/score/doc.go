// Package score has the arithmetic of outcomes: how the score of a memory moves when its use worked or failed, and how
// sure its successes are.
//
// Scores are integer hundredths from 0 to 100, since 0.7 + 0.2 is not 0.9 in binary. [Of] reads them from the counters
// of a memory and [Apply] writes them there. [Wilson] is the lower bound of the share of successes at 95 % (Wilson 1927,
// z = 1.96), in hundredths; it is found by comparing integers, so it is the same on every machine.
//
// The package keeps nothing, all of it is safe for concurrent use, and every function is O(1).
package score
