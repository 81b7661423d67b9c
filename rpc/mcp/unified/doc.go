// Package unified writes the difference of two texts as a unified diff, the form that
// patch, git apply and editors read. rpc/mcp proposes changes of notes with it; nothing
// here reads or writes a file.
//
// The lines are compared with the algorithm of E. W. Myers, "An O(ND) Difference
// Algorithm and Its Variations" (1986). Texts that differ in more than maxDiffering lines
// are not compared to the end: what lies between their common beginning and end is one
// change then, which is correct and longer. All of it may be called concurrently.
package unified
