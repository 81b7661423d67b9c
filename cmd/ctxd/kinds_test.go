package main_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
)

// A kind of record that a place has forgotten is found: an invented one is missing everywhere. That its view is compared
// is tested in rpc.
func TestHOUSE8_EachKindOfRecordIsKnownEverywhere(t *testing.T) {
	declared, views := declaredCollections(t), driftViews(t)
	check := func(kinds []record.Kind, collections map[string]string) (missing []string) {
		for _, k := range kinds {
			if collections[k.Collection] == "" {
				missing = append(missing, k.Noun+": no room declares its collection")
			}
			if k.View != "" && !slices.Contains(views, k.View) {
				missing = append(missing, k.Noun+": the enum of Drift.view")
			}
			if store.RecordsInWords(map[string]int{k.Collection: 1}) != "1 "+k.Noun {
				missing = append(missing, k.Noun+": the words of ctxd backup")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(collections)) {
			is := func(k record.Kind) bool { return k.Collection == name }
			if !strings.Contains(name, "-") && !slices.ContainsFunc(kinds, is) {
				missing = append(missing, name+": record.Kinds")
			}
		}
		return missing
	}
	if missing := check(record.Kinds, declared); len(missing) > 0 {
		t.Errorf("a kind of record is missing in a place:\n%s", strings.Join(missing, "\n"))
	}

	kinds := append(slices.Clone(record.Kinds), record.Kind{Collection: "invention", Noun: "invention", View: "inventions"})
	collections := maps.Clone(declared)
	collections["discovery"] = "context/discoveries/store.go"
	want := []string{
		"invention: no room declares its collection",
		"invention: the enum of Drift.view",
		"invention: the words of ctxd backup",
		"discovery: record.Kinds",
	}
	if diff := cmp.Diff(want, check(kinds, collections)); diff != "" {
		t.Errorf("with invented kinds (-want +got):\n%s", diff)
	}
}

// driftViews returns the views that a client is told of.
func driftViews(t *testing.T) []record.StoreView {
	t.Helper()
	doc, err := openrpc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Components struct {
			Schemas struct {
				Drift struct {
					Properties struct {
						View struct{ Enum []record.StoreView }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(doc, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed.Components.Schemas.Drift.Properties.View.Enum
}
