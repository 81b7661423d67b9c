package names_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
)

// TestPERF5_WithDotsOrWithout completes names of Turkish by either i, in either case, and emoji
// in any colour; symbols too, wherever they stand. The names stay different ones.
func TestPERF5_WithDotsOrWithout(t *testing.T) {
	list := []string{"Isparta", "ısırgan", "İzmir", "Kırşehir", "Kirk", "❤️ list", "Bitcoin ₿ 2", "🇩🇪 Germany", "a*b", "5 € note", "⌘ keys"}
	put, batch := names.New(), new(names.Batch)
	for _, name := range list {
		r := names.Record{ID: name, Changed: time.Unix(1, 0)}
		put.Put(r, name)
		batch.Add(r, []names.Name{{Text: name, Fold: text.Fold(name)}})
	}
	for _, x := range []*names.Index{put, names.Load([]*names.Batch{batch})} {
		for typed, want := range map[string]string{
			"ısp": "Isparta", "ISP": "Isparta", "isp": "Isparta", "isi": "ısırgan", "ISIR": "ısırgan", "ısır": "ısırgan",
			"iz": "İzmir", "IZ": "İzmir", "İz": "İzmir", "ız": "İzmir", "kir": "Kirk, Kırşehir", "kır": "Kirk, Kırşehir", "KIRŞ": "Kırşehir",
			"❤": "❤️ list", "❤️ l": "❤️ list", "₿": "Bitcoin ₿ 2", "🇩🇪": "🇩🇪 Germany", "*": "a*b", "€": "5 € note", "⌘": "⌘ keys",
		} {
			var got []string
			for _, h := range x.Complete(typed, nil, 10, false) {
				got = append(got, h.Name)
				if len(h.Match) == 0 {
					t.Errorf("%q marks nothing of %s", typed, h.Name)
				}
			}
			if s := strings.Join(got, ", "); s != want {
				t.Errorf("%q completes to %s, want %s", typed, s, want)
			}
		}
		for _, name := range list {
			if got := x.Exact(text.Fold(name), nil); !slices.Equal(got, []string{name}) {
				t.Errorf("%s is the name of %q", name, got)
			}
			whole, beginning := x.Match(text.Fold(name), nil)
			if !whole || !beginning {
				t.Errorf("%s is a name: %t, the beginning of one: %t", name, whole, beginning)
			}
		}
		for _, name := range []string{"ısparta", "izmir", "Kirşehir", "❤ list"} {
			whole, beginning := x.Match(text.Fold(name), nil)
			if got := x.Exact(text.Fold(name), nil); len(got) > 0 || whole || beginning {
				t.Errorf("%s is the name of %q: %t, %t", name, got, whole, beginning)
			}
		}
	}
}
