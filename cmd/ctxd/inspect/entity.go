package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Entity is ctxd inspect entity.
type Entity struct {
	Entity string `arg:"" help:"Id, name or alias of the entity, with or without @."`

	connect.Audience
}

// Examples are those of --help.
func (Entity) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect entity @Alice", "by alias"},
		{`ctxd inspect entity "Project Alpha" --json`, "for scripts"},
		{"ctxd inspect entity @Alice --audience remote", "as a remote model sees it"},
	}
}

// entityView is an entity with what is shown beside it.
type entityView struct {
	Entity protocol.EntityFull `json:"entity"`         // references and computed fields resolved
	Note   *protocol.NoteHead  `json:"note,omitempty"` // that it is described in
	Type   entities.Type       `json:"type"`           // as declared
	Refs   []backReference     `json:"referencedBy"`   // edges that lead to it
	Links  []notes.Backlink    `json:"linkedFrom"`     // notes that link to its note
}

// backReference is an entity that refers to another.
type backReference struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	Field string `json:"field"`
}

// Run runs the command.
func (c *Entity) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		id, err := connect.FindEntity(a.Ctx, cl, c.Entity)
		if err != nil {
			return err
		}
		v, err := viewEntity(a, cl, id)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		v.draw(a.Out)
		return nil
	})
}

func viewEntity(a *Options, cl *client.Client, id string) (*entityView, error) {
	v := &entityView{Refs: []backReference{}, Links: []notes.Backlink{}}
	if err := cl.Call(a.Ctx, "entities.get", protocol.EntityGet{Ref: id, Resolve: 1}, &v.Entity); err != nil {
		return nil, err
	}
	own := protocol.TypeGet{Ref: v.Entity.Type, Vault: v.Entity.TypeVault}
	if err := cl.Call(a.Ctx, "types.get", own, &v.Type); err != nil {
		return nil, err
	}
	if v.Entity.ArchivedAt == nil {
		var around graph.Subgraph
		if err := cl.Call(a.Ctx, "graph.neighbors",
			protocol.GraphNeighbors{Ref: id, Depth: 1, Kinds: []string{"entity"}}, &around); err != nil {
			return nil, err
		}
		v.Refs = references(&around, id)
	}
	if v.Entity.NoteID == "" {
		return v, nil
	}
	var n protocol.NoteFull
	err := cl.Call(a.Ctx, "notes.get", protocol.NoteGet{Ref: v.Entity.NoteID}, &n)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	if err == nil { // the note may be gone: the entity stands without it
		v.Note = &protocol.NoteHead{ID: n.ID, Title: n.Title, Path: n.Path}
		v.Links = n.Backlinks
	}
	return v, nil
}

// references returns the entities of a neighbourhood that refer to id.
func references(around *graph.Subgraph, id string) []backReference {
	out := []backReference{}
	for _, e := range around.Edges {
		i := slices.IndexFunc(around.Nodes, func(v graph.Vertex) bool { return v.ID == e.From && v.Kind == "entity" })
		if e.To == id && i >= 0 {
			out = append(out, backReference{e.From, around.Nodes[i].Name, around.Nodes[i].Type, e.Field})
		}
	}
	return out
}

func (v *entityView) draw(s *term.Screen) {
	e := &v.Entity
	head := term.Line{term.Styled(term.Strong, "@"+e.Name), term.Styled(term.Faint, " ("+e.Type+")")}
	if e.ArchivedAt != nil {
		head = append(head, term.Styled(term.Warn, "  archived"))
	}
	if e.Private {
		head = append(head, term.Styled(term.Warn, "  private"))
	}
	s.Say(head...)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("id", e.ID)
	f.Add("aliases", strings.Join(e.Aliases, ", "))
	if v.Note != nil {
		f.Add("note", "[["+v.Note.Title+"]]  "+v.Note.Path)
	}
	f.Addf("changed", "%s, version %d", term.Day(e.UpdatedAt), e.Version)
	f.Draw(s)

	v.drawFields(s)
	v.drawReferences(s)
	if len(v.Links) > 0 {
		s.Heading("Its note is linked from", term.Styled(term.Faint, "  "+term.Count(len(v.Links), "note")))
		names := make([]string, len(v.Links))
		for i, l := range v.Links {
			names[i] = "[[" + l.Title + "]]"
		}
		for _, l := range term.WrapNames(names, s.Columns()-2) {
			s.Say(term.Text("  " + l))
		}
	}
}

// drawFields shows the fields that have a value, in the order of the type.
func (v *entityView) drawFields(s *term.Screen) {
	s.Heading("Fields")
	names, kinds := 0, 0
	for _, f := range v.Type.Fields {
		names, kinds = max(names, term.Columns(term.Clean(f.Name))), max(kinds, len(f.Type))
	}
	room := s.Columns() - names - kinds - 2*term.ColumnGap - 2
	t := &term.Table{Indent: 2}
	for _, f := range v.Type.Fields {
		name, kind := term.Line{term.Styled(term.Accent, f.Name)}, term.Line{term.Styled(term.Faint, string(f.Type))}
		for _, l := range term.WrapSpans(drawValue(v.Entity.Fields[f.Name]), max(room, term.MinWidth/2)) {
			t.Row(name, kind, l)
			name, kind = nil, nil
		}
	}
	t.Draw(s)
}

// drawReferences shows what refers to the entity, by type and field.
func (v *entityView) drawReferences(s *term.Screen) {
	s.Heading("Referred to by", term.Styled(term.Faint, "  "+term.Count(len(v.Refs), "field")))
	names := make(map[string][]string)
	for _, r := range v.Refs {
		key := r.Type + "." + r.Field
		names[key] = append(names[key], "@"+r.Name)
	}
	t := &term.Table{Indent: 2}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		slices.SortFunc(names[key], entities.CompareNatural)
		first := term.Line{term.Styled(term.Faint, key)}
		for _, l := range term.WrapNames(names[key], s.Columns()-term.MinWidth/2) {
			t.Row(first, term.Line{term.Text(l)})
			first = nil
		}
	}
	t.Draw(s)
}

// valuesShown is how many items of a list are shown.
const valuesShown = 12

// drawValue shows a resolved value, nil for an empty one.
func drawValue(value any) term.Line {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		if len(v) == 0 {
			return term.Line{term.Styled(term.Faint, "none")}
		}
		var out term.Line
		for i, item := range v[:min(valuesShown, len(v))] {
			if i > 0 {
				out = append(out, term.Text(", "))
			}
			out = append(out, drawValue(item)...)
		}
		if n := len(v) - valuesShown; n > 0 {
			out = append(out, term.Styled(term.Faint, fmt.Sprintf(" (+%d more)", n)))
		}
		return out
	case map[string]any:
		return drawRecord(v)
	case float64:
		return term.Line{term.Text(strconv.FormatFloat(v, 'f', -1, 64))}
	}
	return term.Line{term.Text(fmt.Sprint(value))}
}

// drawRecord shows what a reference leads to.
func drawRecord(v map[string]any) term.Line {
	get := func(key string) string { s, _ := v[key].(string); return s }
	switch {
	case get("error") != "":
		return term.Line{term.Styled(term.Bad, "fails: "+get("error"))}
	case get("state") != "":
		return term.Line{term.Text("@" + cmp.Or(get("name"), get("id"))), term.Styled(term.Warn, " ("+get("state")+")")}
	case get("kind") == "note" && get("name") == "":
		return term.Line{term.Text(get("id")), term.Styled(term.Warn, " (no such note)")}
	case get("kind") == "note":
		return term.Line{term.Text("[[" + get("name") + "]]")}
	}
	return term.Line{term.Text("@" + cmp.Or(get("name"), get("id"))), term.Styled(term.Faint, " ("+get("type")+")")}
}
