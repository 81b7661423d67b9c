package kv_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
)

// TestREL16_AFullDiskOfOnesOwnSaysSo, whatever is written to a shared store, also while others write to it: nobody else was
// first. When there is room again, writes go on by themselves.
func TestREL16_AFullDiskOfOnesOwnSaysSo(t *testing.T) {
	for name, write := range map[string]func(s *kv.Store, id string) error{
		"of this machine alone": func(s *kv.Store, id string) error {
			return s.Update(ctx, func(tx *kv.Tx) error { return ours.Put(tx, id, &record{Text: "1"}) })
		},
		"shared": func(s *kv.Store, id string) error {
			return s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, id, &record{Text: "1"}) })
		},
		"both": func(s *kv.Store, id string) error {
			return s.Update(ctx, func(tx *kv.Tx) error {
				return errors.Join(ours.Put(tx, id, &record{Text: "1"}), notes.Put(tx, id, &record{Text: "1"}))
			})
		},
		"that may wait": func(s *kv.Store, id string) error { return addNew(ctx, s, addition{ID: id, Text: "1"}) },
	} {
		for _, how := range []string{"alone", "others write", "without servers"} {
			t.Run(name+", "+how, func(t *testing.T) {
				l := kvtest.NewLog(kv.Position{})
				m, d := l.Machine(), newDisk()
				s := openQueued(t, "store", kv.Options{Log: m, FS: d, SnapshotAfter: -1})
				other := openQueued(t, kv.InMemory, kv.Options{Log: l.Machine()})
				put(t, s, "n0", "before")
				m.Cut(how == "without servers")
				d.setHook(func(op, name string) error {
					if op == "write" || op == "open" && strings.HasPrefix(name, "journal-") {
						return syscall.ENOSPC
					}
					return nil
				})
				if how == "others write" {
					put(t, other, "n1", "theirs")
				}
				var f *fault.Error
				err := write(s, "full")
				refused := how == "without servers" && name != "of this machine alone" && name != "that may wait" // since there are none
				if !refused && (!errors.As(err, &f) || f.Kind != fault.Unavailable || !strings.Contains(f.Msg, "the disk is full") || strings.Contains(f.Error(), "first")) {
					t.Errorf("%v", err)
				}
				d.setHook(nil)
				m.Cut(false)
				catchUp(t, s)
				if err := write(s, "room"); err != nil {
					t.Errorf("with room: %v", err)
				}
			})
		}
	}
}
