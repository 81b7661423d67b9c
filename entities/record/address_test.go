package record_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/record"
)

// TestCHAT28_AddressesAreReadAsTheyWereWritten, whatever they name.
func TestCHAT28_AddressesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := record.Address{
			Kind: rapid.SampledFrom([]string{record.NoteAddress, record.EntityAddress}).Draw(rt, "kind"),
			ID:   rapid.StringN(1, -1, 64).Draw(rt, "id"), Part: rapid.String().Draw(rt, "part"),
		}
		if got, ok := record.ParseAddress(a.String()); !ok || got != a {
			rt.Errorf("%+v is written %q and read %+v", a, a.String(), got)
		}
	})
	for text, want := range map[string]record.Address{
		"ctxd://note/n1":             {Kind: record.NoteAddress, ID: "n1"},
		"ctxd://note/n1#Two%20words": {Kind: record.NoteAddress, ID: "n1", Part: "Two words"},
		"ctxd://note/100%":           {Kind: record.NoteAddress, ID: "100%"},
		"ctxd://entity/ada":          {Kind: record.EntityAddress, ID: "ada"},
		"ctxd://note/":               {}, "ctxd://memory/1": {}, "n1": {}, "": {},
	} {
		got, ok := record.ParseAddress(text)
		if ok != (want.Kind != "") || ok && got != want {
			t.Errorf("%q is read %+v, %v", text, got, ok)
		}
	}
}
