package wql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL4_AllErrorsAtOnce: each mistake of a text is found, at its place, with
// the source line, a caret and a hint. The mistakes are marked with » in the
// text; ⟨near⟩ behind a mark names what the hint must offer.
func TestWQL4_AllErrorsAtOnce(t *testing.T) {
	w := company(t, wql.Options{})
	for _, text := range []string{
		// Names.
		"SELECT p FROM »⟨Person⟩Persn, »⟨Team⟩Taem WHERE p.team = {this}",
		"SELECT p FROM Person WHERE p.»⟨team⟩tem = {this} AND p.»⟨role⟩rol = 'x' ORDER BY p.»⟨name⟩nme",
		"SELECT p FROM Person WHERE p.team.»⟨city⟩citi = 'Wien' AND »⟨lower⟩lowr(p.name) = 'x' OR p.»⟨active⟩activ = true",
		"SELECT p FROM Person WHERE »q.age = 1 AND »r.age = 2 AND p.»⟨age⟩agee = 3",
		"SELECT p FROM Person WHERE p.team = {this.»⟨lead⟩laed} AND p.age = {this.»⟨city⟩cty} OR p.»⟨code⟩cod = 3",
		"SELECT »p FROM Person q WHERE q.»⟨age⟩agee = 1 AND »x.age = 1",
		"SELECT p FROM »⟨Project⟩Projct p WHERE p.x = 1 AND »⟨length⟩lenght(p.name) = 1",
		// Types.
		"SELECT p FROM Person WHERE »p.team > 'a' AND »p.skills < 3 AND p.»⟨knows⟩knwos = {this}",
		"SELECT p FROM Person WHERE year(»p.age) = 1 AND »length() = 2 AND »p.age + 3d = today()",
		"SELECT p FROM Person WHERE p.born > date(»'31.1.2026') AND p.»role.name = 'x' ORDER BY p.»⟨level⟩levle",
		"SELECT SUM(»p.name) FROM Person WHERE p.»⟨age⟩agge = 1 AND »p.knows > 3",
		"SELECT MIN(»p.team) FROM Person WHERE »⟨trim⟩trimm(p.name) = ''",
		// Syntax.
		"SELECT p FROM Person WHERE p.age = »AND p.role LIKE »OR p.name = »= 'x'",
		"SELECT p FROM Person WHERE p.age »⟨CONTAINS⟩CONTAIN 3 AND p.»⟨role⟩roel = 'x'",
		"SELECT p FROM Person »⟨WHERE⟩WHRE p.»⟨age⟩agee = 1 AND p.»⟨role⟩roel = 2",
		"SELECT p FROM Person WHERE p.age IN »1, 2 AND p.role = 'x' ORDER BY p.»⟨born⟩bron",
		"SELECT p FROM Person WHERE p.age BETWEEN 1 »OR 3 AND p.»⟨team⟩taem = {this}",
		"SELECT p FROM Person WHERE p.age IS »3 AND p.»⟨team⟩taem = {this} AND p.role STARTS »'x'",
		"SELECT p FROM Person WHERE »(p.age = 1 AND p.»⟨team⟩taem = {this} ORDER BY p.»⟨name⟩nme",
		"SELECT p FROM Person WHERE p.age = 1 »&& p.»⟨team⟩taem = {this}",
		"SELECT p FROM Person WHERE p.age = »7days AND p.»⟨team⟩taem = »2h",
		"SELECT p FROM Person WHERE {»that} = p.»⟨team⟩taem AND MATCHES »''",
		"SELECT p FROM Person WHERE p.»⟨team⟩taem = {this} LIMIT »ten",
		"SELECT p FROM Person WHERE p.»⟨team⟩taem = {this} ORDER BY p.name NULLS »FRIST, »3 LIMIT »-1",
		"SELECT p FROM Person WHERE p.»⟨team⟩taem = {this} »GROUP BY p.team",
		"SELECT p».name FROM Person WHERE p.»⟨team⟩taem = {this}",
		"»SELCT p FROM »⟨Person⟩Persn WHERE p.x = 1",
		"SELECT »⟨COUNT⟩COUN(p.age) FROM Person p WHERE p.»⟨team⟩taem = {this}",
		"SELECT p FROM Person WHERE p.name = »“x” AND p.»⟨team⟩taem = {this}",
		"SELECT p FROM Person WHERE p.»⟨team⟩taem = {this} AND p.age > »2026-01-31",
		// Lines.
		"SELECT p\nFROM »⟨Person⟩Peron »p, Team\nWHERE »⟨upper⟩uper(p.name) = 'A'\n  AND p.age =\n  »AND p.role »LIK 'x'\nORDER BY »⟨trim⟩trin(p.name)\nLIMIT »x",
	} {
		marked := text
		type mark struct {
			line, column int
			near         string
		}
		var marks []mark
		for {
			i := strings.Index(marked, "»")
			if i < 0 {
				break
			}
			before, after := marked[:i], marked[i+len("»"):]
			m := mark{line: strings.Count(before, "\n") + 1, column: names.UTF16Len(before[strings.LastIndex(before, "\n")+1:]) + 1}
			if rest, ok := strings.CutPrefix(after, "⟨"); ok {
				m.near, after, _ = strings.Cut(rest, "⟩")
			}
			marks = append(marks, m)
			marked = before + after
		}
		t.Run(marked, func(t *testing.T) {
			if len(marks) < 2 {
				t.Fatal("one mistake is no test")
			}
			got := []string{}
			for _, d := range w.wql.Check(marked, "Team") {
				if d.Severity != record.SeverityError {
					continue
				}
				got = append(got, fmt.Sprintf("%d:%d", d.Line, d.Column))
				lines := strings.Split(d.Source, "\n")
				if d.Hint == "" || len(lines) != 2 || !strings.HasSuffix(lines[1], "^") || lines[0] != strings.Split(marked, "\n")[d.Line-1] {
					t.Errorf("%d:%d %s: hint %q, source %q", d.Line, d.Column, d.Message, d.Hint, d.Source)
				}
				for _, m := range marks {
					if m.line == d.Line && m.column == d.Column && !strings.Contains(d.Hint, m.near) {
						t.Errorf("%d:%d %s: the hint %q does not offer %s", d.Line, d.Column, d.Message, d.Hint, m.near)
					}
				}
			}
			want := []string{}
			for _, m := range marks {
				want = append(want, fmt.Sprintf("%d:%d", m.line, m.column))
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("errors at %v, want %v", got, want)
				for _, d := range w.wql.Check(marked, "Team") {
					t.Logf("%d:%d %s: %s (%s)", d.Line, d.Column, d.Severity, d.Message, d.Hint)
				}
			}
		})
	}
}
