package names

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/text"
)

// matchRanges appends the half-open UTF-16 ranges of name that fold matched in
// the given tier.
func matchRanges(ranges [][2]int, name Name, fold string, t tier) [][2]int {
	if fold == "" {
		return ranges
	}
	folded, offsets := foldWithOffsets(name)
	span := func(from, to int) {
		for to < len(folded) && offsets[to] == offsets[to-1] {
			to++ // a letter that folds into two is highlighted whole
		}
		start, end := offsets[from], offsets[to]
		if n := len(ranges); n > 0 && ranges[n-1][1] == start {
			ranges[n-1][1] = end
			return
		}
		ranges = append(ranges, [2]int{start, end})
	}
	switch t {
	case tierPrefix:
		span(0, min(len(fold), len(folded)))
	case tierWord:
		var words [maxWords]uint16
		for _, at := range wordStarts(words[:0], folded) {
			if strings.HasPrefix(folded[at:], fold) {
				span(int(at), int(at)+len(fold))
				break
			}
		}
	case tierSubstring:
		if at := strings.Index(folded, fold); at >= 0 {
			span(at, at+len(fold))
		}
	case tierFuzzy:
		from := 0
		for _, r := range fold {
			at := strings.IndexRune(folded[from:], r)
			if at < 0 {
				break
			}
			size := utf8.RuneLen(r)
			span(from+at, from+at+size)
			from += at + size
		}
	}
	return ranges
}

// ownOffsets are the offsets of a text of single-byte characters that is no longer
// than this.
var ownOffsets = func() (list [256]int) {
	for i := range list {
		list[i] = i
	}
	return list
}()

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldWithOffsets folds name piece by piece and says for each byte of the
// result, its end included, at which UTF-16 offset of name its piece begins.
// Pieces are what normalisation may combine, so a highlight never splits a
// letter from its accent.
func foldWithOffsets(n Name) (string, []int) {
	name := n.Text
	if len(name) < len(ownOffsets) && isASCII(name) {
		return n.Fold, ownOffsets[:len(name)+1]
	}
	var folded strings.Builder
	offsets := make([]int, 0, len(name)+1)
	utf16 := 0
	for rest := name; rest != ""; {
		size := norm.NFC.NextBoundaryInString(rest, true)
		if size <= 0 {
			size = len(rest)
		}
		piece := typedAs(text.Fold(rest[:size]))
		folded.WriteString(piece)
		for range len(piece) {
			offsets = append(offsets, utf16)
		}
		utf16 += UTF16Len(rest[:size])
		rest = rest[size:]
	}
	return folded.String(), append(offsets, utf16)
}

// UTF16Len returns the length of s in UTF-16 code units, the unit of offsets
// on the wire.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}
