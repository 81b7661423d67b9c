package jsonrpc

import (
	"errors"
	"reflect"
	"unicode/utf8"
)

// ErrLongValue is returned for a value that is too long to be written without asking.
var ErrLongValue = errors.New("wirejson: the value is long")

// ShortValueSize is how many bytes EncodeShort writes.
const ShortValueSize = 160 << 10

// EncodeShort is Encode for a value that takes up to ShortValue bytes; ErrLong for any
// other, of which hardly more than that is written.
func (e *Encoder) EncodeShort(v any) (*Buffer, error) {
	e.setting.Do(func() { e.short = &Encoder{special: e.special, most: ShortValueSize} })
	out, err := e.short.Encode(v)
	if err != nil {
		return nil, err
	}
	if len(out.buf) > ShortValueSize {
		out.Release()
		return nil, ErrLongValue
	}
	return out, nil
}

// EncodeInto is Encode into a buffer of so many bytes, which is not shared. It grows when
// that is too few.
func (e *Encoder) EncodeInto(v any, size int) (*Buffer, error) {
	buf, err := e.Append(make([]byte, 0, size), reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return &Buffer{buf: buf}, nil
}

// tooLong is ErrLong when so many bytes are too many.
func (e *Encoder) tooLong(n int) error {
	if e.most > 0 && n > e.most {
		return ErrLongValue
	}
	return nil
}

// text appends strings.
func (m encodeMaker) text() encodeFunc {
	if m.e.most == 0 {
		return func(b []byte, v reflect.Value) ([]byte, error) { return AppendString(b, v.String()), nil }
	}
	return func(b []byte, v reflect.Value) ([]byte, error) {
		s := v.String()
		if err := m.e.tooLong(len(b) + len(s)); err != nil {
			return b, err
		}
		return AppendString(b, s), nil
	}
}

// plainSize is about how long a value is that is no text, or the name of a field.
const plainSize = 12

// Size returns about how many bytes a value takes as JSON, rather more than less: texts
// are measured, and all else counts by its number. What only a type itself knows how to
// write counts as little. O(texts).
func (e *Encoder) Size(v any) int {
	left := mostValues
	size := left.sizeOf(reflect.ValueOf(v), 0)
	return size + size/16 + 4*longestEscape // AppendString keeps as much free behind a text
}

// Size looks at so many values, and so deep: one may contain itself.
const (
	mostValues valuesLeft = 1 << 24
	deepest               = 256
)

// valuesLeft is at how many values more Size looks.
type valuesLeft int

func (left *valuesLeft) sizeOf(v reflect.Value, depth int) (size int) {
	*left--
	if *left < 0 || depth > deepest || !v.IsValid() || !v.CanInterface() {
		return plainSize
	}
	switch v.Kind() {
	case reflect.String:
		return textSize(v.String())
	case reflect.Pointer, reflect.Interface:
		return left.sizeOf(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return plainSize + 2*v.Len()
		}
		for i := range v.Len() {
			size += left.sizeOf(v.Index(i), depth+1)
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			size += left.sizeOf(at.Key(), depth+1) + left.sizeOf(at.Value(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += plainSize + left.sizeOf(v.Field(i), depth+1)
		}
	}
	return size + plainSize
}

// textSize is about how long a text is as a JSON string.
func textSize(s string) int {
	size := len(s) + len(`""`)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= ' ' && c != '"' && c != '\\':
		case c == '\n', c == '\t', c == '\r', c == '"', c == '\\':
			size++
		default:
			size += len(`\u0000`) - 1
		}
	}
	if !utf8.ValidString(s) {
		size += (len(`\ufffd`) - 1) * len(s) // for each byte that is wrong
	}
	return size
}
