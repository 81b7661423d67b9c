package jsonrpc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind says how a Go type is decoded.
type kind uint8

const (
	isString kind = iota
	isBool
	isInt
	isFloat
	isStruct
	isList
	isMap
	isAny
	isPointer
	isOptional
	isRaw
	isTime
	isStringLists // a map whose lists hold strings
)

// plan is what the decoder knows about a type. Plans are made once and shared.
type plan struct {
	kind     kind
	typ      reflect.Type
	elem     *plan // of a list, map, pointer or optional
	fields   map[string]*field
	required []*field // required ones
	preset   []*field // those with a default
}

// field is a field of a struct, with what its tags say.
type field struct {
	name     string
	index    []int
	number   int // of the field in its struct, for the set of those seen
	plan     *plan
	def      reflect.Value // invalid: none
	min, max float64
	enum     []string
	long     bool     // its string is bounded elsewhere
	formerly []string // what it was called before
}

// optional is what a protocol.Optional offers to a decoder.
type optional interface{ Target(null bool) any }

var (
	optionalType = reflect.TypeFor[optional]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	timeType     = reflect.TypeFor[time.Time]()
	anyMap       = reflect.TypeFor[map[string]any]()
)

// planOf returns the plan of a type. A type that the decoder does not know is a
// defect of the program: it panics.
func (d *Decoder) planOf(t reflect.Type) *plan {
	if p, ok := d.plans.Load(t); ok {
		return p.(*plan)
	}
	d.plansMu.Lock()
	defer d.plansMu.Unlock()
	made := map[reflect.Type]*plan{}
	p := d.makePlan(t, made)
	for t, p := range made {
		d.plans.Store(t, p)
	}
	return p
}

func (d *Decoder) makePlan(t reflect.Type, made map[reflect.Type]*plan) *plan {
	if p, ok := d.plans.Load(t); ok {
		return p.(*plan)
	}
	if p := made[t]; p != nil {
		return p
	}
	p := &plan{typ: t}
	made[t] = p
	switch {
	case t == rawType:
		p.kind = isRaw
		return p
	case t == timeType:
		p.kind = isTime
		return p
	case t == d.StringLists:
		p.kind = isStringLists
		return p
	case reflect.PointerTo(t).Implements(optionalType):
		p.kind = isOptional
		value, _ := t.FieldByName("Value")
		p.elem = d.makePlan(value.Type, made)
		return p
	}
	switch t.Kind() {
	case reflect.String:
		p.kind = isString
	case reflect.Bool:
		p.kind = isBool
	case reflect.Int, reflect.Int64:
		p.kind = isInt
	case reflect.Float64:
		p.kind = isFloat
	case reflect.Interface:
		p.kind = isAny
	case reflect.Slice, reflect.Pointer:
		p.kind = isList
		if t.Kind() == reflect.Pointer {
			p.kind = isPointer
		}
		p.elem = d.makePlan(t.Elem(), made)
	case reflect.Map:
		p.kind = isMap
		p.elem = d.makePlan(t.Elem(), made)
	case reflect.Struct:
		p.kind = isStruct
		p.fields = map[string]*field{}
		for _, f := range reflect.VisibleFields(t) {
			d.addField(p, f, made)
		}
	default:
		panic(fmt.Sprintf("wirejson: params can't hold a %s", t))
	}
	return p
}

func (d *Decoder) addField(p *plan, f reflect.StructField, made map[reflect.Type]*plan) {
	tag, ok := f.Tag.Lookup("json")
	if f.Anonymous && !ok || !f.IsExported() || tag == "-" {
		return // the fields of an embedded struct come as fields of their own
	}
	name, opts, _ := strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	m := &field{
		name: name, index: f.Index, number: len(p.fields), plan: d.makePlan(f.Type, made),
		min: number(f, "min", math.Inf(-1)), max: number(f, "max", math.Inf(1)), long: f.Tag.Get("long") == "true", formerly: strings.Split(f.Tag.Get("formerly"), ","),
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		m.enum = strings.Split(enum, ",")
	}
	p.fields[name] = m
	if len(p.fields) > 64 {
		panic(fmt.Sprintf("wirejson: %s has more than 64 fields", p.typ))
	}
	options := strings.Split(opts, ",")
	if !slices.Contains(options, "omitempty") && !slices.Contains(options, "omitzero") {
		p.required = append(p.required, m)
	}
	if def, ok := f.Tag.Lookup("default"); ok {
		m.def = reflect.New(f.Type).Elem()
		if f.Type.Kind() == reflect.String {
			m.def.SetString(def)
		} else if err := json.Unmarshal([]byte(def), m.def.Addr().Interface()); err != nil {
			panic(fmt.Sprintf("wirejson: default of %s.%s: %v", p.typ, f.Name, err))
		}
		p.preset = append(p.preset, m)
	}
}

func number(f reflect.StructField, tag string, otherwise float64) float64 {
	s, ok := f.Tag.Lookup(tag)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("wirejson: %s of %s: %v", tag, f.Name, err))
	}
	return n
}
