package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// AssignArgs are the args of assignEntity: the field of the entity refers to the target. Of a field with several
// references the target is one more.
type AssignArgs struct {
	EntityID string `json:"entityId" long:"64" jsonschema:"id of the entity that is changed"`
	Field    string `json:"field" long:"4096" jsonschema:"its field, one that refers to entities or notes"`
	TargetID string `json:"targetId" long:"64" jsonschema:"id of the entity or note that the field refers to then"`
}

var assignEntity = declare(record.ProposeAssign,
	"A field of an entity refers to another record; where the entity comes from a file, the client changes a line of it.",
	(*call).assign)

func (c *call) assign(a *AssignArgs) (*PreparedAction, error) {
	e := c.View.Entity(a.EntityID)
	if e == nil {
		return nil, missing("entityId", "entity", a.EntityID)
	}
	if !e.Live() {
		return nil, archivedError("entityId", e.ID)
	}
	f, err := referringField(c.View, e, a.Field)
	if err != nil {
		return nil, err
	}
	a.Field = f.Name
	to, err := c.target(f, a.TargetID)
	if err != nil {
		return nil, err
	}
	p := &PreparedAction{Version: e.Version}
	has := e.Fields[f.Name]
	switch {
	case refersTo(has, to.id):
		p.Already = fmt.Sprintf("the field %s of the entity refers to that already", f.Name)
		return p, nil
	case e.VaultBacked:
		p.Edit, err = c.edit(e, f, to)
		return p, err
	}
	list := f.Type.Info().Form == record.ListValue
	if !list && has != nil && !c.seen && e.Version != c.version {
		return nil, fault.Clash(fault.Changed, "the entity was changed since this was proposed, and its field %s refers to something", f.Name).
			WithRef(e.ID).WithHint("look at it with entities.get; to overwrite what is there, confirm with args")
	}
	var value any = to.id
	if list {
		items, _ := has.([]string)
		value = append(slices.Clone(items), to.id)
	}
	p.Do = func(tx *kv.Tx) error {
		return c.Entities.PatchTx(tx, entities.Patch{ID: e.ID, Fields: entities.Values{f.Name: value}}, &e.Version)
	}
	return p, nil
}

func missing(field, what, id string) error {
	err := fault.Missing(what, clip(id)).WithHint("name one that there is")
	err.Field = field
	return err
}

func archivedError(field, id string) error {
	err := fault.Clash(fault.State, "the entity %q is archived", id).WithRef(id).WithHint("bring it back with entities.restore first")
	err.Field = field
	return err
}

// referringField returns the field of an entity that a name means, which refers to records. The error is Invalid.
func referringField(v *audience.View, e *entities.Entity, name string) (record.Field, error) {
	var refer []string
	if t := v.TypeOf(e); t != nil {
		if f, ok := t.Field(strings.TrimSpace(name)); ok && f.Type.IsRef() {
			return f, nil
		}
		for _, f := range t.Fields {
			if f.Type.IsRef() {
				refer = append(refer, f.Name)
			}
		}
	}
	return record.Field{}, fault.Field("field", "%s has no field %q that refers to records", e.Type, clip(name)).
		WithHint("%s", syntax.DidYouMean(name, refer, "it has none"))
}

// target is what a field is to refer to.
type target struct {
	id   string
	note *notes.Note // that a link leads to; nil: by its name alone
	name string
}

func (c *call) target(f record.Field, id string) (*target, error) {
	if f.Type.Info().To == record.ToNote {
		n := c.View.Note(id)
		if n == nil {
			return nil, missing("targetId", "note", id)
		}
		return &target{n.ID, n, c.View.TitleOf(n)}, nil
	}
	e := c.View.Entity(id)
	if e == nil {
		return nil, missing("targetId", "entity", id)
	}
	if !e.Live() {
		return nil, archivedError("targetId", e.ID)
	}
	if f.TargetType != "" && entities.Fold(f.TargetType) != entities.Fold(e.Type) {
		return nil, fault.Field("targetId", "the field %s refers to entities of the type %s, and that is one of %s", f.Name, f.TargetType, e.Type).
			WithHint("name one of that type")
	}
	return &target{e.ID, c.View.Note(e.NoteID), c.View.NameOf(e)}, nil
}

// refersTo reports whether a value of a field is a reference to a record, or has one.
func refersTo(value any, id string) bool {
	list, _ := value.([]string)
	return value == id || slices.Contains(list, id)
}

// edit returns the line of the file of an entity that has its field refer to a target. Of several references the line
// has those that stand there, too; if the reader is not shown all of them, it is not known.
func (c *call) edit(e *entities.Entity, f record.Field, to *target) (*record.ToolEdit, error) {
	n := c.View.Note(e.NoteID)
	if n == nil {
		return nil, fault.New(fault.Unavailable, "the entity comes from a file that is not there").WithHint("tell the user")
	}
	link := to.name
	if to.note != nil {
		links := c.View.LinksFrom(n.ID)
		if written := links.To(to.note, to.name); written != "" {
			link = written
		}
	}
	out := &record.ToolEdit{NoteID: n.ID, Path: n.Path, Vault: c.View.VaultOf(n), Field: f.Name, Value: "[[" + link + "]]"}
	shown, err := c.View.ShownNote(c.ctx, n)
	if err != nil {
		return nil, err
	}
	there, same := frontOf(n.Body, f.Name), frontOf(shown.Body, f.Name)
	if there.Key != "" {
		out.Field = there.Key
	}
	if f.Type.Info().Form != record.ListValue {
		out.Line = yamlKey(out.Field) + ": " + quote(out.Value)
		return out, nil
	}
	items, ok := itemsOf(there.Value)
	if shownItems, _ := itemsOf(same.Value); !ok || !slices.Equal(items, shownItems) {
		return out, nil
	}
	for i := range items {
		items[i] = quote(items[i])
	}
	out.Line = yamlKey(out.Field) + ": [" + strings.Join(append(items, quote(out.Value)), ", ") + "]"
	return out, nil
}

// frontOf returns a field of the frontmatter of a note; the zero Field for none.
func frontOf(note, name string) markdown.FrontmatterField {
	block, _ := markdown.SplitFrontmatter(note)
	if !block.Found {
		return markdown.FrontmatterField{}
	}
	front, err := markdown.ReadFrontmatter(note[block.Start:block.End], block.Line)
	if err != nil {
		return markdown.FrontmatterField{}
	}
	for _, f := range front.Fields {
		if entities.Fold(f.Key) == entities.Fold(name) {
			return f
		}
	}
	return markdown.FrontmatterField{}
}

// itemsOf returns the texts of a value of frontmatter; false for one that is something else.
func itemsOf(value any) ([]string, bool) {
	switch v := value.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			items = append(items, s)
		}
		return items, true
	}
	return nil, false
}

// quote writes a text as YAML has it in double quotes, which JSON is a part of.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// yamlKey writes a key, in quotes where it may be read as something else.
func yamlKey(s string) string {
	for _, r := range s {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return quote(s)
		}
	}
	return s
}
