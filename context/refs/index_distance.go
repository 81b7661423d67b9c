package refs

import "unicode/utf8"

// editDistance returns how many insertions, deletions and exchanges of a character make one
// text of another (Levenshtein 1965); ok is false when these are more than most. Texts have
// at most maxNear+distance characters. O(length·most).
func editDistance(a, b string, most int) (d int, ok bool) {
	for a != "" && b != "" && a[0] == b[0] && a[0] < utf8.RuneSelf {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] && a[len(a)-1] < utf8.RuneSelf {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if a == "" || b == "" {
		d = utf8.RuneCountInString(a) + utf8.RuneCountInString(b)
		return d, d <= most
	}
	var runesA, runesB [maxNear + distance]rune
	return banded(runesOf(runesA[:0], a), runesOf(runesB[:0], b), most)
}

func runesOf(to []rune, text string) []rune {
	for _, r := range text {
		to = append(to, r)
	}
	return to
}

// banded is editDistance by the matrix of the distances of all beginnings, of which only the
// band around the diagonal can lead to a distance of most or less.
func banded(a, b []rune, most int) (d int, ok bool) {
	if abs(len(a)-len(b)) > most {
		return 0, false
	}
	const width = 2*distance + 1
	far := most + 1
	var row, next [width]int // of a[:i]: at k the distance to b[:i+k-most]
	for k := range row {
		row[k] = far
		if j := k - most; j >= 0 && k <= 2*most {
			row[k] = j
		}
	}
	for i := 1; i <= len(a); i++ {
		least := far
		for k := range 2*most + 1 {
			next[k] = far
			j := i + k - most
			if j < 0 || j > len(b) {
				continue
			}
			best := far
			if k < 2*most {
				best = row[k+1] + 1
			}
			if k > 0 {
				best = min(best, next[k-1]+1)
			}
			if j > 0 {
				exchanged := row[k]
				if a[i-1] != b[j-1] {
					exchanged++
				}
				best = min(best, exchanged)
			}
			next[k] = min(best, far)
			least = min(least, best)
		}
		if least > most {
			return 0, false
		}
		row = next
	}
	d = row[len(b)-len(a)+most]
	return d, d <= most
}
