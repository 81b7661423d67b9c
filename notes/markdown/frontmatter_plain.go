package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// simpleYAML reads the frontmatter that nearly all notes have: top-level keys
// with a scalar, a list on one line or a list of "- " items. It declines
// (false) whatever it does not know for certain, and fullYAML, which is many
// times slower, decides. On what it accepts both agree; a test holds them to
// that.
func simpleYAML(src string, line int) ([]FrontmatterField, bool) {
	var r simpleReader
	r.fields = make([]FrontmatterField, 0, 8)
	for pos := 0; pos < len(src); line++ {
		le, next := LineEnd(src, pos)
		if !r.line(src[pos:le], line) {
			return nil, false
		}
		pos = next
	}
	return r.fields, true
}

// simpleReader is at the last of fields; items may follow while open is set.
type simpleReader struct {
	fields []FrontmatterField
	open   bool            // the last key had no value yet
	indent int             // of its items; -1 until the first
	many   map[string]bool // the keys, when there are more than fewFields
}

// fewFields is up to how many fields their keys are compared one by one.
const fewFields = 16

// has reports whether there is a field of that key.
func (r *simpleReader) has(key string) bool {
	if len(r.fields) <= fewFields {
		return slices.ContainsFunc(r.fields, func(f FrontmatterField) bool { return f.Key == key })
	}
	if r.many == nil {
		r.many = make(map[string]bool)
		for i := range r.fields {
			r.many[r.fields[i].Key] = true
		}
	}
	if r.many[key] {
		return true
	}
	r.many[key] = true // it is added now
	return false
}

func (r *simpleReader) line(l string, line int) bool {
	for i := 0; i < len(l); i++ {
		if l[i] < ' ' || l[i] == 0x7F {
			return false
		}
	}
	t := strings.TrimLeft(l, " ")
	indent := len(l) - len(t)
	t = strings.TrimRight(t, " ")
	switch {
	case t == "" || t[0] == '#':
		return true
	case t == "-" || strings.HasPrefix(t, "- "):
		return r.item(strings.TrimLeft(t[1:], " "), indent)
	case indent > 0:
		return false
	}
	colon := strings.IndexByte(t, ':')
	if colon < 0 || !plainKey(t[:colon]) {
		return false
	}
	rest := t[colon+1:]
	if rest != "" && rest[0] != ' ' {
		return false
	}
	f := FrontmatterField{Key: t[:colon], Line: line}
	if r.has(f.Key) {
		return false
	}
	rest = strings.TrimLeft(rest, " ")
	if rest != "" && rest[0] == '#' {
		rest = ""
	}
	r.open, r.indent = rest == "", -1
	ok := true
	if rest != "" {
		if list, is := inlineList(rest); is {
			ok = list.ok
			f.setItems(list.items)
		} else {
			var v scalar
			v, ok = simpleScalar(rest)
			f.Value, f.Raw = v.value, v.raw
		}
	}
	r.fields = append(r.fields, f)
	return ok
}

// item adds a "- " item to the open key.
func (r *simpleReader) item(t string, indent int) bool {
	if !r.open || r.indent >= 0 && indent != r.indent || t == "-" || strings.HasPrefix(t, "- ") {
		return false
	}
	r.indent = indent
	if t != "" && t[0] == '#' {
		t = ""
	}
	f := &r.fields[len(r.fields)-1]
	if _, is := inlineList(t); is {
		return false
	}
	v, ok := simpleScalar(t)
	if !ok {
		return false
	}
	list, _ := f.Value.([]any)
	list = append(list, v.value)
	f.Value, f.RawItems = list, append(f.RawItems, v.raw)
	return true
}

// scalar is a value with its text.
type scalar struct {
	value any
	raw   string
}

func (f *FrontmatterField) setItems(items []scalar) {
	list := make([]any, len(items))
	f.RawItems = make([]string, len(items))
	for i, v := range items {
		list[i], f.RawItems[i] = v.value, v.raw
	}
	f.Value = list
}

// plainKey reports a key that needs no quotes and cannot be mistaken.
func plainKey(k string) bool {
	if k == "" || len(k) > 128 || strings.IndexByte("-. ", k[0]) >= 0 || k[len(k)-1] == ' ' || !utf8.ValidString(k) {
		return false
	}
	for i := 0; i < len(k); i++ {
		if c := k[i]; !isWord(c) && c != '-' && c != '.' && c != '/' && c != ' ' && c < utf8.RuneSelf {
			return false
		}
	}
	return true
}

// simpleScalar reads a scalar that ends on its line.
func simpleScalar(t string) (scalar, bool) {
	if t == "" {
		return scalar{}, true
	}
	switch c := t[0]; c {
	case '"', '\'':
		k := strings.IndexByte(t[1:], c)
		if k < 0 {
			return scalar{}, false
		}
		s, rest := t[1:1+k], t[2+k:]
		if strings.IndexByte(s, '\\') >= 0 && c == '"' || !utf8.ValidString(s) || !endsLine(rest) {
			return scalar{}, false
		}
		return scalar{s, s}, true
	case '[', '!':
		if s, ok := linkScalar(t); ok {
			return scalar{s, s}, true
		}
		return scalar{}, false
	case '?', ':', ',', ']', '{', '}', '#', '&', '*', '|', '>', '%', '@', '`', '=', '<':
		return scalar{}, false
	case '-':
		if len(t) == 1 || t[1] == ' ' || t[1] == '-' {
			return scalar{}, false
		}
	}
	s, ok := plainText(t)
	return scalar{plainScalar(s), s}, ok
}

// plainText cuts a comment off an unquoted text; false when a ": " in it would
// make it a map.
func plainText(t string) (string, bool) {
	if k := strings.Index(t, " #"); k >= 0 {
		if strings.Contains(t[:k], "[[") { // perhaps [[a #b]]
			return "", false
		}
		t = strings.TrimRight(t[:k], " ")
	}
	if strings.Contains(t, ": ") || t[len(t)-1] == ':' || !utf8.ValidString(t) {
		return "", false
	}
	return t, true
}

// endsLine reports that nothing but blanks and a comment follow a value.
func endsLine(rest string) bool {
	t := strings.TrimLeft(rest, " ")
	return t == "" || t[0] == '#' && len(t) < len(rest)
}

// listText is what inlineList made of a value: its items, or not ok when only
// a YAML reader can tell.
type listText struct {
	items []scalar
	ok    bool
}

// inlineList reads a list on one line: [a, "b", [[C]]], or wikilinks separated
// by commas without brackets around them. It reports false when the value is
// no list.
func inlineList(t string) (listText, bool) {
	if t == "" || t[0] != '[' && t[0] != '!' {
		return listText{}, false
	}
	if WikilinkLen(t) > 0 {
		items, ok := linkItems(t)
		ok = ok && len(items) > 1
		return listText{items, ok}, ok
	}
	if t[0] != '[' {
		return listText{}, false
	}
	var items []scalar
	for i := 1; ; {
		for i < len(t) && t[i] == ' ' {
			i++
		}
		if i < len(t) && t[i] == ']' && len(items) == 0 {
			return listText{items, endsLine(t[i+1:])}, true
		}
		v, n, ok := flowItem(t[i:])
		if !ok {
			return listText{}, true
		}
		items = append(items, v)
		for i += n; i < len(t) && t[i] == ' '; i++ {
		}
		switch {
		case i < len(t) && t[i] == ',':
			i++
		case i < len(t) && t[i] == ']':
			return listText{items, endsLine(t[i+1:])}, true
		default:
			return listText{}, true
		}
	}
}

// flowItem reads one item of a list on one line and returns its length.
func flowItem(t string) (scalar, int, bool) {
	if t == "" {
		return scalar{}, 0, false
	}
	if n := WikilinkLen(t); n > 0 {
		return scalar{t[:n], t[:n]}, n, true
	}
	if c := t[0]; c == '"' || c == '\'' {
		k := strings.IndexByte(t[1:], c)
		if k < 0 || strings.IndexByte(t[1:1+k], '\\') >= 0 && c == '"' || !utf8.ValidString(t[1:1+k]) {
			return scalar{}, 0, false
		}
		if k+2 < len(t) && t[k+2] == c { // doubled: an escaped quote
			return scalar{}, 0, false
		}
		return scalar{t[1 : 1+k], t[1 : 1+k]}, k + 2, true
	}
	i := 0
	for i < len(t) && t[i] != ',' && t[i] != ']' {
		if c := t[i]; !isWord(c) && c != ' ' && c != '.' && c != '/' && c < utf8.RuneSelf &&
			(c != '-' && c != '+' || i == 0 && (len(t) < 2 || t[1] < '0' || t[1] > '9')) {
			return scalar{}, 0, false
		}
		i++
	}
	s := strings.TrimRight(t[:i], " ")
	if s == "" || !utf8.ValidString(s) {
		return scalar{}, 0, false
	}
	return scalar{plainScalar(s), s}, i, true
}
