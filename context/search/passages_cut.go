package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	gap = "\n…\n" // between lines of what is cut
	// leastCut is the least room, in characters, for which something is cut.
	leastCut = 40
	// firstLines is how many lines of code are shown before those that match.
	firstLines = 2
)

func isTable(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t"), "|") }

func isCode(text string) bool {
	text = strings.TrimLeft(text, " \t")
	return strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
}

// isWhole reports whether a paragraph is no text that reads on when its lines are taken apart.
func isWhole(paragraph string) bool { return isTable(paragraph) || isCode(paragraph) }

// cutInside chooses what is shown of a unit for which there is no room as a whole, and returns how many characters it takes;
// nil when too little is. Of a table these are its head and of code its fence and first lines, and the rows and lines that match
// best, with those beside them; of a line the part around the first word that matches. O(length of the unit), but for sorting
// its lines.
func (d *division) cutInside(u *unit, room int) (pieces []span, used int) {
	if room < leastCut {
		return nil, 0
	}
	if !isWhole(d.text(u.span)) {
		return d.cutLine(u.span, room)
	}
	lines := d.linesOf(u.span)
	size := func(i int) int { return utf8.RuneCountInString(d.text(lines[i])) + len(gap) }
	shown := make([]bool, len(lines))
	take := func(i int) bool {
		if i >= len(lines) || shown[i] || size(i) > room-used {
			return i < len(lines) && shown[i]
		}
		shown[i] = true
		used += size(i)
		return true
	}
	from := 1
	if isTable(d.text(u.span)) {
		if len(lines) > 1 && strings.Trim(d.text(lines[1]), "|:- \t") == "" {
			from = 2
		}
		for i := range from {
			if !take(i) {
				return d.cutLine(u.span, room)
			}
		}
	} else {
		last := len(lines) - 1
		if closes := last > 0 && strings.Trim(d.text(lines[last]), "`~ \t") == ""; closes {
			take(last)
		} else {
			used += len(gap) + len(d.open) // join closes it
		}
		for i := range min(1+firstLines, len(lines)) {
			take(i)
		}
	}
	rest := lines[min(from, len(lines)):]
	best := d.takeBest(from, rest, take)
	for i := 0; i < len(lines); {
		if !shown[i] {
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && shown[end] {
			end++
		}
		pieces = append(pieces, span{lines[i].start, lines[end-1].end})
		i = end
	}
	if best >= 0 && !shown[best] { // it is too long by itself
		part, n := d.cutLine(lines[best], room-used)
		pieces, used = append(pieces, part...), used+n
		slices.SortFunc(pieces, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	}
	return pieces, used
}

// takeBest takes the lines that have most of what was asked, then those beside them; those at the beginning where none has any
// of it. It returns the best one, -1 for none; the first of the lines has the number from.
func (d *division) takeBest(from int, lines []span, take func(int) bool) int {
	w := d.weighs
	w.asked, w.seen = maps.Clone(w.asked), make(map[string]int)
	scores, order := w.rate(d.note, lines), make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	if len(order) == 0 {
		return -1
	}
	best := scores[order[0]]
	var taken []int
	for _, i := range order {
		if best > 0 && scores[i] < leastShare*best || !take(from+i) {
			break
		}
		taken = append(taken, i)
	}
	for _, i := range taken {
		for _, beside := range []int{i + 1, i - 1} {
			if beside >= 0 && beside < len(lines) {
				take(from + beside)
			}
		}
	}
	return from + order[0]
}

// cutLine is the part of a text around the first word of it that was asked for, which begins and ends between words.
func (d *division) cutLine(s span, room int) ([]span, int) {
	room -= 2 * len(gap)
	if room < leastCut/2 {
		return nil, 0
	}
	text := d.text(s)
	at := strings.IndexFunc(text, func(r rune) bool { return r != ' ' && r != '\t' })
	offset := 0
	for word := range strings.FieldsSeq(text) {
		offset += strings.Index(text[offset:], word)
		if d.weighs.score(d.weighs.stems(word)) > 0 {
			at = offset
			break
		}
		offset += len(word)
	}
	before := strings.LastIndexByte(text[:max(at, 0)], '\n') + 1 // its line, or as much of it as a third of the room holds
	for utf8.RuneCountInString(text[before:max(at, 0)]) > room/3 {
		_, size := utf8.DecodeRuneInString(text[before:])
		before += size
	}
	if blank := strings.IndexByte(text[before:max(at, 0)], ' '); before > 0 && blank >= 0 && text[before-1] != '\n' {
		before += blank + 1
	}
	end, n := before, 0
	for i, r := range text[before:] {
		if n == room {
			break
		}
		n++
		end = before + i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = before + i + 1
		}
	}
	if end < len(text) {
		if blank := strings.LastIndexByte(text[before:end], ' '); blank > (end-before)/2 {
			end = before + blank
		}
	}
	if end <= before {
		return nil, 0
	}
	return []span{{s.start + before, s.start + end}}, utf8.RuneCountInString(text[before:end]) + 2*len(gap)
}

// linesOf gives the lines of a text without what ends them.
func (d *division) linesOf(s span) (list []span) {
	at := s.start
	for line := range strings.Lines(d.text(s)) {
		list = append(list, span{at, at + len(strings.TrimRight(line, "\r\n"))})
		at += len(line)
	}
	return list
}

// write writes what is shown of a unit, with "…" where something is missing.
func (d *division) write(b *strings.Builder, u *unit) {
	if u.pieces == nil {
		b.WriteString(d.text(u.span))
		if d.leavesOpen(u) {
			b.WriteString("\n" + d.open)
		}
		return
	}
	at := u.start
	for _, p := range u.pieces {
		between := d.note[at:p.start]
		switch {
		case at > u.start && strings.Trim(between, "\r\n") == "":
			b.WriteString("\n")
		case at > u.start && strings.HasSuffix(between, "\n"):
			b.WriteString(gap)
		case at > u.start:
			b.WriteString("\n… ")
		case p.start > at:
			b.WriteString("… ")
		}
		b.WriteString(d.text(p))
		at = p.end
	}
	switch {
	case at == u.end:
	case strings.TrimLeft(d.note[at:min(at+2, u.end)], "\r\n") != d.note[at:min(at+2, u.end)]:
		b.WriteString(gap[:len(gap)-1])
	default:
		b.WriteString(" …")
	}
	if d.leavesOpen(u) {
		b.WriteString("\n" + d.open)
	}
}

// leavesOpen reports whether a unit is the code that nothing closes.
func (d *division) leavesOpen(u *unit) bool {
	return d.open != "" && strings.HasPrefix(strings.TrimLeft(d.text(u.span), " \t"), d.open) &&
		!strings.HasSuffix(d.text(u.span), "\n"+d.open)
}

// nest tells the units that are items of a list under which items they stand.
func (d *division) nest(units []unit, from int) {
	var above []int // the items that the next one can stand under, by their indent
	indent := func(i int) int {
		line := d.note[1+strings.LastIndexByte(d.note[:units[i].start], '\n') : units[i].end]
		return len(line) - len(strings.TrimLeft(line, " \t"))
	}
	for i := range units {
		if !isItem(d.text(units[i].span)) {
			continue
		}
		for len(above) > 0 && indent(above[len(above)-1]) >= indent(i) {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			units[i].under = from + above[len(above)-1]
		}
		above = append(above, i)
	}
}

// isItem reports whether a line begins an item of a list.
func isItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ' {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// withoutOpenFence takes the code that nothing closes out of a note, so that the headings behind it are seen, and returns the
// mark of its fence. It ends at the next heading behind a blank line: a comment of the code may look like one. A note without
// such code stays as it is.
func withoutOpenFence(note string) (outside, open string) {
	at, start, end := 0, 0, 0
	blank := false
	for line := range strings.Lines(note) {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == "" && isCode(line):
			n := len(trimmed) - len(strings.TrimLeft(trimmed, trimmed[:1]))
			open, start, end = trimmed[:n], at, len(note)
		case open != "" && strings.HasPrefix(trimmed, open) && strings.Trim(trimmed, open[:1]) == "":
			open = ""
		case open != "" && blank && end == len(note) && isHeading(line):
			end = at
		}
		blank = trimmed == ""
		at += len(line)
	}
	if open == "" {
		return note, ""
	}
	nothing := func(r rune) rune {
		if r == '\n' {
			return r
		}
		return -1
	}
	lines := strings.Map(nothing, note[start:end])
	return note[:start] + strings.Repeat(" ", end-start-len(lines)) + lines + note[end:], open
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	return n > 0 && n <= 6 && strings.HasPrefix(rest, " ")
}
