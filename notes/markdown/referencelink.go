package markdown

import (
	"slices"
	"sort"
	"strings"
)

// openLink is a link whose destination is not closed yet, written in a way that linkDest
// does not take.
type openLink struct {
	start int32 // of the link
	dest  int32 // behind the parenthesis
	limit int32 // where the next link begins, 0 for none
	inner int32 // how many '(' in it are not closed yet
}

// inline emits the link whose text ends with the bracket at i.
func (s *refScanner) inline(start, i int) {
	if start > 0 && s.text[start-1] == '!' {
		start--
	}
	if outer := s.innermost(); outer != nil && outer.limit == 0 {
		outer.limit = int32(i)
	}
	from, to, end := linkDest(s.text, i+len("]("), len(s.text))
	if end > 0 {
		s.emitAll(InlineRef, start, end, s.text[from:to])
		return
	}
	s.read += bareDest(s.text, i+len("]("), len(s.text)) - i
	// It may be a link to others: see closeParen.
	s.openLinks.add(openLink{start: int32(start), dest: int32(i + len("]("))})
}

// innermost returns the last link that is open, nil for none.
func (s *refScanner) innermost() *openLink {
	if n := s.openLinks.len(); n > 0 {
		return s.openLinks.at(n - 1)
	}
	return nil
}

func (s *refScanner) openParen(i int) {
	link := s.innermost()
	switch {
	case i == s.escaped:
	case link == nil:
		s.parens++
	case link.inner > 0 || int(link.dest) != i+1: // else the link has entered it
		link.inner++
	}
}

// closeParen ends a destination that has blanks in it, or a title without quotes.
func (s *refScanner) closeParen(i int) {
	link := s.innermost()
	switch {
	case i == s.escaped:
	case link == nil:
		s.parens = max(s.parens-1, 0)
	case link.inner > 0:
		link.inner--
	default:
		s.closeLink(s.openLinks.pop(), i)
	}
}

// closeLink emits a link that ends at the parenthesis at i.
func (s *refScanner) closeLink(link openLink, i int) {
	stop := i
	if link.limit > 0 {
		stop = int(link.limit)
	}
	dest := s.text[link.dest:stop]
	s.looseDest(InlineRef, int(link.start), i+1, dest)
	s.openDest(InlineRef, int(link.start), i+1, dest) // the parenthesis may be another's
}

// openLinksAtEnd emits the links whose destination is never closed. It runs to the next
// link, or to the end of its line.
func (s *refScanner) openLinksAtEnd() {
	for i := range s.openLinks.len() {
		s.step()
		if s.stopped {
			return
		}
		link := s.openLinks.at(i)
		stop, _ := s.lineEnd(int(link.dest))
		if link.limit > 0 {
			stop = min(stop, int(link.limit))
		}
		s.read += stop - int(link.dest)
		dest := s.text[link.dest:stop]
		s.looseDest(InlineRef, int(link.start), stop, dest)
		s.openDest(InlineRef, int(link.start), stop, dest)
	}
}

// openDest emits what a destination may mean of which nobody knows the end: its first
// words, one more each time, with and without the marks around.
func (s *refScanner) openDest(kind RefKind, start, end int, dest string) {
	dest = strings.TrimLeft(dest[:min(len(dest), maxFileBytes)], "< \t")
	words := 0
	for at := 0; at < len(dest) && words < maxFileWords; words++ {
		next := strings.IndexAny(dest[at:], " \t\r\n")
		if next < 0 {
			next = len(dest) - at
		}
		at += next
		s.emitAll(kind, start, end, dest[:at])
		if bare := strings.TrimRight(dest[:at], "*_~|>)\"'.,"); len(bare) < at {
			s.emitAll(kind, start, end, bare)
		}
		for at < len(dest) && isSpace(dest[at]) {
			at++
		}
	}
}

// looseDest emits what a destination may mean that is written with blanks: its first
// word, and all but a title.
func (s *refScanner) looseDest(kind RefKind, start, end int, dest string) {
	dest = strings.TrimSpace(dest)
	if inner, ok := strings.CutPrefix(dest, "<"); ok {
		inner, _, _ = strings.Cut(inner, ">")
		s.emitAll(kind, start, end, inner)
		return
	}
	word := strings.IndexAny(dest, " \t\r\n")
	if word < 0 {
		s.emitAll(kind, start, end, dest)
		return
	}
	s.emitAll(kind, start, end, dest[:word])
	if title := strings.IndexAny(dest, "\"'\n"); title >= 0 {
		dest = dest[:title]
	}
	s.emitAll(kind, start, end, dest)
}

// definition reads "[label]: target", whose label ends with the bracket at i.
func (s *refScanner) definition(open, i int) {
	label := foldLabel(s.text[open+1 : i])
	if label == "" || label[0] == '^' || open < s.defEnd {
		return
	}
	from, nextLine := skipBlanks(s.text, i+len("]:")), false
	line, next := s.lineEnd(from)
	if from == line && next > line { // the target is on the next line
		from = next
		for from < len(s.text) && (isBlank(s.text[from]) || s.text[from] == '>') {
			from++
		}
		line, _ = s.lineEnd(from)
		nextLine = true
	}
	rest := s.text[from:line]
	stop := strings.IndexAny(rest, " \t")
	if strings.HasPrefix(rest, "<") {
		stop = strings.IndexByte(rest, '>') + 1
	}
	if stop <= 0 {
		stop = len(rest)
	}
	s.defEnd = from + stop
	if nextLine && strings.HasPrefix(rest, "[") { // it may be a definition itself
		s.defEnd = from
	}
	inner := strings.Trim(rest[:stop], "<>")
	targets := slices.Clone(s.targetsOf(inner))
	if len(inner) < stop && rest[0] != '<' { // marks that are of the target
		targets = append(targets, s.targetsOf(rest[:stop])...)
	}
	if open >= s.defLine && stop < len(rest) { // the first of its line may have blanks in it
		if title := strings.IndexAny(rest, "\"'("); title >= 0 {
			rest = rest[:title]
		}
		targets = append(targets, s.targetsOf(rest)...)
	}
	s.defLine = line
	end := max(line, s.titleEnd(from+stop))
	for _, target := range targets {
		s.emit(DefinitionRef, open, end, target)
	}
	s.define(label, targets)
}

// titleEnd returns the end of the last line of the title that may follow at a byte
// offset, 0 for none.
func (s *refScanner) titleEnd(at int) int {
	at = skipBlanks(s.text, at)
	if end, next := s.lineEnd(at); at == end {
		for at = next; at < len(s.text) && (isBlank(s.text[at]) || s.text[at] == '>'); {
			at++
		}
	}
	if at >= len(s.text) {
		return 0
	}
	quote, found := s.text[at], &s.doubleQuote
	switch quote {
	case '"':
	case '\'':
		found = &s.singleQuote
	case '(':
		quote, found = ')', &s.parenthesis
	default:
		return 0
	}
	close, _ := found.next(at+1, func(from int) (at, end int) { return s.index(from, quote) })
	if close < 0 || close > s.paragraphEnd(at) {
		close = at
	}
	end, _ := s.lineEnd(close)
	return end
}

// index finds a byte from an offset on.
func (s *refScanner) index(from int, c byte) (at, end int) {
	next := strings.IndexByte(s.text[min(from, len(s.text)):], c)
	if next < 0 {
		s.read += len(s.text) - min(from, len(s.text))
		return -1, -1
	}
	s.read += next
	return from + next, from + next + 1
}

// lineEnd is the function lineEnd, which for one line reads the text once.
func (s *refScanner) lineEnd(at int) (end, next int) {
	end, next = s.lineBreak.next(at, func(from int) (int, int) { return s.index(from, '\n') })
	if end < 0 {
		return len(s.text), len(s.text)
	}
	if end > at && s.text[end-1] == '\r' {
		end--
	}
	return end, next
}

func skipBlanks(text string, at int) int {
	for at < len(text) && isBlank(text[at]) {
		at++
	}
	return at
}

// maxMeanings is how many different targets of one label count: the first ones and
// the last one. A definition that comes again means nothing to most readers.
const maxMeanings = 8

func (s *refScanner) define(label string, targets []string) {
	if s.labels == nil {
		s.labels = make(Labels)
	}
	known := s.labels[label]
	for _, target := range targets {
		switch {
		case slices.Contains(known, target):
		case len(known) < maxMeanings:
			known = append(known, target)
		default:
			known[maxMeanings-1] = target
		}
	}
	s.labels[label] = known
}

// useLabels emits the links whose label is defined, when the whole text was read.
func (s *refScanner) useLabels() {
	if s.labels == nil && s.outer == nil {
		return
	}
	for i := range s.pairs.len() {
		s.step()
		if s.stopped {
			return
		}
		p := *s.pairs.at(i)
		if !p.leaf {
			continue
		}
		s.read += int(p.close - p.open)
		label := foldLabel(s.text[p.open+1 : p.close])
		targets, outer := s.labels[label], s.outer[label]
		if len(targets)+len(outer) == 0 {
			continue
		}
		start, end := s.labelled(p)
		for _, target := range targets {
			s.emit(LabelRef, start, end, target)
		}
		for _, target := range outer {
			s.emit(LabelRef, start, end, target)
		}
	}
}

// labelled returns where the link begins and ends that uses a label: with the text
// in brackets before it.
func (s *refScanner) labelled(p bracketPair) (start, end int) {
	start, end = int(p.open), int(p.close)+1
	end += len(s.text[end:]) - len(strings.TrimPrefix(s.text[end:], "[]"))
	before := len(strings.TrimRight(s.text[:start], " \t"))
	s.read += start - before
	if before > 0 && s.text[before-1] == '\n' {
		before = len(strings.TrimRight(s.text[:before-1], " \t\r"))
	}
	isDefinition := end < len(s.text) && s.text[end] == ':'
	if before > 0 && s.text[before-1] == ']' && !isDefinition {
		at, found := sort.Find(s.pairs.len(), func(i int) int { return before - 1 - int(s.pairs.at(i).close) })
		if found {
			start = int(s.pairs.at(at).open)
		}
	}
	if start > 0 && s.text[start-1] == '!' {
		start--
	}
	return start, end
}

// address handles ':', which may stand in an address that opens a note app or a file.
func (s *refScanner) address(i int) {
	text := s.text
	if i < s.addressEnd || !strings.HasPrefix(text[i:], "://") {
		return
	}
	const longest = 32
	start := i
	for start > max(0, i-longest) &&
		(isWord(text[start-1]) && text[start-1] != '_' || strings.IndexByte("+.-", text[start-1]) >= 0) {
		start--
	}
	switch scheme := text[start:i]; {
	case len(scheme) < 2, strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "https"):
		return
	}
	stop := i
	for stop < len(text) && text[stop] > ' ' && strings.IndexByte("<>\"'`", text[stop]) < 0 {
		stop++
	}
	s.addressEnd = stop
	s.read += stop - start
	s.emitAll(AddressRef, start, stop, text[start:stop])
	whole := text[start:stop]
	if sentence := strings.TrimRight(whole, ".,;:!?)]}*_|"); len(sentence) < len(whole) {
		s.emitAll(AddressRef, start, stop, sentence)
	}
	if inBrackets := strings.IndexAny(whole, ")]"); inBrackets >= 0 {
		s.emitAll(AddressRef, start, stop, whole[:inBrackets])
	}
}
