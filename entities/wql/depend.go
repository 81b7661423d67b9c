package wql

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/datum"
	"github.com/ctxd/ctxd/entities/wql/index"
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
	index    index.Key
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
			name += " = " + keyText(r.index.Class, r.low)
		} else {
			name += " = " + syntax.QuoteText(syntax.Clip(r.word))
		}
	case partRange:
		name += " with " + spelling(t, r.index.Field) + " " + rangeText(r.index.Class, r.low, r.high)
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
				if f.computed == nil {
					continue
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

// coarse is what the program depends on whatever the values are.
func (p *prepared) coarse() []reading {
	list := slices.Clone(p.beyond)
	for _, fold := range p.folds {
		list = append(list, reading{dep{part: partType, typeName: fold}, p.reads})
	}
	return list
}

// changedFields returns the folds of what differs between two entities, and
// whether one of them came, went, or moved to another type.
func changedFields(old, now *entities.Entity, hidden func(*entities.Entity) bool) (names []string, existence bool) {
	if old == nil || now == nil || old.Live() != now.Live() || old.Type != now.Type || hidden(old) != hidden(now) {
		return nil, true
	}
	if old == now {
		return nil, false
	}
	if old.Name != now.Name {
		names = append(names, "name")
	}
	if !old.CreatedAt.Equal(now.CreatedAt) {
		names = append(names, "createdat")
	}
	if !old.UpdatedAt.Equal(now.UpdatedAt) {
		names = append(names, "updatedat")
	}
	for name, value := range old.Fields {
		if other, ok := now.Fields[name]; !ok || !sameValue(value, other) {
			names = append(names, entities.Fold(name))
		}
	}
	for name := range now.Fields {
		if _, ok := old.Fields[name]; !ok {
			names = append(names, entities.Fold(name))
		}
	}
	return names, false
}

func sameValue(a, b any) bool {
	x, isList := a.([]string)
	y, isList2 := b.([]string)
	if isList || isList2 {
		return isList && isList2 && slices.Equal(x, y)
	}
	return a == b
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

// rangeText writes a range of keys as people write it.
func rangeText(c index.Class, low, high int64) string {
	lowest, highest := low == math.MinInt64, high == math.MaxInt64
	// The end of < and > is the neighbour of the number that was written.
	from, above := endText(c, low, low-1)
	to, below := endText(c, high, high+1)
	from, to = pick(above, "above ", "at least ")+from, pick(below, "below ", "at most ")+to
	switch {
	case lowest && highest:
		return "at all"
	case low == high:
		return "= " + keyText(c, low)
	case lowest:
		return to
	case highest:
		return from
	}
	return from + " and " + to
}

// endText writes the end of a range, or its neighbour outside when that is the
// rounder number.
func endText(c index.Class, key, outside int64) (text string, isOutside bool) {
	text = keyText(c, key)
	if c != index.Number {
		return text, false
	}
	if other := keyText(c, outside); len(other) < len(text) {
		return other, true
	}
	return text, false
}

func keyText(c index.Class, key int64) string {
	switch c {
	case index.Day:
		return datum.FormatDay(key)
	case index.Micros:
		s, _ := datum.TextOf(&datum.Value{Kind: datum.InstantKind, Int: key})
		return s
	}
	return strconv.FormatFloat(index.KeyNumber(key), 'g', -1, 64)
}
