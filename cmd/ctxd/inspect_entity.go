package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectEntityCmd struct {
	Entity string `arg:"" help:"Id, name or alias of the entity, with or without @."`
}

func (inspectEntityCmd) Examples() []example {
	return []example{
		{"ctxd inspect entity @Alice", "by alias"},
		{`ctxd inspect entity "Project Alpha" --json`, "for scripts"},
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

func (c *inspectEntityCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		id, err := findEntity(a.ctx, cl, c.Entity)
		if err != nil {
			return err
		}
		v, err := viewEntity(a, cl, id)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(v)
		}
		v.draw(a.out)
		return nil
	})
}

func viewEntity(a *app, cl *client.Client, id string) (*entityView, error) {
	v := &entityView{Refs: []backReference{}, Links: []notes.Backlink{}}
	if err := cl.Call(a.ctx, "entities.get", protocol.EntityGet{ID: id, Resolve: 1}, &v.Entity); err != nil {
		return nil, err
	}
	if err := cl.Call(a.ctx, "types.get", protocol.TypeName{Name: v.Entity.Type}, &v.Type); err != nil {
		return nil, err
	}
	if v.Entity.TrashedAt == nil {
		var around graph.Subgraph
		if err := cl.Call(a.ctx, "graph.neighbors", protocol.GraphNeighbors{ID: id, Depth: 1, Kinds: []string{"entity"}}, &around); err != nil {
			return nil, err
		}
		v.Refs = references(&around, id)
	}
	if v.Entity.NoteID == "" {
		return v, nil
	}
	var n protocol.NoteFull
	err := cl.Call(a.ctx, "notes.get", protocol.NoteGet{ID: v.Entity.NoteID}, &n)
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

func (v *entityView) draw(s *screen) {
	e := &v.Entity
	head := line{styled(strong, "@"+e.Name), styled(faint, " ("+e.Type+")")}
	if e.TrashedAt != nil {
		head = append(head, styled(warn, "  in the trash"))
	}
	if e.Private {
		head = append(head, styled(warn, "  private"))
	}
	s.say(head...)
	f := &facts{table{indent: 2}}
	f.add("id", e.ID)
	f.add("aliases", strings.Join(e.Aliases, ", "))
	if v.Note != nil {
		f.add("note", "[["+v.Note.Title+"]]  "+v.Note.Path)
	}
	f.addf("changed", "%s, version %d", day(e.UpdatedAt), e.Version)
	f.draw(s)

	v.drawFields(s)
	v.drawReferences(s)
	if len(v.Links) > 0 {
		s.heading("Its note is linked from", styled(faint, "  "+count(len(v.Links), "note")))
		names := make([]string, len(v.Links))
		for i, l := range v.Links {
			names[i] = "[[" + l.Title + "]]"
		}
		for _, l := range wrapNames(names, s.columns()-2) {
			s.say(text("  " + l))
		}
	}
}

// drawFields shows the fields that have a value, in the order of the type.
func (v *entityView) drawFields(s *screen) {
	s.heading("Fields")
	names, kinds := 0, 0
	for _, f := range v.Type.Fields {
		names, kinds = max(names, columns(clean(f.Name))), max(kinds, len(f.Type))
	}
	room := s.columns() - names - kinds - 2*columnGap - 2
	t := &table{indent: 2}
	for _, f := range v.Type.Fields {
		name, kind := line{styled(accent, f.Name)}, line{styled(faint, string(f.Type))}
		for _, l := range wrapSpans(drawValue(v.Entity.Fields[f.Name]), max(room, minWidth/2)) {
			t.row(name, kind, l)
			name, kind = nil, nil
		}
	}
	t.draw(s)
}

// drawReferences shows what refers to the entity, by type and field.
func (v *entityView) drawReferences(s *screen) {
	s.heading("Referred to by", styled(faint, "  "+count(len(v.Refs), "field")))
	names := make(map[string][]string)
	for _, r := range v.Refs {
		key := r.Type + "." + r.Field
		names[key] = append(names[key], "@"+r.Name)
	}
	t := &table{indent: 2}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		slices.SortFunc(names[key], entities.CompareNatural)
		first := line{styled(faint, key)}
		for _, l := range wrapNames(names[key], s.columns()-minWidth/2) {
			t.row(first, line{text(l)})
			first = nil
		}
	}
	t.draw(s)
}

// valuesShown is how many items of a list are shown.
const valuesShown = 12

// drawValue shows a resolved value, nil for an empty one.
func drawValue(value any) line {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		if len(v) == 0 {
			return line{styled(faint, "none")}
		}
		var out line
		for i, item := range v[:min(valuesShown, len(v))] {
			if i > 0 {
				out = append(out, text(", "))
			}
			out = append(out, drawValue(item)...)
		}
		if n := len(v) - valuesShown; n > 0 {
			out = append(out, styled(faint, fmt.Sprintf(" (+%d more)", n)))
		}
		return out
	case map[string]any:
		return drawRecord(v)
	case float64:
		return line{text(strconv.FormatFloat(v, 'f', -1, 64))}
	}
	return line{text(fmt.Sprint(value))}
}

// drawRecord shows what a reference leads to.
func drawRecord(v map[string]any) line {
	get := func(key string) string { s, _ := v[key].(string); return s }
	switch {
	case get("error") != "":
		return line{styled(bad, "fails: "+get("error"))}
	case get("state") != "":
		return line{text("@" + firstOf(get("name"), get("id"))), styled(warn, " ("+get("state")+")")}
	case get("kind") == "note" && get("name") == "":
		return line{text(get("id")), styled(warn, " (no such note)")}
	case get("kind") == "note":
		return line{text("[[" + get("name") + "]]")}
	}
	return line{text("@" + firstOf(get("name"), get("id"))), styled(faint, " ("+get("type")+")")}
}
