package text

// This file writes the difference of two texts as a unified diff, the form that patch, git apply and editors read.
// Tools propose changes of notes with it; nothing here reads or writes a file.
//
// The lines are compared with the algorithm of E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986).
// Texts that differ in more than maxDiffering lines are not compared to the end: what lies between their common
// beginning and end is one change then, which is correct and longer. All of it may be called concurrently.

import (
	"fmt"
	"strings"
)

// diffContext is how many lines stand before and behind a change.
const diffContext = 3

// maxDiffering bounds the search for a shortest difference: it takes the square of this
// in memory and time.
const maxDiffering = 1_000

// diffEdit is a range of lines of the old text that a range of the new one replaces.
type diffEdit struct{ oldAt, oldEnd, newAt, newEnd int }

// UnifiedDiff returns what makes the new text of the old one, "" when they are equal. name is
// that of the file, which stands behind a/ and b/.
func UnifiedDiff(name, before, after string) string {
	if before == after {
		return ""
	}
	a, b := linesOf(before), linesOf(after)
	edits := diffEdits(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", quotedPath("a/"+name), quotedPath("b/"+name))
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].oldAt-edits[n-1].oldEnd <= 2*diffContext {
			n++
		}
		writeHunk(&out, a, b, edits[:n])
		edits = edits[n:]
	}
	return out.String()
}

// quotedPath writes a name as git does when it has characters that a header can't hold.
func quotedPath(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// linesOf splits a text into lines with their line feeds.
func linesOf(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// writeHunk writes edits with the lines around and between them.
func writeHunk(out *strings.Builder, a, b []string, edits []diffEdit) {
	first, last := edits[0], edits[len(edits)-1]
	lead := min(diffContext, first.oldAt)
	tail := min(diffContext, len(a)-last.oldEnd)
	oldAt, newAt := first.oldAt-lead, first.newAt-lead
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(oldAt, last.oldEnd+tail), hunkRange(newAt, last.newEnd+tail))
	at := oldAt
	for _, e := range edits {
		writeDiffLines(out, " ", a[at:e.oldAt])
		writeDiffLines(out, "-", a[e.oldAt:e.oldEnd])
		writeDiffLines(out, "+", b[e.newAt:e.newEnd])
		at = e.oldEnd
	}
	writeDiffLines(out, " ", a[at:last.oldEnd+tail])
}

// hunkRange writes a range of lines, half open and from 0, as a header does: from 1, with
// their number when it is not 1. An empty range stands behind the line before it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeDiffLines(out *strings.Builder, mark string, lines []string) {
	for _, line := range lines {
		out.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// diffEdits returns what makes b of a, in the order of the lines.
func diffEdits(a, b []string) []diffEdit {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	all := diffEdit{begin, len(a) - end, begin, len(b) - end}
	edits, ok := shortestEdits(a[all.oldAt:all.oldEnd], b[all.newAt:all.newEnd])
	if !ok {
		return []diffEdit{all}
	}
	for i := range edits {
		edits[i].oldAt += begin
		edits[i].oldEnd += begin
		edits[i].newAt += begin
		edits[i].newEnd += begin
	}
	return edits
}

// shortestEdits returns a shortest difference, ok is false when it is too long to be found.
func shortestEdits(a, b []string) (edits []diffEdit, ok bool) {
	// reach[d][k+d] is how far in a the furthest path with d differences gets on the
	// diagonal k, the place in a minus that in b.
	var reach [][]int
	far := func(d, k int) int {
		if d < 0 || k < -d || k > d {
			return -1
		}
		return reach[d][k+d]
	}
	most := min(len(a)+len(b), maxDiffering)
	for d := 0; d <= most; d++ {
		reach = append(reach, make([]int, 2*d+1))
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x = diffBegin(far, d, k)
			}
			for x < len(a) && x-k >= 0 && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[d][k+d] = x
			if x >= len(a) && x-k >= len(b) {
				return diffBacktrack(far, d, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// diffBegin returns where in a the furthest path with d differences comes onto a diagonal:
// with a line of b from the diagonal above, or with one of a from that below.
func diffBegin(far func(d, k int) int, d, k int) int {
	added, removed := far(d-1, k+1), far(d-1, k-1)+1
	if k == -d || k != d && added >= removed {
		return added
	}
	return removed
}

// diffBacktrack follows the paths from the ends of both texts to their beginnings, and joins
// differences that touch.
func diffBacktrack(far func(d, k int) int, d, x, y int) (edits []diffEdit) {
	for ; d > 0; d-- {
		k := x - y
		at := diffBegin(far, d, k)
		e := diffEdit{at, at, at - k - 1, at - k} // a line of b is added
		if added := far(d-1, k+1); at != added || k == d {
			e = diffEdit{at - 1, at, at - k, at - k}
		}
		if n := len(edits); n > 0 && edits[n-1].oldAt == e.oldEnd && edits[n-1].newAt == e.newEnd {
			edits[n-1].oldAt, edits[n-1].newAt = e.oldAt, e.newAt
		} else {
			edits = append(edits, e)
		}
		x, y = e.oldAt, e.newAt
	}
	for i, j := 0, len(edits)-1; i < j; i, j = i+1, j-1 {
		edits[i], edits[j] = edits[j], edits[i]
	}
	return edits
}
