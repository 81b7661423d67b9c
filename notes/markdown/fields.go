package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads the inline fields of the plugin Dataview for Obsidian:
//
//	Status:: in progress              <- a line of its own, in a list or a quote, too
//	We met [place:: Rome] and (with:: [[Ann]]).
//
// A key is words, with emphasis around them or not. The value stands behind a blank, or begins with [[ or a quote: std::vector,
// fe80::1 and http://a::b are no fields, nor is "name :: type" with a blank before the colons. What is in code, in a comment
// (HTML's and Obsidian's %%), in math, in a wikilink or in the destination of a link is text. A line that is a task speaks of the
// task and not of the note, see Tasks. In a line with fields in brackets the text before its first :: is no key.

// InlineField is one place where a body gives a field its value. A value is a text as it is written, or a list of texts: links,
// or texts in quotes, with commas between.
type InlineField struct {
	FrontmatterField
	Name  Span // of the key in the source, with the emphasis around it
	Place Span // of the value
}

const (
	maxFieldKey   = 128   // bytes
	maxLineFields = 1_000 // fields that are read in one line
)

// InlineFields calls found with each field of the body of a whole note, in their order. Time and memory are linear in the
// length of the source.
func InlineFields(src string, found func(InlineField)) {
	if !strings.Contains(src, "::") {
		return
	}
	front, start := SplitFrontmatter(src)
	line := 1
	if front.Found {
		line += strings.Count(src[:start], "\n")
	}
	s := newScanner(src)
	defer s.free()
	r := fieldReader{src: src, spans: &s.spans, found: found}
	w := walker{src: src, pos: start, line: line}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		if b.kind == textBlock || b.kind == heading {
			w.resume(r.block(b))
		}
	}
}

// Fields returns the fields of the frontmatter, and those of the body. What the body says of a key of the frontmatter comes
// behind what that says, in one list, as Dataview has it; a map stays what it is.
func (d *Document) Fields() []FrontmatterField {
	var list []FrontmatterField
	if d.Frontmatter != nil {
		list = slices.Clip(d.Frontmatter.Fields)
	}
	return MergeInline(list, d.src)
}

// MergeInline returns fields with those that the body of a whole note has, see Document.Fields.
func MergeInline(list []FrontmatterField, src string) []FrontmatterField {
	if !strings.Contains(src, "::") {
		return list
	}
	list = slices.Clone(list)
	places := make(map[string]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		places[strings.ToLower(list[i].Key)] = i
	}
	InlineFields(src, func(f InlineField) {
		key := strings.ToLower(f.Key)
		i, known := places[key]
		switch {
		case !known:
			places[key] = len(list)
			list = append(list, f.FrontmatterField)
		case list[i].Value == nil:
			list[i].Value, list[i].Raw, list[i].RawItems = f.Value, f.Raw, f.RawItems
		case list[i].Texts() != nil:
			list[i].join(f.FrontmatterField)
		}
	})
	return list
}

// join makes a field one list with another one of its key.
func (f *FrontmatterField) join(other FrontmatterField) {
	if f.IsScalar() {
		f.Value, f.RawItems, f.Raw = []any{f.Value}, []string{f.Raw}, ""
	}
	items, _ := f.Value.([]any)
	for _, text := range other.Texts() {
		items = append(items, text)
		f.RawItems = append(f.RawItems, text)
	}
	f.Value = items
}

// fieldReader reads the fields of one text from left to right.
type fieldReader struct {
	src   string
	spans *codeSpans
	found func(InlineField)

	none   [2]bool // no further %% or $$ has another one behind it
	noMath int     // up to here no further $ ends math
	table  bool
	line   int
	list   []InlineField     // in brackets, of the line
	open   [2][]openingField // in brackets that are not closed yet, of the line: square and round
}

// openingField is what may be a field in brackets.
type openingField struct {
	start, value int // of the bracket and of the value
	key          string
	inner        int // brackets of its kind that are open within it
}

// block reads a block, and returns where it ends: behind the block when a comment does.
func (r *fieldReader) block(b block) int {
	r.table, r.line = b.table, b.line
	isTask := b.kind == textBlock && b.bullet && beginsTask(r.src[b.start:b.end])
	for i, atStart := b.start, true; i < b.end; {
		end, next := lineEnd(r.src, i)
		end = min(end, b.end)
		if i > b.start && atStart {
			i = skipQuote(r.src, i, end, b.depth)
		}
		var after int
		if atStart {
			after = r.readLine(i, end, b, isTask)
		} else {
			after = r.scan(i, end, b)
			r.flush(InlineField{}, false)
		}
		isTask, atStart = false, after <= end
		if atStart {
			r.line++
			i = next
			continue
		}
		r.line += strings.Count(r.src[end:after], "\n") // a span goes on in the lines behind it
		i = after
		if i >= b.end {
			return i
		}
	}
	return b.end
}

// beginsTask reports whether the text of an item is a task.
func beginsTask(text string) bool {
	if boxLen(text) > 0 {
		return true
	}
	word, _, _ := strings.Cut(text[:min(len(text), len("IN-PROGRESS")+1)], " ")
	_, known := taskWords[word]
	return known
}

// readLine reads one line from its first character behind the marks of quotes and lists. It returns where that ends: behind
// the line when a span does.
func (r *fieldReader) readLine(i, end int, b block, isTask bool) int {
	for i < end && isBlank(r.src[i]) {
		i++
	}
	whole := InlineField{}
	isField := false
	if b.kind == textBlock && !b.table && !isTask {
		key, value := fieldKey(r.src[i:end])
		if key != "" {
			whole.Key, whole.Name, whole.Place = key, Span{i, i + value - 2}, Span{i + value, end}
			isField = true
		}
	}
	after := r.scan(i, end, b)
	if isTask {
		r.list = r.list[:0]
	}
	if isField {
		whole.Place.End = r.valueEnd(whole.Place)
	}
	r.flush(whole, isField)
	return after
}

// valueEnd returns where the value of a whole line ends: before a comment, and before the id of the block.
func (r *fieldReader) valueEnd(at Span) int {
	value := r.src[at.Start:at.End]
	for _, mark := range []string{"<!--", "%%"} {
		if i := strings.Index(value, mark); i >= 0 {
			value = value[:i]
		}
	}
	value = strings.TrimRight(value, " \t")
	end := at.Start + len(value)
	i := strings.LastIndexByte(value, '^')
	if i >= 0 && blockIDLen(r.src, at.Start, at.Start+i, end) > 0 {
		end = at.Start + i
	}
	return end
}

// flush gives the fields of a line to who asked for them: those in brackets, or else that of the whole line.
func (r *fieldReader) flush(whole InlineField, isField bool) {
	for k := range r.open {
		r.open[k] = r.open[k][:0]
	}
	for _, f := range r.list {
		r.give(f)
	}
	if len(r.list) == 0 && isField {
		r.give(whole)
	}
	r.list = r.list[:0]
}

// give reads the value of a field. One without a value is none, and so is what Logseq writes for itself at its blocks.
func (r *fieldReader) give(f InlineField) {
	raw := r.src[f.Place.Start:f.Place.End]
	left := strings.TrimLeft(raw, " \t")
	f.Place.Start += len(raw) - len(left)
	raw = strings.TrimRight(left, " \t\r")
	f.Place.End = f.Place.Start + len(raw)
	const lenUUID = 36
	if raw == "" || f.Key == "collapsed" || f.Key == "id" && len(raw) == lenUUID {
		return
	}
	f.Line = r.line
	items := fieldItems(raw)
	switch len(items) {
	case 0:
		f.Value, f.Raw = raw, raw
	case 1:
		f.Value, f.Raw = items[0], items[0]
	default:
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		f.Value, f.RawItems = list, items
	}
	r.found(f)
}

// fieldItems returns what a value lists: links, and texts in quotes, which are taken off; nil for a value that is a text.
func fieldItems(raw string) (items []string) {
	if raw[0] != '"' && !strings.HasPrefix(raw, "[[") {
		return nil
	}
	for {
		n := linkLen(raw)
		switch {
		case n > 0:
			items = append(items, raw[:n])
		case strings.HasPrefix(raw, `"`):
			end := strings.IndexByte(raw[1:], '"')
			if end < 0 {
				return nil
			}
			items, n = append(items, raw[1:1+end]), end+2
		default:
			return nil
		}
		raw = strings.TrimLeft(raw[n:], " \t")
		if raw == "" {
			return items
		}
		if raw[0] != ',' {
			return nil
		}
		raw = strings.TrimLeft(raw[1:], " \t")
	}
}

// fieldKey returns the key of the field that a text begins with, and where its value begins; "" for none.
func fieldKey(s string) (key string, value int) {
	for i, c := range s[:min(len(s), maxFieldKey)] {
		if c == ':' {
			return keyBefore(s, i)
		}
		if !mayBeInKey(c) {
			return "", 0
		}
	}
	return "", 0
}

// keyBefore is fieldKey of a text of which the first colon is at i.
func keyBefore(s string, i int) (key string, value int) {
	if i == 0 || isBlank(s[i-1]) || !strings.HasPrefix(s[i:], "::") {
		return "", 0
	}
	value = i + 2
	rest := s[value:]
	if rest != "" && !isBlank(rest[0]) && rest[0] != '"' && !strings.HasPrefix(rest, "[[") {
		return "", 0
	}
	key = strings.Trim(s[:i], "*_~ \t")
	isWordOfKey := func(c rune) bool { return unicode.IsLetter(c) || unicode.Is(unicode.So, c) }
	if strings.ContainsAny(key, "*~") || !strings.ContainsFunc(key, isWordOfKey) {
		return "", 0
	}
	return key, value
}

// mayBeInKey reports whether a key may have a character: letters, digits, blanks, emoji, and some marks.
func mayBeInKey(c rune) bool {
	switch c {
	case ' ', '\t', '_', '-', '/', '*', '~', '\u200D', '\uFE0F':
		return true
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || unicode.Is(unicode.So, c)
}

// scan collects the fields in brackets of a line, or of the rest of one, and returns where it has ended.
func (r *fieldReader) scan(i, end int, b block) int {
	for i < end {
		switch c := r.src[i]; c {
		case '\\':
			i = r.spans.afterBackslash(i, end)
		case '`', '<':
			i = r.spans.skip(i, b.end)
		case '%':
			i = r.pair(i, "%%", 0)
		case '$':
			i = r.math(i, end)
		case '[':
			if n := r.spans.wikilink(i, b.end); n > 0 {
				i += n
				continue
			}
			r.opening(i, end, 0)
			i++
		case '(':
			r.opening(i, end, 1)
			i++
		case ']':
			i = r.closing(i, end, 0)
		case ')':
			i = r.closing(i, end, 1)
		case '|':
			if r.table {
				r.open[0], r.open[1] = r.open[0][:0], r.open[1][:0]
			}
			i++
		default:
			if c >= utf8.RuneSelf {
				_, n := utf8.DecodeRuneInString(r.src[i:end])
				i += n
				continue
			}
			i++
		}
	}
	return i
}

// pair returns the end of what stands between two marks, the first of which may be at i, or the next place when there is none.
func (r *fieldReader) pair(i int, mark string, which int) int {
	if r.none[which] || !strings.HasPrefix(r.src[i:], mark) {
		return i + 1
	}
	n := strings.Index(r.src[i+len(mark):], mark)
	if n < 0 {
		r.none[which] = true
		return i + len(mark)
	}
	return i + len(mark) + n + len(mark)
}

// math returns the end of the math that begins at i, where a $ stands, or the next place when none does.
func (r *fieldReader) math(i, end int) int {
	if strings.HasPrefix(r.src[i:], "$$") {
		return r.pair(i, "$$", 1)
	}
	if i+1 >= end || isBlank(r.src[i+1]) || i < r.noMath {
		return i + 1
	}
	for j := i + 2; j < end; j++ {
		switch {
		case r.src[j] == '\\':
			j++
		case r.src[j] == '$' && !isBlank(r.src[j-1]) && (j+1 == end || r.src[j+1] < '0' || r.src[j+1] > '9'):
			return j + 1
		}
	}
	r.noMath = end
	return i + 1
}

// opening notes a bracket that opens at i.
func (r *fieldReader) opening(i, end, kind int) {
	open := r.open[kind]
	key, value := fieldKey(r.src[i+1 : end])
	switch {
	case key != "" && len(r.list)+len(open) < maxLineFields:
		r.open[kind] = append(open, openingField{start: i, value: i + 1 + value, key: key})
	case len(open) > 0:
		open[len(open)-1].inner++
	}
}

// closing reads the field that a bracket at i closes, if it closes one, and returns the place behind it, and behind the
// destination of a link. A field within another one is a part of its value.
func (r *fieldReader) closing(i, end, kind int) int {
	next, isLink := i+1, false
	if kind == 0 && next < end && r.src[next] == '(' {
		const most = 1 << 10 // bytes of a destination and a title
		if _, _, after := linkDest(r.src, next+1, min(end, next+1+most)); after > 0 {
			next, isLink = after, true
		}
	}
	open := r.open[kind]
	if len(open) == 0 {
		return next
	}
	f := open[len(open)-1]
	if f.inner > 0 {
		open[len(open)-1].inner--
		return next
	}
	r.open[kind] = open[:len(open)-1]
	if isLink {
		return next
	}
	other := r.open[1-kind]
	for len(other) > 0 && other[len(other)-1].start > f.start {
		other = other[:len(other)-1]
	}
	r.open[1-kind] = other
	for len(r.list) > 0 && r.list[len(r.list)-1].Place.Start > f.start {
		r.list = r.list[:len(r.list)-1]
	}
	named := FrontmatterField{Key: f.key}
	r.list = append(r.list, InlineField{FrontmatterField: named, Name: Span{f.start + 1, f.value - 2}, Place: Span{f.value, i}})
	return next
}
