package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
)

// TestReadmeHasTheFieldTypes compares the table in entities/README.md with that of the
// program.
func TestReadmeHasTheFieldTypes(t *testing.T) {
	var want strings.Builder
	for _, ft := range record.FieldTypes {
		info := ft.Info()
		example, inferred := "`"+info.Example+"`", ""
		if ft.IsComputed() {
			example = ""
		}
		if info.Inferred > 0 {
			inferred = fmt.Sprint(info.Inferred)
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", ft, info.About, example, inferred)
	}
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "| inferred |\n|---|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("entities/README.md has another table; it should be\n%s", want.String())
	}
}
