package wql

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

var builtinFields = map[string]fieldRef{
	"id":        {storedField: storedField{Name: "id", Kind: kindRef, Builtin: builtinID}, fold: "id"},
	"name":      {storedField: storedField{Name: "name", Kind: kindText, Builtin: builtinName}, fold: "name"},
	"type":      {storedField: storedField{Name: "type", Kind: kindChoice, Builtin: builtinType}, fold: "type"},
	"createdat": {storedField: storedField{Name: "createdAt", Kind: kindInstant, Builtin: builtinCreated}, fold: "createdat"},
	"updatedat": {storedField: storedField{Name: "updatedAt", Kind: kindInstant, Builtin: builtinUpdated}, fold: "updatedat"},
}

var builtinNames = []string{"name", "id", "type", "createdAt", "updatedAt"}

// fieldRef is a field of one type as a program reads it.
type fieldRef struct {
	storedField
	fold     string // of name
	follow   bool   // an entity_ref, an entity_ref_list, or computed rows
	target   string
	options  []string
	computed *prepared // of a computed field
	vault    string    // of the type, the first of several that are alike
	cyclic   string    // a computed field that would need itself: the cycle
	ofTask   bool      // a field that tasks alone have

	// Of a name that is a field of several types of one name, and not the same field: what it
	// is by the vaults of the types, which are named.
	of    map[string]*fieldRef
	named *entities.NamedTypes
}

// own returns the field of the type that an entity has.
func (f *fieldRef) own(e *entities.Entity) *fieldRef {
	if f == nil || f.of == nil {
		return f
	}
	if t := f.named.Of(e); t != nil {
		return f.of[t.Vault]
	}
	return nil
}

// same reports whether two fields of types of one name are read alike.
func (f *fieldRef) same(g *fieldRef) bool {
	return f.storedField == g.storedField && f.follow == g.follow && f.computed == nil && g.computed == nil &&
		f.ofTask == g.ofTask && f.cyclic == "" && g.cyclic == ""
}

// kindOfOrder are the kinds of stored values, by the order of their field types.
var kindOfOrder = [record.OrderCount]valueKind{
	record.NoOrder: kindNull, record.ByText: kindText, record.ByOption: kindChoice,
	record.ByNumber: kindNumber,
	record.ByTruth:  kindBool, record.ByDay: kindDate, record.ByRecord: kindRef, record.ByItems: kindList,
}

// refTo returns the field of that name of a type. Of a computed field only the
// name is filled in.
func refTo(t *entities.Type, name string) (*fieldRef, *entities.Field) {
	if f, ok := builtinFields[entities.Fold(name)]; ok {
		return &f, nil
	}
	f, ok := t.Field(name)
	if !ok {
		return nil, nil
	}
	info := f.Type.Info()
	ref := &fieldRef{
		storedField: storedField{Name: f.Name, Kind: kindOfOrder[info.Order], Elem: kindOfOrder[info.Item.Info().Order]},
		fold:        entities.Fold(f.Name), target: f.TargetType, options: f.Options, follow: info.To == record.ToEntity,
		ofTask: isTaskType(t),
	}
	return ref, &f
}

// path is a resolved path: a field of the row, or one reached over references.
type path struct {
	text  string
	steps []step
}

// step is one segment of a path: by the name of the entity's type, spelt as
// declared and folded, the field that the segment means there.
type step struct {
	fields map[string]*fieldRef
	reads  *fields // the segment itself
}

// field returns what the segment means for an entity, or nil.
func (s *step) field(e *entities.Entity) *fieldRef { return s.named(e.Type).own(e) }

// named returns what the segment means for entities of types of that name, or nil.
func (s *step) named(typeName string) *fieldRef {
	if f, ok := s.fields[typeName]; ok {
		return f
	}
	return s.fields[entities.Fold(typeName)]
}

// shape is what is known of an operand before a row is seen.
type shape struct {
	kind    valueKind // kindAny when it differs from type to type
	elem    valueKind // of a list
	options []string
	literal *syntax.Literal // of a literal
	scalar  bool            // of a path: a field of the row itself, readable from an index
	field   string          // then: its name
}

// base is the kind of a single value: the item of a list.
func (s shape) base() valueKind {
	if s.kind == kindList {
		return s.elem
	}
	return s.kind
}

// place is where a path is looked up: on some types and, behind a reference
// without a target type, on any.
type place struct {
	types []*entities.Type
	any   bool   // entities of any type may turn up
	open  bool   // so may ones of types not declared yet: nothing can be called unknown for sure
	lacks string // begins a message: "type Person has no field "
}

func lacks(t *entities.Type) string { return "type " + t.Name + " has no field " }

// resolve finds the fields that the segments of a path mean. It reports what
// no type declares, and gives a nil path then.
func (c *compiler) resolve(segments []syntax.Name, at place) (*path, shape) {
	p := &path{}
	names := make([]string, len(segments))
	many := false
	var sh shape
	for i, seg := range segments {
		names[i] = syntax.QuoteName(seg.Text)
		st, found := c.step(seg, at)
		if len(found) == 0 {
			if !c.unknownField(seg, at, i == 0) {
				return nil, shape{kind: kindAny}
			}
		}
		p.steps = append(p.steps, st)
		sh = shapeOf(found)
		if i == len(segments)-1 {
			break
		}
		var ok bool
		at, ok = c.follow(seg, found)
		if !ok {
			return nil, shape{kind: kindAny}
		}
		many = many || sh.kind == kindList || sh.kind == kindAny
	}
	p.text = strings.Join(names, ".")
	if many && sh.kind != kindList {
		sh = shape{kind: kindList, elem: sh.kind, options: sh.options}
	}
	sh.scalar = len(segments) == 1 && sh.kind != kindAny
	sh.field = segments[0].Text
	return p, sh
}

// step looks a segment up on all types, and returns the fields that it may
// mean here.
func (c *compiler) step(seg syntax.Name, at place) (step, []*fieldRef) {
	st := step{fields: make(map[string]*fieldRef), reads: fieldsOf(entities.Fold(seg.Text))}
	var found []*fieldRef
	types := c.schema.Types
	for _, t := range at.types {
		if isTaskType(t) {
			types = append(slices.Clip(types), t)
		}
	}
	for _, t := range types {
		here := at.any || slices.Contains(at.types, t)
		ref, declared := refTo(t, seg.Text)
		if ref == nil {
			continue
		}
		if declared != nil && declared.Type.IsComputed() {
			if !here {
				continue
			}
			c.computed(ref, t, *declared, seg, at.any)
		}
		if here {
			found = append(found, ref)
		}
		c.enter(&st, t, ref)
	}
	return st, found
}

// enter notes what a segment means for a type. Several of one name that read it alike have
// one fieldRef, and those that lack the field have no value to read.
func (c *compiler) enter(st *step, t *entities.Type, ref *fieldRef) {
	fold := entities.Fold(t.Name)
	have, named := st.fields[fold], len(c.schema.ByName[fold]) > 1
	if have == nil {
		have = &fieldRef{}
		*have = *ref
		have.vault = t.Vault
		st.fields[fold] = have
	}
	st.fields[t.Name] = have
	if have.of == nil && named && !have.same(ref) {
		first := *have
		of := map[string]*fieldRef{first.vault: &first}
		*have = fieldRef{storedField: storedField{Kind: kindAny}, fold: first.fold, of: of}
		if c.schema.Named != nil {
			have.named = c.schema.Named(fold)
		}
	}
	if have.of != nil {
		have.of[t.Vault] = ref
	}
}

// shapeOf is the shape that the fields have in common.
func shapeOf(fields []*fieldRef) shape {
	if len(fields) == 0 {
		return shape{kind: kindAny}
	}
	sh := shape{kind: fields[0].Kind, elem: fields[0].Elem}
	for _, f := range fields {
		if f.Kind != sh.kind || f.Elem != sh.elem {
			return shape{kind: kindAny}
		}
		sh.options = append(sh.options, f.options...)
	}
	return sh
}

// follow returns the place that the references lead to.
func (c *compiler) follow(seg syntax.Name, found []*fieldRef) (place, bool) {
	next := place{any: len(found) == 0}
	for _, f := range found {
		switch {
		case f.computed != nil && f.follow:
			for _, t := range f.computed.types {
				next.types = append(next.types, c.schema.Of(t.Name)...)
			}
		case f.cyclic != "":
			next.any = true
		case !f.follow:
			continue
		case c.schema.Of(f.target) != nil:
			next.types = append(next.types, c.schema.Of(f.target)...)
		default:
			next.any = true
		}
	}
	next.open = next.any
	if len(next.types) == 0 && !next.open {
		c.found.Fail(seg.Span,
			seg.Text+" is "+kindNames[shapeOf(found).kind]+": only references to entities lead further",
			"end the path at "+seg.Text)
		return next, false
	}
	next.lacks = "no type that " + syntax.Clip(seg.Text) + " refers to has a field "
	if len(next.types) == 1 {
		next.lacks = lacks(next.types[0])
	}
	return next, true
}

// unknownField reports a segment that no type declares. It returns true when
// the path can still be evaluated: where any type may turn up, the field may
// be declared later.
func (c *compiler) unknownField(seg syntax.Name, at place, first bool) bool {
	types := at.types
	if at.any {
		types = c.schema.Types
	}
	hint := syntax.DidYouMean(seg.Text, fieldNames(types), "")
	if at.open {
		// At the first segment the open place itself was reported.
		if !first && builtinFields[entities.Fold(seg.Text)].Name == "" {
			c.found.Warn(seg.Span, "no declared type has a field "+syntax.Clip(seg.Text), hint)
		}
		return true
	}
	c.found.Fail(seg.Span, at.lacks+syntax.Clip(seg.Text), hint)
	return false
}
