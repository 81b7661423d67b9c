package kv_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// A record that is read shared is decoded once, until it changes: also by the
// transaction that reads it, and back when that one fails.
func TestShared(t *testing.T) {
	decoded := 0
	numbers := kv.NewCollection("shared-number", kv.Codec[int]{
		Encode: func(n *int) (string, error) { return strconv.Itoa(*n), nil },
		Decode: func(s string) (*int, error) {
			decoded++
			n, err := strconv.Atoi(s)
			return &n, err
		},
	})
	s, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := func(tx *kv.Tx, want, times int) {
		t.Helper()
		before := decoded
		for range 10 {
			n, err := numbers.Shared(tx, "n")
			if err != nil {
				t.Fatal(err)
			}
			if n == nil && want != 0 || n != nil && *n != want {
				t.Fatalf("read %v, want %d", n, want)
			}
		}
		if decoded-before != times {
			t.Errorf("%d was decoded %d times, want %d", want, decoded-before, times)
		}
	}
	update := func(fn func(tx *kv.Tx) error) error { return s.Update(ctx, fn) }
	put := func(tx *kv.Tx, n int) {
		t.Helper()
		if err := numbers.Put(tx, "n", &n); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("not done")
	for _, step := range []func(tx *kv.Tx) error{
		func(tx *kv.Tx) error { read(tx, 0, 0); put(tx, 1); read(tx, 1, 1); return nil },
		func(tx *kv.Tx) error { read(tx, 1, 0); return nil },
		func(tx *kv.Tx) error { put(tx, 2); read(tx, 2, 1); return broken },
		func(tx *kv.Tx) error { read(tx, 1, 1); return nil },
		func(tx *kv.Tx) error { put(tx, 3); return nil },
		func(tx *kv.Tx) error { read(tx, 3, 1); return numbers.Delete(tx, "n") },
		func(tx *kv.Tx) error { read(tx, 0, 0); return nil },
	} {
		if err := update(step); err != nil && !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	if err := update(func(tx *kv.Tx) error { put(tx, 4); return nil }); err != nil {
		t.Fatal(err)
	}
	_ = s.View(ctx, func(tx *kv.Tx) error {
		read(tx, 4, 10) // as Get: nobody keeps others from reading at the same time
		return nil
	})
}
