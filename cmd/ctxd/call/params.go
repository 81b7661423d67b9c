package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	xterm "golang.org/x/term"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// Params returns the params as a JSON object.
func (c *Command) params(a *Options) (json.RawMessage, error) {
	for _, arg := range c.Params {
		if !utf8.ValidString(arg) {
			return nil, command.Misuse(fmt.Sprintf("%q is no UTF-8, which JSON must be", arg),
				"set the terminal and the files to UTF-8")
		}
	}
	var doc []byte
	switch {
	case len(c.Params) == 0:
		return json.RawMessage("{}"), nil
	case len(c.Params) == 1 && c.Params[0] == "-":
		var err error
		doc, err = a.paramsFromInput()
		if err != nil {
			return nil, err
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
		return nil, command.Misuse("the params are null", "give a JSON object, or leave them out")
	}
	return doc, nil
}

// paramsFromInput reads standard input, and says so to somebody who would
// otherwise look at a program that does nothing.
func (a *Options) paramsFromInput() ([]byte, error) {
	conf, err := a.Load(nil)
	if err != nil {
		return nil, err
	}
	if f, ok := a.In.(*os.File); ok && a.Err.Terminal && xterm.IsTerminal(int(f.Fd())) {
		a.Err.Say(term.Styled(term.Faint,
			"waiting for the params, a JSON object; Ctrl-D on a line of its own ends them"))
	}
	return readInput(a.Ctx, a.In, conf.Limits.MessageBytes)
}

// byteOrderMark begins a UTF-8 text that some editors of Windows wrote.
var byteOrderMark = []byte("\ufeff")

// readInput reads up to limit bytes, until the context ends. Nothing can end a
// read of a terminal or a pipe: the goroutine that waits in one ends with the
// process.
func readInput(ctx context.Context, in io.Reader, limit int) ([]byte, error) {
	type input struct {
		doc []byte
		err error
	}
	done := make(chan input, 1)
	go func() {
		doc, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
		done <- input{doc, err}
	}()
	var got input
	select {
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, ctx.Err(), "interrupted")
	case got = <-done:
	}
	doc := bytes.TrimPrefix(got.doc, byteOrderMark)
	switch {
	case got.err != nil:
		return nil, fault.Wrap(fault.Unavailable, got.err, "standard input can't be read: %s", config.Reason(got.err))
	case len(got.doc) > limit:
		return nil, command.Misuse(fmt.Sprintf("the params are longer than %s, the limit of a message",
			config.ShowSize(int64(limit))),
			"send them in several calls; ctxd config limits.messageBytes shows the limit")
	case len(bytes.TrimSpace(doc)) == 0:
		return nil, command.Misuse("standard input was empty", "give a JSON object, or leave the - out for none")
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
			return nil, command.Misuse(fmt.Sprintf("%q is no NAME=TEXT", arg),
				`quote JSON as one word: '{"query":"two words"}'`)
		}
		name, value, _ := strings.Cut(arg, "=")
		name, isJSON := strings.CutSuffix(name, ":")
		list, isList := object[name].([]string)
		_, twice := object[name]
		if twice && (isJSON || !isList) {
			return nil, command.Misuse(name+" is given twice",
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
			return nil, command.Misuse(fmt.Sprintf("%s is a whole number, not %q", name, text), "such as "+name+"=3")
		}
		return n, nil
	case "boolean":
		if text != "true" && text != "false" {
			return nil, command.Misuse(fmt.Sprintf("%s is true or false, not %q", name, text), "such as "+name+"=true")
		}
		return text == "true", nil
	}
	if s.Items != nil {
		return nil, command.Misuse(name+" is a list of objects, which is given as JSON", "such as "+name+":='[{…}]'")
	}
	return nil, command.Misuse(name+" is an object, which is given as JSON", "such as "+name+":='{…}'")
}

func badJSON(what string, err error) error {
	hint := "JSON has double quotes around names and texts; in a shell, put single quotes around it"
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return command.Misuse(fmt.Sprintf("%s can't be read as JSON: %s at byte %d", what, syntax, syntax.Offset), hint)
	}
	return command.Misuse(what+" must be a JSON object", hint)
}
