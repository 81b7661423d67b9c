package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Params returns the params as a JSON object.
func (c *CallCommand) params(a *CallOptions) (json.RawMessage, error) {
	for _, arg := range c.Params {
		if !utf8.ValidString(arg) {
			return nil, term.Misuse(fmt.Sprintf("%q is not valid UTF-8, which JSON requires", arg),
				"set the terminal and the files to UTF-8")
		}
	}
	var doc []byte
	switch {
	case len(c.Params) == 0:
		return json.RawMessage("{}"), nil
	case len(c.Params) == 1 && c.Params[0] == "-":
		var err error
		doc, err = a.Input(a.Streams, "-", "the params, a JSON object")
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			return nil, term.Misuse("standard input was empty", "give a JSON object, or leave out the - for no params")
		}
	case len(c.Params) == 1 && !isMember(c.Params[0]):
		doc = []byte(c.Params[0])
	default:
		return members(c.Params, schemasOf(c.Method))
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(doc, &object); err != nil {
		return nil, badJSON("the params", err)
	}
	if object == nil {
		return nil, term.Misuse("the params are null", "give a JSON object, or leave them out")
	}
	return doc, nil
}

// isMember reports whether an argument is NAME=TEXT or NAME:=JSON.
func isMember(arg string) bool {
	name, _, ok := strings.Cut(arg, "=")
	return ok && strings.TrimSuffix(name, ":") != "" && !strings.ContainsAny(name, "{[\" \t\n")
}

// members makes an object of NAME=TEXT and NAME:=JSON. A text becomes what the
// schema of its parameter takes; where none is known it stays a text.
func members(args []string, schemas map[string]schema) (json.RawMessage, error) {
	object := make(map[string]any, len(args))
	for _, arg := range args {
		if !isMember(arg) {
			return nil, term.Misuse(fmt.Sprintf("%q is no NAME=TEXT", arg),
				`quote JSON as one word: '{"query":"two words"}'`)
		}
		name, value, _ := strings.Cut(arg, "=")
		name, isJSON := strings.CutSuffix(name, ":")
		list, isList := object[name].([]string)
		_, twice := object[name]
		if twice && (isJSON || !isList) {
			return nil, term.Misuse(name+" is given twice",
				"remove one of the two; a list is written as "+name+`:='["a","b"]'`)
		}
		switch s, known := schemas[name]; {
		case isJSON:
			if err := json.Unmarshal([]byte(value), new(any)); err != nil {
				return nil, badJSON(name, err)
			}
			object[name] = json.RawMessage(value)
		case known && s.listsTexts():
			object[name] = append(list, value)
		case known:
			v, err := s.convert(name, value)
			if err != nil {
				return nil, err
			}
			object[name] = v
		default:
			object[name] = value
		}
	}
	return json.Marshal(object)
}

// listsTexts reports whether values are lists of texts, so that NAME=TEXT is one
// item of such a list.
func (s *schema) listsTexts() bool {
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].listsTexts()
	}
	return s.Items != nil && s.Items.kind() == "string"
}

// convert makes a value of the schema's type from a text.
func (s *schema) convert(name, text string) (any, error) {
	if len(s.AnyOf) > 0 { // the other one is null
		return s.AnyOf[0].convert(name, text)
	}
	switch s.kind() {
	case "string", "any":
		return text, nil
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, term.Misuse(fmt.Sprintf("%s is a whole number, not %q", name, text), "such as "+name+"=3")
		}
		return n, nil
	case "boolean":
		if text != "true" && text != "false" {
			return nil, term.Misuse(fmt.Sprintf("%s is true or false, not %q", name, text), "such as "+name+"=true")
		}
		return text == "true", nil
	}
	if s.Items != nil {
		return nil, term.Misuse(name+" is a list of objects, which must be given as JSON", "such as "+name+":='[{…}]'")
	}
	return nil, term.Misuse(name+" is an object, which must be given as JSON", "such as "+name+":='{…}'")
}

func badJSON(what string, err error) error {
	hint := "JSON needs double quotes around names and strings; in a shell, put single quotes around the whole"
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return term.Misuse(fmt.Sprintf("invalid JSON in %s: %s at byte %d", what, syntax, syntax.Offset), hint)
	}
	return term.Misuse(what+" must be a JSON object", hint)
}
