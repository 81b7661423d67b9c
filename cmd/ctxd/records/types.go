package records

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Types is ctxd types.
type Types struct {
	List listTypes `cmd:"" help:"List the types and how many entities each has."`
	Show showType  `cmd:"" help:"Show the fields of a type."`
	Set  setType   `cmd:"" help:"Declare a type, or change its fields."`

	Delete deleteType `cmd:"" help:"Remove a type. Its entities are archived."`
}

// Examples are those of --help.
func (Types) Examples() []term.Example {
	return []term.Example{
		{"ctxd types list", "all types"},
		{"ctxd types show Person", "the fields of a type"},
		{"ctxd types set Person role:text team:entity_ref:Team", "declare fields"},
	}
}

type listTypes struct{ connect.Audience }

func (listTypes) Examples() []term.Example {
	return []term.Example{
		{"ctxd types list", "names, fields, and how many entities"},
		{"ctxd types list --audience remote", "counts of public entities only"},
	}
}

func (c *listTypes) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res protocol.TypeList
		if err := cl.Call(a.Ctx, "types.list", nil, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		several := severalVaults(res.Types)
		t := &term.Table{Right: []int{1}}
		for _, typ := range res.Types {
			names := make([]string, len(typ.Fields))
			for i, f := range typ.Fields {
				names[i] = f.Name
			}
			name := term.Line{term.Styled(term.Accent, typ.Name)}
			if several && typ.Vault != "" {
				name = append(name, term.Styled(term.Faint, "  "+typ.Vault))
			}
			t.Row(name, term.Line{term.Text(term.Number(typ.Count))},
				term.Line{term.Styled(term.Faint, strings.Join(names, ", "))})
		}
		a.drawList(cl, t, "there are no types yet; frontmatter with a type makes one, and so does ctxd types set", false)
		return nil
	})
}

// severalVaults reports whether types are of two vaults or more.
func severalVaults(types []protocol.TypeCount) bool {
	first := ""
	for _, t := range types {
		if first != "" && t.Vault != "" && t.Vault != first {
			return true
		}
		first = cmp.Or(first, t.Vault)
	}
	return false
}

type showType struct {
	Type  string `arg:"" help:"Name of the type."`
	Vault string `placeholder:"NAME" help:"The type of this vault, when several have one of that name."`

	connect.Audience
}

func (showType) Examples() []term.Example {
	return []term.Example{
		{"ctxd types show Person", "its fields and what they hold"},
		{"ctxd types show Task --vault Work", "the one of a vault, when several have one"},
		{"ctxd types show Person --json", "for scripts"},
	}
}

func (c *showType) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var typ record.Type
		if err := findType(a, cl, c.Type, c.Vault, &typ); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(typ)
		}
		drawType(a.Out, &typ)
		return nil
	})
}

// findType reads a type, and names those that a misspelt one may mean.
func findType(a *Options, cl *client.Client, name, vault string, typ *record.Type) error {
	err := cl.Call(a.Ctx, "types.get", protocol.TypeGet{Ref: name, Vault: vault}, typ)
	several := new(fault.Error)
	if fault.KindOf(err) == fault.Conflict && errors.As(err, &several) && len(several.Candidates) > 0 {
		names := make([]string, len(several.Candidates))
		for i, c := range several.Candidates {
			names[i] = c.ID
		}
		return fault.Clash(fault.Ambiguous, "%s", several.Msg).
			WithHint("ctxd types show %s --vault %s; the vaults are %s",
				term.ShellQuoted(name), term.ShellQuoted(names[0]), strings.Join(names, ", "))
	}
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	if vault != "" {
		return term.WithHint(err, "ctxd types list shows the types and whose they are")
	}
	missing := fault.New(fault.NotFound, "there is no type %q", name).WithHint("ctxd types list")
	var all protocol.TypeList
	if err := cl.Call(a.Ctx, "types.list", nil, &all); err != nil {
		return missing
	}
	names := make([]string, len(all.Types))
	for i, t := range all.Types {
		names[i] = t.Name
	}
	if near := text.Nearest(name, names); len(near) > 0 {
		missing.Hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return missing
}

func drawType(s *term.Screen, typ *record.Type) {
	head := term.Line{term.Styled(term.Strong, typ.Name), term.Styled(term.Faint, "  version "+term.Number(typ.Version))}
	if typ.Vault != "" {
		head = append(head, term.Styled(term.Faint, "  of vault "+typ.Vault))
	}
	if typ.Inferred {
		head = append(head, term.Styled(term.Faint, "  made from frontmatter"))
	}
	s.Say(head...)
	t := &term.Table{Indent: 2}
	for _, f := range typ.Fields {
		name := term.Line{term.Styled(term.Accent, f.Name)}
		if f.Required {
			name = append(name, term.Styled(term.Warn, " *"))
		}
		detail := f.Type.Info().About
		switch {
		case f.Query != "":
			detail = f.Query
		case len(f.Options) > 0:
			detail = strings.Join(f.Options, ", ")
		case f.TargetType != "":
			detail += ", of type " + f.TargetType
		}
		t.Row(name, term.Line{term.Styled(term.Faint, string(f.Type))}, term.Line{term.Text(detail)})
	}
	t.Draw(s)
	if slices.ContainsFunc(typ.Fields, func(f record.Field) bool { return f.Required }) {
		s.Say(term.Styled(term.Faint, "  * must have a value"))
	}
}

type setType struct {
	Type   string   `arg:"" help:"Name of the type."`
	Fields []string `arg:"" optional:"" name:"field" help:"NAME:TYPE for each field to declare or change, such as role:text. NAME:entity_ref:TYPE also gives the type it refers to, NAME:select:A,B the options, NAME:computed:QUERY the query."`

	Remove   []string `placeholder:"NAME" sep:"none" help:"Remove this field. May be repeated."`
	Required []string `placeholder:"NAME" sep:"none" help:"This field must have a value. May be repeated."`
	Force    bool     `help:"Change the type even if that hides values of entities."`
}

func (setType) Help() string {
	var b strings.Builder
	b.WriteString("A type that does not exist is declared. Only the fields that are named are changed. The field types: ")
	for i, t := range record.FieldTypes {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(string(t) + ", " + t.Info().About)
	}
	return b.String() + "."
}

func (setType) Examples() []term.Example {
	return []term.Example{
		{"ctxd types set Person role:text born:date team:entity_ref:Team", "declare a type, or add fields to it"},
		{"ctxd types set Task status:select:open,done --required status", "a field with two options that must have a value"},
		{"ctxd types set Team 'members:computed:SELECT p FROM Person WHERE p.team = {this}'", "a computed field"},
		{"ctxd types set Person --remove born", "remove a field"},
	}
}

func (c *setType) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		put := protocol.TypePut{Name: c.Type, Force: c.Force, Fields: []record.Field{}}
		var before record.Type
		err := cl.Call(a.Ctx, "types.get", protocol.TypeGet{Ref: c.Type}, &before)
		kind := fault.KindOf(err)
		isNew := kind == fault.NotFound || kind == fault.Conflict // of vaults, none of everybody
		switch {
		case isNew:
			put.IfVersion = new(int)
		case err != nil:
			return err
		case len(c.Fields)+len(c.Remove)+len(c.Required) == 0:
			return term.Misuse("nothing to change", "ctxd types show "+term.ShellQuoted(c.Type)+" lists its fields")
		default:
			put.Name, put.Fields, put.IfVersion = before.Name, before.Fields, &before.Version
		}
		put.Fields, err = c.change(put.Fields)
		if err != nil {
			return err
		}
		var saved protocol.TypePutResult
		if err := cl.Call(a.Ctx, "types.put", put, &saved); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(saved)
		}
		drawSaved(a.Out, isNew, saved.Name, "", saved.Version, record.Waits{})
		for _, d := range saved.Diagnostics {
			a.Out.Say(term.Styled(term.Warn, "  "+d.Field+": "+d.Message))
		}
		return nil
	})
}

// change applies the arguments to the fields of a type.
func (c *setType) change(fields []record.Field) ([]record.Field, error) {
	typ := record.Type{Name: c.Type, Fields: fields}
	for _, arg := range c.Fields {
		f, err := parseField(arg)
		if err != nil {
			return nil, err
		}
		if old, known := typ.Field(f.Name); known {
			f.Name, f.Label, f.Required = old.Name, old.Label, old.Required && !f.Type.IsComputed()
			typ.Fields[slices.IndexFunc(typ.Fields, func(o record.Field) bool { return o.Name == old.Name })] = f
			continue
		}
		typ.Fields = append(typ.Fields, f)
	}
	for _, name := range c.Required {
		old, known := typ.Field(name)
		if !known {
			return nil, unknownField(&typ, name)
		}
		typ.Fields[slices.IndexFunc(typ.Fields, func(o record.Field) bool { return o.Name == old.Name })].Required = true
	}
	for _, name := range c.Remove {
		old, known := typ.Field(name)
		if !known {
			return nil, unknownField(&typ, name)
		}
		typ.Fields = slices.DeleteFunc(typ.Fields, func(o record.Field) bool { return o.Name == old.Name })
	}
	return typ.Fields, nil
}

// parseField reads NAME:TYPE, and behind it what the type needs.
func parseField(arg string) (record.Field, error) {
	name, rest, ok := strings.Cut(arg, ":")
	kind, more, _ := strings.Cut(rest, ":")
	f := record.Field{Name: name, Type: record.FieldType(kind)}
	if !ok || name == "" || kind == "" {
		return f, term.Misuse(fmt.Sprintf("%q is no NAME:TYPE", arg), "such as role:text; ctxd types set --help lists the field types")
	}
	if !f.Type.Known() {
		kinds := make([]string, len(record.FieldTypes))
		for i, t := range record.FieldTypes {
			kinds[i] = string(t)
		}
		hint := "the field types are " + strings.Join(kinds, ", ")
		if near := text.Nearest(kind, kinds); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
		}
		return f, term.Misuse("there is no field type "+kind, hint)
	}
	switch {
	case f.Type == record.Select:
		for option := range strings.SplitSeq(more, ",") {
			if option = strings.TrimSpace(option); option != "" {
				f.Options = append(f.Options, option)
			}
		}
	case f.Type.IsComputed():
		f.Query = more
	case f.Type.Info().To == record.ToEntity:
		f.TargetType = more
	case more != "":
		return f, term.Misuse(fmt.Sprintf("%s takes nothing after its type: %q", name, more), name+":"+kind)
	}
	return f, nil
}
