package wql

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// fields is a set of fields by their folds. It is made with a program and does
// not change afterwards, so that equal pointers mean equal sets.
type fields map[string]bool

func fieldsOf(folds ...string) *fields {
	f := make(fields, len(folds))
	for _, fold := range folds {
		f[fold] = true
	}
	return &f
}

// dep is a part of the store that a result was made from. Together with a set
// of fields it says: another result may come out when, in this part, an entity
// comes, goes, or has another value in one of the fields.
type dep struct {
	part     depPart
	typeName string // a fold; empty for any type
	index    indexKey
	word     string // of an index without an order, or an id
	low      int64  // of one with an order
	high     int64
}

// depPart is a kind of dep.
type depPart uint8

const (
	partType   depPart = iota // the live entities of a type
	partWord                  // those of them that have the value in the field
	partRange                 // those that have one between two
	partEntity                // one entity, live or not
)

// reading is a dep with the fields.
type reading struct {
	dep
	fields *fields
}

// describe says what the result depends on, for people.
func (e *Engine) describe(r reading) string {
	name, spelt := "entities of any type", r.typeName
	var t *entities.Type
	switch {
	case r.part == partEntity:
		name = "entity " + r.word
		if ent := e.src.Get(r.word); ent != nil {
			spelt = ent.Type
		}
		t = e.src.Type(spelt)
	case r.typeName != "":
		name, t = r.typeName, e.src.Type(r.typeName)
		if t != nil {
			name = t.Name
		}
	}
	switch r.part {
	case partWord:
		name += " with " + spelling(t, r.index.Field)
		if r.index.Class.Ordered() {
			name += " = " + r.index.Class.KeyText(r.low)
		} else {
			name += " = " + syntax.QuoteText(syntax.Clip(r.word))
		}
	case partRange:
		name += " with " + spelling(t, r.index.Field) + " " + r.index.Class.RangeText(r.low, r.high)
	}
	if len(*r.fields) == 0 {
		return name
	}
	names := slices.Sorted(maps.Keys(*r.fields))
	for i, field := range names {
		names[i] = spelling(t, field)
	}
	return name + ": " + strings.Join(names, ", ")
}

// spelling returns a field as it is declared.
func spelling(t *entities.Type, fold string) string {
	if f := builtinFields[fold]; f.Name != "" {
		return f.Name
	}
	if t != nil {
		if f, ok := t.Field(fold); ok {
			return f.Name
		}
	}
	return fold
}

// recorder notes what a run reads. A run that reads too much to be noted one by
// one depends on the whole fields instead, which the program names.
type recorder struct {
	readings []reading
	seen     map[reading]struct{}
	coarse   bool
	mixed    bool // of two days: true on neither
}

// maxReadings is the number of readings of a result that are told apart.
const maxReadings = 64

func (r *recorder) add(d dep, f *fields) {
	if r == nil || r.coarse {
		return
	}
	x := reading{d, f}
	if n := len(r.readings); n > 0 && r.readings[n-1] == x {
		return
	}
	if _, twice := r.seen[x]; twice {
		return
	}
	if len(r.readings) == maxReadings {
		r.coarse = true
		return
	}
	if r.seen == nil {
		r.seen = make(map[reading]struct{})
	}
	r.seen[x] = struct{}{}
	r.readings = append(r.readings, x)
}

// entity notes that a field of an entity was read, or that there is none of
// that id.
func (r *recorder) entity(id string, f *fields) {
	if r != nil && !r.coarse {
		r.add(dep{part: partEntity, word: id}, f)
	}
}

// all notes what another run noted.
func (r *recorder) all(list []reading) {
	for _, x := range list {
		r.add(x.dep, x.fields)
	}
}

// finish returns what the run depends on.
func (r *recorder) finish(p *prepared, this *entities.Entity) []reading {
	if !r.coarse {
		return r.readings
	}
	list := slices.Clone(p.beyond)
	if this != nil {
		list = append(list, reading{dep{part: partEntity, word: this.ID}, p.existence})
	}
	for _, fold := range p.folds {
		list = append(list, reading{dep{part: partType, typeName: fold}, p.reads})
	}
	return list
}

// dependencies works out what a program reads: of the rows, and behind
// references and in computed fields.
func (c *compiler) dependencies() {
	p := c.out
	own := make(fields)
	beyond := make(map[string]fields) // by the fold of a type, "" for any
	add := func(typeName, field string) {
		if beyond[typeName] == nil {
			beyond[typeName] = make(fields)
		}
		beyond[typeName][field] = true
	}
	p.existence = fieldsOf()
	if p.query.What.Kind == syntax.SelectRows {
		own["name"] = true
	}
	for i := range p.slots {
		s := &p.slots[i]
		if s.path == nil {
			continue
		}
		for n := range s.path.steps {
			for typeName, f := range s.path.steps[n].fields {
				if n == 0 && s.op == slotPath {
					own[f.fold] = true
				} else {
					add(entities.Fold(typeName), f.fold)
				}
				for _, own := range f.of {
					own.addCoarse(add)
				}
				f.addCoarse(add)
			}
		}
	}
	for _, k := range p.order {
		if k.mayRef { // ordered by the name of what it refers to
			add("", "name")
		}
	}
	p.reads = &own
	for _, typeName := range slices.Sorted(maps.Keys(beyond)) {
		f := beyond[typeName]
		p.beyond = append(p.beyond, reading{dep{part: partType, typeName: typeName}, &f})
	}
	for _, t := range p.types {
		p.folds = append(p.folds, entities.Fold(t.Name))
	}
}

// addCoarse adds what a computed field depends on whatever the values are.
func (f *fieldRef) addCoarse(add func(typeName, field string)) {
	if f.computed == nil {
		return
	}
	for _, r := range f.computed.coarse() {
		for field := range *r.fields {
			add(r.typeName, field)
		}
		if len(*r.fields) == 0 {
			add(r.typeName, "id") // that there are any
		}
	}
}

// coarse is what the program depends on whatever the values are.
func (p *prepared) coarse() []reading {
	list := slices.Clone(p.beyond)
	for _, fold := range p.folds {
		list = append(list, reading{dep{part: partType, typeName: fold}, p.reads})
	}
	return list
}

// touches reports whether a change is one of the fields.
func (f *fields) touches(names []string, existence bool) bool {
	if existence {
		return true
	}
	for _, name := range names {
		if (*f)[name] {
			return true
		}
	}
	return false
}
