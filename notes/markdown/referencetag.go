package markdown

import "strings"

// element is an element of HTML that can have an address for an attribute.
type element uint8

// Elements whose text belongs to what they lead to are before leadsAlone. An anchor that
// is never closed runs to the end of the text; of the others, one that is never closed is
// its tag alone.
const (
	noElement element = iota
	anchorElement
	iframeElement
	objectElement
	audioElement
	videoElement
	quoteElement
	blockquoteElement
	buttonElement
	leadsAlone
)

var endTags = [leadsAlone]string{
	anchorElement: "/a", iframeElement: "/iframe", objectElement: "/object", audioElement: "/audio",
	videoElement: "/video",
	quoteElement: "/q", blockquoteElement: "/blockquote", buttonElement: "/button",
}

// elements are those that the HTML standard gives an attribute of which the value is a
// URL, the obsolete ones and those of SVG included, by name.
var elements = func() map[string]element {
	all := make(map[string]element)
	for name := range nameSet(`area base body del embed form frame head html image img input ins link script source table td
		th tr track use applet portal meta svg math`) {
		all[name] = leadsAlone
	}
	for e := anchorElement; e < leadsAlone; e++ {
		all[endTags[e][1:]] = e
	}
	return all
}()

// longestName bounds the names of elements and attributes that are looked up.
const longestName = 24

// urlAttributes are the attributes of which the value is a URL by the HTML standard
// (its index of attributes, and the obsolete ones), true for those that are lists.
var urlAttributes = map[string]bool{
	"action": false, "cite": false, "data": false, "formaction": false, "href": false, "itemid": false, "poster": false,
	"src": false, "background": false, "classid": false, "codebase": false, "dynsrc": false, "longdesc": false,
	"lowsrc": false, "manifest": false, "profile": false,
	"srcset": true, "imagesrcset": true, "ping": true, "itemtype": true, "archive": true,
}

// quoting says between which quotes a place of a tag is.
type quoting uint8

const (
	unquoted quoting = iota
	doubleQuoted
	singleQuoted
	quotings
)

// openTags are the tags that are open at a place of the text, and of which the place is
// between the same quotes. Tags in tags are none, but a reader may take them for some:
// what an attribute leads to counts for the first that can have such an attribute.
type openTags struct {
	open        bool
	first, last int     // the first one of elements, -1 for none; the last one of all
	element     element // the one with text that was opened last
	values      []tagValue
}

// tagValue is the value of an attribute that is a URL.
type tagValue struct {
	from, to int32
	list     bool
	open     bool // its quotes are not closed, or not on their line
}

// add opens a tag.
func (t *openTags) add(at int, e element) {
	if !t.open {
		t.open, t.first, t.element = true, -1, noElement
	}
	if e != noElement && t.first < 0 {
		t.first = at
	}
	if noElement < e && e < leadsAlone {
		t.element = e
	}
	t.last = at
}

// merge takes the tags of another list, which is empty then.
func (t *openTags) merge(other *openTags) {
	switch {
	case !other.open:
		return
	case !t.open:
		*t, *other = *other, *t
		return
	}
	if other.first >= 0 && (t.first < 0 || other.first < t.first) {
		t.first = other.first
	}
	if t.element == noElement {
		t.element = other.element
	}
	t.last = max(t.last, other.last)
	if len(other.values) > len(t.values) {
		t.values, other.values = other.values, t.values
	}
	t.values = append(t.values, other.values...)
	other.clear()
}

func (t *openTags) clear() { t.open, t.values = false, t.values[:0] }

// angle handles '<': what begins a tag, or an address.
func (s *refScanner) angle(i int) {
	text := s.text
	rest := text[i+1:]
	if rest == "" {
		return
	}
	switch {
	case isTagName(rest, "/a"):
		s.anchor = -1
	case 'a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z':
		e := elementOf(rest)
		// An anchor that is closed as a tag, but has no end, is over where the next
		// begins.
		if e == anchorElement && (s.anchor < 0 || s.closesTag(&s.anchorTag, s.anchor, i)) {
			s.anchor = i
		}
		s.tags[unquoted].add(i, e)
		s.inTag = true
	}
	stop := i + 1
	for stop < len(text) && text[stop] > ' ' && text[stop] != '<' && text[stop] != '>' {
		stop++
	}
	s.read += stop - i
	if stop < len(text) && text[stop] == '>' && rest[0] != '/' && strings.ContainsAny(text[i+1:stop], ":./") {
		s.emitAll(AddressRef, i, stop+1, text[i+1:stop])
	}
}

// elementOf returns the element whose name a text begins with, a prefix for a namespace
// left out.
func elementOf(text string) element {
	end := 0
	for end < len(text) && end <= longestName && (isWord(text[end]) || text[end] == '-' || text[end] == ':') {
		end++
	}
	name := strings.ToLower(text[:end])
	return elements[name[strings.LastIndexByte(name, ':')+1:]]
}

// isTagName reports whether a text begins with a name of a tag.
func isTagName(text, name string) bool {
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return false
	}
	return len(text) == len(name) || !isWord(text[len(name)]) && text[len(name)] != '-' && text[len(name)] != ':'
}

// closesTag reports whether there is a '>' between the begin of a tag and a byte
// offset.
func (s *refScanner) closesTag(found *place, tag, before int) bool {
	at, _ := found.next(tag, func(from int) (at, end int) { return s.index(from, '>') })
	return at >= 0 && at < before
}

// quote handles a quote: it opens a value behind '=', and ends one that has opened.
func (s *refScanner) quote(i int) {
	if !s.inTag {
		return
	}
	quoted := &s.tags[doubleQuoted]
	if s.text[i] == '\'' {
		quoted = &s.tags[singleQuoted]
	}
	before := i
	for before > 0 && isSpace(s.text[before-1]) {
		before--
	}
	s.read += i - before
	if before > 0 && s.text[before-1] == '=' {
		s.tags[unquoted], *quoted = *quoted, s.tags[unquoted]
		return
	}
	s.tags[unquoted].merge(quoted)
}

// tagEnd handles '>', which closes the tags that are not between quotes there.
func (s *refScanner) tagEnd(i int) {
	if !s.inTag || !s.tags[unquoted].open {
		return
	}
	t := &s.tags[unquoted]
	if len(t.values) > 0 {
		s.leads(t, s.textEnd(t.element, i+1))
	}
	t.clear()
	s.inTag = s.tags[doubleQuoted].open || s.tags[singleQuoted].open
}

// textEnd returns where the text of an element ends whose tag ends at a byte offset.
func (s *refScanner) textEnd(e element, tagEnd int) int {
	if e == noElement || e == leadsAlone {
		return tagEnd
	}
	_, end := s.elementClose[e].next(tagEnd, func(from int) (at, end int) { return s.findEndTag(endTags[e], from) })
	switch {
	case end >= 0:
		return end
	case e == anchorElement:
		return len(s.text)
	}
	return tagEnd
}

// openTagsAtEnd ends the tags that are not closed: they run to the end of the text.
func (s *refScanner) openTagsAtEnd() {
	for q := range s.tags {
		if s.tags[q].open {
			s.leads(&s.tags[q], len(s.text))
		}
	}
}

// leads emits what the attributes of tags lead to.
func (s *refScanner) leads(t *openTags, end int) {
	start := t.last
	if t.first >= 0 {
		start = t.first
	}
	for _, v := range t.values {
		s.step()
		if s.stopped {
			return
		}
		s.emitValue(start, end, v)
	}
}

// emitValue emits what the value of an attribute leads to.
func (s *refScanner) emitValue(start, end int, v tagValue) {
	value := s.text[v.from:v.to]
	if v.open {
		s.openDest(AnchorRef, start, end, value)
	}
	s.emitAll(AnchorRef, start, end, value)
	if !v.list {
		return
	}
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		s.emitAll(AnchorRef, start, end, part)
		if last := strings.LastIndexAny(part, " \t\r\n"); last >= 0 { // without its width
			s.emitAll(AnchorRef, start, end, part[:last])
		}
		for word := range strings.FieldsSeq(part) {
			s.emitAll(AnchorRef, start, end, word)
		}
	}
}

// attribute handles '=', which may stand between the name of an attribute and an
// address.
func (s *refScanner) attribute(i int) {
	if i < s.valueEnd {
		return
	}
	name, isURL, list := s.attributeName(i)
	if !isURL {
		return
	}
	text := s.text
	from := skipSpace(text, i+1, len(text))
	if from == len(text) {
		return
	}
	stop := -1
	if quote := text[from]; quote == '"' || quote == '\'' {
		from++
		if n := strings.IndexByte(text[from:], quote); n >= 0 {
			stop = from + n
		}
	}
	if stop < 0 { // not between quotes, or they are never closed
		for stop = from; stop < len(text) && text[stop] > ' ' && text[stop] != '>' && text[stop] != '<'; {
			stop++
		}
		s.valueEnd = stop
		if from > i+1 && (text[from-1] == '"' || text[from-1] == '\'') {
			s.value(name, tagValue{int32(from), int32(from + len(firstLine(text[from:]))), list, true})
		}
	}
	s.read += i - name + stop - from
	open := strings.IndexByte(text[from:stop], '\n') >= 0
	s.value(name, tagValue{int32(from), int32(stop), list, open})
}

// firstLine returns a text up to the end of its first line, or of a tag.
func firstLine(text string) string {
	if end := strings.IndexAny(text, "\n>"); end >= 0 {
		return text[:end]
	}
	return text
}

// attributeName returns where the name of the attribute begins whose '=' stands at i,
// whether its value is a URL, and whether it is a list of them. Of names with a prefix,
// such as xlink:href and data-src, what is behind it counts.
func (s *refScanner) attributeName(i int) (start int, isURL, list bool) {
	text := s.text
	end := i
	for end > 0 && isSpace(text[end-1]) {
		end--
	}
	start = end
	for start > 0 && end-start <= longestName &&
		(isWord(text[start-1]) || strings.IndexByte(":-", text[start-1]) >= 0) {
		start--
	}
	s.read += i - start
	if start == end {
		return 0, false, false
	}
	name := strings.ToLower(text[start:end])
	name = name[strings.LastIndexAny(name, ":-")+1:]
	list, isURL = urlAttributes[name]
	if !isURL && strings.HasSuffix(name, "href") {
		start, isURL = end-len("href"), true
	}
	return start, isURL, list
}

// value takes the value of an attribute in, for all the tags that are open. Outside of
// any it belongs to the anchor that it stands in, or is all there is of a tag that was
// cut.
func (s *refScanner) value(name int, v tagValue) {
	if s.inTag {
		for q := range s.tags {
			if s.tags[q].open {
				s.tags[q].values = append(s.tags[q].values, v)
			}
		}
		return
	}
	start, end := name, int(v.to)
	if s.anchor >= 0 {
		start, end = s.anchor, s.textEnd(anchorElement, end)
	}
	s.emitValue(start, end, v)
}

// findEndTag finds an end tag, such as "/a".
func (s *refScanner) findEndTag(name string, from int) (at, end int) {
	for at = from; ; at++ {
		next := strings.Index(s.text[at:], "</")
		if next < 0 {
			s.read += len(s.text) - at
			return -1, -1
		}
		at += next
		s.read += next
		if !isTagName(s.text[at+1:], name) {
			continue
		}
		end = at + len("<") + len(name)
		close := end
		for close < len(s.text) && isSpace(s.text[close]) {
			close++
		}
		s.read += close - end
		if close < len(s.text) && s.text[close] == '>' {
			end = close + 1
		}
		return at, end
	}
}

func isSpace(c byte) bool { return isBlank(c) || c == '\n' || c == '\r' || c == '\f' }
