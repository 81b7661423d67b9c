package kv_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// numbers are records that can be broken: "!" can't be decoded, "?" breaks what
// decodes it.
var numbers = kv.NewCollection("number", kv.Codec[int]{
	Encode: func(n *int) (string, error) { return strconv.Itoa(*n), nil },
	Decode: func(s string) (*int, error) {
		if s == "?" {
			panic("a record that nobody foresaw")
		}
		n, err := strconv.Atoi(s)
		return &n, err
	},
})

// rawNumbers are the same, as they are stored.
var rawNumbers = kv.NewCollection("number", kv.Codec[string]{
	Encode: func(s *string) (string, error) { return *s, nil },
	Decode: func(s string) (*string, error) { return &s, nil },
})

// numbered returns a store of n numbers between two other collections.
func numbered(t *testing.T, n int, broken map[int]string) *kv.Store {
	t.Helper()
	s, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	err = s.Update(context.Background(), func(tx *kv.Tx) error {
		for _, name := range []string{"numb", "number-x"} {
			other := "before and after"
			if err := kv.NewCollection[string](name).Put(tx, "x", &other); err != nil {
				return err
			}
		}
		for i := range n {
			raw := strconv.Itoa(i)
			if b, ok := broken[i]; ok {
				raw = b
			}
			if err := rawNumbers.Put(tx, fmt.Sprintf("%06d", i), &raw); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// loadNumbers reads all numbers ahead, up to limit of them.
func loadNumbers(tx *kv.Tx, limit int) (all []int) {
	type pair struct {
		ids []string
		ns  []*int
	}
	for p := range kv.LoadAhead(tx, numbers, func(ids []string, ns []*int) pair { return pair{ids, ns} }) {
		for i, n := range p.ns {
			if p.ids[i] != fmt.Sprintf("%06d", *n) {
				panic("the id is another's: " + p.ids[i])
			}
			all = append(all, *n)
		}
		if len(all) >= limit {
			break
		}
	}
	return all
}

func TestLoadAheadIsInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 10_000} {
		err := numbered(t, n, nil).View(context.Background(), func(tx *kv.Tx) error {
			all := loadNumbers(tx, n+1)
			if len(all) != n || !slices.IsSorted(all) {
				t.Errorf("of %d records %d came", n, len(all))
			}
			if n > 300 && len(loadNumbers(tx, 300)) >= n {
				t.Error("it goes on when nobody wants more")
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestLoadAheadEndsAtABrokenRecord(t *testing.T) {
	for _, at := range []int{0, 700, 2999} {
		for _, raw := range []string{"!", "?"} {
			var all []int
			err := numbered(t, 3000, map[int]string{at: raw, 2999: "!"}).View(context.Background(), func(tx *kv.Tx) error {
				all = loadNumbers(tx, 3000)
				return nil
			})
			var unreadable *fault.Error
			if len(all) != at || !errors.As(err, &unreadable) || unreadable.Ref != fmt.Sprintf("%06d", at) {
				t.Errorf("a broken record %d: %d records came, and %v", at, len(all), err)
			}
		}
	}
}

func TestLoadAheadIsForViews(t *testing.T) {
	s := numbered(t, 10, nil)
	var kept *kv.Tx
	err := s.Update(context.Background(), func(tx *kv.Tx) error {
		kept = tx
		if all := loadNumbers(tx, 10); len(all) != 0 {
			t.Errorf("%d records came", len(all))
		}
		return nil
	})
	if err == nil {
		t.Error("an Update loads ahead")
	}
	if all := loadNumbers(kept, 10); len(all) != 0 || kept.Err() == nil {
		t.Errorf("%d records came after the transaction was over", len(all))
	}
}
