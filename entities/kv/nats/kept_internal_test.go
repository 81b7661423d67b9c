package nats

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// What is kept is a run of messages without a gap, whatever comes in which order, and however the file
// ends: those that were added last, each as it was added last.
func TestSYNC12_WhatIsKeptIsARunWithoutAGap(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		key := filepath.Join(dir, fmt.Sprint(runs), "key")
		if err := os.Mkdir(filepath.Dir(key), 0o700); err != nil {
			t.Fatal(err)
		}
		k := newKept(key, StoreID{1})
		defer func() { k.close() }()
		model, first, end := map[uint64][]byte{}, uint64(1), uint64(1)
		add := func(seq uint64, message []byte) {
			k.add(seq, message)
			switch {
			case seq < first || seq > end:
				clear(model)
				first, end = seq, seq
			case seq < end && bytes.Equal(model[seq], message):
				return
			}
			for after := seq; after < end; after++ {
				delete(model, after)
			}
			model[seq], end = message, seq+1
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": func(t *rapid.T) { add(end, rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "message")) },
			"any": func(t *rapid.T) {
				add(rapid.Uint64Range(1, 30).Draw(t, "seq"), rapid.SliceOfN(rapid.Byte(), 1, 2).Draw(t, "message"))
			},
			"forget": func(t *rapid.T) {
				before := rapid.Uint64Range(1, 30).Draw(t, "before")
				k.forget(before)
				for ; len(model) > 0 && first < before; first++ {
					delete(model, first)
				}
				if len(model) == 0 {
					first, end = 1, 1
				}
			},
			"open again": func(*rapid.T) {
				k.close()
				k = newKept(key, StoreID{1})
			},
			"cut off": func(t *rapid.T) {
				if end == first {
					t.Skip("nothing is there")
				}
				k.close()
				info, err := os.Stat(k.path)
				if err != nil {
					t.Fatal(err)
				}
				lost := rapid.Int64Range(1, int64(len(model[end-1]))).Draw(t, "bytes")
				if err := os.Truncate(k.path, info.Size()-lost); err != nil {
					t.Fatal(err)
				}
				end--
				delete(model, end)
				if len(model) == 0 {
					first, end = 1, 1
				}
				k = newKept(key, StoreID{1})
			},
			"": func(t *rapid.T) {
				for seq := uint64(1); seq < 60; seq++ {
					got, ok := k.get(seq)
					want, there := model[seq]
					if ok != there || !bytes.Equal(got, want) {
						t.Fatalf("message %d: %q, %v, want %q, %v", seq, got, ok, want, there)
					}
				}
			},
		})
	})
}

// Another store in the same folder begins with nothing.
func TestSYNC12_WhatAnotherStoreHasKeptIsNotPutBack(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	k := newKept(key, StoreID{1})
	k.add(7, []byte("seven"))
	k.close()
	other := newKept(key, StoreID{2})
	defer other.close()
	if _, ok := other.get(7); ok {
		t.Error("it has the message of another store")
	}
	if info, err := os.Stat(other.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Twice as much as is to stay is cut to that.
func TestSYNC12_WhatIsKeptIsBounded(t *testing.T) {
	k := newKept(filepath.Join(t.TempDir(), "key"), StoreID{1})
	defer k.close()
	message := bytes.Repeat([]byte("x"), 1<<20)
	for seq := uint64(1); seq <= 100; seq++ {
		k.add(seq, message)
		if k.size > 2*keptAtLeast+1<<21 {
			t.Fatalf("%d bytes are kept", k.size)
		}
		if got, ok := k.get(seq); !ok || !bytes.Equal(got, message) {
			t.Fatalf("message %d is not there", seq)
		}
	}
	if k.size < keptAtLeast {
		t.Errorf("%d bytes are kept", k.size)
	}
}
