package markdown

// frontmatter*.go read the YAML at the head of a note: where it lies
// (SplitFrontmatter) and the fields that it holds (ReadFrontmatter).
//
// Values are slices of the source wherever possible and keep it alive.
//
// Frontmatter is YAML, with two concessions to how people write it: unquoted
// wikilinks are links, and no number or date is changed by being read. Plain
// keys with scalars and lists take a short way of their own (frontmatter_plain.go), which
// nearly all notes need and which is many times faster; anything else goes to
// goccy/go-yaml (this file) behind limits on size, depth, blank lines and
// aliases, because that parser needs quadratic time on some texts. A test
// holds the two readers against each other.
//
// What one line and one wikilink are (LineEnd, WikilinkLen) is declared in
// frontmatter_text.go; the scanners of the rest of a note use both.

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/ctxd/ctxd/entities/fault"
)

// Bounds of what the YAML parser is shown. It needs quadratic time for many
// keys and for runs of blank lines (v1.19.2: 4,000 of them in a block scalar
// take 0.2 s, 32,000 take 7 s), and it recurses.
const (
	maxFull   = 32 << 10 // bytes
	maxBlanks = 250      // blank lines, or blanks, in a row
)

// fullYAML reads any YAML map. firstLine is the number of the first line of
// src in the note.
func fullYAML(src string, firstLine int) (fields []FrontmatterField, ferr *fault.Error) {
	if len(src) > maxFull {
		return nil, broken(firstLine, "the frontmatter is larger than 32 KiB and more than plain keys and lists",
			"move the text into the note's body")
	}
	if line, reason, hint := unparsable(src); line > 0 {
		return nil, broken(firstLine+line-1, reason, hint)
	}
	// A defect of the parser must not take the import of a vault with it.
	defer func() {
		if recover() != nil {
			fields, ferr = nil, broken(firstLine, "the YAML cannot be read", "")
		}
	}()
	file, err := parser.ParseBytes([]byte(quoteLinks(src)), 0)
	if err != nil {
		return nil, yamlFault(err, linesOf(src, firstLine))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	c := yamlConverter{lines: linesOf(src, firstLine), left: maxYAMLValues, anchors: map[string]ast.Node{}}
	pairs, ferr := c.top(file.Docs[0].Body)
	if ferr != nil {
		return nil, ferr
	}
	for _, p := range pairs {
		f := FrontmatterField{Key: p.key, Line: p.line, Value: p.value.value, Raw: p.value.raw}
		if list, ok := f.Value.([]any); ok && p.value.raws != nil {
			f.RawItems = p.value.raws[:len(list):len(list)]
		}
		fields = append(fields, f)
	}
	return fields, nil
}

const (
	tooDeep     = "lists or maps are nested too deeply"
	tooDeepHint = "keep frontmatter at most 32 levels deep"
)

// unparsable looks, without parsing, for what the parser can't take: nesting
// beyond MaxDepth by brackets, "- - - -" or indentation, and long runs of
// blank lines. It returns the line, from 1, or 0. Brackets inside quotes are
// counted too; nobody writes 32 of them.
func unparsable(src string) (line int, reason, hint string) {
	open, blanks := 0, 0
	var indents []int
	for pos := 0; pos < len(src); {
		le, next := LineEnd(src, pos)
		l := src[pos:le]
		pos = next
		line++
		if strings.TrimSpace(l) == "" {
			blanks++
			if blanks > maxBlanks {
				return line, "there are hundreds of blank lines in a row", "remove the blank lines"
			}
			continue
		}
		blanks = 0
		if longBlank(l) {
			return line, "a line holds hundreds of blanks in a row", "remove the blanks"
		}
		markers, indent := nesting(l)
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		properties := 0
		for i := indent; i < len(l) && open <= maxYAMLDepth; i++ {
			switch l[i] {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '!', '&', '?': // tags, anchors and explicit keys nest as well
				properties++
			}
		}
		if open > maxYAMLDepth || markers > maxYAMLDepth || len(indents) > maxYAMLDepth || properties > 64*maxYAMLDepth {
			return line, tooDeep, tooDeepHint
		}
	}
	return 0, "", ""
}

// longBlank reports a run of more than maxBlanks blanks after the indentation
// of a line.
func longBlank(l string) bool {
	run := 0
	for _, c := range []byte(strings.TrimLeft(l, " ")) {
		run++
		if !isBlank(c) && c != '\r' {
			run = 0
		}
		if run > maxBlanks {
			return true
		}
	}
	return false
}

// nesting returns the number of block markers, "- ", "? " and ": ", that start
// a line, and the column of what follows.
func nesting(l string) (markers, indent int) {
	for ; indent < len(l) && strings.IndexByte(" -?:\t", l[indent]) >= 0; indent++ {
		if l[indent] != ' ' && indent+1 < len(l) && isBlank(l[indent+1]) {
			markers++
		}
	}
	return markers, indent
}

// yamlConverter turns parser nodes into values, within a budget that aliases
// draw on as well.
type yamlConverter struct {
	lines   lineNumbers
	left    int
	anchors map[string]ast.Node
	within  []string // anchors being expanded, against cycles
}

// yamlValue is a value with its text, or with those of its items.
type yamlValue struct {
	value any
	raw   string
	raws  []string
}

type yamlPair struct {
	key   string
	line  int
	value yamlValue
}

func (c *yamlConverter) fault(n ast.Node, reason, hint string) *fault.Error {
	line := 1
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		line = tk.Position.Line
	}
	return broken(c.lines.inNote(line), reason, hint)
}

// lineNumbers tells where in the note a line is that YAML has counted. For YAML a CR
// without an LF ends a line as well.
type lineNumbers struct {
	first int
	from  []int // by line of YAML: how many LF come before it; nil: all lines end with LF
}

func linesOf(src string, first int) lineNumbers {
	if strings.Count(src, "\r") == strings.Count(src, "\r\n") {
		return lineNumbers{first: first}
	}
	from, n := []int{0}, 0
	for i := range len(src) {
		switch {
		case src[i] == '\n':
			n++
			from = append(from, n)
		case src[i] == '\r' && !strings.HasPrefix(src[i+1:], "\n"):
			from = append(from, n)
		}
	}
	return lineNumbers{first, from}
}

// inNote returns the number of a line of YAML, from 1, in the note.
func (l lineNumbers) inNote(line int) int {
	if l.from == nil {
		return l.first + line - 1
	}
	return l.first + l.from[min(line, len(l.from))-1]
}

// top converts the document, which must be a map.
func (c *yamlConverter) top(n ast.Node) ([]yamlPair, *fault.Error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.pairs(n.Values, 1)
	case *ast.MappingValueNode:
		return c.pairs([]*ast.MappingValueNode{n}, 1)
	case *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	}
	return nil, c.fault(n, "the frontmatter is not a list of keys with values", `write "key: value" lines`)
}

func (c *yamlConverter) pairs(nodes []*ast.MappingValueNode, depth int) ([]yamlPair, *fault.Error) {
	var out []yamlPair
	at := make(map[string]int, len(nodes))
	var merged []yamlPair
	for _, n := range nodes {
		v, err := c.value(n.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if n.Key.IsMergeKey() {
			more, err := c.merge(n.Value, depth)
			if err != nil {
				return nil, err
			}
			merged = append(merged, more...)
			continue
		}
		key, err := c.key(n.Key)
		if err != nil {
			return nil, err
		}
		p := yamlPair{key: key, line: c.lines.inNote(n.Key.GetToken().Position.Line), value: v}
		if _, twice := at[key]; twice {
			return nil, broken(p.line, "the same key is given twice", "remove one of the two")
		}
		at[key] = len(out)
		out = append(out, p)
	}
	for _, p := range merged {
		if _, has := at[p.key]; !has {
			at[p.key] = len(out)
			out = append(out, p)
		}
	}
	return out, nil
}

// merge returns the pairs that "<<: *anchor" brings in.
func (c *yamlConverter) merge(n ast.Node, depth int) ([]yamlPair, *fault.Error) {
	if depth > maxYAMLDepth {
		return nil, c.fault(n, tooDeep, tooDeepHint)
	}
	switch n := n.(type) {
	case *ast.AliasNode:
		target, err := c.enter(n)
		if err != nil {
			return nil, err
		}
		defer c.leave()
		return c.merge(target, depth+1)
	case *ast.AnchorNode:
		return c.merge(n.Value, depth+1)
	case *ast.MappingNode:
		return c.pairs(n.Values, depth)
	case *ast.MappingValueNode:
		return c.pairs([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		var out []yamlPair
		for _, item := range n.Values {
			more, err := c.merge(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
	return nil, c.fault(n, "<< must be given a map", "")
}

// key returns a key as text, whatever its type.
func (c *yamlConverter) key(n ast.MapKeyNode) (string, *fault.Error) {
	var node ast.Node = n
	if k, ok := n.(*ast.MappingKeyNode); ok {
		node = k.Value
	}
	v, err := c.value(node, maxYAMLDepth)
	if err != nil {
		return "", err
	}
	switch v.value.(type) {
	case []any, map[string]any:
		return "", c.fault(n, "a list or map can't be a key", "")
	}
	return v.raw, nil
}

func (c *yamlConverter) value(n ast.Node, depth int) (yamlValue, *fault.Error) {
	c.left--
	if c.left < 0 {
		return yamlValue{}, c.fault(n, "the frontmatter holds too many values",
			"keep it under 20,000 values, aliases expanded")
	}
	if depth > maxYAMLDepth+1 {
		return yamlValue{}, c.fault(n, tooDeep, tooDeepHint)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return c.sequence(n, depth)
	case *ast.AnchorNode:
		c.anchors[n.Name.GetToken().Value] = n.Value
		return c.value(n.Value, depth+1)
	case *ast.AliasNode:
		target, err := c.enter(n)
		if err != nil {
			return yamlValue{}, err
		}
		defer c.leave()
		return c.value(target, depth+1)
	case *ast.TagNode:
		v, err := c.value(n.Value, depth+1)
		if _, list := v.value.([]any); err == nil && !list && n.Start.Value == "!!str" {
			v.value = v.raw
		}
		return v, err
	}
	return scalarOf(n), nil
}

// enter looks up what an alias stands for.
func (c *yamlConverter) enter(n *ast.AliasNode) (ast.Node, *fault.Error) {
	name := n.Value.GetToken().Value
	for _, w := range c.within {
		if w == name {
			return nil, c.fault(n, "an alias stands for a value that holds the alias itself", "")
		}
	}
	target, ok := c.anchors[name]
	if !ok {
		return nil, c.fault(n, "an alias has no anchor", `quote a text that starts with "*"`)
	}
	c.within = append(c.within, name)
	return target, nil
}

func (c *yamlConverter) leave() { c.within = c.within[:len(c.within)-1] }

func (c *yamlConverter) mapping(nodes []*ast.MappingValueNode, depth int) (yamlValue, *fault.Error) {
	pairs, err := c.pairs(nodes, depth)
	if err != nil {
		return yamlValue{}, err
	}
	m := make(map[string]any, len(pairs))
	for _, p := range pairs {
		m[p.key] = p.value.value
	}
	return yamlValue{value: m}, nil
}

func (c *yamlConverter) sequence(n *ast.SequenceNode, depth int) (yamlValue, *fault.Error) {
	list, raws, scalars := make([]any, 0, len(n.Values)), make([]string, 0, len(n.Values)), true
	for _, item := range n.Values {
		v, err := c.value(item, depth+1)
		if err != nil {
			return yamlValue{}, err
		}
		switch v.value.(type) {
		case []any, map[string]any:
			scalars = false
		}
		list, raws = append(list, v.value), append(raws, v.raw)
	}
	if !scalars {
		raws = nil
	}
	return yamlValue{value: list, raws: raws}, nil
}

// scalarOf types a scalar by its text, not by the parser's reading of it, so
// that both readers of frontmatter agree.
func scalarOf(n ast.Node) yamlValue {
	switch n := n.(type) {
	case *ast.StringNode:
		if tk := n.Token; tk != nil && (tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType) {
			return yamlValue{value: n.Value, raw: n.Value}
		}
		return yamlValue{value: plainScalar(n.Value), raw: n.Value}
	case *ast.LiteralNode:
		return yamlValue{value: n.Value.Value, raw: n.Value.Value}
	case *ast.NullNode:
		if tk := n.Token; tk != nil && tk.Type == token.NullType {
			return yamlValue{raw: tk.Value}
		}
		return yamlValue{}
	}
	if tk := n.GetToken(); tk != nil {
		return yamlValue{value: plainScalar(tk.Value), raw: tk.Value}
	}
	return yamlValue{}
}

// plainReasons says in plain words what the parser's messages mean. Others
// may quote the note and are not passed on.
var plainReasons = map[string][2]string{
	"mapping value is not allowed in this context":                       {`a value that holds ": " has no quotes`, "put the value in quotes"},
	"could not find end character of double-quoted text":                 {"a double quote is not closed", ""},
	"could not find end character of single-quoted text":                 {"a single quote is not closed", ""},
	"sequence end token ']' not found":                                   {`a list is not closed with "]"`, ""},
	"could not find flow mapping end token '}'":                          {`a map is not closed with "}"`, ""},
	"',' or ']' must be specified":                                       {`an item of a list is not followed by "," or "]"`, ""},
	"',' or '}' must be specified":                                       {`an item of a map is not followed by "," or "}"`, ""},
	"found a tab character where an indentation space is expected":       {"a line is indented with a tab", "indent with spaces"},
	"found character '\t' that cannot start any token":                   {"a line is indented with a tab", "indent with spaces"},
	"unexpected key name":                                                {`a line is not of the form "key: value"`, ""},
	"non-map value is specified":                                         {`a line is not of the form "key: value"`, ""},
	"value is not allowed in this context. map key-value is pre-defined": {"a value is indented like its key, or stands after a complete one", ""},
	"value is not allowed in this context":                               {"a value stands where none is expected", ""},
	"block sequence entries are not allowed in this context":             {`a "- " item stands where none is expected`, ""},
}

// yamlFault turns a parser's error into ours.
func yamlFault(err error, lines lineNumbers) *fault.Error {
	line, reason, hint := 1, "the YAML is not valid", "check quotes, colons and indentation"
	var y yaml.Error
	if errors.As(err, &y) {
		if tk := y.GetToken(); tk != nil && tk.Position != nil && tk.Position.Line > 0 {
			line = tk.Position.Line
		}
		if p, ok := plainReasons[y.GetMessage()]; ok {
			reason = p[0]
			if p[1] != "" {
				hint = p[1]
			}
		} else if strings.Contains(y.GetMessage(), "already defined") {
			reason, hint = "the same key is given twice", "remove one of the two"
		}
	}
	return broken(lines.inNote(line), reason, hint)
}
