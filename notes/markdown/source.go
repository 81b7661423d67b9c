package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Source is a text of a note that has lost marks of references which what it was
// made from has: a title that is a heading without its markup, an alias that is the
// target of a link. References are those of what was written, at their places in the
// text; they may be more than References finds in the text itself.
type Source struct {
	Text       string
	References []Reference
}

// step is where the text of a part of the source begins. The parts between the
// marks of the source are copied as they are.
type step struct {
	src, out int
	copied   bool
}

// settleSteps moves the steps to where their texts are when the marks are removed.
// Marks and steps are in the order of the text.
func (p *plainer) settleSteps() {
	gone, next := 0, 0
	for i := range p.steps {
		at := p.steps[i].out
		for ; next < p.marks.len(); next++ {
			m := p.marks.at(next)
			if int(m.pos)+int(m.gone) > at {
				break
			}
			gone += int(m.gone)
		}
		p.steps[i].out = at - gone
		if next < p.marks.len() && int(p.marks.at(next).pos) < at {
			p.steps[i].out = int(p.marks.at(next).pos) - gone
		}
	}
}

// outOf returns where a place of the source is in the text; of one inside of what is
// written as a whole, where that begins or ends.
func (p *plainer) outOf(src int, end bool) int {
	i, found := slices.BinarySearchFunc(p.steps, src, func(s step, src int) int { return s.src - src })
	switch {
	case found:
		return p.steps[i].out
	case i == 0:
		return p.steps[0].out
	case i == len(p.steps):
		return p.steps[i-1].out
	case p.steps[i-1].copied:
		return p.steps[i-1].out + src - p.steps[i-1].src
	case end:
		return p.steps[i].out
	}
	return p.steps[i-1].out
}

// headingSource returns the source of the text of a heading; nil where that has no
// more references than the text itself.
func (s *scanner) headingSource(b block) *Source {
	heading := s.src[b.start:b.end]
	if !MayRefer(heading) {
		return nil
	}
	p := newPlainer(s.src)
	defer p.free()
	p.tracing = true
	p.inline(b)
	raw := string(p.out)
	title := oneLine(raw)
	var labels Labels
	if strings.IndexByte(heading, '[') >= 0 {
		labels = LabelsOf(s.src)
	}
	at := joinLines(raw, title)
	source := &Source{Text: title}
	for r := range labels.References(heading) {
		if r.Open() || r.Kind == DecodedMentionRef {
			continue // how far it reaches, the text tells
		}
		r.Start = at.start(p.outOf(b.start+r.Start, false))
		r.End = at.end(p.outOf(b.start+r.End, true))
		if r.Start < r.End {
			source.References = append(source.References, r)
		}
	}
	return source.orNil()
}

// orNil returns a source with the references of its text, nil where it had no others.
func (s *Source) orNil() *Source {
	own := make(map[Reference]bool)
	for r := range References(s.Text) {
		own[r] = true
	}
	others := slices.DeleteFunc(s.References, func(r Reference) bool { return own[r] })
	if len(others) == 0 {
		return nil
	}
	for r := range References(s.Text) {
		others = append(others, r)
	}
	s.References = others
	return s
}

// lineOffsets say where the characters of a text are in oneLine of that text, by
// what is no blank.
type lineOffsets struct {
	before       []int32 // of each byte of the text: how many characters stand before it
	starts, ends []int32 // of each character in the line
}

func joinLines(text, line string) lineOffsets {
	o := lineOffsets{before: make([]int32, len(text)+1)}
	count := int32(0)
	for i, r := range text {
		for at := i; at < i+max(1, utf8.RuneLen(r)) && at < len(text); at++ {
			o.before[at] = count
		}
		if !unicode.IsSpace(r) {
			count++
		}
	}
	o.before[len(text)] = count
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !unicode.IsSpace(r) {
			o.starts, o.ends = append(o.starts, int32(i)), append(o.ends, int32(i+size))
		}
		i += size
	}
	return o
}

func (o *lineOffsets) start(at int) int {
	if n := int(o.before[at]); n < len(o.starts) {
		return int(o.starts[n])
	}
	if len(o.ends) == 0 {
		return 0
	}
	return int(o.ends[len(o.ends)-1])
}

func (o *lineOffsets) end(at int) int {
	n := min(int(o.before[at]), len(o.ends))
	if n == 0 {
		return 0
	}
	return int(o.ends[n-1])
}

// wholeSource is the source of a text that was the target of a link, or stood in a
// link that was cut.
func wholeSource(text, target string) Source {
	return Source{Text: text, References: []Reference{{WikilinkRef, 0, len(text), target}}}
}

// LinkSource is the source of a text that is the target of a link as it was written:
// all of it refers to what the link may.
func LinkSource(text, target, written string) Source {
	source := wholeSource(text, target)
	for r := range References(written) {
		r.Start, r.End = 0, len(text)
		if !r.Open() && r.Target != target {
			source.References = append(source.References, r)
		}
	}
	return source
}
