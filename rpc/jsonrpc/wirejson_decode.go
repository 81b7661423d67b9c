package jsonrpc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// badParam is a parameter that can't be taken. Its path grows on the way out.
type badParam struct {
	path string
	msg  string // "must be a string", to be read after the path
	hint string // what to do; may be empty
	over bool   // it is too much, not wrong
}

func (e *badParam) Error() string { return e.path + " " + e.msg }

func bad(format string, args ...any) error { return &badParam{msg: fmt.Sprintf(format, args...)} }

// under puts a field name or an index before the path of err.
func under(step string, err error) error {
	if err == nil {
		return nil
	}
	var e *badParam
	if errors.As(err, &e) {
		if e.path != "" && e.path[0] != '[' {
			step += "."
		}
		e.path = step + e.path
	}
	return err
}

// A Decoder fills params structs from JSON. It may be used concurrently once its
// fields are set.
type Decoder struct {
	// Reserved is a field that any params may have and no struct declares: a string
	// or a number. "" for none.
	Reserved string
	// StringLists is a type like map[string]any whose lists hold strings only, and
	// are decoded as []string. nil for none.
	StringLists reflect.Type

	plans   sync.Map   // reflect.Type -> *plan
	plansMu sync.Mutex // held while plans are made
}

// Prepare makes what Decode needs to know of a params struct. It panics for a type
// that can't be decoded, which is a defect of the program.
func (d *Decoder) Prepare(t reflect.Type) { d.planOf(t) }

// Decode fills v, a pointer to a params struct, from the params of a request,
// whose bytes have been checked to be JSON. It takes exactly what the struct
// declares: no unknown, repeated, missing, mistyped or differently spelt field.
// reserved is the value of the field of that name, nil without one. A string may
// have stringBytes bytes unless its field is tagged long. An error is a fault that
// names the parameter: Invalid, or Limit for what is too much.
func (d *Decoder) Decode(params []byte, v any, stringBytes int) (reserved []byte, err error) {
	target := reflect.ValueOf(v).Elem()
	run := decoding{
		Scanner: Scanner{data: params, limit: math.MaxInt, checked: true}, top: true,
		reservedName: d.Reserved, stringBytes: stringBytes,
	}
	run.Space()
	switch run.Peek() {
	case 0, 'n':
		run.data, run.pos = []byte("{}"), 0
	case '[':
		run.pos++
		run.Space()
		if run.Peek() != ']' {
			return nil, fault.Field("params", "the params must be an object, not a list").
				WithHint("give params by name; rpc.discover lists them")
		}
		run.data, run.pos = []byte("{}"), 0
	}
	err = run.value(target, d.planOf(target.Type()))
	if err == nil {
		return run.reserved, nil
	}
	var e *badParam
	switch {
	case !errors.As(err, &e):
		return nil, err
	case e.over:
		return nil, &fault.Error{
			Kind: fault.Limit, Field: e.path, Msg: e.path + " " + e.msg,
			Hint: "send less at a time",
		}
	default:
		wrong := fault.Field(e.path, "%s %s", e.path, e.msg)
		wrong.Hint = e.hint
		return nil, wrong
	}
}

// decoding is one run of a Decoder over checked JSON. Errors of its Scanner can't
// occur.
type decoding struct {
	Scanner
	top   bool // the next object is the params
	spent int  // of valueRoom

	reservedName string
	reserved     []byte // its value

	stringBytes int
	long        bool // the string of the current field may have more
}

// What the lists and maps of one call may take, in bytes, beside their strings: a
// list of {} can take hundreds of times the room of its message.
const (
	valueRoom = 8 << 20
	mapEntry  = 96 // of a map with any values, about
	listEntry = 16 // of a list of strings or of any values
)

// spend books room for one more value.
func (d *decoding) spend(size int) error {
	d.spent += size
	if d.spent > valueRoom {
		return &badParam{msg: "is one value too many for a call", over: true}
	}
	return nil
}

func (d *decoding) value(v reflect.Value, p *plan) error {
	c := d.Peek()
	if c == 'n' && p.kind != isOptional && p.kind != isAny && p.kind != isRaw {
		return bad("must not be null")
	}
	switch p.kind {
	case isString:
		if c != '"' {
			return bad("must be a string")
		}
		quoted, _ := d.quoted()
		if n := len(quoted) - 2; n > d.stringBytes && !d.long {
			return &badParam{msg: fmt.Sprintf("has %d bytes, at most %d are allowed", n, d.stringBytes), over: true}
		}
		v.SetString(Unquote(quoted))
	case isBool:
		if c != 't' && c != 'f' {
			return bad("must be true or false")
		}
		v.SetBool(c == 't')
		return d.Scanner.Value()
	case isInt, isFloat:
		return d.number(v, p)
	case isStruct:
		return d.object(v, p)
	case isList:
		return d.list(v, p)
	case isMap, isStringLists:
		return d.mapping(v, p)
	case isAny:
		x, err := d.any()
		if err == nil && x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return err
	case isPointer:
		v.Set(reflect.New(p.typ.Elem()))
		return d.value(v.Elem(), p.elem)
	case isOptional:
		target := v.Addr().Interface().(optional).Target(c == 'n')
		if c == 'n' {
			return d.Scanner.Value()
		}
		return d.value(reflect.ValueOf(target).Elem(), p.elem)
	case isRaw:
		v.SetBytes(append([]byte(nil), d.rawValue()...))
	case isTime:
		return d.time(v)
	}
	return nil
}

// str returns the string at the position, which is at its quote.
func (d *decoding) str() string {
	quoted, _ := d.quoted()
	return Unquote(quoted)
}

// rawValue returns the bytes of the value at the position.
func (d *decoding) rawValue() []byte {
	start := d.pos
	_ = d.Scanner.Value()
	return d.data[start:d.pos]
}

func (d *decoding) number(v reflect.Value, p *plan) error {
	c := d.Peek()
	isNumber := c == '-' || c >= '0' && c <= '9'
	if !isNumber && p.kind == isFloat {
		return bad("must be a number")
	}
	if !isNumber {
		return bad("must be a whole number")
	}
	text := string(d.rawValue())
	if p.kind == isInt {
		if n, err := strconv.ParseInt(text, 10, v.Type().Bits()); err == nil {
			v.SetInt(n)
			return nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return bad("is a number out of range")
	}
	if p.kind == isFloat {
		v.SetFloat(f)
		return nil
	}
	// Some clients write whole numbers as 5.0.
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return bad("must be a whole number")
	}
	v.SetInt(int64(f))
	return nil
}

func (d *decoding) time(v reflect.Value) error {
	if d.Peek() == '"' {
		t, err := time.Parse(time.RFC3339Nano, d.str())
		if t = t.UTC(); err == nil && t.Year() >= 0 && t.Year() <= 9999 { // another year can't be written again
			v.Set(reflect.ValueOf(t))
			return nil
		}
	}
	return bad("must be a time such as 2026-01-31T09:30:00Z")
}

func (d *decoding) object(v reflect.Value, p *plan) error {
	if d.Peek() != '{' {
		return bad("must be an object")
	}
	top := d.top
	d.top = false
	var seen uint64
	err := d.Scanner.Object(func(key []byte) error {
		m := p.fields[string(key[1:len(key)-1])]
		if m == nil {
			name := Unquote(key)
			m = p.fields[name]
			if m == nil {
				if top && name != "" && name == d.reservedName {
					return under(name, d.reservedValue())
				}
				return under(ClipName(name), bad("is not a parameter%s", near(name, p)))
			}
		}
		if seen&(1<<m.number) != 0 {
			return under(m.name, bad("is given twice"))
		}
		seen |= 1 << m.number
		field := v.FieldByIndex(m.index)
		d.long = m.long
		if err := d.value(field, m.plan); err != nil {
			return under(m.name, err)
		}
		return under(m.name, m.check(field))
	})
	if err != nil {
		return err
	}
	for _, m := range p.required {
		if seen&(1<<m.number) == 0 {
			return under(m.name, bad("is missing"))
		}
	}
	for _, m := range p.preset {
		if seen&(1<<m.number) == 0 {
			v.FieldByIndex(m.index).Set(m.def)
		}
	}
	return nil
}

// ClipName makes a name that a client made up fit for an error that tells it back: it is
// bounded, and quoted when it is empty or does strange things where it is shown.
func ClipName(name string) string {
	const most = 64
	n := 0
	for i := range name {
		n++
		if n > most {
			name = name[:i] + "…"
			break
		}
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// near says which parameter a misspelt one may mean.
// near says which parameter was meant: the one that had that name before, or one that is spelt much like it.
func near(name string, p *plan) string {
	for known, f := range p.fields {
		if name != "" && slices.Contains(f.formerly, name) {
			return ", it is called " + known + " now"
		}
		if strings.EqualFold(known, name) {
			return "; " + known + " is"
		}
	}
	if list := text.Nearest(ClipName(name), slices.Sorted(maps.Keys(p.fields))); len(list) > 0 {
		return "; did you mean " + strings.Join(list, " or ") + "?"
	}
	return ""
}

func (d *decoding) reservedValue() error {
	c := d.Peek()
	if d.reserved != nil {
		return bad("is given twice")
	}
	if c != '"' && c != '-' && (c < '0' || c > '9') {
		return bad("must be a string or a number")
	}
	d.reserved = d.rawValue()
	return nil
}

// check holds a value against the tags of its field.
func (f *field) check(v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if n := float64(v.Int()); n < f.min || n > f.max {
			return f.outOfRange()
		}
	case reflect.Float64:
		if n := v.Float(); n < f.min || n > f.max {
			return f.outOfRange()
		}
	case reflect.String:
		return f.checkEnum(v.String())
	case reflect.Slice:
		if f.enum == nil {
			return nil
		}
		for i := range v.Len() {
			if err := f.checkEnum(v.Index(i).String()); err != nil {
				return under("["+strconv.Itoa(i)+"]", err)
			}
		}
	}
	return nil
}

func (f *field) outOfRange() error {
	switch {
	case math.IsInf(f.max, 1):
		return bad("must be at least %v", f.min)
	case math.IsInf(f.min, -1):
		return bad("must be at most %v", f.max)
	}
	return bad("must be from %v to %v", f.min, f.max)
}

func (f *field) checkEnum(s string) error {
	for _, e := range f.enum {
		if e == s {
			return nil
		}
	}
	if f.enum == nil {
		return nil
	}
	return bad("must be one of %s", strings.Join(f.enum, ", "))
}

func (d *decoding) list(v reflect.Value, p *plan) error {
	if d.Peek() != '[' {
		return bad("must be a list")
	}
	v.Set(reflect.MakeSlice(p.typ, 0, 0))
	i, size := 0, int(p.typ.Elem().Size())
	return d.Array(func() error {
		if err := d.spend(size); err != nil {
			return under("["+strconv.Itoa(i)+"]", err)
		}
		v.Grow(1)
		v.SetLen(i + 1)
		item := v.Index(i)
		item.SetZero()
		if err := d.value(item, p.elem); err != nil {
			return under("["+strconv.Itoa(i)+"]", err)
		}
		i++
		return nil
	})
}

func (d *decoding) mapping(v reflect.Value, p *plan) error {
	if d.Peek() != '{' {
		return bad("must be an object")
	}
	v.Set(reflect.MakeMap(p.typ))
	return d.Scanner.Object(func(key []byte) error {
		name := Unquote(key)
		step := ClipName(name)
		k := reflect.ValueOf(name)
		if v.MapIndex(k).IsValid() {
			return under(step, bad("is given twice"))
		}
		if err := d.spend(mapEntry); err != nil {
			return under(step, err)
		}
		if p.kind == isStringLists {
			x, err := d.fieldValue()
			if err == nil {
				v.Convert(anyMap).Interface().(map[string]any)[name] = x
			}
			return under(step, err)
		}
		item := reflect.New(p.typ.Elem()).Elem()
		if err := d.value(item, p.elem); err != nil {
			return under(step, err)
		}
		v.SetMapIndex(k, item)
		return nil
	})
}

// fieldValue decodes a value in which lists hold strings.
func (d *decoding) fieldValue() (any, error) {
	switch d.Peek() {
	case '{':
		return nil, bad("must be a string, a number, true, false or a list of strings")
	case '[':
		items := []string{}
		err := d.Array(func() error {
			if d.Peek() != '"' {
				return under("["+strconv.Itoa(len(items))+"]", bad("must be a string"))
			}
			items = append(items, d.str())
			return d.spend(listEntry)
		})
		return items, err
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		at := d.pos
		x, err := d.any()
		if f, ok := x.(float64); ok && rounds(string(d.data[at:d.pos]), f) {
			return nil, &badParam{
				msg:  "has more digits than a number can hold",
				hint: "declare the field as text and give the digits as a string, which keeps each of them",
			}
		}
		return x, err
	}
	return d.any()
}

// mostExact is the number up to which a float64 holds every whole number.
const mostExact = 1 << 53

// rounds reports whether a whole number that is written with all its digits is another one as a float64.
func rounds(written string, f float64) bool {
	written = strings.TrimSpace(written)
	if math.Abs(f) < mostExact || strings.ContainsAny(written, "eE") {
		return false
	}
	whole, rest, _ := strings.Cut(written, ".")
	exact, ok := new(big.Int).SetString(whole, 10)
	held, _ := new(big.Float).SetFloat64(f).Int(nil)
	return !ok || strings.Trim(rest, "0") != "" || exact.Cmp(held) != 0
}

// any decodes a value as encoding/json does, but refuses repeated fields.
func (d *decoding) any() (any, error) {
	switch c := d.Peek(); c {
	case '"':
		return d.str(), nil
	case 't', 'f':
		return c == 't', d.Scanner.Value()
	case 'n':
		return nil, d.Scanner.Value()
	case '[':
		items := []any{}
		err := d.Array(func() error {
			x, err := d.any()
			items = append(items, x)
			if err == nil {
				err = d.spend(listEntry)
			}
			return under("["+strconv.Itoa(len(items)-1)+"]", err)
		})
		return items, err
	case '{':
		m := map[string]any{}
		err := d.Scanner.Object(func(key []byte) error {
			name := Unquote(key)
			if _, twice := m[name]; twice {
				return under(ClipName(name), bad("is given twice"))
			}
			x, err := d.any()
			m[name] = x
			if err == nil {
				err = d.spend(mapEntry)
			}
			return under(ClipName(name), err)
		})
		return m, err
	}
	f, err := strconv.ParseFloat(string(d.rawValue()), 64)
	if err != nil {
		return nil, bad("is a number out of range")
	}
	return f, nil
}
