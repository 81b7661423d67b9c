package rpc_test

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// stepBytes is how many bytes of a fuzz input say what one step of an attack does. A
// step has bytes of its own, so that a change of one leaves the others as they were.
const stepBytes = 24

// choices are the decisions of a step. They are read from its bytes, and when those are
// used up from a generator that its last four bytes seed; with the seed 0 every further
// choice is the first one. The first choice is always the plainest.
type choices struct {
	bytes []byte
	rest  *rand.Rand
}

func newChoices(step []byte) *choices {
	c := &choices{bytes: step}
	if own := stepBytes - 4; len(step) > own {
		c.bytes = step[:own]
		seed := uint64(0)
		for _, b := range step[own:] {
			seed = seed<<8 | uint64(b)
		}
		if seed != 0 {
			c.rest = rand.New(rand.NewPCG(seed, 0))
		}
	}
	return c
}

// of chooses one of n, counted from 0.
func (c *choices) of(n int) int {
	width := 1
	if n > 256 {
		width = 2
	}
	if len(c.bytes) >= width {
		x := 0
		for _, b := range c.bytes[:width] {
			x = x<<8 | int(b)
		}
		c.bytes = c.bytes[width:]
		return x % n
	}
	c.bytes = nil
	if c.rest == nil {
		return 0
	}
	return c.rest.IntN(n)
}

// rarely is true once in n times.
func (c *choices) rarely(n int) bool { return c.of(n) == n-1 }

// pick chooses one of a list that has at most 256 elements.
func pick[T any](c *choices, list []T) T { return list[c.of(len(list))] }

// preferred chooses one of a list by the number of a choice. Where an element is added
// to the list, most numbers stand for the element for which they stood before, so that
// inputs that are kept go on doing what they did.
func preferred(number int, list []string) string {
	best, most := "", uint64(0)
	for _, name := range list {
		h := fnv.New64a()
		_, _ = h.Write([]byte{byte(number), byte(number >> 8)})
		_, _ = h.Write([]byte(name))
		sum := h.Sum64()
		sum = (sum ^ sum>>33) * 0xff51afd7ed558ccd // FNV alone favours names with the same end
		if sum ^= sum >> 33; best == "" || sum > most {
			best, most = name, sum
		}
	}
	return best
}

// value is a JSON value that need not be a right one: its scalars are bytes as they
// will stand in a message, and an object may have a member twice.
type value struct {
	scalar  string    // "" for an object or a list
	members []*member // of an object
	items   []*value  // of a list
	list    bool
}

type member struct {
	name string // quoted
	value
}

func scalar(text string) value { return value{scalar: text} }

// quoted returns a text as JSON.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// unquoted returns the text that a scalar stands for.
func (v *value) unquoted() (text string, ok bool) {
	if !strings.HasPrefix(v.scalar, `"`) {
		return "", false
	}
	return text, json.Unmarshal([]byte(v.scalar), &text) == nil
}

func (v *value) set(name string, to value) {
	v.members = append(v.members, &member{quoted(name), to})
}

// named returns the members of a name.
func (v *value) named(name string) (list []*member) {
	for _, m := range v.members {
		if got, _ := (&value{scalar: m.name}).unquoted(); got == name {
			list = append(list, m)
		}
	}
	return list
}

func (v *value) append(b []byte) []byte {
	switch {
	case v.scalar != "":
		return append(b, v.scalar...)
	case v.list:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, m := range v.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, m.name...), ':')
		b = m.append(b)
	}
	return append(b, '}')
}

// each calls fn with v and all that is inside of it.
func (v *value) each(fn func(*value)) {
	fn(v)
	for _, item := range v.items {
		item.each(fn)
	}
	for _, m := range v.members {
		m.each(fn)
	}
}

// parsed returns the value of a text that is JSON.
func parsed(text []byte) value {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return parseNext(dec)
}

func parseNext(dec *json.Decoder) value {
	token, _ := dec.Token()
	switch t := token.(type) {
	case json.Delim:
		v := value{list: t == '['}
		for dec.More() {
			if v.list {
				item := parseNext(dec)
				v.items = append(v.items, &item)
				continue
			}
			name, _ := dec.Token()
			v.set(name.(string), parseNext(dec))
		}
		_, _ = dec.Token()
		return v
	case string:
		return scalar(quoted(t))
	case json.Number:
		return scalar(t.String())
	}
	text, _ := json.Marshal(token)
	return scalar(string(text))
}

// pieces are what hostile texts are put together of, as they stand between the quotes
// of a JSON string. None begins with what would be an absolute path.
var pieces = []string{
	"x", "Alpha", "alice", " ", "é", "e\u0301", `\u0000`, `\ud800`, `\udc00\ud800`, `\ud83d\ude00`, "\u202e", "\u200d",
	"\ufeff", "\ufffe", "\U0010ffff", "\u2028", `\n`, `\r\n`, `\t`, `\b\f`, `\u001b[2J`, `\u007f`, "\u0085", `\"`, `\\`, "[[", "]]",
	"[[Alpha|", "![[", "@Alice", "@[", "#plan/", "{this}", "{{", `---\ntype: Person\n`, `---\n`, "<a href=", "</note>", "<!--",
	"&lt;", "`", "```", "](", "%00", "../", "..", "./", "a/b.md", ".md", "SELECT", "' OR '", `\u0027`, "(", "))", "*", "?", "%",
	"İ", "ı", "ß", "ſ", "K", "Ǆ", "ก็", "한", "한", "漢字", "हिन्दी", "👩‍👩‍👧", "🇩🇪", "₿", "\u0300\u0301\u0302", "NaN", "null", "-1", "1e9", "^block",
	"private: true", "tag:", "-", "_", "~", "|", "\u00a0", "\u3000", "incident-", "2026-01-31", "$/cancelRequest",
}

// hostile returns a quoted text of which much can go wrong.
func hostile(c *choices) string {
	var b strings.Builder
	b.WriteByte('"')
	for range 1 + c.of(6) {
		times := 1
		if c.rarely(12) {
			times = []int{2, 17, 100, 513, 5000}[c.of(5)]
		}
		b.WriteString(strings.Repeat(pick(c, pieces), times))
	}
	b.WriteByte('"')
	return b.String()
}

// oddities are scalars and short values that fit few parameters.
var oddities = []string{
	"null", "true", "false", "0", "-0", "-1", "1", "0.5", "1e0", "1E+2", "1e400", "-1e400", "1e308", "1e-400", "9007199254740993",
	"2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
	strings.Repeat("9", 400), "0." + strings.Repeat("3", 400), `""`, `"x"`, `"1"`, `"true"`, `"null"`, `" "`, "[]", "{}", "[null]", `{"":null}`,
	`["a","a"]`, `[[]]`, `{"id":"alpha"}`,
}

// odd returns a value of any kind.
func odd(c *choices) value {
	switch c.of(6) {
	case 1, 2:
		return scalar(hostile(c))
	case 3:
		depth := 2 + c.of(40)
		if c.of(2) == 0 {
			return scalar(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		}
		return scalar(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth))
	case 4:
		n := []int{0, 1, 200, 1001, 3000}[c.of(5)]
		return scalar("[" + strings.TrimSuffix(strings.Repeat(pick(c, []string{"1", `"a"`, "{}", "null"})+",", n), ",") + "]")
	case 5:
		if c.rarely(4) {
			return scalar(`"` + strings.Repeat(pick(c, pieces), 1+c.of(12000)) + `"`)
		}
	}
	return scalar(pick(c, oddities))
}

// mutate changes one place of params for the worse.
func (v *value) mutate(c *choices) {
	var all []*value
	v.each(func(inner *value) { all = append(all, inner) })
	at := all[c.of(min(len(all), 256))]
	switch kind := c.of(6); {
	case kind == 0 || at.scalar != "":
		*at = odd(c)
	case at.list && len(at.items) > 0:
		again := at.items[c.of(len(at.items)%256+1)%len(at.items)]
		for range []int{1, 2, 30, 300}[c.of(4)] {
			at.items = append(at.items, again)
		}
	case at.list:
		item := odd(c)
		at.items = append(at.items, &item)
	case kind == 1 && len(at.members) > 0: // a member is missing
		i := c.of(len(at.members))
		at.members = append(at.members[:i:i], at.members[i+1:]...)
	case kind == 2 && len(at.members) > 0: // twice
		at.members = append(at.members, at.members[c.of(len(at.members))])
	case kind == 3 && len(at.members) > 0: // by another name
		at.members[c.of(len(at.members))].name = hostile(c)
	default:
		at.members = append(at.members, &member{pick(c, []string{`"x"`, `"id"`, `"audience"`, `"limit"`, `"\u0069d"`, `""`, `"__proto__"`}), odd(c)})
	}
}
