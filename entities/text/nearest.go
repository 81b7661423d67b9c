package text

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns up to three of the names that are most like a misspelt one.
func Nearest(name string, names []string) []string {
	type scored struct {
		name string
		away int
	}
	var list []scored
	name = strings.ToLower(name)
	for _, n := range names {
		away := editDistance(name, strings.ToLower(n))
		if _, last, ok := strings.Cut(n, "."); ok && !strings.Contains(name, ".") {
			away = min(away, editDistance(name, strings.ToLower(last)))
		}
		if away <= 1+len(name)/4 {
			list = append(list, scored{n, away})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.away, b.away) })
	var out []string
	for _, s := range list[:min(3, len(list))] {
		out = append(out, s.name)
	}
	return out
}

// editDistance is the Levenshtein distance in bytes: O(len(a) * len(b)).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
