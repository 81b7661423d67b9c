package markdown

import (
	"iter"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// RefKind says how a text refers to a record.
type RefKind uint8

// Kinds of references.
const (
	WikilinkRef       RefKind = iota + 1 // [[target|label]], also embedded, escaped, in code, over lines
	InlineRef                            // [label](target), ![label](target)
	LabelRef                             // [label][name], [name][], [name], where a definition says what name is
	DefinitionRef                        // [name]: target
	AnchorRef                            // <a href=target>label</a>, <img src=target alt=label> and the like
	AddressRef                           // <target>, scheme://target
	FileRef                              // target.md, bare
	MentionRef                           // @Name, @[Full Name], @handle; [[Name, which is never closed
	CutMentionRef                        // @Name in a text that was cut: Target is what followed; References yields none
	DecodedMentionRef                    // @Name with character references in it: Target is what follows, without them
	MarkedIDRef                          // [id:…], as prompts and answers of tools have it
)

// markedID begins an id in brackets. An id has at most 64 characters.
const (
	markedID    = "[id:"
	maxMarkedID = 80
)

// Reference is one place of a text that may refer to a record, and what it would
// refer to. Offsets are bytes, half open.
//
// One place comes as several References where it can be read in several ways: a
// target with and without its escapes, a file name that may begin some words
// earlier.
type Reference struct {
	Kind       RefKind
	Start, End int
	// Target is the name of the record: without fragment, escapes and blanks
	// around. Of a mention without brackets it is "": what follows End is a name as far
	// as somebody knows the names.
	Target string
}

// Open reports whether the text behind the reference says what it means.
func (r Reference) Open() bool { return r.Kind == MentionRef && r.Target == "" }

// Reach returns how far what the reference means may lie in its text: to its end, or as
// far behind that as the name of a mention may reach.
func (r Reference) Reach(text string) int {
	if !r.Open() {
		return r.End
	}
	reach := min(len(text), r.End+MaxMention)
	for more := utf8.UTFMax; more > 1 && reach < len(text) && !utf8.RuneStart(text[reach]); more-- {
		reach++
	}
	return reach
}

// References finds all that may refer to a record in a text: too much rather than
// too little. It knows no blocks: what stands in code, in comments, in frontmatter or
// behind a backslash is found as well, since a reader of the text sees it there.
// References come in the order in which they end, those by label last; they may
// overlap. Time is linear in the length of the text, whatever it holds.
func References(text string) iter.Seq[Reference] { return Labels(nil).References(text) }

// ReferencesUntil is References that stops when ended reports true. It asks at least every
// endedEach steps of the scan, also where it finds nothing.
func ReferencesUntil(text string, ended func() bool) iter.Seq[Reference] {
	return Labels(nil).references(text, ended)
}

// endedEach is how many marks, or targets, are looked at between two questions whether the
// scan has ended: a few milliseconds.
const endedEach = 4096

// Labels are the link definitions of a note, for texts that were taken out of it:
// the targets of each label.
type Labels map[string][]string

// LabelsOf returns the labels that a text defines; nil for none.
func LabelsOf(text string) Labels {
	if !strings.Contains(text, "]:") {
		return nil
	}
	s := newRefScanner(text, func(Reference) bool { return true })
	defer s.free()
	s.scan()
	return s.labels
}

// References is the function References for a text that may use labels which are
// defined elsewhere.
func (l Labels) References(text string) iter.Seq[Reference] { return l.references(text, nil) }

// references is References that may end early; ended may be nil.
func (l Labels) references(text string, ended func() bool) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		if mayRefer(text) && !l.scan(text, ended, yield) {
			return
		}
		d := decode(text)
		if d == nil || !mayRefer(d.text) {
			return
		}
		l.scan(d.text, ended, func(r Reference) bool {
			r, ok := d.reference(r)
			return !ok || yield(r)
		})
	}
}

// scan is references for a text as it is written. It reports false when yield does, or when
// the scan has ended early.
func (l Labels) scan(text string, ended func() bool, yield func(Reference) bool) bool {
	s := newRefScanner(text, yield)
	defer s.free()
	s.outer, s.ended = l, ended
	s.scan()
	s.useLabels()
	return !s.stopped
}

// MayRefer reports whether a text has a mark without which References finds nothing.
func MayRefer(text string) bool {
	if mayRefer(text) {
		return true
	}
	d := decode(text)
	return d != nil && mayRefer(d.text)
}

func mayRefer(text string) bool {
	return strings.ContainsAny(text, "[<@") || strings.Contains(text, ".m") || strings.Contains(text, ".M") ||
		strings.Contains(text, "://")
}

// refScanner is one pass over a text.
type refScanner struct {
	text    string
	yield   func(Reference) bool
	stopped bool
	ended   func() bool // reports whether to stop; nil: never
	steps   int         // between two questions of ended
	outer   Labels
	targets DestNames // buffer of targetsOf
	read    int       // bytes looked at besides the pass itself, for the test that they are few

	escaped int // the byte behind a backslash
	spans   codeSpans
	codeEnd int // end of the code span that the pass is in
	parEnd  int // end of the paragraph that the pass is in, as far as it was asked for

	// Two opinions on which '[' a ']' closes: brackets leaves out what stands in
	// code, as Markdown does, raw does not. A link begins where the earlier one says.
	brackets, raw bracketStack
	firstOpen     int // first '[' of the paragraph, -1 for none

	parens    int // '(' that are not closed yet and stand in no open link
	openLinks pile[openLink]

	defines bool              // the text may define labels, or use outer ones
	pairs   pile[bracketPair] // by their ends
	labels  Labels
	defEnd  int // end of the target of the last definition
	defLine int // end of the line of the last definition

	anchor     int // where the last <a begins, -1 for none
	tags       [quotings]openTags
	inTag      bool // one of tags may be open
	valueEnd   int  // end of the last attribute without quotes
	addressEnd int

	// What comes next, for each of those who ask.
	wikiClose, lineBreak, anchorTag       place
	doubleQuote, singleQuote, parenthesis place
	elementClose                          [leadsAlone]place

	files fileToken
}

// place remembers a search for what comes next, so that all searches of one kind
// together read the text once.
type place struct {
	from, at, end int // nothing was found in [from, at); at is -1 for nothing at all
	known         bool
}

// next returns where find finds something at or behind a byte offset.
func (p *place) next(from int, find func(from int) (at, end int)) (at, end int) {
	if !p.known || from < p.from || p.at >= 0 && from > p.at {
		p.known, p.from = true, from
		p.at, p.end = find(from)
	}
	return p.at, p.end
}

// bracketStack holds the '[' that are not closed yet.
type bracketStack struct {
	open pile[int32]
	last int // the last one that was opened
}

func (b *bracketStack) push(at int) {
	b.open.add(int32(at))
	b.last = at
}

func (b *bracketStack) pop() int {
	if b.open.len() == 0 {
		return -1
	}
	return int(b.open.pop())
}

// bracketPair is [ and its ]; leaf: with no other brackets between.
type bracketPair struct {
	open, close int32
	leaf        bool
}

var refScanners = sync.Pool{New: func() any { return new(refScanner) }}

func newRefScanner(text string, yield func(Reference) bool) *refScanner {
	s := refScanners.Get().(*refScanner)
	s.text, s.yield = text, yield
	s.escaped, s.firstOpen, s.anchor, s.brackets.last, s.raw.last = -1, -1, -1, -1, -1
	s.spans.reset(text)
	return s
}

// free gives the scanner back without a hold on the text.
func (s *refScanner) free() {
	clean := refScanner{
		targets: emptied(s.targets), spans: s.spans, openLinks: s.openLinks,
		pairs: s.pairs,
	}
	clean.brackets.open, clean.raw.open = s.brackets.open, s.raw.open
	clean.brackets.open.reset()
	clean.raw.open.reset()
	clean.pairs.reset()
	clean.openLinks.reset()
	for q := range clean.tags {
		clean.tags[q].values = emptied(s.tags[q].values)
	}
	clean.spans.reset("")
	*s = clean
	refScanners.Put(s)
}

// refSpecial marks the bytes at which scan has something to decide.
var refSpecial = [256]bool{
	'\\': true, '`': true, '[': true, ']': true, '(': true, ')': true, '<': true, '=': true, ':': true, '.': true,
	'@': true, '\n': true, '"': true, '\'': true, '>': true,
}

func (s *refScanner) scan() {
	text := s.text
	s.defines = s.outer != nil || strings.Contains(text, "]:")
	for i := 0; i < len(text) && !s.stopped; i++ {
		if !refSpecial[text[i]] {
			continue
		}
		s.step()
		switch text[i] {
		case '\\':
			if i != s.escaped && i >= s.codeEnd && i+1 < len(text) && isPunct(text[i+1]) {
				s.escaped = i + 1
			}
		case '`':
			i = s.code(i)
		case '[':
			s.open(i)
		case ']':
			s.close(i)
		case '(':
			s.openParen(i)
		case ')':
			s.closeParen(i)
		case '<':
			s.angle(i)
		case '>':
			s.tagEnd(i)
		case '"', '\'':
			s.quote(i)
		case '=':
			s.attribute(i)
		case ':':
			s.address(i)
		case '.':
			s.fileName(i)
		case '@':
			s.mention(i)
		case '\n':
			if i >= s.paragraphEnd(i) {
				s.firstOpen = -1
			}
		}
	}
	s.openAtEnd()
}

// step counts a step of the scan, and stops it if it has ended.
func (s *refScanner) step() {
	s.steps++
	if s.steps%endedEach == 0 && s.ended != nil && s.ended() {
		s.stopped = true
	}
}

// openAtEnd reads what is never closed.
func (s *refScanner) openAtEnd() {
	s.openTagsAtEnd()
	s.openLinksAtEnd()
}

func (s *refScanner) emit(kind RefKind, start, end int, target string) {
	if target != "" && !s.stopped && !s.yield(Reference{kind, start, end, target}) {
		s.stopped = true
	}
}

// emitAll emits a reference for each way to read a destination.
func (s *refScanner) emitAll(kind RefKind, start, end int, dest string) {
	for _, target := range s.targetsOf(dest) {
		s.emit(kind, start, end, target)
	}
}

// targetsOf returns what a destination may name. The list is good until the next call.
func (s *refScanner) targetsOf(dest string) []string {
	s.read += len(dest)
	s.targets = s.targets[:0]
	dest = strings.TrimSpace(dest)
	if strings.HasPrefix(dest, "[[") {
		s.targets.Target(ParseTarget(strings.Trim(dest, "[]")).Target) // as Logseq has it
	}
	s.targets.Destination(dest)
	return s.targets
}

// code steps over backticks. Brackets between them and their end are code.
func (s *refScanner) code(i int) int {
	n := runLen(s.text, i, len(s.text))
	if i >= s.codeEnd && i != s.escaped {
		s.codeEnd = s.spans.close(i, n, s.paragraphEnd(i))
	}
	return i + n - 1
}

// paragraphEnd returns the first line end behind a byte offset that a blank line
// follows, or the end of the text.
func (s *refScanner) paragraphEnd(from int) int {
	if from < s.parEnd {
		return s.parEnd
	}
	for at := from; ; {
		end, next := lineEnd(s.text, at)
		s.read += next - at
		if next == len(s.text) {
			s.parEnd = len(s.text)
			return s.parEnd
		}
		if after, _ := lineEnd(s.text, next); strings.TrimSpace(s.text[next:after]) == "" {
			s.parEnd = max(end, from)
			return s.parEnd
		}
		at = next
	}
}

// second returns where the second of two equal brackets stands, the first of which
// ends at a byte offset: directly behind, or behind a backslash; -1 for nowhere.
func (s *refScanner) second(at int, bracket byte) int {
	switch {
	case at < len(s.text) && s.text[at] == bracket:
		return at
	case at+1 < len(s.text) && s.text[at] == '\\' && s.text[at+1] == bracket:
		return at + 1
	}
	return -1
}

func (s *refScanner) open(i int) {
	if second := s.second(i+1, '['); second >= 0 {
		s.wikilink(i, second+1, 0)
	}
	if s.firstOpen < 0 {
		s.firstOpen = i
	}
	if i == s.escaped {
		return
	}
	s.raw.push(i)
	if i >= s.codeEnd {
		s.brackets.push(i)
	}
}

// wikilink emits the wikilink that begins at start and whose target begins at from.
// Its end is the next one that there is, or the given one. Where that is not in the line,
// it may be another's, and the end of the line is the end too.
func (s *refScanner) wikilink(start, from, end int) {
	stop := from
	for ; stop < len(s.text); stop++ {
		c := s.text[stop]
		if c == '[' || c == ']' || c == '|' || c == '#' && !inCharRef(s.text, stop) {
			break
		}
	}
	s.read += stop - from
	if end == 0 && stop < len(s.text) && s.text[stop] != '[' {
		_, end = s.wikiClose.next(stop, s.findWikiClose)
	}
	if start > 0 && s.text[start-1] == '!' {
		start--
	}
	line, _ := s.lineEnd(from)
	if end <= 0 || line < stop { // it is not closed, or not on its line
		s.emitOpen(start, from)
		s.emitWikilink(start, line, s.text[from:min(stop, line)])
	}
	if end > 0 {
		s.emitWikilink(start, end, s.text[from:stop])
	}
}

// emitWikilink emits what the target of a wikilink may name.
func (s *refScanner) emitWikilink(start, end int, target string) {
	target = oneLine(strings.TrimSuffix(target, `\`))
	s.targets = s.targets[:0]
	s.targets.Target(target)
	if strings.ContainsAny(target, `%&\`) {
		s.targets.Target(UnescapeDest(target))
	}
	for _, name := range s.targets {
		s.emit(WikilinkRef, start, end, name)
	}
}

// findWikiClose finds the end of a wikilink: its first bracket, and what follows the
// second.
func (s *refScanner) findWikiClose(from int) (at, end int) {
	for at = from; ; at++ {
		next := strings.IndexByte(s.text[at:], ']')
		if next < 0 {
			s.read += len(s.text) - from
			return -1, -1
		}
		at += next
		s.read += next
		if second := s.second(at+1, ']'); second >= 0 {
			return at, second + 1
		}
	}
}

func (s *refScanner) close(i int) {
	if i == s.escaped {
		return
	}
	open, last := s.raw.pop(), s.raw.last
	start := open
	if i >= s.codeEnd {
		if strict := s.brackets.pop(); strict >= 0 {
			open, last = strict, s.brackets.last
			if start < 0 || strict < start {
				start = strict
			}
		}
	}
	leaf := open >= 0 && open == last
	if open >= 0 && last > open+1 && i > 0 && s.text[i-1] == ']' && s.text[open+1] == '[' {
		s.wikilink(open, open+2, i+1) // one with other brackets in it
	}
	if leaf && strings.HasPrefix(s.text[open:i], markedID) && i-open <= maxMarkedID {
		s.emit(MarkedIDRef, open, i+1, strings.TrimSpace(s.text[open+len(markedID):i]))
	}
	if s.defines && open >= 0 {
		s.pairs.add(bracketPair{int32(open), int32(i), leaf})
	}
	if i+1 == len(s.text) {
		return
	}
	switch s.text[i+1] {
	case '(':
		if start < 0 {
			start = s.firstOpen
		}
		if start < 0 {
			start = i
		}
		s.inline(start, i)
	case ':':
		if open >= 0 && leaf {
			s.definition(open, i)
		}
	}
}

// mention emits what may be @Name.
func (s *refScanner) mention(i int) {
	r, ok := mentionAt(s.text, i)
	if ok && !s.stopped && !s.yield(r) {
		s.stopped = true
	}
}

// mentionAt reads what may be @Name at the '@' at i. One behind a word is part of an address.
func mentionAt(s string, i int) (r Reference, ok bool) {
	if text.ContextOfMark(s[:i]) == text.AfterWord {
		return Reference{}, false
	}
	name, size, _ := BracketedName(s[i+1:])
	if name == "" {
		size = 0
	}
	return Reference{Kind: MentionRef, Start: i, End: i + 1 + size, Target: name}, true
}

// emitOpen emits what is a reference if a name follows it.
func (s *refScanner) emitOpen(start, end int) {
	if !s.stopped && !s.yield(Reference{Kind: MentionRef, Start: start, End: end}) {
		s.stopped = true
	}
}

// MaxMention is how many bytes of a text the name of a mention can take up: eight for
// each code point of the longest name, with marks that folding takes out.
const MaxMention = 8 * 512

// BracketedName reads [Bob Smith] at the head of a text, on one line, and returns
// the name and the length with the brackets.
func BracketedName(s string) (name string, size int, ok bool) {
	if !strings.HasPrefix(s, "[") || strings.HasPrefix(s, "[[") {
		return "", 0, false
	}
	s = s[:min(len(s), MaxMention)]
	end := strings.IndexAny(s[1:], "[]\r\n")
	if end < 0 || s[1+end] != ']' {
		return "", 0, false
	}
	name = strings.TrimSpace(s[1 : 1+end])
	return name, end + 2, name != ""
}
