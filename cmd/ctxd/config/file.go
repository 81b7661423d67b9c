package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxConfigFile bounds the file in bytes: the YAML parser needs quadratic time
// for some texts.
const maxConfigFile = 32 << 10

// Path returns the file of the configuration, and what named it: nothing
// when it is the one in the user's folder, which need not be there.
func Path(flag string) (p, named string, err error) {
	switch env := os.Getenv(envConfig); {
	case flag != "":
		p, named = flag, "--config"
	case env != "":
		p, named = env, "$"+envConfig
	default:
		return filepath.Join(xdg.ConfigHome, "ctxd", "config.yaml"), "", nil
	}
	p, err = filepath.Abs(p)
	return p, named, err
}

// readFile takes the settings of the configuration file.
func (c *Config) readFile(flag string) error {
	p, named, err := Path(flag)
	if err != nil {
		return err
	}
	c.Path = p
	text, err := readConfig(p)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "":
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return term.NotFound("file", p).WithHint("%s names it; ctxd config --init makes it", named)
	case err != nil:
		return err
	}
	c.Present = true
	r := &fileReader{config: c, seen: map[string]int{}}
	return r.read(text)
}

// readConfig returns the text of the file, which nobody but its owner may have
// written: it says where data lies and what is read.
func readConfig(p string) ([]byte, error) {
	if p == os.DevNull { // the usual way to say: none
		return nil, nil
	}
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, unreadable(p, err)
	case !info.Mode().IsRegular(): // opening a pipe would wait for somebody to write into it
		return nil, badFile(p, 0, "it is not a regular file").hint("give the file itself")
	}
	f, err := os.Open(p)
	if err != nil {
		return nil, unreadable(p, err)
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil {
		return nil, unreadable(p, err)
	}
	if reason := outbound.Tamperable(info); reason != "" {
		return nil, badFile(p, 0, "%s, so it is not trusted", reason).hint("chmod go-w %s", term.ShellQuoted(p))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	switch {
	case err != nil:
		return nil, unreadable(p, err)
	case len(text) > maxConfigFile:
		return nil, badFile(p, 0, "the file is larger than %s", ShowSize(maxConfigFile))
	}
	return text, nil
}

func unreadable(p string, err error) error {
	return badFile(p, 0, "cannot read the file: %s", Reason(err)).hint("check its permissions")
}

// Reason returns why the system refused something, without the path that the
// message names already.
func Reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// fileReader takes the settings of a YAML text.
type fileReader struct {
	config *Config
	seen   map[string]int // line of each key that was met
}

func (r *fileReader) read(text []byte) (err error) {
	if line, reason := unparsable(text); line > 0 {
		return badFile(r.config.Path, line, "%s", reason)
	}
	defer func() { // a defect of the parser is no reason to end with a stack trace
		if recover() != nil {
			err = badFile(r.config.Path, 0, "the YAML cannot be read").hint("ctxd config --help lists the settings")
		}
	}()
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return r.invalid(err)
	}
	for i, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if i > 0 {
			return badFile(r.config.Path, lineOf(d.Body), "a second document begins here").
				hint("join them by removing the line ---")
		}
		if err := r.section("", d.Body); err != nil {
			return err
		}
	}
	return nil
}

// What the parser is not given: it recurses, and needs seconds for a block of
// thousands of blank lines.
const (
	maxBrackets = 64  // open at a time
	maxIndent   = 128 // blanks and markers such as "- " before a text
	maxBlanks   = 250 // blank lines in a row
)

// unparsable looks, without parsing, for what the parser can't take, and returns
// the line, from 1, and the reason; line 0 when it can.
func unparsable(text []byte) (line int, reason string) {
	open, blanks := 0, 0
	for l := range strings.Lines(string(text)) {
		line++
		body := strings.TrimLeft(l, " \t-?:&!*|>")
		blanks++
		if strings.TrimSpace(l) != "" {
			blanks = 0
		}
		open += strings.Count(l, "[") + strings.Count(l, "{")
		switch {
		case open > maxBrackets || len(l)-len(body) > maxIndent:
			return line, "lists or maps are nested too deeply"
		case blanks > maxBlanks:
			return line, "there are hundreds of blank lines in a row"
		}
		open = max(0, open-strings.Count(l, "]")-strings.Count(l, "}"))
	}
	return 0, ""
}

// invalid is the error of a text that is no YAML.
func (r *fileReader) invalid(err error) error {
	line, why, hint := 0, "the YAML is not valid", "check colons, indentation and quotes"
	var y yaml.Error
	if errors.As(err, &y) {
		line, why = tokenLine(y.GetToken()), why+": "+term.Clean(y.GetMessage())
		switch {
		case strings.Contains(why, "already defined"):
			why, hint = "the same setting is given twice", "remove one of the two"
		case strings.Contains(why, "cannot start any token"):
			hint = "indent with blanks, not with tabs"
		}
	}
	return badFile(r.config.Path, line, "%s", why).hint("%s", hint)
}

// section takes the settings of a map. prefix is what their keys begin with.
func (r *fileReader) section(prefix string, n ast.Node) error {
	switch n := n.(type) {
	case *ast.NullNode, *ast.CommentGroupNode, nil: // all settings of it are commented out
		return nil
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if err := r.pair(prefix, pair); err != nil {
				return err
			}
		}
		return nil
	case *ast.MappingValueNode:
		return r.pair(prefix, n)
	}
	what := "the file"
	if prefix != "" {
		what = strings.TrimSuffix(prefix, ".")
	}
	return badFile(r.config.Path, lineOf(n), "%s must hold settings, each as a name, a colon and a value", what).
		hint("ctxd config --help lists the settings")
}

func (r *fileReader) pair(prefix string, pair *ast.MappingValueNode) error {
	line := tokenLine(pair.Key.GetToken())
	name, ok := scalarText(pair.Key)
	if !ok {
		return badFile(r.config.Path, line, "this is not the name of a setting").hint("ctxd config lists the settings")
	}
	key := prefix + name
	if first := r.seen[key]; first > 0 {
		return inFile(r.config.Path, line, key,
			fault.New(fault.Invalid, "%s is given twice, first in line %d", key, first).
				WithHint("remove one of the two"))
	}
	r.seen[key] = line
	r.config.nameProvider(key)
	if s := r.config.Setting(key); s != nil {
		return r.take(s, line, pair.Value)
	}
	if slices.Contains(r.config.sections(), key) {
		return r.section(key+".", pair.Value)
	}
	return inFile(r.config.Path, line, nameable(key), r.config.unknownSetting(key))
}

// take takes the value of a setting. None is as if the setting were left out.
func (r *fileReader) take(s *Setting, line int, n ast.Node) error {
	words, bad := r.words(s, n)
	if bad == nil && words == nil {
		return nil
	}
	if s.path {
		for i := range words {
			if bad == nil && !slices.Contains(s.words, words[i]) {
				words[i], bad = wholePath(words[i])
			}
		}
	}
	if bad == nil {
		bad = s.set(words)
	}
	if bad != nil {
		return inFile(r.config.Path, line, s.key, bad)
	}
	s.Origin = place(r.config.Path, line)
	return nil
}

// words returns the texts of a value, nil for none.
func (r *fileReader) words(s *Setting, n ast.Node) ([]string, *fault.Error) {
	list, isList := n.(*ast.SequenceNode)
	switch {
	case n == nil || n.Type() == ast.NullType || n.Type() == ast.CommentType:
		return nil, nil
	case !isList:
		if text, ok := scalarText(n); ok {
			return []string{text}, nil
		}
		return nil, fault.New(fault.Invalid, "its value must be a string or a number").
			WithHint("write it on one line, without brackets, anchors or tags")
	case !s.list:
		return nil, fault.New(fault.Invalid, "it takes one value, not a list").
			WithHint("write the value after the colon")
	}
	words := []string{}
	for _, item := range list.Values {
		text, ok := scalarText(item)
		if !ok && s.members != nil {
			word, bad := mapText(s.members, item)
			if bad != nil {
				return nil, bad
			}
			text, ok = word, true
		}
		if !ok {
			return nil, fault.New(fault.Invalid, "its list must hold strings").
				WithHint("write one a line, after a hyphen and a blank")
		}
		words = append(words, text)
	}
	return words, nil
}

// scalarText returns the text of a node that is a text, a number or a boolean,
// as it is written.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func lineOf(n ast.Node) int {
	if n == nil {
		return 0
	}
	return tokenLine(n.GetToken())
}

func tokenLine(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}
