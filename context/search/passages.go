package search

// passages*.go choose what of a found note answers a message: the passages that
// match, with the headings that they stand under, instead of the beginning of the note.
//
// A note is split into units: paragraphs, the sentences of long ones, the lines of
// long lists, tables and code as a whole. A unit counts the words of the message that it
// has, each the more the fewer units have it, and the words that it has in common with the
// passage by which the search has found the note. The best units are taken as long as there
// is room, then the units beside them.
//
// It is text in, text out, and takes time linear in the length of the note, but for
// sorting its units. Only what the reader may see may be given to it, so that private text
// does not influence the choice.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

const (
	longParagraph = 400  // bytes; a longer one is split
	leastShare    = 0.25 // of the score of the best unit, for another one to be taken
	headingShare  = 0.5  // of a word in a heading above
	nearWeight    = 4    // of all words of the passage by which the note was found
	between       = "\n\n…\n\n"
	within        = " … " // between sentences of one paragraph
)

// BestPassages returns the passages of a note in Markdown, without frontmatter, that answer a message
// best, in the order of the note and at most so many code points long. near is the passage
// by which a search has found the note, as plain text; "" for none.
func BestPassages(note, message, near string, most int) string {
	d := divide(note)
	d.rate(message, near)
	d.choose(most)
	return d.join()
}

// unit is a piece of a note that is shown whole.
type unit struct {
	start, end int // bytes
	section    int
	paragraph  int // counted through the note
	score      float64
	chosen     bool
}

// section is a heading with what is under it.
type section struct {
	level   int    // 0: before the first heading
	heading string // with those above it
}

type division struct {
	note     string
	sections []section
	units    []unit
}

// divide splits a note into units.
func divide(note string) *division {
	d := &division{note: note, sections: []section{{}}}
	var path []markdown.Heading
	at, paragraph := 0, 0
	const before = "\n" // a rule at the beginning is no frontmatter
	markdown.Headings(before+note, func(h markdown.Heading) {
		paragraph = d.paragraphs(at, h.Start-len(before), paragraph)
		at = h.End - len(before)
		for len(path) > 0 && path[len(path)-1].Level >= h.Level {
			path = path[:len(path)-1]
		}
		path = append(path, h)
		names := make([]string, 0, len(path))
		for _, above := range path {
			names = append(names, above.Text)
		}
		d.sections = append(d.sections, section{h.Level, strings.Join(names, " > ")})
	})
	d.paragraphs(at, len(note), paragraph)
	return d
}

// paragraphs splits the text of a section at blank lines, with code in fences as a whole.
func (d *division) paragraphs(at, end, paragraph int) int {
	start, fence := -1, ""
	flush := func(end int) {
		if start >= 0 {
			paragraph++
			d.paragraph(start, end, paragraph)
			start = -1
		}
	}
	for at < end {
		next := end
		if n := strings.IndexByte(d.note[at:end], '\n'); n >= 0 {
			next = at + n + 1
		}
		line := strings.TrimSpace(d.note[at:next])
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
				fence = ""
				flush(next)
			}
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
			flush(at)
			start, fence = at, line[:3]
		case line == "":
			flush(at)
		case start < 0:
			start = at
		}
		at = next
	}
	flush(end)
	return paragraph
}

// paragraph adds a paragraph as a unit, a long one by its lines, and a long line by its
// sentences.
func (d *division) paragraph(start, end, number int) {
	add := func(start, end int) {
		piece := d.note[start:end]
		start += len(piece) - len(strings.TrimLeft(piece, "\r\n"))
		end -= len(piece) - len(strings.TrimRight(piece, " \t\r\n"))
		if start < end {
			d.units = append(d.units, unit{start: start, end: end, section: len(d.sections) - 1, paragraph: number})
		}
	}
	first := strings.TrimLeft(d.note[start:end], " \t")
	whole := strings.HasPrefix(first, "|") || strings.HasPrefix(first, "```") || strings.HasPrefix(first, "~~~")
	if end-start <= longParagraph || whole {
		add(start, end)
		return
	}
	for line := range strings.Lines(d.note[start:end]) {
		if len(line) <= longParagraph {
			add(start, start+len(line))
		} else {
			at := start
			for s := sentences.FromString(line); s.Next(); {
				add(at, at+len(s.Value()))
				at += len(s.Value())
			}
		}
		start += len(line)
	}
}

// eachStem gives the words of a text by their stems.
func eachStem(s *text.Splitter, of string, found func(stem string)) {
	s.Split(of, func(t text.Token) {
		if !t.Symbol {
			found(text.StemEnglish(string(t.Text)))
		}
	})
}

// rate scores the units.
func (d *division) rate(message, near string) {
	var split text.Splitter
	asked, nearby := make(map[string]int), make(map[string]bool)
	eachStem(&split, message, func(w string) {
		if _, known := asked[w]; !known {
			asked[w] = len(asked)
		}
	})
	eachStem(&split, near, func(w string) { nearby[w] = true })
	have := make([]int, len(asked)) // units that have a word
	of := make([][]int, len(d.units))
	shared := make([]int, len(d.units))
	for i := range d.units {
		u := &d.units[i]
		seen := make(map[string]bool)
		eachStem(&split, d.note[u.start:u.end], func(w string) {
			n, isAsked := asked[w]
			if !isAsked && !nearby[w] || seen[w] {
				return
			}
			seen[w] = true
			if isAsked {
				of[i] = append(of[i], n)
				have[n]++
			}
			if nearby[w] {
				shared[i]++
			}
		})
	}
	above := make([]float64, len(d.sections))
	all := float64(len(d.units))
	weight := func(n int) float64 { // of Robertson and Zaragoza, 2009, and more than nothing
		return max(0.1, math.Log((all-float64(have[n])+0.5)/(float64(have[n])+0.5)))
	}
	for i, s := range d.sections {
		eachStem(&split, s.heading, func(w string) {
			if n, ok := asked[w]; ok {
				above[i] += headingShare * weight(n)
			}
		})
	}
	for i := range d.units {
		u := &d.units[i]
		u.score = above[u.section]
		for _, n := range of[i] {
			u.score += weight(n)
		}
		if len(nearby) > 0 {
			u.score += nearWeight * float64(shared[i]) / float64(len(nearby))
		}
	}
}

// choose takes the best units as long as there is room, then those beside them. If no unit
// has a word of the message, it takes those at the beginning.
func (d *division) choose(most int) {
	order := make([]int, len(d.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.units[b].score, d.units[a].score) })
	room := most
	headed := make([]bool, len(d.sections))
	take := func(i int) {
		if i < 0 || i >= len(d.units) || d.units[i].chosen {
			return
		}
		u := &d.units[i]
		size := utf8.RuneCountInString(d.note[u.start:u.end]) + len(between)
		if !headed[u.section] {
			size += utf8.RuneCountInString(d.sections[u.section].heading) + 8
		}
		if size > room {
			return
		}
		room -= size
		u.chosen, headed[u.section] = true, true
	}
	var taken []int
	for _, i := range order {
		if len(taken) > 0 && d.units[i].score < leastShare*d.units[order[0]].score {
			break
		}
		take(i)
		if d.units[i].chosen {
			taken = append(taken, i)
		}
	}
	for _, i := range taken {
		for _, beside := range []int{i + 1, i - 1} {
			if beside >= 0 && beside < len(d.units) && d.units[beside].section == d.units[i].section {
				take(beside)
			}
		}
	}
}

// join writes what was chosen, with its headings.
func (d *division) join() string {
	var b strings.Builder
	last := -1
	for i := range d.units {
		u := &d.units[i]
		if !u.chosen {
			continue
		}
		next := last >= 0 && last == i-1 && d.units[last].section == u.section
		switch {
		case last < 0:
		case next:
			b.WriteString(d.note[d.units[last].end:u.start])
		case d.units[last].paragraph == u.paragraph && !strings.Contains(d.note[d.units[last].end:u.start], "\n"):
			b.WriteString(within)
		default:
			b.WriteString(between)
		}
		if s := d.sections[u.section]; s.level > 0 && (last < 0 || d.units[last].section != u.section) {
			b.WriteString(strings.Repeat("#", s.level) + " " + s.heading + "\n")
		}
		b.WriteString(d.note[u.start:u.end])
		last = i
	}
	return b.String()
}

// Passage is one of the passages that Find chooses.
type Passage struct {
	Heading    string // with those above it; "" before the first one
	Start, End int    // bytes of the note
}

// FindPassages is Of for who wants to know where the passages stand. Their text and headings are together at most about as
// long.
func FindPassages(note, message, near string, most int) (list []Passage) {
	d := divide(note)
	d.rate(message, near)
	d.choose(most)
	last := -1
	for i := range d.units {
		u := &d.units[i]
		switch {
		case !u.chosen:
			continue
		case last >= 0 && last == i-1 && d.units[last].section == u.section:
			list[len(list)-1].End = u.end
		default:
			list = append(list, Passage{d.sections[u.section].heading, u.start, u.end})
		}
		last = i
	}
	return list
}
