package search

// passages*.go choose what of a found note answers a message: the passages that
// match, with the headings that they stand under, instead of the beginning of the note.
//
// A note is split into units: paragraphs, the sentences of long ones, the lines of
// long lists, tables and code as a whole. An item of a list comes with those that it stands under. What is larger than the
// room that is left is cut inside (passages_cut.go). A unit counts the words of the message that it
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
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

const (
	longParagraph = 400     // bytes; a longer one is split
	leastShare    = 0.25    // of the score of the best unit, for another one to be taken
	headingShare  = 0.5     // of a word in a heading above
	maxKnown      = 1 << 16 // words
	nearWeight    = 4       // of all words of the passage by which the note was found
	between       = "\n\n…\n\n"
	within        = " … " // between sentences of one paragraph
)

// BestPassages returns the passages of a note in Markdown, without frontmatter, that answer a message
// best, in the order of the note and at most so many code points long. near is the passage
// by which a search has found the note, as plain text; "" for none. Of a note that was not found by the message but is wanted,
// only the words that tell something count, and the rest of the room is filled with what comes first in the note. matched says
// whether any of the passages has a word of the message: else they are those at the beginning.
func BestPassages(note, message, near string, most int, wanted bool) (passages string, matched bool) {
	d := divide(note)
	if wanted {
		message = strings.Join(slices.DeleteFunc(strings.Fields(message), func(w string) bool {
			return !IsInformative(strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })))
		}), " ")
	}
	d.rate(message, near)
	d.choose(most, wanted)
	return d.join(), slices.ContainsFunc(d.units, func(u unit) bool { return u.chosen && u.score > 0 })
}

// unit is a piece of a note that is shown whole, if there is room for it.
type unit struct {
	span
	section   int
	paragraph int // counted through the note
	under     int // of an item of a list: the unit of the item above it; else -1
	score     float64
	chosen    bool
	pieces    []span // of one that is cut: what is shown of it
}

// span is a part of a note, in bytes.
type span struct{ start, end int }

func (d *division) text(s span) string { return d.note[s.start:s.end] }

// shown is what is shown of a unit.
func (u *unit) shown() []span {
	if u.pieces != nil {
		return u.pieces
	}
	return []span{u.span}
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
	open     string // the mark of the fence that nothing closes, whose code ends with its section
	weighs   weights
}

// divide splits a note into units.
func divide(note string) *division {
	d := &division{note: note, sections: []section{{}}}
	var path []markdown.Heading
	at, paragraph := 0, 0
	const before = "\n" // a rule at the beginning is no frontmatter
	var outside string
	outside, d.open = withoutOpenFence(note)
	markdown.Headings(before+outside, func(h markdown.Heading) {
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
			d.units = append(d.units, unit{span: span{start, end}, section: len(d.sections) - 1, paragraph: number, under: -1})
		}
	}
	if end-start <= longParagraph || isWhole(d.note[start:end]) {
		add(start, end)
		return
	}
	from := len(d.units)
	defer func() { d.nest(d.units[from:], from) }()
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
	d.weighs = newWeights(message, near)
	list := make([]span, len(d.units))
	for i := range d.units {
		list[i] = d.units[i].span
	}
	scores := d.weighs.rate(d.note, list)
	above := make([]float64, len(d.sections))
	for i, s := range d.sections {
		above[i] = headingShare * d.weighs.asked.sum(d.weighs.stems(s.heading))
	}
	for i := range d.units {
		u := &d.units[i]
		u.score = above[u.section] + scores[i]
	}
}

// stemWeights is how much each word of a message counts.
type stemWeights map[string]float64

func (w stemWeights) sum(stems []string) (score float64) {
	for _, stem := range stems {
		score += w[stem]
	}
	return score
}

// weights is how much each word of a message counts in a list of texts.
type weights struct {
	asked  stemWeights
	nearby map[string]bool
	split  *text.Splitter
	known  map[string]string // by word: its stem where that counts, else ""; most words of a note come often
	seen   map[string]int    // by stem: the text, counted from 1, that had it last
	texts  int
}

func newWeights(message, near string) weights {
	w := weights{asked: make(stemWeights), nearby: make(map[string]bool), split: new(text.Splitter), known: make(map[string]string), seen: make(map[string]int)}
	eachStem(w.split, message, func(stem string) { w.asked[stem] = 0 })
	eachStem(w.split, near, func(stem string) { w.nearby[stem] = true })
	return w
}

// rate scores texts by what they have of the message, where a word counts the more the fewer of them have it, and of the passage
// by which the note was found. Each text is read once.
func (w *weights) rate(note string, list []span) (scores []float64) {
	of := make([][]string, len(list))
	have := make(map[string]int, len(w.asked))
	for i, s := range list {
		of[i] = w.stems(note[s.start:s.end])
		for _, stem := range of[i] {
			have[stem]++
		}
	}
	all := float64(len(list))
	for stem := range w.asked { // of Robertson and Zaragoza, 2009, and more than nothing
		n := float64(have[stem])
		w.asked[stem] = max(0.1, math.Log((all-n+0.5)/(n+0.5)))
	}
	scores = make([]float64, len(list))
	for i, stems := range of {
		scores[i] = w.score(stems)
	}
	return scores
}

// stems gives each stem of a text that counts once.
func (w *weights) stems(of string) (list []string) {
	w.texts++
	w.split.Split(of, func(t text.Token) {
		if t.Symbol {
			return
		}
		stem, known := w.known[string(t.Text)]
		if !known {
			word := string(t.Text)
			stem = w.counts(text.StemEnglish(word))
			if len(w.known) < maxKnown {
				w.known[word] = stem
			}
		}
		if stem != "" && w.seen[stem] != w.texts {
			w.seen[stem] = w.texts
			list = append(list, stem)
		}
	})
	return list
}

// counts gives a stem back that counts, else "".
func (w *weights) counts(stem string) string {
	if _, asked := w.asked[stem]; asked || w.nearby[stem] {
		return stem
	}
	return ""
}

// score is what a text with these stems has of the message and of the passage.
func (w *weights) score(stems []string) float64 {
	shared := 0
	for _, stem := range stems {
		if w.nearby[stem] {
			shared++
		}
	}
	score := w.asked.sum(stems)
	if shared > 0 {
		score += nearWeight * float64(shared) / float64(len(w.nearby))
	}
	return score
}

// choose takes the best units as long as there is room, then those beside them, and if it is to fill the room, those at the
// beginning. If no unit has a word of the message, it takes those at the beginning.
func (d *division) choose(most int, fill bool) {
	order := make([]int, len(d.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.units[b].score, d.units[a].score) })
	room := most
	headed := make([]bool, len(d.sections))
	take := func(i int, cut bool) {
		if i < 0 || i >= len(d.units) || d.units[i].chosen {
			return
		}
		u := &d.units[i]
		head := 0
		if !headed[u.section] {
			head = utf8.RuneCountInString(d.sections[u.section].heading) + 8
		}
		all := []int{i}
		size := head + d.sizeOf(i)
		for above := u.under; above >= 0 && !d.units[above].chosen; above = d.units[above].under {
			all, size = append(all, above), size+d.sizeOf(above)
		}
		if size > room {
			if !cut {
				return
			}
			all, size = all[:1], head+len(between)
			var used int
			u.pieces, used = d.cutInside(u, room-size)
			if u.pieces == nil {
				return
			}
			size += used
		}
		room -= size
		for _, i := range all {
			d.units[i].chosen = true
		}
		headed[u.section] = true
	}
	var taken []int
	for _, i := range order {
		if len(taken) > 0 && d.units[i].score < leastShare*d.units[order[0]].score {
			break
		}
		take(i, true)
		if d.units[i].chosen {
			taken = append(taken, i)
		}
	}
	for _, i := range taken {
		for _, beside := range []int{i + 1, i - 1} {
			if beside >= 0 && beside < len(d.units) && d.units[beside].section == d.units[i].section {
				take(beside, false)
			}
		}
	}
	for i := 0; fill && i < len(d.units) && room >= leastCut; i++ {
		take(i, true)
	}
}

// sizeOf is what a unit takes when it is whole.
func (d *division) sizeOf(i int) int {
	return utf8.RuneCountInString(d.text(d.units[i].span)) + len(between)
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
			blank := d.note[d.units[last].end:u.start]
			if len(blank) > len(between) { // many blank lines
				blank = "\n\n"
			}
			b.WriteString(blank)
		case d.units[last].paragraph == u.paragraph && !strings.Contains(d.note[d.units[last].end:u.start], "\n"):
			b.WriteString(within)
		case last == i-1: // the next section
			b.WriteString("\n\n")
		default:
			b.WriteString(between)
		}
		if s := d.sections[u.section]; s.level > 0 && (last < 0 || d.units[last].section != u.section) {
			b.WriteString(strings.Repeat("#", s.level) + " " + s.heading + "\n")
		}
		d.write(&b, u)
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
	d.choose(most, false)
	last := -1
	for i := range d.units {
		u := &d.units[i]
		switch {
		case !u.chosen:
			continue
		case last >= 0 && last == i-1 && d.units[last].section == u.section && u.pieces == nil && d.units[last].pieces == nil:
			list[len(list)-1].End = u.end
		default:
			for _, p := range u.shown() {
				list = append(list, Passage{d.sections[u.section].heading, p.start, p.end})
			}
		}
		last = i
	}
	return list
}
