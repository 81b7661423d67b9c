package rpc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities"
)

// kind says how a Go type is decoded.
type kind uint8

const (
	isText kind = iota
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
	isValues // entities.Values: a map whose lists hold texts
)

// plan is what the decoder knows about a type. Plans are made once and shared.
type plan struct {
	kind    kind
	typ     reflect.Type
	elem    *plan // of a list, map, pointer or optional
	members map[string]*member
	needed  []*member // required ones
	preset  []*member // those with a default
}

// member is a member of a struct, with what its tags say.
type member struct {
	name     string
	index    []int
	number   int // of the member in its struct, for the set of those seen
	plan     *plan
	def      reflect.Value // invalid: none
	min, max float64
	enum     []string
	long     bool // its text is bounded elsewhere
}

// optional is what a protocol.Optional offers to a decoder.
type optional interface{ Target(null bool) any }

var (
	optionalType = reflect.TypeFor[optional]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	timeType     = reflect.TypeFor[time.Time]()
	valuesType   = reflect.TypeFor[entities.Values]()

	plans   sync.Map // reflect.Type -> *plan
	plansMu sync.Mutex
)

// planOf returns the plan of a type. A type that the decoder does not know is a
// defect of the method table: it panics, which every start would show.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	plansMu.Lock()
	defer plansMu.Unlock()
	made := map[reflect.Type]*plan{}
	p := makePlan(t, made)
	for t, p := range made {
		plans.Store(t, p)
	}
	return p
}

func makePlan(t reflect.Type, made map[reflect.Type]*plan) *plan {
	if p, ok := plans.Load(t); ok {
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
	case t == valuesType:
		p.kind = isValues
		return p
	case reflect.PointerTo(t).Implements(optionalType):
		p.kind = isOptional
		value, _ := t.FieldByName("Value")
		p.elem = makePlan(value.Type, made)
		return p
	}
	switch t.Kind() {
	case reflect.String:
		p.kind = isText
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
		p.elem = makePlan(t.Elem(), made)
	case reflect.Map:
		p.kind = isMap
		p.elem = makePlan(t.Elem(), made)
	case reflect.Struct:
		p.kind = isStruct
		p.members = map[string]*member{}
		for _, f := range reflect.VisibleFields(t) {
			p.addMember(f, made)
		}
	default:
		panic(fmt.Sprintf("rpc: params can't hold a %s", t))
	}
	return p
}

func (p *plan) addMember(f reflect.StructField, made map[reflect.Type]*plan) {
	tag, ok := f.Tag.Lookup("json")
	if f.Anonymous && !ok || !f.IsExported() || tag == "-" {
		return // the members of an embedded struct come as fields of their own
	}
	name, opts, _ := strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	m := &member{
		name: name, index: f.Index, number: len(p.members), plan: makePlan(f.Type, made),
		min: number(f, "min", math.Inf(-1)), max: number(f, "max", math.Inf(1)), long: f.Tag.Get("long") == "true",
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		m.enum = strings.Split(enum, ",")
	}
	p.members[name] = m
	if len(p.members) > 64 {
		panic(fmt.Sprintf("rpc: %s has more than 64 members", p.typ))
	}
	options := strings.Split(opts, ",")
	if !slices.Contains(options, "omitempty") && !slices.Contains(options, "omitzero") {
		p.needed = append(p.needed, m)
	}
	if def, ok := f.Tag.Lookup("default"); ok {
		m.def = reflect.New(f.Type).Elem()
		if f.Type.Kind() == reflect.String {
			m.def.SetString(def)
		} else if err := json.Unmarshal([]byte(def), m.def.Addr().Interface()); err != nil {
			panic(fmt.Sprintf("rpc: default of %s.%s: %v", p.typ, f.Name, err))
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
		panic(fmt.Sprintf("rpc: %s of %s: %v", tag, f.Name, err))
	}
	return n
}
