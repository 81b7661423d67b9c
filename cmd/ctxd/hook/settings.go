package hook

// The settings of a program are edited as text: what is put in stands behind the last value of its list, what is taken
// out is what was put in, and no other byte changes. They may have comments and trailing commas, which the programs
// allow. Where a list or the whole file was empty before, the form of what stands there tells so: an entry in a list that
// was there stands on one line with its brackets.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// node is a value in a text of JSON, with where it stands.
type node struct {
	start, end int  // of the value
	kind       byte // '{', '[' or 0 for anything else
	members    []member
}

// member is a member of an object, or an element of a list, which has no name.
type member struct {
	name  string
	start int // of the name, or of the value where there is none
	node
}

func (n *node) get(name string) *member {
	if n == nil || n.kind != '{' {
		return nil
	}
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// document is a text of settings.
type document struct {
	text string
	root *node
}

// parse reads settings. What can't be read is refused, with its line.
func parse(text string) (*document, error) {
	plain := uncommented(text)
	var whole any
	if err := json.Unmarshal(plain, &whole); err != nil {
		line := strings.Count(text, "\n") + 1
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line = bytes.Count(plain[:min(len(plain), int(syntax.Offset))], []byte{'\n'}) + 1
		}
		return nil, fault.Wrap(fault.Invalid, err, "line %d is no JSON", line)
	}
	r := &reader{Decoder: json.NewDecoder(bytes.NewReader(plain)), plain: plain}
	root, err := r.value()
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "it is no JSON")
	case root.kind != '{':
		return nil, fault.New(fault.Invalid, "line 1 begins no JSON object")
	}
	return &document{text, root}, nil
}

// uncommented returns a text with blanks in the place of comments, trailing commas and the mark of its encoding.
func uncommented(text string) []byte {
	plain := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if plain[i] != '\n' && plain[i] != '\r' {
				plain[i] = ' '
			}
		}
	}
	if strings.HasPrefix(text, "\ufeff") {
		blank(0, len("\ufeff"))
	}
	comma := -1 // the last one, when nothing has followed it
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			comma = -1
		case strings.HasPrefix(rest, "//"):
			to := i + indexOr(rest, "\n", len(rest))
			blank(i, to)
			i = to - 1
		case strings.HasPrefix(rest, "/*"):
			to := min(len(text), i+indexOr(rest, "*/", len(rest))+2)
			blank(i, to)
			i = to - 1
		case text[i] == ',':
			comma = i
		case (text[i] == '}' || text[i] == ']') && comma >= 0:
			plain[comma] = ' '
			comma = -1
		case !strings.ContainsRune(" \t\r\n", rune(text[i])):
			comma = -1
		}
	}
	return plain
}

func indexOr(s, part string, none int) int {
	if i := strings.Index(s, part); i >= 0 {
		return i
	}
	return none
}

// reader tells where values stand.
type reader struct {
	*json.Decoder
	plain []byte
}

// token returns the next token and where it stands.
func (r *reader) token() (t json.Token, start, end int, err error) {
	start = int(r.InputOffset())
	t, err = r.Token()
	end = int(r.InputOffset())
	for start < end && strings.IndexByte(" \t\r\n,:", r.plain[start]) >= 0 {
		start++
	}
	return t, start, end, err
}

func (r *reader) value() (*node, error) {
	t, start, end, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{start: start, end: end}
	d, open := t.(json.Delim)
	if !open {
		return n, nil
	}
	n.kind = byte(d)
	for r.More() {
		m := member{start: -1}
		if n.kind == '{' {
			name, at, _, err := r.token()
			if err != nil {
				return nil, err
			}
			m.name, _ = name.(string)
			m.start = at
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if m.node = *v; m.start < 0 {
			m.start = v.start
		}
		n.members = append(n.members, m)
	}
	_, _, n.end, err = r.token()
	return n, err
}

// newline is how lines of the text end, unit how much a level is indented.
func (d *document) newline() string {
	if strings.Contains(d.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func (d *document) unit() string {
	if len(d.root.members) > 0 {
		if indent, begins := d.indent(d.root.members[0].start); begins && indent != "" {
			return indent
		}
	}
	return "  "
}

// indent returns what stands before a place on its line, and whether that is nothing but blanks.
func (d *document) indent(at int) (indent string, begins bool) {
	indent = d.text[strings.LastIndexByte(d.text[:at], '\n')+1 : at]
	return indent, strings.Trim(indent, " \t") == "" && strings.Contains(d.text[:at], "\n")
}

// insert puts a member behind the last one. The piece has lines that begin with their own indentation below it.
func (d *document) insert(n *node, piece func(indent string) string, sameLine bool) string {
	if len(n.members) > 0 {
		last := n.members[len(n.members)-1]
		between := ", "
		indent, begins := d.indent(last.start)
		if begins {
			between = "," + d.newline() + indent
		} else {
			indent, _ = d.indent(n.start)
			indent = indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))]
		}
		return d.text[:last.end] + between + piece(indent) + d.text[last.end:]
	}
	at := n.start + 1
	if sameLine {
		return d.text[:at] + piece("") + d.text[at:]
	}
	return d.text[:at] + d.newline() + d.unit() + piece(d.unit()) + d.newline() + d.text[at:]
}

// remove takes a member out.
func (d *document) remove(n *node, i int) string {
	m := n.members[i]
	switch {
	case i > 0:
		before := n.members[i-1].end
		if strings.Trim(d.text[before:m.start], " \t\r\n,") == "" {
			return d.text[:before] + d.text[m.end:]
		}
		comma := before + bytes.IndexByte(uncommented(d.text)[before:m.start], ',')
		return d.text[:comma] + d.text[comma+1:m.start] + d.text[m.end:]
	case len(n.members) > 1:
		next := n.members[1].start
		if strings.Trim(d.text[m.end:next], " \t\r\n,") == "" {
			return d.text[:m.start] + d.text[next:]
		}
		comma := m.end + bytes.IndexByte(uncommented(d.text)[m.end:next], ',')
		return d.text[:m.start] + d.text[m.end:comma] + d.text[comma+1:]
	}
	from, to := m.start, m.end
	if lead := d.newline() + d.unit(); d.text[n.start+1:from] == lead {
		from = n.start + 1
		if strings.HasPrefix(d.text[to:], d.newline()) {
			to += len(d.newline())
		}
	} else if strings.TrimSpace(d.text[n.start+1:from]) == "" && strings.TrimSpace(d.text[to:n.end-1]) == "" {
		from, to = n.start+1, n.end-1
	}
	return d.text[:from] + d.text[to:]
}

// entry is the line of an event: a hook that runs a command.
func (h *host) entry(command string) string {
	run := `"command": ` + quoted(command)
	if h.timeout > 0 {
		run += `, "timeout": ` + strconv.Itoa(h.timeout)
	}
	if h.nested {
		return `{"hooks": [{"type": "command", ` + run + `}]}`
	}
	return "{" + run + "}"
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// fresh are the settings of a program that has none. The empty line at their end tells that they are ctxd's.
func (h *host) fresh() string {
	if h.version {
		return "{\n  \"version\": 1\n}\n\n"
	}
	return "{}\n\n"
}

// installed returns settings with the lines of ctxd, and those lines brought up to date where they are.
func (h *host) installed(text string, commands map[string]string) (string, error) {
	if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
		text = h.fresh()
	}
	for _, event := range events {
		d, err := parse(text)
		if err != nil {
			return "", err
		}
		if text, err = h.with(d, event, commands[event]); err != nil {
			return "", err
		}
	}
	return text, nil
}

// with returns settings in which one event runs a command.
func (h *host) with(d *document, event, command string) (string, error) {
	name := h.events[event]
	at, list := d.root.get("hooks"), (*member)(nil)
	if at != nil {
		list = at.get(name)
	}
	switch {
	case at != nil && at.kind != '{':
		return "", fault.New(fault.Invalid, `"hooks" is no object`)
	case list != nil && list.kind != '[':
		return "", fault.New(fault.Invalid, "%q in \"hooks\" is no list", name)
	case at == nil:
		return d.insert(d.root, func(indent string) string {
			below := indent + d.unit()
			return `"hooks": {` + d.newline() + below + h.eventLines(d, name, command, below) + d.newline() + indent + "}"
		}, false), nil
	case list == nil:
		return d.insert(&at.node, func(indent string) string {
			return h.eventLines(d, name, command, indent)
		}, true), nil
	}
	for _, own := range h.own(d, &list.node) {
		if own.event == event {
			return d.text[:own.command.start] + quoted(command) + d.text[own.command.end:], nil
		}
	}
	return d.insert(&list.node, func(string) string { return h.entry(command) }, true), nil
}

// eventLines are a list with one entry, on lines of their own.
func (h *host) eventLines(d *document, name, command, indent string) string {
	return quoted(name) + ": [" + d.newline() + indent + d.unit() + h.entry(command) + d.newline() + indent + "]"
}

// ownHook is a hook that runs ctxd hook.
type ownHook struct {
	event   string
	list    *node // that it stands in, with its place
	place   int
	command node
}

// ownCommand finds the event in the command of a hook of ctxd.
var ownCommand = text.Pattern(`^(?:"(?:[^"]*[/\\])?ctxd[^"/\\]*"|(?:\S*[/\\])?ctxd[^\s/\\]*) hook ([a-z-]+) (start|prompt|stop)(?: ` + privateFlag + `)?$`)

// own returns the hooks of ctxd in the list of an event, where each that stands alone below a matcher is that matcher.
func (h *host) own(d *document, list *node) (found []ownHook) {
	for i := range list.members {
		entry := &list.members[i].node
		if o, is := h.ownAt(d, entry); is {
			o.list, o.place = list, i
			found = append(found, o)
			continue
		}
		inner := entry.get("hooks")
		if inner == nil {
			continue
		}
		for j := range inner.members {
			if o, is := h.ownAt(d, &inner.members[j].node); is {
				if o.list, o.place = &inner.node, j; len(inner.members) == 1 {
					o.list, o.place = list, i
				}
				found = append(found, o)
			}
		}
	}
	return found
}

func (h *host) ownAt(d *document, n *node) (o ownHook, is bool) {
	at := n.get("command")
	if at == nil {
		return o, false
	}
	var command string
	if json.Unmarshal([]byte(d.text[at.node.start:at.end]), &command) != nil {
		return o, false
	}
	m := ownCommand().FindStringSubmatch(command)
	if len(m) < 3 || m[1] != h.name {
		return o, false
	}
	return ownHook{event: m[2], command: at.node}, true
}

// errNothing ends the loop over settings that change: nothing is ctxd's any more.
var errNothing = errors.New("nothing is left to be taken out")

// uninstalled returns settings without the lines of ctxd.
func (h *host) uninstalled(text string) (string, error) {
	for {
		d, err := parse(text)
		if err != nil {
			return "", err
		}
		next, err := h.without(d)
		if errors.Is(err, errNothing) {
			return text, nil
		}
		text = next
	}
}

// without returns settings without one line of ctxd, and without the list that it stood in when that was made for it.
func (h *host) without(d *document) (string, error) {
	hooks := d.root.get("hooks")
	if hooks == nil || hooks.kind != '{' {
		return "", errNothing
	}
	for i := range hooks.members {
		list := &hooks.members[i].node
		for _, own := range h.own(d, list) {
			switch {
			case own.list != list || len(list.members) > 1 || d.onOneLine(list):
				return d.remove(own.list, own.place), nil
			case len(hooks.members) > 1 || d.onOneLine(&hooks.node):
				return d.remove(&hooks.node, i), nil
			}
			for at := range d.root.members {
				if d.root.members[at].name == "hooks" {
					return d.remove(d.root, at), nil
				}
			}
		}
	}
	return "", errNothing
}

// onOneLine reports whether a list begins right behind its bracket: it was there, and empty, before it got its first entry.
func (d *document) onOneLine(n *node) bool {
	return len(n.members) > 0 && n.members[0].start == n.start+1
}

// readAll reads settings, at most so many bytes as any program has.
func readAll(r io.Reader) (string, error) {
	const limit = 16 << 20
	raw, err := io.ReadAll(io.LimitReader(r, limit))
	if err == nil && len(raw) == limit {
		err = fault.New(fault.Limit, "the file has over %d bytes", limit)
	}
	return string(raw), err
}
