package rpc_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wantJSON is what encoding/json makes of v.
func wantJSON(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

// Values of every type that goes over the wire are encoded byte for byte as
// encoding/json would.
func TestEncodeAgreesWithEncodingJSON(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	types := []reflect.Type{reflect.TypeFor[protocol.Error](), reflect.TypeFor[protocol.ProgressParams]()}
	for _, m := range protocol.Methods {
		types = append(types, m.Result, m.Params)
	}
	for _, typ := range types {
		for range 40 {
			v := reflect.New(typ)
			fill(rnd, v.Elem(), 4)
			checkEncoding(t, v.Interface())
			checkEncoding(t, v.Elem().Interface())
		}
	}
}

func checkEncoding(t *testing.T, v any) {
	t.Helper()
	got, err := rpc.Encode(v)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	if want := wantJSON(t, v); got != want {
		t.Fatalf("%T:\n got %s\nwant %s", v, got, want)
	}
}

// fill sets every settable part of v, now and then to nothing.
func fill(rnd *rand.Rand, v reflect.Value, depth int) {
	if rnd.IntN(6) == 0 || depth == 0 {
		return
	}
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"a":[1,"x"]}`))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rnd.Int64N(4e9), rnd.Int64N(1e9)).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[rnd.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		v.SetInt(rnd.Int64N(200) - 100)
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		v.SetUint(rnd.Uint64N(100))
	case reflect.Float64:
		v.SetFloat(numbers[rnd.IntN(len(numbers))])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rnd, v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(3), 3))
		for i := range v.Len() {
			fill(rnd, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rnd.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rnd, key, depth)
			fill(rnd, value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(rnd, v.Field(i), depth)
			}
		}
	case reflect.Interface:
		any := []any{nil, "text", 1.5, true, []string{"a", "b"}, map[string]any{"z": nil, "a": []any{1.0, "é"}}}
		if x := any[rnd.IntN(len(any))]; x != nil {
			v.Set(reflect.ValueOf(x))
		}
	}
}

var texts = []string{
	"", "plain", "a \"quoted\" \\ text", "tab\tline\nreturn\rback\bform\f", "\x00\x1f\x7f", "é 😀",
	"a text that is longer than thirty-two bytes, so that it is looked at in large steps\nand then some more of it: ä",
}

var numbers = []float64{0, 1, -1.5, 1e21, 1e20, 1e-6, 1e-7, 1.25e-9, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1}
