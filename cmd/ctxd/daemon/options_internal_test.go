package daemon

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
)

// TestREL3_DurabilityIsASetting: what is configured for the store reaches it.
func TestREL3_DurabilityIsASetting(t *testing.T) {
	unsetAll(t)
	for name, c := range map[string]struct {
		file  string
		env   map[string]string
		flags config.Given
		want  kv.Options
	}{
		"defaults":    {want: kv.Options{Durability: kv.Strict, SnapshotAfter: 64 << 20}},
		"file":        {file: "store:\n  durability: relaxed\n  snapshotAfter: 1MiB\n", want: kv.Options{Durability: kv.Relaxed, SnapshotAfter: 1 << 20}},
		"environment": {file: "store:\n  durability: strict\n", env: map[string]string{"CTXD_STORE_DURABILITY": "relaxed", "CTXD_STORE_SNAPSHOT_AFTER": "2MiB"}, want: kv.Options{Durability: kv.Relaxed, SnapshotAfter: 2 << 20}},
		"flags":       {env: map[string]string{"CTXD_STORE_DURABILITY": "relaxed"}, flags: config.Given{"store.durability": {"strict"}, "store.snapshotAfter": {"64KiB"}}, want: kv.Options{Durability: kv.Strict, SnapshotAfter: 64 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			conf, err := config.Load(configured(t, c.file), c.flags)
			if err != nil {
				t.Fatal(err)
			}
			store := OptionsOf(conf, nil).store
			opts := StoreOptions(store)
			if opts.Durability != c.want.Durability || opts.SnapshotAfter != c.want.SnapshotAfter || opts.Format != StoreFormat {
				t.Errorf("the store is opened with %+v, want %+v", opts, c.want)
			}
		})
	}
	for _, text := range []string{"store:\n  durability: fast\n", "store:\n  snapshotAfter: 1KiB\n", "store:\n  durabilty: strict\n"} {
		if _, err := config.Load(configured(t, text), nil); !errors.As(err, new(*config.Error)) {
			t.Errorf("%q: %v, want an error of the configuration", text, err)
		}
	}
}

// A limit of the protocol that has a setting has its name, and a daemon gets it. The others are constants.
func TestRPC6_WhatCanBeConfiguredIs(t *testing.T) {
	unsetAll(t)
	constant := 0 // API-11
	for i := range reflect.TypeFor[rpc.Limits]().NumField() {
		f := reflect.TypeFor[rpc.Limits]().Field(i)
		key := "limits." + f.Tag.Get("json")
		s := config.Default().Setting(key)
		if s == nil {
			constant++
			continue
		}
		text, n := "123", int64(123)
		switch s.Unit {
		case "ms":
			text, n = "123ms", int64(123*time.Millisecond)
		case "bytes":
			text, n = "5MiB", 5<<20
		}
		if f.Name == "Jobs" {
			text, n = "99", 99
		}
		c, err := config.Load(configured(t, "limits: {"+f.Tag.Get("json")+": "+text+"}"), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		want := rpc.DefaultLimits()
		reflect.ValueOf(&want).Elem().Field(i).SetInt(n)
		if diff := cmp.Diff(want, OptionsOf(c, nil).limits); diff != "" {
			t.Errorf("%s: %s\n%s", key, text, diff)
		}
	}
	if constant != 12 {
		t.Errorf("%d limits have no setting", constant)
	}
	c, err := config.Load(configured(t, "limits: {bodyBytes: 1MiB, typeFields: 7}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := OptionsOf(c, nil).records; r.MaxBody != 1<<20 || r.Entities.Fields != 7 {
		t.Errorf("%+v", r)
	}
}
