package wql_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// TestWQL3_ExamplesOfFunctions runs what the README, ctxd wql --help and the
// prompt show of each function, and compares the table in the README.
func TestWQL3_ExamplesOfFunctions(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(
		entities.Type{Name: "Person", Fields: []entities.Field{
			{Name: "role", Type: record.Text}, {Name: "nick", Type: record.Text}, {Name: "started", Type: record.Date},
		}},
		entities.Type{Name: "Project", Fields: []entities.Field{{Name: "start", Type: record.Date}, {Name: "due", Type: record.Date}}},
	)
	w.put(
		e("Person", "alice", "Alice", entities.Values{"role": "Engineer", "nick": "Al", "started": "2024-03-05"}),
		e("Project", "alpha", "Alpha", entities.Values{"start": "2020-01-01", "due": "2020-06-01"}),
	)
	doc, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range syntax.Functions {
		t.Run(f.Name, func(t *testing.T) {
			if !strings.Contains(f.Example, f.Name+"(") {
				t.Errorf("%s does not call it", f.Example)
			}
			res, err := w.query(f.Example, "")
			if err != nil || res.Total != 1 {
				t.Errorf("%s: %s", f.Example, show(res, err))
			}
			row := fmt.Sprintf("| `%s` | %s | `%s` |\n", f.Usage, f.About, f.Example)
			if !strings.Contains(string(doc), row) {
				t.Errorf("README.md lacks the row\n%s", row)
			}
		})
	}
}
