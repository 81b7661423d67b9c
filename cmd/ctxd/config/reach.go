package config

import (
	"errors"
	"io/fs"
	"os"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/socket"
)

// Reach returns the socket of the daemon, also where something else of the
// configuration can't be used; problem says then what. Commands that only speak to a
// running daemon need no more. Where the socket itself can't be told, problem is nil
// and the error says why.
func (f *Flags) Reach() (path string, problem, err error) {
	conf, problem := f.Load(nil)
	if problem == nil {
		return conf.Socket, nil, nil
	}
	if errors.Is(problem, fs.ErrNotExist) || fault.KindOf(problem) == fault.NotFound {
		return "", nil, problem // a file was named that is not there: it is a mistake in the name
	}
	c := Default()
	s := c.Setting("socket")
	given := Given{}
	if f.Socket != "" {
		given["socket"] = []string{f.Socket}
	}
	if f.Socket == "" && os.Getenv(s.Env()) == "" && !c.socketOfFile(f.Config) {
		return "", nil, problem
	}
	if err := s.take(given[s.key]); err != nil {
		return "", nil, err
	}
	loc, err := socket.Resolve(c.Socket)
	if err != nil {
		return "", nil, problem
	}
	return loc.Path, problem, nil
}

// namesSocket finds a line that may name a socket in a text that is no YAML.
var namesSocket = text.Pattern(`(?m)^\s*["']?socket["']?\s*:`)

// socketOfFile takes the socket from the configuration file, whatever else is in it,
// and reports whether it can be told.
func (c *Config) socketOfFile(flag string) (known bool) {
	p, _, err := Path(flag)
	if err != nil {
		return false
	}
	text, err := readConfig(p)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !namesSocket().Match(text) {
		return true
	}
	if line, _ := unparsable(text); line > 0 {
		return false
	}
	defer func() { // a defect of the parser is no reason to end with a stack trace
		if recover() != nil {
			known = false
		}
	}()
	doc, err := parser.ParseBytes(text, 0)
	if err != nil || len(doc.Docs) == 0 {
		return false
	}
	r := &fileReader{config: c, seen: map[string]int{}}
	root, ok := doc.Docs[0].Body.(ast.MapNode)
	if !ok {
		return false
	}
	for pair := root.MapRange(); pair.Next(); {
		if name, _ := scalarText(pair.Key()); name == "socket" {
			return r.take(c.Setting(name), tokenLine(pair.Key().GetToken()), pair.Value()) == nil
		}
	}
	return true
}
