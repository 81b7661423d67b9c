package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
)

// Random transactions, snapshots and restarts against a plain map.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		model := map[string]string{}
		var seq uint64
		var s *kv.Store
		start := func() {
			var err error
			if s, err = kv.Open(dir, kv.Options{FS: d, SnapshotAfter: rapid.SampledFrom([]int64{-1, 1, 2000}).Draw(t, "snapshotAfter")}); err != nil {
				t.Fatal(err)
			}
		}
		start()
		defer func() { _ = s.Close() }()
		id := rapid.StringMatching(`[a-c/]{1,3}`)
		value := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("long", 500)))

		t.Repeat(map[string]func(*rapid.T){
			"update": func(t *rapid.T) {
				next := maps.Clone(model)
				fail := rapid.IntRange(0, 9).Draw(t, "fail") == 0
				refused := errors.New("refused")
				changed := false
				err := s.Update(ctx, func(tx *kv.Tx) error {
					for range rapid.IntRange(0, 6).Draw(t, "writes") {
						key := id.Draw(t, "id")
						switch rapid.IntRange(0, 3).Draw(t, "op") {
						case 0:
							delete(next, key)
							if err := notes.Delete(tx, key); err != nil {
								return err
							}
						case 1:
							r, err := notes.Get(tx, key)
							if err != nil {
								return err
							}
							want, ok := next[key]
							if (r != nil) != ok || ok && r.Text != want {
								t.Fatalf("Get(%q) = %+v, want %q, %v", key, r, want, ok)
							}
						case 2:
							prefix := rapid.SampledFrom([]string{"", "a", "a/", "c"}).Draw(t, "prefix")
							compareScan(t, tx, next, prefix)
						default:
							v := strings.ToValidUTF8(value.Draw(t, "value"), "?")
							next[key], changed = v, true
							if err := notes.Put(tx, key, &record{Text: v}); err != nil {
								return err
							}
						}
					}
					compareScan(t, tx, next, "")
					if fail {
						return refused
					}
					return nil
				})
				if fail {
					if !errors.Is(err, refused) {
						t.Fatal(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if s.Seq() == seq && changed && !maps.Equal(model, next) {
					t.Fatal("a change without a sequence number")
				}
				model, seq = next, s.Seq()
			},
			"snapshot": func(t *rapid.T) {
				if err := s.Snapshot(ctx); err != nil {
					t.Fatal(err)
				}
			},
			"stop": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				start()
				if r := s.Status().Recovered; !r.Clean {
					t.Fatalf("after a stop: %+v", r)
				}
			},
			"kill": func(t *rapid.T) {
				next := d.restart()
				_ = s.Close()
				d = next
				start()
				if r := s.Status().Recovered; r.Lost+uint64(r.TornBytes) != 0 || r.Damaged != nil {
					t.Fatalf("after a kill: %+v", r)
				}
			},
			"": func(t *rapid.T) {
				if s.Seq() != seq {
					t.Fatalf("Seq = %d, want %d", s.Seq(), seq)
				}
				err := s.View(ctx, func(tx *kv.Tx) error {
					compareScan(t, tx, model, "")
					compareScan(t, tx, model, "b")
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func compareScan(t *rapid.T, tx *kv.Tx, model map[string]string, prefix string) {
	t.Helper()
	var got, want []string
	for id, r := range notes.All(tx, prefix) {
		got = append(got, fmt.Sprintf("%s=%s", id, r.Text))
	}
	for _, id := range slices.Sorted(maps.Keys(model)) {
		if strings.HasPrefix(id, prefix) {
			want = append(want, fmt.Sprintf("%s=%s", id, model[id]))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("records with prefix %q (-want +got):\n%s", prefix, diff)
	}
}
