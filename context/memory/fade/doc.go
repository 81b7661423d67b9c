// Package fade says how sure a memory is that nobody repeats. What a model took out of a conversation, or said itself, fades:
// its confidence is multiplied by exp(-0.01) for each whole period of 24 hours since it was created, supported or changed.
// What a person or a program wrote down does not, nor do names, values and what is pinned.
//
// Nothing is written when it fades: who reads a memory asks [Confidence]. It is pure, O(1), and may be called concurrently.
package fade
