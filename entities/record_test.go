package entities_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// sampleEntities have all that a record can hold.
func sampleEntities() []*entities.Entity {
	at := time.Date(2026, 1, 31, 9, 30, 0, 123456789, time.UTC)
	old := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	return []*entities.Entity{
		{ID: "a", Aliases: []string{}, Fields: entities.Values{}, CreatedAt: old, UpdatedAt: old},
		{
			ID: "b", Type: "Person", Name: "Ann Bee", Aliases: []string{"A", "日本"}, NoteID: "n", Private: true, VaultBacked: true,
			CreatedAt: at, UpdatedAt: at.Add(time.Hour), ArchivedAt: &at, Version: 300, Sources: "what was read",
			Fields: entities.Values{
				"text": "a text", "": "no name", "number": -12.5, "zero": 0.0, "yes": true, "no": false,
				"list": []string{"one", "", "three"}, "none": []string{}, "long": strings.Repeat("x", 1000),
			},
		},
	}
}

func TestEntityRecordsRoundTrip(t *testing.T) {
	for _, e := range sampleEntities() {
		rec, err := entities.EncodeRecord(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := entities.DecodeRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Errorf("%s comes back as another:\n%s", e.ID, diff)
		}
		for cut := range len(rec) {
			if _, err := entities.DecodeRecord(rec[:cut]); err == nil {
				t.Errorf("the first %d of %d bytes are taken for a record", cut, len(rec))
			}
		}
		if _, err := entities.DecodeRecord(rec + "\x00"); err == nil {
			t.Error("a record with something behind it is taken for one")
		}
	}
}

func TestEntityRecordsHoldNothingElse(t *testing.T) {
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, e := range map[string]*entities.Entity{
		"a value of another type": {Fields: entities.Values{"f": 1}},
		"no value":                {Fields: entities.Values{"f": nil}},
		"a late time":             {UpdatedAt: late},
		"a version below 0":       {Version: -1},
	} {
		if rec, err := entities.EncodeRecord(e); err == nil {
			t.Errorf("%s is stored as %q", name, rec)
		}
	}
}

func TestEntityRecordsAreOne(t *testing.T) {
	rec, err := entities.EncodeRecord(&entities.Entity{Fields: entities.Values{"a": true, "b": true}})
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]string{
		"another format":       "\x01" + rec[1:],
		"a flag of no meaning": rec[:1] + "\x08" + rec[2:],
		"values in disorder":   strings.NewReplacer("\x01at", "\x01bt", "\x01bt", "\x01at").Replace(rec),
		"a value twice":        strings.Replace(rec, "\x01bt", "\x01at", 1),
		"a value of no kind":   strings.Replace(rec, "\x01bt", "\x01bx", 1),
		"a longer number":      strings.Replace(rec, "\x02\x01at", "\x82\x00\x01at", 1),
	} {
		if other == rec {
			t.Fatalf("%s: the record is as it was", name)
		}
		if _, err := entities.DecodeRecord(other); err == nil {
			t.Errorf("%s: %q is taken for a record", name, other)
		}
	}
}

func FuzzEntityRecord(f *testing.F) {
	for _, e := range sampleEntities() {
		rec, err := entities.EncodeRecord(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rec)
	}
	f.Fuzz(func(t *testing.T, rec string) {
		e, err := entities.DecodeRecord(rec)
		if err != nil {
			return
		}
		if again, err := entities.EncodeRecord(e); err != nil || again != rec {
			t.Errorf("%q is read, but would be written as %q, %v", rec, again, err)
		}
	})
}

// TestREL13_EntitiesOfFormat1 writes entities as format 1 had them, brings them
// into today's and reads them.
func TestREL13_EntitiesOfFormat1(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	asJSON := kv.JSON[entities.Entity]()
	as1 := kv.NewCollection("entity", kv.Codec[entities.Entity]{
		Encode: func(e *entities.Entity) (string, error) {
			text, err := asJSON.Encode(e)
			return strings.Replace(text, `"archivedAt"`, `"trashedAt"`, 1), err
		},
		Decode: asJSON.Decode,
	})
	samples := sampleEntities()
	for _, e := range samples {
		e.Sources = "" // nobody knew them
	}
	mixed := &entities.Entity{ID: "new", Name: "written since", Aliases: []string{}, Fields: entities.Values{}}
	err = db.Update(context.Background(), func(tx *kv.Tx) error {
		for _, e := range samples {
			if err := as1.Put(tx, e.ID, e); err != nil {
				return err
			}
		}
		return entities.EntityRecords.Put(tx, mixed.ID, mixed)
	})
	if err == nil {
		err = db.Update(context.Background(), entities.Upgrade)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(context.Background(), func(tx *kv.Tx) error {
		for _, want := range append(samples, mixed) {
			got, err := entities.EntityRecords.Get(tx, want.ID)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s comes out as another:\n%s", want.ID, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
