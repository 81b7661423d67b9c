package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wqlCommand is a command of the prompt, which begins with a backslash. Scripts
// may have them, too.
type wqlCommand struct {
	name, arg, about string
	words            []string // that the argument may be; nil: any, or none
	run              func(s *wqlSession, ctx context.Context, arg string) error
}

var onOff = []string{"on", "off"}

// wqlCommands returns all commands, in the order of the help.
func wqlCommands() []wqlCommand {
	return []wqlCommand{
		{name: `\?`, about: "this help", run: (*wqlSession).help},
		{name: `\t`, about: "the types, with the number of their entities", run: (*wqlSession).listTypes},
		{name: `\d`, arg: "TYPE", about: "the fields of a type", run: (*wqlSession).describeType},
		{name: `\this`, arg: "NAME", about: "the entity that {this} means; without a name: none", run: (*wqlSession).useThis},
		{name: `\fields`, arg: "A,B", about: "the fields to show; without any: those that the query mentions", run: (*wqlSession).useFields},
		{name: `\limit`, arg: "N", about: "rows at most; without a number: " + strconv.Itoa(wql.DefaultRows), run: (*wqlSession).useLimit},
		{name: `\format`, arg: "FORMAT", words: wqlFormats, about: "table, json, csv or tsv", run: (*wqlSession).useFormat},
		{name: `\x`, arg: "on|off", words: onOff, about: "each row as a block", run: toggle("rows as blocks", func(s *wqlSession) *bool { return &s.view.expanded })},
		{name: `\e`, arg: "on|off", words: onOff, about: "say how each query was answered", run: toggle("plans", func(s *wqlSession) *bool { return &s.view.explain })},
		{name: `\timing`, arg: "on|off", words: onOff, about: "say how long each query took", run: toggle("times", func(s *wqlSession) *bool { return &s.view.timing })},
		{name: `\audience`, arg: "WHO", words: []string{"local", "remote"}, about: "who reads the answers; for remote, private entities do not exist", run: (*wqlSession).useAudience},
		{name: `\q`, about: "leave, as Ctrl-D does", run: func(*wqlSession, context.Context, string) error { return errQuit }},
	}
}

// errQuit is the end of a session that was asked for.
var errQuit = errors.New("quit")

// command runs a command.
func (s *wqlSession) command(ctx context.Context, text string) error {
	name, arg, _ := strings.Cut(strings.TrimRight(text, "; "), " ")
	arg = strings.TrimSpace(arg)
	all := wqlCommands()
	i := slices.IndexFunc(all, func(c wqlCommand) bool { return c.name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, c := range all {
			names[i] = c.name
		}
		e := fault.New(fault.Invalid, "there is no command %s", clean(name)).WithHint(`\? lists the commands`)
		if near := nearest(name, names); len(near) > 0 {
			e.Hint = strings.Join(near, " or ")
		}
		return e
	}
	c := all[i]
	if arg != "" && c.words != nil && !slices.Contains(c.words, arg) {
		return fault.New(fault.Invalid, "%s takes no %q", c.name, arg).WithHint("%s %s", c.name, strings.Join(c.words, ", or "+c.name+" "))
	}
	if arg != "" && c.arg == "" {
		return fault.New(fault.Invalid, "%s takes nothing", c.name).WithHint("%s", c.name)
	}
	return c.run(s, ctx, arg)
}

// note confirms a change at the prompt. A script only wants its answers.
func (s *wqlSession) note(spans ...span) error {
	if s.view.prompt {
		s.out.say(spans...)
	}
	return nil
}

func toggle(what string, of func(*wqlSession) *bool) func(*wqlSession, context.Context, string) error {
	return func(s *wqlSession, _ context.Context, arg string) error {
		at := of(s)
		*at = arg == "on" || arg == "" && !*at
		return s.note(styled(faint, what+": "+onOff[map[bool]int{true: 0, false: 1}[*at]]))
	}
}

func (s *wqlSession) help(context.Context, string) error {
	s.out.say(text("A query ends with a semicolon, or with Enter when it is whole; Alt-Enter begins another line of it."))
	t := &table{indent: 2}
	for _, c := range wqlCommands() {
		t.row(line{styled(accent, c.name), styled(faint, " "+c.arg)}, line{text(c.about)})
	}
	t.draw(s.out)
	s.out.say(text("Tab completes, Up and Ctrl-R bring back what was entered, Ctrl-C clears the text or stops the query."))
	return nil
}

func (s *wqlSession) listTypes(ctx context.Context, _ string) error {
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", protocol.Empty{}, &list); err != nil {
		return err
	}
	switch s.view.format {
	case formatJSON:
		return s.out.json(list)
	case formatCSV, formatTSV:
		records := [][]string{{"type", "entities", "fields"}}
		for _, t := range list.Types {
			records = append(records, []string{t.Name, strconv.Itoa(t.Count), fieldList(&t.Type, ",")})
		}
		return s.view.write(s.out, records)
	}
	t := &table{head: []string{"type", "entities", "fields"}, right: []int{1}, keep: []int{0}}
	for _, typ := range list.Types {
		t.row(line{styled(strong, typ.Name)}, line{text(number(typ.Count))}, line{text(fieldList(&typ.Type, ", "))})
	}
	t.draw(s.out)
	return nil
}

func fieldList(t *entities.Type, between string) string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, between)
}

func (s *wqlSession) describeType(ctx context.Context, name string) error {
	if name == "" {
		return s.listTypes(ctx, "")
	}
	name = strings.Trim(name, "`[]")
	var typ entities.Type
	if err := s.call(ctx, "types.get", protocol.TypeName{Name: name}, &typ); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			return s.unknownType(ctx, name)
		}
		return err
	}
	switch s.view.format {
	case formatJSON:
		return s.out.json(typ)
	case formatCSV, formatTSV:
		records := [][]string{{"field", "type", "of"}}
		for _, f := range typ.Fields {
			records = append(records, []string{f.Name, string(f.Type), fieldDetail(f)})
		}
		return s.view.write(s.out, records)
	}
	drawType(s.out, &typ)
	return nil
}

// unknownType is the error for a name of no type, with the nearest.
func (s *wqlSession) unknownType(ctx context.Context, name string) error {
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", protocol.Empty{}, &list); err != nil {
		return err
	}
	names := make([]string, len(list.Types))
	for i, t := range list.Types {
		names[i] = t.Name
	}
	e := notFound("type", name).WithHint(`\t lists the types`)
	if near := nearest(name, names); len(near) > 0 {
		e.Hint = `\d ` + strings.Join(near, `, or \d `)
	}
	return e
}

func drawType(s *screen, typ *entities.Type) {
	head := line{styled(strong, typ.Name)}
	if typ.Inferred {
		head = append(head, styled(faint, "  made from the frontmatter of notes"))
	}
	s.say(head...)
	t := &table{indent: 2, keep: []int{0, 1}}
	for _, f := range typ.Fields {
		kind := line{text(string(f.Type))}
		if f.Required {
			kind = append(kind, styled(warn, " *"))
		}
		t.row(line{styled(accent, f.Name)}, kind, line{styled(faint, fieldDetail(f))})
	}
	t.draw(s)
	if slices.ContainsFunc(typ.Fields, func(f entities.Field) bool { return f.Required }) {
		s.say(styled(faint, "  * must be given"))
	}
}

// fieldDetail says what a field refers to, which options it has, or how it is
// computed.
func fieldDetail(f entities.Field) string {
	switch {
	case f.TargetType != "":
		return "to " + f.TargetType
	case len(f.Options) > 0:
		return strings.Join(f.Options, ", ")
	}
	return f.Query
}

func (s *wqlSession) useThis(ctx context.Context, name string) error {
	if err := s.setThis(ctx, strings.Trim(name, `'"`)); err != nil {
		return err
	}
	if s.this.id == "" {
		return s.note(styled(faint, "{this} means nothing now"))
	}
	return s.note(styled(faint, "{this} is "), styled(strong, "@"+s.this.name), styled(faint, " ("+s.this.typ+")  "+s.this.id))
}

func (s *wqlSession) useFields(_ context.Context, arg string) error {
	s.view.fields = nil
	for _, name := range strings.Split(arg, ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.view.fields = append(s.view.fields, name)
		}
	}
	return nil
}

func (s *wqlSession) useLimit(_ context.Context, arg string) error {
	if arg == "" {
		s.limit = 0
		return nil
	}
	n, err := strconv.Atoi(strings.ReplaceAll(arg, ",", ""))
	if err != nil || n < 1 || n > wql.MaxRows {
		return fault.New(fault.Invalid, `%q is no number of rows`, arg).WithHint(`\limit 1 to \limit %d`, wql.MaxRows)
	}
	s.limit = n
	return nil
}

func (s *wqlSession) useFormat(_ context.Context, arg string) error {
	if arg == "" {
		arg = formatTable
	}
	s.view.format = arg
	return nil
}

func (s *wqlSession) useAudience(_ context.Context, arg string) error {
	if arg == "" {
		arg = "local"
	}
	s.audience = arg
	return nil
}

// command completes a command and its argument.
func (c *completer) command(begun string) completion {
	name, arg, typed := strings.Cut(begun, " ")
	var out completion
	if !typed {
		for _, cmd := range wqlCommands() {
			if strings.HasPrefix(cmd.name, name) {
				s := suggestion{text: cmd.name, shown: cmd.name}
				if cmd.arg != "" {
					s.text += " "
				}
				out.choices = append(out.choices, s)
			}
		}
		return out
	}
	out.from = len(name) + 1 + strings.LastIndexByte(arg, ',') + 1
	prefix := begun[out.from:]
	switch name {
	case `\d`:
		out.choices = suggest(c.typeNames(), prefix, nil)
	case `\this`:
		prefix = strings.TrimPrefix(prefix, "@")
		names := c.names(prefix, nil)
		slices.Sort(names)
		out.choices = suggest(slices.Compact(names), prefix, nil)
	case `\fields`:
		var names []string
		for _, t := range c.typeNames() {
			names = append(names, c.fieldNames(declared(t))...)
		}
		slices.Sort(names)
		out.choices = suggest(slices.Compact(names), prefix, nil)
	}
	for _, cmd := range wqlCommands() {
		if cmd.name == name {
			out.choices = append(out.choices, suggest(cmd.words, prefix, nil)...)
		}
	}
	return out
}
