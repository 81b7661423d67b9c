package entities_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// typeModel is a plain store of types and of what counts of entities.
type typeModel struct {
	types map[string]map[string]modelType // by name, then by vault; "" is everybody
	ents  map[string]modelEntity
}

type modelType struct {
	inferred bool
	fields   []string // sorted
}

type modelEntity struct {
	name, vault string
	file        bool
	fields      []string // of the record, sorted
}

// ruled tells whose type an entity has: the first of those that may be its, in the order in
// which they count. It reports false when there is none.
func (m *typeModel) ruled(e modelEntity) (vault string, ok bool) {
	types := m.types[e.name]
	others := slices.Sorted(maps.Keys(types))
	others = slices.DeleteFunc(others, func(v string) bool { return v == "" })
	// Of another vault a declared type counts before an inferred one.
	slices.SortStableFunc(others, func(a, b string) int {
		return map[bool]int{true: 1}[types[a].inferred] - map[bool]int{true: 1}[types[b].inferred]
	})
	type choice struct {
		vault    string
		declared bool // it counts only if it is declared
	}
	var order []choice
	_, hasOwn := types[e.vault]
	switch {
	case e.file:
		order = []choice{{e.vault, true}, {"", true}, {e.vault, false}, {"", false}}
	case e.vault != "" && hasOwn:
		order = []choice{{"", true}, {e.vault, true}, {"", false}, {e.vault, false}}
	default:
		order = []choice{{"", true}}
		for _, v := range others {
			order = append(order, choice{v, true})
		}
		order = append(order, choice{"", false})
	}
	for _, v := range others {
		order = append(order, choice{v, false})
	}
	for _, c := range order {
		if t, known := types[c.vault]; known && !(c.declared && t.inferred) {
			return c.vault, true
		}
	}
	return "", false
}

func (m *typeModel) remove(name, vault string) {
	delete(m.types[name], vault)
	if len(m.types[name]) == 0 {
		delete(m.types, name)
	}
}

// put takes a declared or inferred type in. One that is declared for everybody takes the
// place of the inferred ones.
func (m *typeModel) put(name, vault string, t modelType) {
	if m.types[name] == nil {
		m.types[name] = make(map[string]modelType)
	}
	if vault == "" && !t.inferred {
		maps.DeleteFunc(m.types[name], func(_ string, t modelType) bool { return t.inferred })
	}
	m.types[name][vault] = t
}

// forget removes a vault with its entities and types. What entities of others have values
// of is everybody's from then on.
func (m *typeModel) forget(vault string) {
	maps.DeleteFunc(m.ents, func(_ string, e modelEntity) bool { return e.file && e.vault == vault })
	for _, name := range slices.Collect(maps.Keys(m.types)) {
		gone, had := m.types[name][vault]
		if !had {
			continue
		}
		m.remove(name, vault)
		used, needed := make(map[string]bool), false
		for _, e := range m.ents {
			if _, still := m.ruled(e); e.name == name && !still {
				needed = true
				for _, f := range e.fields {
					used[f] = true
				}
			}
		}
		if needed {
			kept := slices.DeleteFunc(slices.Clone(gone.fields), func(f string) bool { return !used[f] })
			m.put(name, "", modelType{gone.inferred, kept})
		}
	}
}

// TestSRCH36_WhoseTypeAnEntityHas declares, infers, deletes and forgets types, and compares
// the types that entities have then with those of a plain model, in the open store and in
// one that is opened again.
func TestSRCH36_WhoseTypeAnEntityHas(t *testing.T) {
	vaults, names := []string{"a", "b", "c"}, []string{"P", "Q"}
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		s, db := open(t, dir, entities.Options{})
		defer func() { _ = db.Close() }()
		m := &typeModel{types: make(map[string]map[string]modelType), ents: make(map[string]modelEntity)}
		subset := func(of []string, label string) []string {
			out := []string{}
			for _, f := range of {
				if rapid.Bool().Draw(rt, label+" "+f) {
					out = append(out, f)
				}
			}
			return out
		}
		for i := range rapid.IntRange(1, 20).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			vault := rapid.SampledFrom(vaults).Draw(rt, "vault")
			switch op := rapid.IntRange(0, 7).Draw(rt, "op"); op {
			case 0, 1, 2: // a type: of a vault declared or inferred, or of everybody
				typ := modelType{op == 1, subset([]string{"x", "y", "z"}, "field")}
				if op == 2 {
					vault, typ.inferred = "", rapid.Bool().Draw(rt, "inferred")
				}
				if have, known := m.types[name][vault]; typ.inferred && known && !have.inferred {
					continue // nothing is inferred then
				}
				m.put(name, vault, typ)
				putModelType(rt, s, name, vault, typ)
			case 3:
				m.forget(vault)
				forgetTypesOf(rt, db, vault)
			case 4:
				deleteModelType(rt, m, s, name, rapid.SampledFrom([]string{"", vault}).Draw(rt, "of"))
			default:
				e := modelEntity{name: name, vault: vault, file: op != 5}
				if op == 5 && rapid.Bool().Draw(rt, "of no vault") {
					e.vault = ""
				}
				whose, known := m.ruled(e)
				if !known {
					continue
				}
				e.fields = subset(m.types[name][whose].fields, "value")
				id := fmt.Sprint("e", i)
				putModelEntity(rt, s, db, id, e)
				if !e.file && whose != "" {
					e.vault = whose // it keeps to the type that it was written with
				}
				m.ents[id] = e
			}
		}
		compareTypes(rt, "open", m, s, vaults, names)
		if err := db.Close(); err != nil {
			rt.Fatal(err)
		}
		s, db = open(t, dir, entities.Options{})
		compareTypes(rt, "opened again", m, s, vaults, names)
	})
}

func putModelType(rt *rapid.T, s *entities.Store, name, vault string, typ modelType) {
	put := entities.Type{Name: name, Vault: vault, Inferred: typ.inferred}
	for _, f := range typ.fields {
		put.Fields = append(put.Fields, entities.Field{Name: f, Type: record.Text})
	}
	if _, _, err := s.PutType(ctx, put, nil, true); err != nil {
		rt.Fatal(err)
	}
}

// forgetTypesOf does what forgetting a vault does to entities and types.
func forgetTypesOf(rt *rapid.T, db *kv.Store, vault string) {
	err := db.Update(ctx, func(tx *kv.Tx) error {
		for id, e := range entities.EntityRecords.All(tx, "") {
			if e.VaultBacked && e.Vault == vault {
				if err := entities.EntityRecords.Delete(tx, id); err != nil {
					return err
				}
			}
		}
		if err := tx.Err(); err != nil {
			return err
		}
		_, err := entities.ForgetTypes(tx, vault)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
}

// deleteModelType deletes a type in both, of a vault or for "" the one that is meant.
func deleteModelType(rt *rapid.T, m *typeModel, s *entities.Store, name, vault string) {
	_, err := s.DeleteType(ctx, name, vault, true)
	types := m.types[name]
	if _, known := types[vault]; !known && vault == "" && len(types) == 1 {
		for only := range types {
			vault = only
		}
	}
	_, known := types[vault]
	if (err == nil) != known {
		rt.Fatalf("deleting %s of %q with %v: %v", name, vault, types, err)
	}
	if known {
		m.remove(name, vault)
	}
}

func putModelEntity(rt *rapid.T, s *entities.Store, db *kv.Store, id string, e modelEntity) {
	put := entities.Entity{ID: id, Type: e.name, Name: id, Vault: e.vault, Fields: entities.Values{}}
	for _, f := range e.fields {
		put.Fields[f] = "v"
	}
	err := db.Update(ctx, func(tx *kv.Tx) error {
		_, err := s.PutTx(tx, put, entities.PutOptions{FromNote: e.file, VaultBacked: e.file})
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
}

// compareTypes compares the types of all entities that there may be, and what is shown of
// those that there are.
func compareTypes(rt *rapid.T, when string, m *typeModel, s *entities.Store, vaults, names []string) {
	for _, name := range names {
		for _, vault := range append([]string{""}, vaults...) {
			for _, file := range []bool{false, vault != ""} {
				m.compare(rt, when, modelEntity{name: name, vault: vault, file: file},
					s.TypeOf(&entities.Entity{Type: name, Vault: vault, VaultBacked: file}))
			}
		}
	}
	counts := make(map[*entities.Type]int)
	for id, want := range m.ents {
		e := s.Get(id)
		if e == nil {
			rt.Fatalf("%s: %s is gone", when, id)
			return
		}
		own := s.TypeOf(e)
		m.compare(rt, when, want, own)
		shown := []string{}
		whose, _ := m.ruled(want)
		for _, f := range want.fields {
			if slices.Contains(m.types[want.name][whose].fields, f) {
				shown = append(shown, f)
			}
		}
		if got := slices.Sorted(maps.Keys(e.Fields)); own != nil && !slices.Equal(got, shown) {
			rt.Fatalf("%s: %s shows %v, want %v", when, id, got, shown)
		}
		if e.Live() {
			counts[own]++
		}
	}
	for _, typ := range s.Types() {
		if got := s.CountOf(typ); got != counts[typ] {
			rt.Fatalf("%s: %d entities of %s of %q, want %d", when, got, typ.Name, typ.Vault, counts[typ])
		}
	}
}

func (m *typeModel) compare(rt *rapid.T, when string, e modelEntity, got *entities.Type) {
	want, have := "none", "none"
	if whose, ok := m.ruled(e); ok {
		t := m.types[e.name][whose]
		want = fmt.Sprintf("%s of %q, inferred %t, %v", e.name, whose, t.inferred, t.fields)
	}
	if got != nil {
		fields := make([]string, len(got.Fields))
		for i, f := range got.Fields {
			fields[i] = f.Name
		}
		have = fmt.Sprintf("%s of %q, inferred %t, %v", got.Name, got.Vault, got.Inferred, fields)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		rt.Fatalf("%s: %+v: %s", when, e, diff)
	}
}
