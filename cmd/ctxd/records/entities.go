package records

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Entities is ctxd entities.
type Entities struct {
	List listEntities   `cmd:"" help:"List the entities by name."`
	Show inspect.Entity `cmd:"" help:"Show an entity with its fields and what refers to it; the same as ctxd inspect entity."`
	Set  setEntity      `cmd:"" help:"Create an entity, or change one that is not from a vault."`

	Archive archiveEntity `cmd:"" help:"Archive an entity. References to it show as deleted."`
	Restore restoreEntity `cmd:"" help:"Bring an archived entity back."`
	Delete  deleteEntity  `cmd:"" help:"Delete an entity for good."`
}

// Examples are those of --help.
func (Entities) Examples() []term.Example {
	return []term.Example{
		{"ctxd entities list --type Person", "the entities of a type"},
		{"ctxd entities show @Alice", "one entity"},
		{"ctxd entities set Zoë --type Person role=CTO", "create an entity"},
	}
}

type listEntities struct {
	Type     string `placeholder:"TYPE" help:"Only entities of this type."`
	Archived bool   `help:"List the archived entities instead."`

	ListFlags
	connect.Audience
}

func (listEntities) Examples() []term.Example {
	return []term.Example{
		{"ctxd entities list", "the first hundred"},
		{"ctxd entities list --type Person -n 0", "all persons"},
		{"ctxd entities list --json | jq -r '.entities[].name'", "for scripts"},
		{"ctxd entities list --audience remote", "only public ones, for a model on another machine"},
	}
}

func (c *listEntities) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		list, more, err := pages(int(c.Limit), func(page protocol.Page) ([]protocol.EntityHead, string, error) {
			var res protocol.EntityPage
			err := cl.Call(a.Ctx, "entities.list", protocol.EntityFilter{Type: c.Type, Archived: c.Archived, Page: page}, &res)
			return res.Entities, res.NextCursor, err
		})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"entities": list, "more": more})
		}
		alike := make(map[[2]string]int) // by name and type
		for _, e := range list {
			alike[[2]string{e.Name, e.Type}]++
		}
		t := &term.Table{}
		for _, e := range list {
			where, id := "", ""
			if e.Vault != "" {
				where = connect.Place(e.Vault, e.Path)
			}
			if alike[[2]string{e.Name, e.Type}] > 1 {
				id = e.ID
			}
			t.Row(term.Line{term.Text("@" + e.Name)}, term.Line{term.Styled(term.Accent, e.Type)},
				term.Line{term.Styled(term.Faint, strings.Join(e.Aliases, ", "))}, marks(e.Private, e.VaultBacked),
				term.Line{term.Styled(term.Faint, where)}, term.Line{term.Styled(term.Faint, id)})
		}
		none := "no such entity"
		if c.Type == "" && !c.Archived {
			none = "there are no entities; frontmatter with a type makes one, and so does ctxd entities set"
		}
		a.drawList(cl, t, none, more)
		return nil
	})
}

type setEntity struct {
	Entity string   `arg:"" help:"Id, name or alias of the entity, with or without @; with --type, the name of the new one."`
	Fields []string `arg:"" optional:"" name:"field" help:"FIELD=VALUE for each field to change; FIELD= empties it. For a list, give FIELD=VALUE once for each value. References are names or ids."`

	Type    string   `placeholder:"TYPE" help:"Create an entity of this type."`
	Name    string   `placeholder:"NAME" help:"New name."`
	Alias   []string `placeholder:"NAME" sep:"none" help:"Replace the aliases. May be repeated."`
	Private *bool    `negatable:"" help:"Hide it from remote models, or no longer."`
}

func (setEntity) Help() string {
	return "Only what is named is changed. To change an entity from a vault, edit its file: " +
		"ctxd notes set can, where vault.write allows it. ctxd types show TYPE lists the fields."
}

func (setEntity) Examples() []term.Example {
	return []term.Example{
		{"ctxd entities set Zoë --type Person role=CTO manager=@Alice", "create an entity; a reference by name"},
		{"ctxd entities set Zoë skills=Go skills=SQL", "a list of two values"},
		{"ctxd entities set Zoë role= --name 'Zoë Lang'", "empty a field, and change the name"},
	}
}

func (c *setEntity) Run(a *Options) error {
	if c.Type == "" && c.Name == "" && len(c.Fields)+len(c.Alias) == 0 && c.Private == nil {
		return term.Misuse("nothing to change", "ctxd entities set "+term.ShellQuoted(c.Entity)+" FIELD=VALUE")
	}
	if c.Type != "" && c.Name != "" {
		return term.Misuse("the name of a new entity is its argument", "leave --name out")
	}
	return a.With(func(cl *client.Client) error {
		saved, err := c.save(a, cl)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(saved)
		}
		drawSaved(a.Out, c.Type != "", "@"+saved.Name, saved.ID, saved.Version, saved.Waits)
		return nil
	})
}

// savedEntity is an entity as it is after a write.
type savedEntity struct {
	record.Entity
	record.Waits
}

// save makes the entity, or changes it.
func (c *setEntity) save(a *Options, cl *client.Client) (*savedEntity, error) {
	var saved savedEntity
	if c.Type != "" {
		typ, err := newType(a, cl, c.Type)
		if err != nil {
			return nil, err
		}
		values, err := c.values(a, cl, typ)
		if err != nil {
			return nil, err
		}
		for name, v := range values {
			if v == nil {
				delete(values, name)
			}
		}
		return &saved, cl.Call(a.Ctx, "entities.put", protocol.EntityPut{EntityRecord: protocol.EntityRecord{
			Type: c.Type, Name: strings.TrimPrefix(c.Entity, "@"), Aliases: c.Alias, Fields: values,
			Private: c.Private != nil && *c.Private,
		}}, &saved)
	}
	id, err := connect.FindEntity(a.Ctx, cl, c.Entity)
	if err != nil {
		return nil, err
	}
	var e protocol.EntityFull
	if err := cl.Call(a.Ctx, "entities.get", protocol.EntityGet{Ref: id}, &e); err != nil {
		return nil, err
	}
	p := protocol.EntityPatch{ID: id, Private: c.Private, IfVersion: &e.Version}
	p.Fields, err = c.values(a, cl, protocol.TypeGet{Ref: e.Type, Vault: e.TypeVault})
	if err != nil {
		return nil, err
	}
	if c.Name != "" {
		p.Name = &c.Name
	}
	if len(c.Alias) > 0 {
		p.Aliases = protocol.Some(c.Alias)
	}
	return &saved, cl.Call(a.Ctx, "entities.patch", p, &saved)
}

// newType says where the type of a new entity is. If several vaults have one of that name,
// and everybody has none, it is the one that the daemon gives the entity.
func newType(a *Options, cl *client.Client, name string) (protocol.TypeGet, error) {
	var all protocol.TypeList
	if err := cl.Call(a.Ctx, "types.list", nil, &all); err != nil {
		return protocol.TypeGet{}, err
	}
	var named *record.NamedTypes
	for i := range all.Types {
		if text.Fold(all.Types[i].Name) == text.Fold(name) {
			named = named.With(&all.Types[i].Type)
		}
	}
	if t := named.In("", false); t != nil {
		return protocol.TypeGet{Ref: name, Vault: t.Vault}, nil
	}
	return protocol.TypeGet{Ref: name}, nil
}

// values makes the values that FIELD=VALUE stand for, nil for a field to empty.
func (c *setEntity) values(a *Options, cl *client.Client, of protocol.TypeGet) (record.Values, error) {
	if len(c.Fields) == 0 {
		return nil, nil
	}
	var typ record.Type
	if err := cl.Call(a.Ctx, "types.get", of, &typ); err != nil {
		return nil, term.WithHint(err, "ctxd types list shows the types")
	}
	values := make(record.Values, len(c.Fields))
	for _, arg := range c.Fields {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, term.Misuse(fmt.Sprintf("%q is no FIELD=VALUE", arg), "such as "+exampleOf(&typ))
		}
		field, known := typ.Field(name)
		if !known {
			return nil, unknownField(&typ, name)
		}
		before, twice := values[field.Name].([]string)
		if _, given := values[field.Name]; given && !twice {
			return nil, term.Misuse(field.Name+" is given twice", "it holds "+field.Type.Info().About)
		}
		if text == "" {
			values[field.Name] = nil
			continue
		}
		v, err := valueOf(a, cl, field, text)
		if err != nil {
			return nil, err
		}
		if list, ok := v.([]string); ok {
			v = slices.Concat(before, list)
		}
		values[field.Name] = v
	}
	return values, nil
}

// valueOf makes the value of a field from a text.
func valueOf(a *Options, cl *client.Client, field record.Field, text string) (any, error) {
	info := field.Type.Info()
	if info.To == record.ToEntity && !strings.HasPrefix(text, "[[") {
		id, err := connect.FindEntity(a.Ctx, cl, text)
		if err != nil {
			return nil, err
		}
		text = id
	}
	if info.To == record.ToNote && !strings.HasPrefix(text, "[[") {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, text)
		if err != nil {
			return nil, err
		}
		text = n.ID
	}
	switch info.Form {
	case record.NumberValue:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, term.Misuse(fmt.Sprintf("%s holds %s, not %q", field.Name, info.About, text), field.Name+"="+info.Example)
		}
		return n, nil
	case record.TruthValue:
		if text != "true" && text != "false" {
			return nil, term.Misuse(fmt.Sprintf("%s holds %s, not %q", field.Name, info.About, text), field.Name+"="+info.Example)
		}
		return text == "true", nil
	case record.ListValue:
		return []string{text}, nil
	case record.TextValue:
		return text, nil
	default:
		return nil, term.Misuse(field.Name+" is a computed field: its value is the result of its query",
			"ctxd types show lists the fields")
	}
}

// unknownField is the error for a field that a type does not have.
func unknownField(typ *record.Type, name string) error {
	names := make([]string, len(typ.Fields))
	for i, f := range typ.Fields {
		names[i] = f.Name
	}
	hint := typ.Name + " has " + strings.Join(names, ", ")
	if len(names) == 0 {
		hint = "ctxd types set " + term.ShellQuoted(typ.Name) + " FIELD:TYPE declares one"
	}
	if near := text.Nearest(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return term.Misuse("type "+typ.Name+" has no field "+name, hint)
}

// exampleOf is FIELD=VALUE for the first field of a type that can be set.
func exampleOf(typ *record.Type) string {
	i := slices.IndexFunc(typ.Fields, func(f record.Field) bool { return !f.Type.IsComputed() })
	if i < 0 {
		return "role=CTO"
	}
	return typ.Fields[i].Name + "=" + strings.Trim(typ.Fields[i].Type.Info().Example, `["]`)
}
