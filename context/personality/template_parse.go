package personality

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// ParseTemplate reads a template. Without errs the template is there; problems are in the order of the text.
func ParseTemplate(text string) (t *Template, errs, warnings []TemplateProblem) {
	if len(text) > MaxTemplateBytes {
		return nil, []TemplateProblem{{
			Line: 1, Column: 1, Message: fmt.Sprintf("the template has %d bytes", len(text)),
			Hint: fmt.Sprintf("the most is %d", MaxTemplateBytes),
		}}, nil
	}
	if !utf8.ValidString(text) {
		return nil, []TemplateProblem{{Line: 1, Column: 1, Message: "the template is not UTF-8"}}, nil
	}
	r := &reader{t: &Template{Chosen: map[string]string{}}}
	root := r.root(text)
	if root != nil {
		r.sections(root)
	}
	if len(r.errs) == 0 {
		r.fits()
	}
	byPlace := func(a, b TemplateProblem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}
	slices.SortStableFunc(r.errs, byPlace)
	slices.SortStableFunc(r.warnings, byPlace)
	if len(r.errs) > 0 {
		return nil, r.errs, r.warnings
	}
	return r.t, nil, r.warnings
}

// reader reads one template.
type reader struct {
	t              *Template
	errs, warnings []TemplateProblem
}

func place(n ast.Node) (line, column int) {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1, 1
	}
	p := n.GetToken().Position
	return max(1, p.Line), max(1, p.Column)
}

func (r *reader) fail(n ast.Node, path, hint, format string, args ...any) {
	line, column := place(n)
	r.errs = append(r.errs, TemplateProblem{Line: line, Column: column, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *reader) warn(n ast.Node, path, hint, format string, args ...any) {
	line, column := place(n)
	r.warnings = append(r.warnings, TemplateProblem{Line: line, Column: column, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// root returns the mapping that a text is, nil after an error.
func (r *reader) root(text string) *ast.MappingNode {
	if deep(text) {
		r.fail(nil, "", "a template needs two levels", "the template is nested too deep")
		return nil
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		p := TemplateProblem{Line: 1, Column: 1, Message: "the template is no YAML", Hint: "look for a missing colon, quote or indent"}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			if at := syntax.GetToken(); at != nil && at.Position != nil {
				p.Line, p.Column = max(1, at.Position.Line), max(1, at.Position.Column)
			}
			p.Message += ": " + syntax.GetMessage()
		}
		r.errs = append(r.errs, p)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			r.fail(doc.Body, "", "put each template into a file of its own", "the text has more than one document")
			return nil
		}
		body = doc.Body
	}
	switch n := body.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: n.GetToken(), Values: []*ast.MappingValueNode{n}}
	}
	r.fail(body, "", "begin with identity: and, indented below it, name:", "the template is no mapping of sections")
	return nil
}

// deep tells whether a text opens more brackets than a template can need, at which the parser would recurse.
func deep(text string) bool {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most > 64
}

// pairs calls fn with the entries of a mapping.
func (r *reader) pairs(path string, n ast.Node, fn func(key string, at, value ast.Node)) {
	var list []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		list = m.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{m}
	default:
		r.fail(n, path, "indent its options below it", "%s is no mapping of options", path)
		return
	}
	seen := map[string]bool{}
	for _, pair := range list {
		key, ok := scalar(pair.Key)
		if !ok {
			r.fail(pair.Key, path, "", "a name is no text")
			continue
		}
		if seen[key] {
			r.fail(pair.Key, under(path, key), "keep one of them", "%s is there twice", under(path, key))
			continue
		}
		seen[key] = true
		fn(key, pair.Key, pair.Value)
	}
}

func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// scalar returns the text of a scalar, as it was written but for quotes.
func scalar(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return s.GetToken().Value, true
	}
	return "", false
}

func isNull(n ast.Node) bool { return n == nil || n.Type() == ast.NullType }

// sections reads all sections.
func (r *reader) sections(root *ast.MappingNode) {
	have := map[string]bool{}
	known := make([]string, 0, len(sections))
	for _, s := range sections {
		known = append(known, s.name)
	}
	r.pairs("", root, func(key string, at, value ast.Node) {
		if !slices.Contains(known, key) {
			r.warn(at, key, meant(key, known), "there is no section %q", key)
			return
		}
		if isNull(value) {
			return // as if it were absent
		}
		have[key] = true
		switch key {
		case SectionIdentity:
			r.identity(value)
		case SectionTraits:
			r.t.Traits = r.list(key, value, maxTemplateLine)
		case SectionInstructions:
			r.t.Instructions = strings.TrimSpace(r.text(key, value, MaxTemplateSection))
		default:
			r.options(key, value)
		}
	})
	for _, s := range sections {
		switch {
		case have[s.name] || s.name == SectionTraits || s.name == SectionInstructions:
		case s.required:
			r.fail(nil, s.name, "add it; ctxd personality show default --template prints an example", "%s is missing", s.name)
		default:
			r.warn(nil, s.name, "", "%s is missing, so a model hears nothing of it", s.name)
		}
	}
	if have[SectionIdentity] && r.t.Name == "" && !slices.ContainsFunc(r.errs, func(p TemplateProblem) bool { return p.Path == "identity.name" }) {
		r.fail(nil, "identity.name", "say what the assistant is called", "identity.name is missing")
	}
}

func (r *reader) identity(n ast.Node) {
	r.pairs(SectionIdentity, n, func(key string, at, value ast.Node) {
		path := under(SectionIdentity, key)
		if !slices.Contains(identityOptions, key) {
			r.warn(at, path, meant(key, identityOptions), "%s has no option %q", SectionIdentity, key)
			return
		}
		if isNull(value) {
			return
		}
		switch key {
		case "name":
			r.t.Name = r.line(path, value, maxTemplateLine)
		case "role":
			r.t.Role = r.line(path, value, maxTemplateLine)
		case "expertise":
			r.t.Expertise = r.list(path, value, maxTemplateLine)
		case "background":
			r.t.Background = r.line(path, value, maxBackground)
		}
	})
}

// options reads a section whose options are chosen among values.
func (r *reader) options(section string, n ast.Node) {
	r.pairs(section, n, func(key string, at, value ast.Node) {
		path := under(section, key)
		i := slices.IndexFunc(TemplateOptions, func(o TemplateOption) bool { return o.Section == section && o.Name == key })
		if i < 0 {
			var known []string
			for _, o := range TemplateOptions {
				if o.Section == section {
					known = append(known, o.Name)
				}
			}
			r.warn(at, path, meant(key, known), "%s has no option %q", section, key)
			return
		}
		if isNull(value) {
			return
		}
		chosen, ok := scalar(value)
		if !ok {
			r.fail(value, path, "give one of "+valuesOf(TemplateOptions[i]), "%s is no single value", path)
			return
		}
		if _, yes := value.(*ast.BoolNode); yes {
			chosen = strings.ToLower(chosen)
		}
		if !slices.ContainsFunc(TemplateOptions[i].Values, func(v OptionValue) bool { return v.Name == chosen }) {
			var known []string
			for _, v := range TemplateOptions[i].Values {
				known = append(known, v.Name)
			}
			hint := "give one of " + valuesOf(TemplateOptions[i])
			if near := syntax.Nearest(chosen, known); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %s? there are %s", near[0], valuesOf(TemplateOptions[i]))
			}
			r.warn(value, path, hint, "%s has no value %q", path, chosen)
			return
		}
		r.t.Chosen[path] = chosen
	})
}

func valuesOf(o TemplateOption) string {
	list := make([]string, len(o.Values))
	for i, v := range o.Values {
		list[i] = v.Name
	}
	return strings.Join(list, ", ")
}

func meant(given string, known []string) string {
	if near := syntax.Nearest(given, known); len(near) > 0 {
		return fmt.Sprintf("did you mean %s?", near[0])
	}
	return "there are " + strings.Join(known, ", ")
}

// text reads a text of at most so many characters.
func (r *reader) text(path string, n ast.Node, most int) string {
	s, ok := scalar(n)
	if !ok {
		r.fail(n, path, "", "%s is no text", path)
		return ""
	}
	if size := utf8.RuneCountInString(s); size > most {
		r.fail(n, path, fmt.Sprintf("the most is %d", most), "%s has %d characters", path, size)
		return ""
	}
	return s
}

// line is text for what stands on one line.
func (r *reader) line(path string, n ast.Node, most int) string {
	return strings.Join(strings.Fields(r.text(path, n, most)), " ")
}

// list reads a list of lines; one line alone is a list of one.
func (r *reader) list(path string, n ast.Node, most int) (list []string) {
	items, ok := n.(*ast.SequenceNode)
	if !ok {
		if _, one := scalar(n); !one {
			r.fail(n, path, "begin each of its lines with a dash", "%s is no list", path)
			return nil
		}
		items = &ast.SequenceNode{Values: []ast.Node{n}}
	}
	if len(items.Values) > maxTemplateList {
		r.fail(n, path, fmt.Sprintf("the most is %d", maxTemplateList), "%s has %d items", path, len(items.Values))
		return nil
	}
	for i, item := range items.Values {
		if isNull(item) {
			continue
		}
		if s := r.line(fmt.Sprintf("%s[%d]", path, i), item, most); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// fits refuses what would be too long in a prompt of any format.
func (r *reader) fits() {
	for _, f := range []prompt.Format{prompt.Markdown, prompt.XML} {
		if size := prompt.Chars(r.t.Section(f)); size > MaxTemplateSection {
			r.fail(nil, "", fmt.Sprintf("the most is %d: shorten background or custom_instructions", MaxTemplateSection),
				"the template makes a section of %d characters", size)
			return
		}
	}
}
