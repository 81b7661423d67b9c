package shell

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wqlCommand is a command of the prompt, which begins with a backslash. Scripts
// may have them, too.
type wqlCommand struct {
	name, arg, about string
	words            []string // that the argument may be; nil: any, or none
	run              func(s *session, ctx context.Context, arg string) error
}

var onOff = []string{"on", "off"}

// commands returns all commands, in the order of the help.
func commands() []wqlCommand {
	return []wqlCommand{
		{name: `\?`, about: "this help", run: (*session).help},
		{name: `\t`, about: "the types, with the number of their entities", run: (*session).listTypes},
		{name: `\d`, arg: "TYPE", about: "the fields of a type", run: (*session).describeType},
		{name: `\this`, arg: "NAME", about: "the entity that {this} means; without a name: none", run: (*session).useThis},
		{name: `\fields`, arg: "A,B", about: "the fields to show; without any: those that the query mentions", run: (*session).useFields},
		{name: `\limit`, arg: "N", about: "rows at most; without a number: " + strconv.Itoa(wql.DefaultRows), run: (*session).useLimit},
		{name: `\format`, arg: "FORMAT", words: wqlFormats, about: "table, json, csv or tsv", run: (*session).useFormat},
		{name: `\x`, arg: "on|off", words: onOff, about: "each row as a block", run: toggle("rows as blocks", func(s *session) *bool { return &s.view.expanded })},
		{name: `\e`, arg: "on|off", words: onOff, about: "say how each query was answered", run: toggle("plans", func(s *session) *bool { return &s.view.explain })},
		{name: `\timing`, arg: "on|off", words: onOff, about: "say how long each query took", run: toggle("times", func(s *session) *bool { return &s.view.timing })},
		{name: `\audience`, arg: "WHO", words: []string{"local", "remote"}, about: "who reads the answers; for remote, private records do not exist", run: (*session).useAudience},
		{name: `\q`, about: "leave, as Ctrl-D does", run: func(*session, context.Context, string) error { return errQuit }},
	}
}

// errQuit is the end of a session that was asked for.
var errQuit = errors.New("quit")

// command runs a command.
func (s *session) command(ctx context.Context, line string) error {
	name, arg, _ := strings.Cut(strings.TrimRight(line, "; "), " ")
	arg = strings.TrimSpace(arg)
	all := commands()
	i := slices.IndexFunc(all, func(c wqlCommand) bool { return c.name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, c := range all {
			names[i] = c.name
		}
		e := fault.New(fault.Invalid, "there is no command %s", term.Clean(name)).WithHint(`\? lists the commands`)
		if near := text.Nearest(name, names); len(near) > 0 {
			e.Hint = strings.Join(near, " or ")
		}
		return e
	}
	c := all[i]
	if arg != "" && c.words != nil && !slices.Contains(c.words, arg) {
		return fault.New(fault.Invalid, "%s takes no %q", c.name, arg).
			WithHint("%s %s", c.name, strings.Join(c.words, ", or "+c.name+" "))
	}
	if arg != "" && c.arg == "" {
		return fault.New(fault.Invalid, "%s takes nothing", c.name).WithHint("%s", c.name)
	}
	return c.run(s, ctx, arg)
}

// note confirms a change at the prompt. A script only wants its answers.
func (s *session) note(spans ...term.Span) error {
	if s.view.prompt {
		s.Out.Say(spans...)
	}
	return nil
}

func toggle(what string, of func(*session) *bool) func(*session, context.Context, string) error {
	return func(s *session, _ context.Context, arg string) error {
		at := of(s)
		*at = arg == "on" || arg == "" && !*at
		return s.note(term.Styled(term.Faint, what+": "+onOff[map[bool]int{true: 0, false: 1}[*at]]))
	}
}

func (s *session) help(context.Context, string) error {
	s.Out.Say(term.Text("A query ends with a semicolon, or with Enter when it is complete; Alt-Enter starts another line."))
	t := &term.Table{Indent: 2}
	for _, c := range commands() {
		t.Row(term.Line{term.Styled(term.Accent, c.name), term.Styled(term.Faint, " "+c.arg)},
			term.Line{term.Text(c.about)})
	}
	t.Draw(s.Out)
	s.Out.Say(term.Text("Functions:"))
	functions := &term.Table{Indent: 2}
	for _, f := range syntax.Functions {
		functions.Row(term.Line{term.Styled(term.Accent, f.Usage)}, term.Line{term.Text(f.About)})
		functions.Row(nil, term.Line{term.Styled(term.Faint, f.Example)})
	}
	functions.Draw(s.Out)
	s.Out.Say(term.Text("Tab completes, Up and Ctrl-R recall earlier queries, Ctrl-C clears the text or stops the query."))
	return nil
}

func (s *session) listTypes(ctx context.Context, _ string) error {
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", nil, &list); err != nil {
		return err
	}
	switch s.view.format {
	case formatJSON:
		return s.Out.JSON(list)
	case formatCSV, formatTSV:
		records := [][]string{{"type", "entities", "fields"}}
		for _, t := range list.Types {
			records = append(records, []string{t.Name, strconv.Itoa(t.Count), fieldList(&t.Type, ",")})
		}
		return s.view.write(s.Out, records)
	}
	t := &term.Table{Head: []string{"type", "entities", "fields"}, Right: []int{1}, Keep: []int{0}}
	for _, typ := range list.Types {
		t.Row(term.Line{term.Styled(term.Strong, typ.Name)}, term.Line{term.Text(term.Number(typ.Count))},
			term.Line{term.Text(fieldList(&typ.Type, ", "))})
	}
	t.Draw(s.Out)
	return nil
}

func fieldList(t *entities.Type, between string) string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, between)
}

func (s *session) describeType(ctx context.Context, name string) error {
	if name == "" {
		return s.listTypes(ctx, "")
	}
	name = strings.Trim(name, "`[]")
	var list protocol.TypeList
	if err := s.call(ctx, "types.list", nil, &list); err != nil {
		return err
	}
	types := typesNamed(list.Types, name)
	if len(types) == 0 {
		return unknownType(list.Types, name)
	}
	head := []string{"field", "type", "of"}
	if len(types) > 1 {
		head = append(head, "vault")
	}
	records := [][]string{head}
	for i := range types {
		typ := &types[i].Type
		switch s.view.format {
		case formatJSON:
			if err := s.Out.JSON(typ); err != nil {
				return err
			}
		case formatCSV, formatTSV:
			for _, f := range typ.Fields {
				row := []string{f.Name, string(f.Type), fieldDetail(f), typ.Vault}
				records = append(records, row[:len(head)])
			}
		default:
			drawType(s.Out, typ, len(types) > 1)
		}
	}
	if s.view.format == formatCSV || s.view.format == formatTSV {
		return s.view.write(s.Out, records)
	}
	return nil
}

// typesNamed returns the types of a name: vaults may have one each.
func typesNamed(all []protocol.TypeCount, name string) (types []protocol.TypeCount) {
	for _, t := range all {
		if entities.Fold(t.Name) == entities.Fold(name) {
			types = append(types, t)
		}
	}
	return types
}

// unknownType is the error for a name of no type, with the nearest.
func unknownType(types []protocol.TypeCount, name string) error {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	e := term.NotFound("type", name).WithHint(`\t lists the types`)
	if near := text.Nearest(name, names); len(near) > 0 {
		e.Hint = `\d ` + strings.Join(near, `, or \d `)
	}
	return e
}

// drawType shows a type, and whose it is if there are several of its name.
func drawType(s *term.Screen, typ *entities.Type, several bool) {
	head := term.Line{term.Styled(term.Strong, typ.Name)}
	if several && typ.Vault != "" {
		head = append(head, term.Styled(term.Faint, "  of vault "+typ.Vault))
	}
	if typ.Inferred {
		head = append(head, term.Styled(term.Faint, "  made from the frontmatter of notes"))
	}
	s.Say(head...)
	t := &term.Table{Indent: 2, Keep: []int{0, 1}}
	for _, f := range typ.Fields {
		kind := term.Line{term.Text(string(f.Type))}
		if f.Required {
			kind = append(kind, term.Styled(term.Warn, " *"))
		}
		t.Row(term.Line{term.Styled(term.Accent, f.Name)}, kind, term.Line{term.Styled(term.Faint, fieldDetail(f))})
	}
	t.Draw(s)
	if slices.ContainsFunc(typ.Fields, func(f entities.Field) bool { return f.Required }) {
		s.Say(term.Styled(term.Faint, "  * must be given"))
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

func (s *session) useThis(ctx context.Context, name string) error {
	if err := s.setThis(ctx, strings.Trim(name, `'"`)); err != nil {
		return err
	}
	if s.this.id == "" {
		return s.note(term.Styled(term.Faint, "{this} is not set"))
	}
	return s.note(term.Styled(term.Faint, "{this} is "), term.Styled(term.Strong, "@"+s.this.name),
		term.Styled(term.Faint, " ("+s.this.typ+")  "+s.this.id))
}

func (s *session) useFields(_ context.Context, arg string) error {
	s.view.fields = nil
	for _, name := range strings.Split(arg, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			s.view.fields = append(s.view.fields, name)
		}
	}
	return nil
}

func (s *session) useLimit(_ context.Context, arg string) error {
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

func (s *session) useFormat(_ context.Context, arg string) error {
	if arg == "" {
		arg = formatTable
	}
	s.view.format = arg
	return nil
}

func (s *session) useAudience(_ context.Context, arg string) error {
	if arg == "" {
		arg = "local"
	}
	s.audience = connect.Audience{Audience: &arg}
	s.close() // the connection was for another reader
	return nil
}

// commandChoices completes a command and its argument.
func commandChoices(c *syntax.Completer, begun string) syntax.Completion {
	name, arg, typed := strings.Cut(begun, " ")
	var out syntax.Completion
	if !typed {
		for _, cmd := range commands() {
			if strings.HasPrefix(cmd.name, name) {
				s := syntax.Suggestion{Text: cmd.name, Shown: cmd.name}
				if cmd.arg != "" {
					s.Text += " "
				}
				out.Choices = append(out.Choices, s)
			}
		}
		return out
	}
	out.From = len(name) + 1 + strings.LastIndexByte(arg, ',') + 1
	prefix := begun[out.From:]
	switch name {
	case `\d`:
		out.Choices = syntax.Suggest(c.TypeNames(), prefix, nil)
	case `\this`:
		prefix = strings.TrimPrefix(prefix, "@")
		names := c.Names(prefix, nil)
		slices.Sort(names)
		out.Choices = syntax.Suggest(slices.Compact(names), prefix, nil)
	case `\fields`:
		var names []string
		for _, t := range c.TypeNames() {
			names = append(names, c.FieldNames([]string{t})...)
		}
		slices.Sort(names)
		out.Choices = syntax.Suggest(slices.Compact(names), prefix, nil)
	}
	for _, cmd := range commands() {
		if cmd.name == name {
			out.Choices = append(out.Choices, syntax.Suggest(cmd.words, prefix, nil)...)
		}
	}
	return out
}
