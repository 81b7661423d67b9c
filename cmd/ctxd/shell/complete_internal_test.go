package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The cursor stands at the bar; want are all choices.
func TestWQL10_CompletionOfCommands(t *testing.T) {
	types := []protocol.TypeCount{
		{Type: entities.Type{Name: "Person", Fields: []entities.Field{{Name: "role", Type: record.Text}}}},
		{Type: entities.Type{Name: "Team", Fields: []entities.Field{{Name: "budget", Type: record.Number}}}},
	}
	names := func(prefix string, _ []string) (out []string) {
		for _, n := range []string{"Alice", "Alan O'Neil", "Alpha", "若葉"} {
			if strings.HasPrefix(n, prefix) {
				out = append(out, n)
			}
		}
		return out
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{`\th|`, []string{`\this `}},
		{`\this Al|`, []string{"Alan O'Neil", "Alice", "Alpha"}},
		{`\d te|`, []string{"Team"}},
		{`\format c|`, []string{"csv"}},
		{`\e o|`, []string{"on", "off"}},
		{`\fields role,bu|`, []string{"budget"}},
		{`\nothing x|`, nil},
		{"sel|", []string{"SELECT "}},
	} {
		t.Run(c.text, func(t *testing.T) {
			at := strings.IndexByte(c.text, '|')
			out := completionOf(&syntax.Completer{Types: typesByName(types), Names: names}, c.text[:at]+c.text[at+1:], at)
			var got []string
			for _, ch := range out.Choices {
				got = append(got, ch.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if strings.Contains(c.text, ",") && out.From != strings.IndexByte(c.text, ',')+1 {
				t.Errorf("it is put at %d", out.From)
			}
		})
	}
}
