package kv_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
)

// The process dies, or the power fails, at every step of putting a damaged store
// in order. The next start comes to the same state, and tells the loss with the
// files that were set aside, unless the first start was about to tell it.
func TestREL4_CrashWhileRepairing(t *testing.T) {
	alone(t)
	rng := rand.New(rand.NewPCG(9, 9))
	crashes, told, step := 0, 0, figure(12, 1)
	for name, o := range topologies {
		whole, st := o.make(t)
		for _, damaged := range damagedCopies(whole, rng) {
			want, ok := intact(whole, damaged)
			if !ok || want.seq == 0 {
				continue // of nothing, not even the beginning can be kept
			}
			var at []*disk
			c := damaged.restart()
			c.setHook(func(string, string) error {
				at = append(at, c.restart())
				return nil
			})
			s, err := kv.Open(dir, kv.Options{FS: c, SnapshotAfter: -1})
			if err != nil {
				t.Fatal(err)
			}
			c.setHook(nil)
			at = append(at, c.restart())
			report := s.Status().Recovered
			_ = s.Close()
			if report.Lost != want.lost {
				t.Fatalf("%s: %+v, want %+v", name, report, want)
			}
			for i := rng.IntN(step); i < len(at); i += step {
				picture := at[i]
				for _, d := range []*disk{picture.restart(), picture.powerCut(rng), picture.powerCut(rng)} {
					crashes++
					r, err := sameAfterCrash(t, d, st, want)
					if err != nil {
						t.Fatalf("%s, step %d of %d: %v", name, i, len(at), err)
					}
					if i >= len(at)-2 { // the note goes, and then the first start returns
						continue
					}
					if r.Lost != want.lost || r.Salvaged != report.Salvaged || r.Lost > 0 && !tells(d, r, report.Damaged) {
						t.Fatalf("%s, step %d of %d: %+v, want %+v", name, i, len(at), r, report)
					}
					if r.Lost > 0 {
						told++
					}
				}
			}
		}
	}
	t.Logf("%d crashes while a damaged store was put in order: the same state after each; the loss was told after %d, which are all that had one to tell", crashes, told)
}

// tells reports whether the files that the first start set aside are kept, and
// named by the second. A power cut in the middle of a rename may take a file here,
// which no journaled file system does.
func tells(d *disk, r kv.Recovery, files []string) bool {
	for _, name := range files {
		if _, left := d.names[filepath.Join(dir, strings.TrimPrefix(name, "damaged-"))]; left {
			return false
		}
		if _, kept := d.names[filepath.Join(dir, name)]; kept && !slices.Contains(r.Damaged, name) {
			return false
		}
	}
	return true
}

// damagedCopies returns the disk with one file damaged, each in several ways.
func damagedCopies(whole *disk, rng *rand.Rand) (out []*disk) {
	for path, n := range whole.names {
		name := filepath.Base(path)
		if !strings.HasPrefix(name, "journal-") && !strings.HasPrefix(name, "snapshot-") {
			continue
		}
		for range 3 {
			c := whole.restart()
			c.flip(path, rng.IntN(8*len(n.data)))
			out = append(out, c)
			c = whole.restart()
			c.damage(path, func(b []byte) []byte { return b[:rng.IntN(len(b))] })
			out = append(out, c)
		}
		c := whole.restart()
		delete(c.names, path)
		delete(c.durable, path)
		out = append(out, c)
	}
	return out
}

// sameAfterCrash opens a store whose repair was broken off.
func sameAfterCrash(t *testing.T, d *disk, st *story, want loss) (kv.Recovery, error) {
	t.Helper()
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		return kv.Recovery{}, err
	}
	r, state := s.Status().Recovered, dump(t, s)
	if exact := st.state(want.seq, want.missing...); s.Seq() != want.seq || !maps.Equal(exact, state) {
		return r, fmt.Errorf("transaction %d, want %d; %+v; state (-want +got):\n%s", s.Seq(), want.seq, r, cmp.Diff(exact, state))
	}
	return r, goesOn(t, d, s, state)
}
