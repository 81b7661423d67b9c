package rpc_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/remembered"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// remembers imports the sample vault and writes down what is remembered of the person who writes it.
// It returns the answer of memory.addMany.
func (d *daemon) remembers(set remembered.Set) []any {
	d.t.Helper()
	vault := filepath.Join(d.t.TempDir(), "Vault")
	must(d.t, fixtures.CopyVault(vault))
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, vault))
	for _, c := range set.Contexts {
		d.do("contexts.put", inJSON(d.t, protocol.ContextPut{ID: c.ID, Name: c.Name, ParentID: c.ParentID}))
	}
	var many protocol.MemoryAddMany
	for _, m := range set.Memories {
		draft := protocol.MemoryDraft{
			ID: m.ID, Tier: m.Tier, Kind: m.Kind, Statement: m.Statement, Questions: m.Questions,
			Domains: m.Domains, Tags: m.Tags, Contexts: m.Contexts, Supersedes: m.Supersedes,
			Importance: &m.Importance, Confidence: &m.Confidence,
			Pinned: m.Pinned, AlwaysInject: m.AlwaysInject, Private: m.Private, CreatedAt: &m.CreatedAt,
		}
		for _, path := range m.Notes {
			draft.NoteIDs = append(draft.NoteIDs, at(d.do("notes.get", fmt.Sprintf(`{"ref":%q}`, path)), "id").(string))
		}
		many.Memories = append(many.Memories, draft)
	}
	return at(d.do("memory.addMany", inJSON(d.t, many)), "memories").([]any)
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// TestMEM1_TheSampleNamesItsEntities: what is remembered of the person who writes the sample vault is
// valid, each statement for itself, and about those entities of the vault that it names.
func TestMEM1_TheSampleNamesItsEntities(t *testing.T) {
	set, err := remembered.Load()
	must(t, err)
	d := start(t)
	added := d.remembers(set)
	for i, m := range set.Memories {
		got := added[i]
		if at(got, "duplicate") != false || at(got, "memory.number") != float64(i+1) || at(got, "memory.statement") != m.Statement {
			t.Errorf("%s has become %v", m.ID, got)
		}
		names := []string{}
		for _, id := range at(got, "memory.entityIds").([]any) {
			names = append(names, at(d.do("entities.get", fmt.Sprintf(`{"ref":%q}`, id)), "name").(string))
		}
		if want := append([]string{}, m.Entities...); !slices.Equal(names, want) {
			t.Errorf("%s names %q, want %q", m.ID, names, want)
		}
	}
	for id, status := range map[string]string{
		"first-ship-date": "superseded", "kalkalpen-spring-order": "deprecated", "second-lot-1-december": "active",
	} {
		d.want(d.do("memory.get", fmt.Sprintf(`{"ref":%q}`, id)), "status", status)
	}
	d.want(d.do("memory.stats", `{}`), "total", 60)
	d.want(d.do("memory.stats", `{"audience":"remote"}`), "total", 56)
}
