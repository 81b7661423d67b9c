package graph

import (
	"html"
	"unicode"

	"github.com/rivo/uniseg"
)

// advances are how wide the characters from the blank to ~ are in DejaVu Sans, in
// hundredths of the font's size. It is the widest of the fonts that a viewer is likely
// to draw with, so that a text that fits in it fits in the others too.
var advances = [...]uint8{
	32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
	100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
	50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
}

// Widths of what advances has no width of, likewise.
const (
	otherAdvance = 70  // a letter of another alphabet
	wideAdvance  = 104 // a character of Chinese, Japanese or Korean, or an emoji
)

// font is a size and a weight that texts are drawn in.
type font struct {
	size float64
	bold bool
}

var (
	nameFont  = font{13, true}
	smallFont = font{11, false}
	cellFont  = font{12, false}
)

// width returns how wide a text is at most, in the units of the drawing.
func (f font) width(s string) float64 {
	sum := 0
	for state := -1; s != ""; {
		var cluster string
		var cells int
		cluster, s, cells, state = uniseg.FirstGraphemeClusterInString(s, state)
		sum += advance(cluster, cells)
	}
	return f.units(sum)
}

func (f font) units(hundredths int) float64 {
	w := float64(hundredths) * f.size / 100
	if f.bold {
		w *= 1.15
	}
	return w
}

// advance returns the width of what is seen as one character, which takes so many
// cells of a terminal.
func advance(cluster string, cells int) int {
	if cells > 1 {
		return wideAdvance
	}
	sum := 0
	for _, r := range cluster {
		switch {
		case ' ' <= r && r <= '~':
			sum += int(advances[r-' '])
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // it stands on, or joins, what is beside it
		default:
			sum += otherAdvance
		}
	}
	return sum
}

// fit returns one line of a text, cut with … where it is wider than room.
func (f font) fit(s string, room float64) string {
	s = OneLine(s, MaxFieldText)
	if f.width(s) <= room {
		return s
	}
	sum, kept := 100, 0 // the … itself
	for rest, state := s, -1; rest != ""; {
		var cluster string
		var cells int
		cluster, rest, cells, state = uniseg.FirstGraphemeClusterInString(rest, state)
		sum += advance(cluster, cells)
		if f.units(sum) > room {
			break
		}
		kept += len(cluster)
	}
	return s[:kept] + "…"
}

// markup writes one line of a text for XML, of so many graphemes at most.
func markup(s string, most int) string { return html.EscapeString(OneLine(s, most)) }

// fitMarkup writes one line of a text for XML that is no wider than room.
func (f font) fitMarkup(s string, room float64) string { return html.EscapeString(f.fit(s, room)) }

// rightToLeft reports whether the first letter of a text belongs to a script that is
// written from right to left.
func rightToLeft(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
		}
	}
	return false
}
