package rpc

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// badParam is a parameter that can't be taken. Its path grows on the way out.
type badParam struct {
	path string
	msg  string // "must be a text", to be read after the path
	over bool   // it is too much, not wrong
}

func (e *badParam) Error() string { return e.path + " " + e.msg }

func bad(format string, args ...any) error { return &badParam{msg: fmt.Sprintf(format, args...)} }

// under puts a member name or an index before the path of err.
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

// decodeParams fills v, a pointer to a params struct, from the params of a
// request, whose bytes have been checked to be JSON. It takes exactly what the
// struct declares: no unknown, repeated, missing, mistyped or differently
// spelt member. token is the text or number given as progressToken, which any
// method takes. A text may have textBytes bytes unless its member is tagged long.
// An error is a fault that names the parameter: Invalid, or Limit for what is too
// much.
func decodeParams(params []byte, v any, textBytes int) (token []byte, err error) {
	target := reflect.ValueOf(v).Elem()
	d := decoder{scanner: scanner{data: params, limit: math.MaxInt, checked: true}, top: true, textBytes: textBytes}
	switch d.space(); {
	case d.peek() == 0 || d.peek() == 'n':
		d.data, d.pos = []byte("{}"), 0
	case d.peek() == '[':
		if d.pos++; d.nextIsNot(']') {
			return nil, fault.Field("params", "the params are a list, an object with names is expected").
				WithHint("give the parameters by name: rpc.discover lists them")
		}
		d.data, d.pos = []byte("{}"), 0
	}
	if err = d.value(target, planOf(target.Type())); err == nil {
		return d.token, nil
	}
	var e *badParam
	switch {
	case !errors.As(err, &e):
		return nil, err
	case e.over:
		return nil, &fault.Error{Kind: fault.Limit, Field: e.path, Msg: e.path + " " + e.msg, Hint: "send less at a time"}
	default:
		return nil, fault.Field(e.path, "%s %s", e.path, e.msg)
	}
}

func (s *scanner) nextIsNot(c byte) bool {
	s.space()
	return s.peek() != c
}

// decoder fills Go values from checked JSON. Errors of its scanner can't occur.
type decoder struct {
	scanner
	top   bool   // the next object is the params
	token []byte // progressToken
	spent int    // of valueRoom

	textBytes int
	long      bool // the text of the current member may have more
}

// What the lists and maps of one call may take, in bytes, beside their texts: a
// list of {} can take hundreds of times the room of its message.
const (
	valueRoom = 8 << 20
	mapEntry  = 96 // of a map with any values, about
	listEntry = 16 // of a list of texts or of any values
)

// spend books room for one more value.
func (d *decoder) spend(size int) error {
	if d.spent += size; d.spent > valueRoom {
		return &badParam{msg: "is one value too many for a call", over: true}
	}
	return nil
}

func (d *decoder) value(v reflect.Value, p *plan) error {
	c := d.peek()
	if c == 'n' && p.kind != isOptional && p.kind != isAny && p.kind != isRaw {
		return bad("must not be null")
	}
	switch p.kind {
	case isText:
		if c != '"' {
			return bad("must be a text")
		}
		quoted, _ := d.text()
		if n := len(quoted) - 2; n > d.textBytes && !d.long {
			return &badParam{msg: fmt.Sprintf("has %d bytes, at most %d are allowed", n, d.textBytes), over: true}
		}
		v.SetString(unquote(quoted))
	case isBool:
		if c != 't' && c != 'f' {
			return bad("must be true or false")
		}
		v.SetBool(c == 't')
		return d.scanner.value()
	case isInt, isFloat:
		return d.number(v, p)
	case isStruct:
		return d.object(v, p)
	case isList:
		return d.list(v, p)
	case isMap, isValues:
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
			return d.scanner.value()
		}
		return d.value(reflect.ValueOf(target).Elem(), p.elem)
	case isRaw:
		v.SetBytes(append([]byte(nil), d.rawValue()...))
	case isTime:
		return d.time(v)
	}
	return nil
}

// str returns the text at the position, which is at its quote.
func (d *decoder) str() string {
	quoted, _ := d.text()
	return unquote(quoted)
}

// rawValue returns the bytes of the value at the position.
func (d *decoder) rawValue() []byte {
	start := d.pos
	_ = d.scanner.value()
	return d.data[start:d.pos]
}

func (d *decoder) number(v reflect.Value, p *plan) error {
	c := d.peek()
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

func (d *decoder) time(v reflect.Value) error {
	if d.peek() == '"' {
		if t, err := time.Parse(time.RFC3339Nano, d.str()); err == nil {
			v.Set(reflect.ValueOf(t.UTC()))
			return nil
		}
	}
	return bad("must be a time such as 2026-01-31T09:30:00Z")
}

func (d *decoder) object(v reflect.Value, p *plan) error {
	if d.peek() != '{' {
		return bad("must be an object")
	}
	top := d.top
	d.top = false
	var seen uint64
	err := d.scanner.object(func(key []byte) error {
		m := p.members[string(key[1:len(key)-1])]
		if m == nil {
			name := unquote(key)
			if m = p.members[name]; m == nil {
				if top && name == protocol.ProgressToken {
					return under(name, d.progressToken())
				}
				return under(clip(name), bad("is not a parameter%s", near(name, p)))
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
	for _, m := range p.needed {
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

// clip bounds a name that a client made up, for an error that tells it back.
func clip(name string) string {
	const most = 64
	n := 0
	for i := range name {
		if n++; n > most {
			return name[:i] + "…"
		}
	}
	return name
}

// near says which parameter a misspelt one may mean.
func near(name string, p *plan) string {
	for known := range p.members {
		if strings.EqualFold(known, name) {
			return "; " + known + " is"
		}
	}
	return ""
}

func (d *decoder) progressToken() error {
	c := d.peek()
	if d.token != nil {
		return bad("is given twice")
	}
	if c != '"' && c != '-' && (c < '0' || c > '9') {
		return bad("must be a text or a number")
	}
	d.token = d.rawValue()
	return nil
}

// check holds a value against the tags of its member.
func (m *member) check(v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if n := float64(v.Int()); n < m.min || n > m.max {
			return m.outOfRange()
		}
	case reflect.Float64:
		if n := v.Float(); n < m.min || n > m.max {
			return m.outOfRange()
		}
	case reflect.String:
		return m.checkEnum(v.String())
	case reflect.Slice:
		if m.enum == nil {
			return nil
		}
		for i := range v.Len() {
			if err := m.checkEnum(v.Index(i).String()); err != nil {
				return under("["+strconv.Itoa(i)+"]", err)
			}
		}
	}
	return nil
}

func (m *member) outOfRange() error {
	switch {
	case math.IsInf(m.max, 1):
		return bad("must be at least %v", m.min)
	case math.IsInf(m.min, -1):
		return bad("must be at most %v", m.max)
	}
	return bad("must be from %v to %v", m.min, m.max)
}

func (m *member) checkEnum(s string) error {
	for _, e := range m.enum {
		if e == s {
			return nil
		}
	}
	if m.enum == nil {
		return nil
	}
	return bad("must be one of %s", strings.Join(m.enum, ", "))
}

func (d *decoder) list(v reflect.Value, p *plan) error {
	if d.peek() != '[' {
		return bad("must be a list")
	}
	v.Set(reflect.MakeSlice(p.typ, 0, 0))
	i, size := 0, int(p.typ.Elem().Size())
	return d.array(func() error {
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

func (d *decoder) mapping(v reflect.Value, p *plan) error {
	if d.peek() != '{' {
		return bad("must be an object")
	}
	v.Set(reflect.MakeMap(p.typ))
	return d.scanner.object(func(key []byte) error {
		name := unquote(key)
		step := clip(name)
		k := reflect.ValueOf(name)
		if v.MapIndex(k).IsValid() {
			return under(step, bad("is given twice"))
		}
		if err := d.spend(mapEntry); err != nil {
			return under(step, err)
		}
		if p.kind == isValues {
			x, err := d.fieldValue()
			if err == nil {
				v.Interface().(entities.Values)[name] = x
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

// fieldValue decodes the value of an entity's field, in which lists hold texts.
func (d *decoder) fieldValue() (any, error) {
	switch d.peek() {
	case '{':
		return nil, bad("must be a text, a number, true, false or a list of texts")
	case '[':
		items := []string{}
		err := d.array(func() error {
			if d.peek() != '"' {
				return under("["+strconv.Itoa(len(items))+"]", bad("must be a text"))
			}
			items = append(items, d.str())
			return d.spend(listEntry)
		})
		return items, err
	}
	return d.any()
}

// any decodes a value as encoding/json does, but refuses repeated members.
func (d *decoder) any() (any, error) {
	switch c := d.peek(); c {
	case '"':
		return d.str(), nil
	case 't', 'f':
		return c == 't', d.scanner.value()
	case 'n':
		return nil, d.scanner.value()
	case '[':
		items := []any{}
		err := d.array(func() error {
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
		err := d.scanner.object(func(key []byte) error {
			name := unquote(key)
			if _, twice := m[name]; twice {
				return under(clip(name), bad("is given twice"))
			}
			x, err := d.any()
			m[name] = x
			if err == nil {
				err = d.spend(mapEntry)
			}
			return under(clip(name), err)
		})
		return m, err
	}
	f, err := strconv.ParseFloat(string(d.rawValue()), 64)
	if err != nil {
		return nil, bad("is a number out of range")
	}
	return f, nil
}
