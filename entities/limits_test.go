package entities_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

func TestRPC6_SizesOfEntitiesAreConfigured(t *testing.T) {
	long := strings.Repeat("é", 601)
	wide := entities.Limits{Name: 601, FieldBytes: 300 << 10, Fields: 201}
	tight := entities.Limits{Name: 5, FieldBytes: 16, Fields: 1}
	many := make([]entities.Field, 201)
	for i := range many {
		many[i] = entities.Field{Name: fmt.Sprintf("f%d", i), Type: record.Text}
	}
	for _, c := range []struct {
		name   string
		limits entities.Limits
		write  func(s *entities.Store) error
		field  string // at fault; "": none
	}{
		{"name by default", entities.Limits{}, putEntity(entities.Entity{Name: long}), "name"},
		{"name, wider", wide, putEntity(entities.Entity{Name: long}), ""},
		{"name, tighter", tight, putEntity(entities.Entity{Name: "abcdef"}), "name"},
		{"name at the limit", tight, putEntity(entities.Entity{Name: "ábcdé"}), ""},
		{"alias, tighter", tight, putEntity(entities.Entity{Name: "a", Aliases: []string{"abcdef"}}), "aliases"},
		{"values by default", entities.Limits{}, putEntity(entities.Entity{Name: "a", Fields: entities.Values{"f0": strings.Repeat("x", 260<<10)}}), "fields"},
		{"values, wider", wide, putEntity(entities.Entity{Name: "a", Fields: entities.Values{"f0": strings.Repeat("x", 260<<10)}}), ""},
		{"values, tighter", tight, putEntity(entities.Entity{Name: "a", Fields: entities.Values{"f0": "0123456789"}}), "fields"},
		{"patched name", tight, patchEntity(entities.Patch{Name: ptr("abcdef")}), "name"},
		{"patched alias", tight, patchEntity(entities.Patch{Aliases: ptr([]string{"abcdef"})}), "aliases"},
		{"patched values", tight, patchEntity(entities.Patch{Fields: entities.Values{"f0": "0123456789"}}), "fields"},
		{"fields of a type by default", entities.Limits{}, putType(many), "fields"},
		{"fields of a type, wider", wide, putType(many), ""},
		{"fields of a type, tighter", tight, putType(many[:2]), "fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t, kv.InMemory, entities.Options{Limits: c.limits})
			mustType(t, s, entities.Type{Name: "T", Fields: many[:1]})
			err := c.write(s)
			if c.field == "" && err != nil {
				t.Fatal(err)
			}
			var f *fault.Error
			if c.field != "" && (!errors.As(err, &f) || f.Kind != fault.Limit || f.Field != c.field) {
				t.Fatalf("%v, want a limit of %s", err, c.field)
			}
		})
	}
}

func putEntity(e entities.Entity) func(*entities.Store) error {
	e.Type = "T"
	return func(s *entities.Store) error {
		_, err := s.Put(ctx, e, nil)
		return err
	}
}

func patchEntity(p entities.Patch) func(*entities.Store) error {
	p.ID = "e"
	return func(s *entities.Store) error {
		if _, err := s.Put(ctx, entities.Entity{ID: "e", Type: "T", Name: "a"}, nil); err != nil {
			return err
		}
		_, err := s.Patch(ctx, p, nil)
		return err
	}
}

func putType(fields []entities.Field) func(*entities.Store) error {
	return func(s *entities.Store) error {
		_, _, err := s.PutType(ctx, entities.Type{Name: "U", Fields: fields}, nil, false)
		return err
	}
}
