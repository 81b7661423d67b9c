package shell

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// The caret stands under its place on a screen of any width.
func TestWQL10_TheCaretIsOnTheScreen(t *testing.T) {
	for _, c := range []struct {
		name, query string
		column      int // of UTF-16 code units
		under       string
	}{
		{"short", "SELECT p FROM Persn", 15, "Persn"},
		{"at the end", "SELECT p FROM", 14, ""},
		{"behind wide characters", "SELECT p FROM `若葉` WHERE Persn", 26, "Persn"},
		{"behind characters of two units", "SELECT 𝄞𝄞 FROM Persn", 18, "Persn"},
		{"far on the right", strings.Repeat("role = 'x' OR ", 8) + "Persn = 3 AND more of it", 113, "Persn"},
	} {
		for _, width := range []int{40, 60, 200} {
			var out bytes.Buffer
			drawSource(&term.Screen{Writer: &out, Width: width}, sourceLine(c.query, 1, c.column))
			lines := strings.Split(out.String(), "\n")
			at := term.Columns(strings.TrimSuffix(lines[1], "^"))
			_, behind := term.CutColumns(lines[0], at)
			shown := strings.TrimSuffix(behind, "…") // the screen may end within it
			if !strings.HasSuffix(lines[1], "^") || at >= width || (shown == "") != (c.under == "") ||
				!strings.HasPrefix(shown, c.under) && !strings.HasPrefix(c.under, shown) {
				t.Errorf("%s, %d columns: the caret is under %q of\n%s", c.name, width, behind, out.String())
			}
		}
	}
}

// Statements of a script tell where they are in it.
func TestWQL10_PlacesInAScript(t *testing.T) {
	err := newQueryError([]entities.Diagnostic{
		{Line: 1, Column: 4, Message: "first", Severity: record.SeverityWarning},
		{Line: 2, Column: 4, Message: "second", Severity: record.SeverityError},
	})
	f := term.ExplainError(inScript(err, syntax.Statement{Line: 10, Column: 5}, "x.wql"))
	if f.File != "x.wql" || f.Line != 11 || f.Column != 4 || f.Message != "second" || f.Code != term.ExitError || f.Kind != "query" {
		t.Errorf("%+v", f)
	}
	if d := f.Diagnostics; d[0].Line != 10 || d[0].Column != 8 || d[1].Line != 11 || d[1].Column != 4 {
		t.Errorf("%+v", d)
	}
}
