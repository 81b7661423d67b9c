package record_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/record"
)

func TestParseNamed(t *testing.T) {
	const id = "6f1c1f3e-9a55-4c38-8f3e-1f3d5a0c9b77"
	for text, want := range map[string]record.Named{
		" Weekly plan ":                      {Text: "Weekly plan"},
		"plan-7":                             {Text: "plan-7"},
		"[[Weekly plan]]":                    {Text: "Weekly plan", Note: true},
		"![[Weekly plan]]":                   {Text: "Weekly plan", Note: true},
		"[[Weekly plan":                      {Text: "Weekly plan", Note: true},
		"@Ann":                               {Text: "Ann", Entity: true},
		"@[Ann Lee]":                         {Text: "Ann Lee", Entity: true},
		"[id:plan-7]":                        {Text: "plan-7", ID: true},
		"id: plan-7":                         {Text: "plan-7", ID: true},
		"id: two words":                      {Text: "id: two words"},
		id:                                   {Text: id, ID: true},
		record.NoteAddress + "plan-7#Monday": {Text: "plan-7", ID: true, Note: true},
		record.EntityAddress + "ann":         {Text: "ann", ID: true, Entity: true},
		"":                                   {},
	} {
		if got := record.ParseNamed(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}
