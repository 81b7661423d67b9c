package jsonrpc

// This file and wirejson_*.go read and write JSON for the wire: a [Scanner] that checks a message and finds its parts
// without making anything of them, a strict [Decoder] for params and a fast [Encoder] for results.
//
// # Strictness
//
// A Decoder takes what a struct declares and nothing else; the tags json, default, min, max, enum and long are
// described in rpc/protocol. What does not fit is a fault that names the parameter by its path, as in
// entities[3].name.
//
// # Cost
//
// A message is checked once, by the Scanner: RFC 8259, in UTF-8, to a depth that the caller sets. The Decoder relies
// on that and looks only for the ends of strings. Eight bytes are looked at together, since most of a message is the
// text of notes (BenchmarkRoundTrip and BenchmarkAssemble in rpc). The Encoder makes a function a type, once, and
// writes what encoding/json would.
//
// What the lists and maps of one call take beside their strings is bounded (valueRoom), because a list of {} can take
// hundreds of times the memory of its message.

import (
	"encoding"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// An Encoder writes results as JSON, by functions that it makes once a type. They
// write what encoding/json writes, except that U+2028 and U+2029 are not escaped,
// at a third of its cost for long strings. A type that is out of the ordinary is
// left to encoding/json. The zero value is ready; an Encoder may be used
// concurrently.
type Encoder struct {
	special map[reflect.Type]AppendFunc
	funcs   sync.Map   // reflect.Type -> encodeFunc
	mu      sync.Mutex // held while functions are made

	most    int // bytes, over which values are not written; 0: none
	short   *Encoder
	setting sync.Once // of short
}

// AppendFunc appends a value of one type as JSON.
type AppendFunc func(e *Encoder, b []byte, v reflect.Value) ([]byte, error)

// NewEncoder returns an Encoder that writes some types by functions of their own:
// those that a hot path is full of.
func NewEncoder(special map[reflect.Type]AppendFunc) *Encoder { return &Encoder{special: special} }

// Buffer holds a value as JSON.
type Buffer struct{ buf []byte }

// maxPooledBuffer is how large a buffer may be to be used again; larger ones are left
// to the collector, and are their reader's for good.
const maxPooledBuffer = 64 << 10

var valueBuffers = sync.Pool{New: func() any { return new(Buffer) }}

// Encode returns v as JSON on one line. The bytes are valid until Release.
func (e *Encoder) Encode(v any) (*Buffer, error) {
	out := valueBuffers.Get().(*Buffer)
	var err error
	out.buf, err = e.Append(out.buf[:0], reflect.ValueOf(v))
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// Bytes returns the JSON.
func (b *Buffer) Bytes() []byte { return b.buf }

// Release lets the buffer be used again.
func (b *Buffer) Release() {
	if cap(b.buf) > maxPooledBuffer {
		b.buf = nil
	}
	valueBuffers.Put(b)
}

// Append appends a value of any type; none is null.
func (e *Encoder) Append(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	return e.funcOf(v.Type())(b, v)
}

// encodeFunc appends a value of one type.
type encodeFunc func(b []byte, v reflect.Value) ([]byte, error)

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	jsonNumberType    = reflect.TypeFor[json.Number]()
	zeroerType        = reflect.TypeFor[zeroer]()
)

// funcOf returns the function for a type.
func (e *Encoder) funcOf(t reflect.Type) encodeFunc {
	if f, ok := e.funcs.Load(t); ok {
		return f.(encodeFunc)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	m := encodeMaker{e: e, made: map[reflect.Type]encodeFunc{}}
	f := m.of(t)
	for t, f := range m.made {
		e.funcs.Store(t, f)
	}
	return f
}

// encodeMaker makes the functions for a type and for what it consists of.
type encodeMaker struct {
	e    *Encoder
	made map[reflect.Type]encodeFunc
}

func (m encodeMaker) of(t reflect.Type) encodeFunc {
	if f, ok := m.made[t]; ok {
		return f
	}
	// A type that contains itself finds this in its own place: encoding/json
	// notices a value that contains itself, which would be the end of the program.
	m.made[t] = appendByLibrary
	m.made[t] = m.make(t)
	return m.made[t]
}

func (m encodeMaker) make(t reflect.Type) encodeFunc {
	if special := m.e.special[t]; special != nil {
		return func(b []byte, v reflect.Value) ([]byte, error) { return special(m.e, b, v) }
	}
	switch {
	case t == timeType:
		return appendTime
	case reflect.PointerTo(t).Implements(optionalType):
		return m.optional(t)
	case speaksForItself(t), speaksForItself(reflect.PointerTo(t)), t == jsonNumberType:
		return appendByLibrary
	}
	switch t.Kind() {
	case reflect.String:
		return m.text()
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(b, v.Uint(), 10), nil }
	case reflect.Float64:
		return appendFloat
	case reflect.Interface:
		return func(b []byte, v reflect.Value) ([]byte, error) { return m.e.Append(b, v.Elem()) }
	case reflect.Pointer:
		return m.pointer(t)
	case reflect.Slice, reflect.Array:
		return m.list(t)
	case reflect.Map:
		return m.mapping(t)
	case reflect.Struct:
		return m.object(t)
	default:
		return appendByLibrary
	}
}

// speaksForItself reports whether a type says itself how it is written.
func speaksForItself(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalerType)
}

// appendByLibrary has encoding/json append a value.
func appendByLibrary(b []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr() // a method of the pointer may be what writes it
	}
	w := lineWriter(b)
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return b, err
	}
	return w[:len(w)-1], nil // without the line feed
}

// lineWriter appends what is written to it.
type lineWriter []byte

func (w *lineWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

func appendTime(b []byte, v reflect.Value) ([]byte, error) {
	b, err := v.Interface().(time.Time).AppendText(append(b, '"'))
	if err != nil {
		return b, err
	}
	return append(b, '"'), nil
}

// appendFloat writes numbers as ECMAScript does, like encoding/json.
func appendFloat(b []byte, v reflect.Value) ([]byte, error) {
	f := v.Float()
	abs := math.Abs(f)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, &json.UnsupportedValueError{Value: v, Str: strconv.FormatFloat(f, 'g', -1, 64)}
	}
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is written e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, nil
}

func (m encodeMaker) optional(t reflect.Type) encodeFunc {
	set, _ := t.FieldByName("Set")
	null, _ := t.FieldByName("Null")
	value, _ := t.FieldByName("Value")
	elem := m.of(value.Type)
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if !v.FieldByIndex(set.Index).Bool() || v.FieldByIndex(null.Index).Bool() {
			return append(b, "null"...), nil
		}
		return elem(b, v.FieldByIndex(value.Index))
	}
}

func (m encodeMaker) pointer(t reflect.Type) encodeFunc {
	elem := m.of(t.Elem())
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return elem(b, v.Elem())
	}
}

func (m encodeMaker) list(t reflect.Type) encodeFunc {
	if t.Elem().Kind() == reflect.Uint8 {
		return appendByLibrary // in base64
	}
	elem, mayBeNil := m.of(t.Elem()), t.Kind() == reflect.Slice
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if mayBeNil && v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			b, err = elem(b, v.Index(i))
			if err == nil {
				err = m.e.tooLong(len(b))
			}
			if err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

func (m encodeMaker) mapping(t reflect.Type) encodeFunc {
	if t.Key().Kind() != reflect.String || speaksForItself(t.Key()) {
		return appendByLibrary
	}
	elem := m.of(t.Elem())
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendString(b, key.String()), ':')
			var err error
			b, err = elem(b, v.MapIndex(key))
			if err == nil {
				err = m.e.tooLong(len(b))
			}
			if err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

// encodedField is a field of a struct.
type encodedField struct {
	index  []int
	name   []byte // with quotes and colon
	append encodeFunc
	omit   func(reflect.Value) bool // nil: never
}

func (m encodeMaker) object(t reflect.Type) encodeFunc {
	fields, ok := m.fields(t)
	if !ok {
		return appendByLibrary
	}
	return func(b []byte, v reflect.Value) ([]byte, error) {
		b = append(b, '{')
		first := true
		for i := range fields {
			field := &fields[i]
			f := v.Field(field.index[0])
			if len(field.index) > 1 { // of a struct in it
				f = f.FieldByIndex(field.index[1:])
			}
			if field.omit != nil && field.omit(f) {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(b, field.name...)
			var err error
			b, err = field.append(b, f)
			if err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

// fields lists the fields of a struct in their order. It reports false
// for a struct that encoding/json has rules of its own for.
func (m encodeMaker) fields(t reflect.Type) (fields []encodedField, ok bool) {
	seen := map[string]bool{}
	visible := reflect.VisibleFields(t)
	if len(visible) != countFields(t) {
		return nil, false // one hides another in Go, but perhaps not by its name in JSON
	}
	for _, f := range visible {
		tag, tagged := f.Tag.Lookup("json")
		name, opts, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && (f.Type.Kind() != reflect.Struct || tagged && name == ""):
			return nil, false
		case f.Anonymous && !tagged || !f.IsExported() || tag == "-":
			continue
		}
		if strings.ContainsAny(name, `"'\\`) {
			return nil, false
		}
		if name == "" {
			name = f.Name
		}
		options := strings.Split(opts, ",")
		if seen[name] || slices.Contains(options, "string") {
			return nil, false
		}
		seen[name] = true
		field := encodedField{index: f.Index, name: append(AppendString(nil, name), ':'), append: m.of(f.Type)}
		if slices.Contains(options, "omitempty") {
			field.omit = isEmpty
		}
		if slices.Contains(options, "omitzero") {
			isZero, plain := zeroFunc(f.Type)
			if !plain {
				return nil, false
			}
			field.omit = either(field.omit, isZero)
		}
		fields = append(fields, field)
	}
	return fields, true
}

// countFields counts the fields of a struct with those of the structs that are
// embedded in it, also the hidden ones.
func countFields(t reflect.Type) (n int) {
	for i := range t.NumField() {
		n++
		if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct {
			n += countFields(f.Type)
		}
	}
	return n
}

func either(a, b func(reflect.Value) bool) func(reflect.Value) bool {
	if a == nil {
		return b
	}
	return func(v reflect.Value) bool { return a(v) || b(v) }
}

// isEmpty is what omitempty means.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

type zeroer interface{ IsZero() bool }

// zeroFunc is what omitzero means for a type. It reports false for a type whose
// own method can't be called on every value.
func zeroFunc(t reflect.Type) (isZero func(reflect.Value) bool, plain bool) {
	switch {
	case !t.Implements(zeroerType):
		return reflect.Value.IsZero, !reflect.PointerTo(t).Implements(zeroerType)
	case t.Kind() != reflect.Struct:
		return nil, false
	}
	return func(v reflect.Value) bool { return v.Interface().(zeroer).IsZero() }, true
}

// AppendString appends s as a JSON string. Nothing is escaped that need not be:
// the reader is no web page.
func AppendString(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	text := unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // is only read; a copy costs as much as the rest
	if !ValidUTF8(text) {
		text = []byte(string([]rune(s))) // U+FFFD for each byte that is wrong
	}
	b = append(b, '"')
	for len(text) > 0 {
		b = slices.Grow(b, len(text)+len(text)/16+longestEscape)
		at, read := escapeInto(b[len(b):cap(b)], text)
		b, text = b[:len(b)+at], text[read:]
	}
	return append(b, '"')
}

// isPlain reports whether a short text is written as it stands: most names and ids
// are. Longer ones are not looked at twice.
func isPlain(s string) bool {
	n := len(s)
	if n < 8 || n > 64 {
		return n == 0
	}
	text := unsafe.Slice(unsafe.StringData(s), n) //nolint:gosec // is only read
	last := binary.LittleEndian.Uint64(text[n-8:])
	odd := last | specialIn(last)
	for ; len(text) > 8; text = text[8:] {
		x := binary.LittleEndian.Uint64(text)
		odd |= x | specialIn(x)
	}
	return odd&highBits == 0
}

// longestEscape is how many bytes one byte takes at most, and then some: eight
// are written at once.
const longestEscape = 16

// escapeInto writes text with its escapes into room, as far as it goes, and
// returns how much it has written, and of how much. Eight bytes are copied at
// once, and those that end a run of plain text written again.
func escapeInto(room, text []byte) (at, read int) {
	for at+longestEscape <= len(room) && read < len(text) {
		var n int // plain bytes
		if read+8 <= len(text) {
			x := binary.LittleEndian.Uint64(text[read:])
			binary.LittleEndian.PutUint64(room[at:], x)
			hit := specialIn(x)
			if hit == 0 {
				at, read = at+8, read+8
				continue
			}
			n = bits.TrailingZeros64(hit) / 8
		} else if n = plainRun(text[read:]); n > 0 { // less than eight
			copy(room[at:], text[read:read+n])
		}
		at, read = at+n, read+n
		if read < len(text) {
			at += escapeByte(room[at:], text[read])
			read++
		}
	}
	return at, read
}

// shortEscapes are the second characters of the escapes of two.
var shortEscapes = ['\\' + 1]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// escapeByte writes the escape of a quote, a backslash or a control character and
// returns its length.
func escapeByte(room []byte, c byte) int {
	room[0] = '\\'
	if short := shortEscapes[c]; short != 0 {
		room[1] = short
		return 2
	}
	const digits = "0123456789abcdef"
	return 1 + copy(room[1:], []byte{'u', '0', '0', digits[c>>4], digits[c&15]})
}
