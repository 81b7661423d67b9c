package disk

// codec*.go say how records become the strings that entities/kv stores, which itself
// knows nothing of what a record holds: a Codec, which is JSON where a package says nothing
// else, and what codecs of parts that are not JSON are written with. A TypedCollection is a collection
// with its codec, as it is declared once for all stores; what other machines write is read by it.
//
// A number is a uvarint, a text its length in bytes and these, a list its length and
// texts, and a time the milliseconds since 1970, zigzag, and the nanoseconds beyond.
// Each value has one form, so that a RecordReader takes nothing that the Append functions do
// not write: what is damaged does not pass for a record.
//
// Functions keep nothing; a RecordReader is for one goroutine.

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// AppendUint appends a number.
func AppendUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

// AppendText appends a text.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendTexts appends a list.
func AppendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = AppendText(b, s)
	}
	return b
}

// AppendTime appends a time. It must be of a year that JSON can tell to clients.
func AppendTime(b []byte, t time.Time) ([]byte, error) {
	if !canTell(t) {
		return nil, fmt.Errorf("a time in the year %d", t.UTC().Year())
	}
	b = binary.AppendVarint(b, t.UnixMilli())
	return binary.AppendUvarint(b, uint64(t.Nanosecond()%int(time.Millisecond))), nil
}

func canTell(t time.Time) bool {
	year := t.UTC().Year()
	return 0 <= year && year <= 9999
}

// RecordReader takes a record apart from its beginning. Texts are parts of the record.
// What is not as the Append functions write it sets Bad; what is read then and
// after that means nothing.
type RecordReader struct {
	Rest string // what has not been read yet
	Bad  bool
}

// Byte reads one byte.
func (r *RecordReader) Byte() byte {
	if r.Rest == "" {
		r.Bad = true
		return 0
	}
	b := r.Rest[0]
	r.Rest = r.Rest[1:]
	return b
}

// Uint reads a number.
func (r *RecordReader) Uint() uint64 {
	if r.Rest != "" && r.Rest[0] < 0x80 {
		n := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(n)
	}
	return r.longUint()
}

func (r *RecordReader) longUint() uint64 {
	n := uint64(0)
	for i := 0; i < min(len(r.Rest), binary.MaxVarintLen64); i++ {
		c := r.Rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c >= 0x80 {
			continue
		}
		if c == 0 || i == binary.MaxVarintLen64-1 && c > 1 {
			break // it could be shorter, or is too large
		}
		r.Rest = r.Rest[i+1:]
		return n
	}
	r.Bad = true
	return 0
}

// Int reads a number that an int can hold.
func (r *RecordReader) Int() int {
	n := r.Uint()
	if n > math.MaxInt {
		r.Bad = true
		return 0
	}
	return int(n)
}

// Text reads a text.
func (r *RecordReader) Text() string {
	n := r.Uint()
	if n > uint64(len(r.Rest)) {
		r.Bad = true
		return ""
	}
	s := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return s
}

// Texts reads a list, never nil.
func (r *RecordReader) Texts() []string {
	n := r.Uint()
	if n > uint64(len(r.Rest)) { // each has a byte at least
		r.Bad = true
		return nil
	}
	list := make([]string, 0, min(n, 64)) // what is not a record may claim any number
	for range n {
		list = append(list, r.Text())
	}
	return list
}

// Time reads a time, in UTC.
func (r *RecordReader) Time() time.Time {
	n := r.Uint()
	ms := int64(n>>1) ^ -int64(n&1)
	beyond := r.Uint()
	t := time.UnixMilli(ms).Add(time.Duration(beyond % uint64(time.Millisecond))).UTC()
	if beyond >= uint64(time.Millisecond) || !canTell(t) {
		r.Bad = true
	}
	return t
}
