package syntax_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// testCompleter completes over two types and a few names.
func testCompleter() *syntax.Completer {
	types := []entities.Type{
		{Name: "Person", Fields: []entities.Field{
			{Name: "role", Type: record.Text},
			{Name: "team", Type: record.EntityRef, TargetType: "Team"},
			{Name: "level", Type: record.Select, Options: []string{"lead", "regular", "it's odd"}},
			{Name: "remote", Type: record.Boolean},
			{Name: "started", Type: record.Date},
			{Name: "linked-note", Type: record.NoteRef},
		}},
		{Name: "Team", Fields: []entities.Field{
			{Name: "lead", Type: record.EntityRef, TargetType: "Person"},
			{Name: "budget", Type: record.Number},
		}},
		{Name: "Work Item"},
	}
	byName := make(map[string]*entities.Type)
	for i := range types {
		byName[entities.Fold(types[i].Name)] = &types[i]
	}
	names := []struct{ name, typ string }{{"Alice", "Person"}, {"Alan O'Neil", "Person"}, {"Alpha", "Team"}, {"若葉", "Team"}}
	return &syntax.Completer{Types: byName, This: "Team", Names: func(prefix string, types []string) (out []string) {
		for _, n := range names {
			if strings.HasPrefix(n.name, prefix) && (len(types) == 0 || slices.Contains(types, n.typ)) {
				out = append(out, n.name)
			}
		}
		return out
	}}
}

// The cursor stands at the bar; want are all choices.
func TestWQL10_Completion(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"|", []string{"SELECT "}},
		{"sel|", []string{"SELECT "}},
		{"SELECT p FROM |", []string{"Person", "Task", "Team", "`Work Item`"}},
		{"SELECT p FROM per|", []string{"Person"}},
		{"SELECT p FROM Person, t|", []string{"Task", "Team"}},
		{"SELECT p FROM `Wo|", []string{"`Work Item`"}},
		{"SELECT p FROM Person WH|", []string{"WHERE "}},
		{"SELECT p FROM Person O|", []string{"ORDER BY "}},
		{"SELECT C|", []string{"COUNT(*) FROM "}},
		{"SELECT SUM(bu|) FROM Team", []string{"budget"}},
		{"SELECT p F|", []string{"FROM "}},
		{"SELECT p FROM Person WHERE ro|", []string{"role"}},
		{"SELECT p FROM Person WHERE p.te|", []string{"team"}},
		{"SELECT p FROM Person x WHERE x.LI|", []string{"`linked-note`"}},
		{"SELECT p FROM Person WHERE p.team.|", []string{"lead", "budget", "id", "name", "type", "createdAt", "updatedAt"}},
		{"SELECT p FROM Person WHERE p.team.lead.le|", []string{"level"}},
		{"SELECT p FROM Person WHERE team.lead.le|", []string{"level"}},
		{"SELECT p FROM Person WHERE p.role.|", nil},
		{"SELECT p FROM Person WHERE q.team.|", nil},
		{"SELECT p.te| FROM Person", []string{"team"}},
		{"SELECT p FROM Person WHERE p.level = 'l|", []string{"'lead'"}},
		{`SELECT p FROM Person WHERE p.level = "it|`, []string{`"it's odd"`}},
		{"SELECT p FROM Person WHERE p.level = l|", nil},
		{"SELECT p FROM Person WHERE p.level = 'i|", []string{"'it''s odd'"}},
		{"SELECT p FROM Person WHERE p.remote = t|", []string{"true"}},
		{"SELECT p FROM Person WHERE p.started > to|", []string{"today()"}},
		{"SELECT p FROM Person WHERE p.team = 'A|", []string{"'Alpha'"}},
		{"SELECT p FROM Person WHERE name = 'Al|", []string{"'Alan O''Neil'", "'Alice'"}},
		{"SELECT p FROM Person WHERE p.team.name IN ('Alpha', '若|", []string{"'若葉'"}},
		{"SELECT p FROM Person WHERE p.role = 'x|", nil},
		{"SELECT p FROM Person WHERE p.role = 'x' a|", []string{"AND "}},
		{"SELECT p FROM Person WHERE p.role IS |", []string{"NULL", "NOT NULL"}},
		{"SELECT p FROM Person WHERE p.role st|", []string{"STARTS WITH "}},
		{"SELECT p FROM Person WHERE p.role STARTS w|", []string{"WITH "}},
		{"SELECT p FROM Person WHERE ma|", []string{"MATCHES "}},
		{"SELECT p FROM Person WHERE low|", []string{"lower("}},
		{"SELECT p FROM Person WHERE role = {th|", []string{"this}", "this."}},
		{"SELECT p FROM Person WHERE role = {this.bu|", []string{"budget"}},
		{"SELECT p FROM Person WHERE role = {this.lead.ro|", []string{"role"}},
		{"SELECT p FROM Person ORDER |", []string{"BY "}},
		{"SELECT p FROM Person ORDER BY sta|", []string{"started"}},
		{"SELECT p FROM Person ORDER BY role d|", []string{"DESC"}},
		{"SELECT p FROM Person ORDER BY role NULLS f|", []string{"FIRST"}},
		{"SELECT p FROM Person LIMIT 3 o|", []string{"OFFSET "}},
		{"SELECT p FROM Person LIMIT 3|", nil},
		{"SELECT p FROM Person -- WHERE ro|", nil},
		{"select p from person where p.team.le|", []string{"lead"}},
		{"select p from person order by sta|", []string{"started"}},
		{"select p from person where p.level in ('l|", []string{"'lead'"}},
		{"SELECT t FROM Team; SELECT p FROM Person WHERE ro|", []string{"role"}},
		{"SELECT t FROM Team WHERE bu|; SELECT p FROM Person", []string{"budget"}},
		{"SELECT p FROM Nobody WHERE p.ro|", nil},
	} {
		t.Run(c.text, func(t *testing.T) {
			at := strings.IndexByte(c.text, '|')
			text := c.text[:at] + c.text[at+1:]
			out := testCompleter().At(text, at)
			var got []string
			for _, ch := range out.Choices {
				got = append(got, ch.Text)
				if out.From > at {
					t.Errorf("%q is put at %d, behind the cursor", ch.Text, out.From)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What is completed is what the daemon reads.
func TestWQL10_CompletionPutsItInThePlaceOfTheWord(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT p FROM `Wo|":                        "SELECT p FROM `Work Item`",
		"SELECT p FROM Person WHERE p.level = 'le|": "SELECT p FROM Person WHERE p.level = 'lead'",
		"SELECT p FROM Person WHERE x = 1 an| b":    "SELECT p FROM Person WHERE x = 1 AND  b",
	} {
		at := strings.IndexByte(text, '|')
		before, after := text[:at], text[at+1:]
		out := testCompleter().At(before+after, at)
		if len(out.Choices) != 1 || before[:out.From]+out.Choices[0].Text+after != want {
			t.Errorf("%s: %+v", text, out)
		}
	}
}

// No text before the cursor is too odd to complete.
func FuzzWQL10_Completion(f *testing.F) {
	for _, s := range []string{"SELECT p FROM Person WHERE p.", "`", "[", "'", "{this.", "\\", ".", "FROM", "IN (", "= ", "a.b.c.d."} {
		f.Add(s, uint(len(s)))
	}
	f.Fuzz(func(t *testing.T, text string, n uint) {
		at := int(n % uint(len(text)+1))
		if out := testCompleter().At(text, at); out.From < 0 || out.From > at {
			t.Fatalf("%q, %d: from %d", text, at, out.From)
		}
	})
}
