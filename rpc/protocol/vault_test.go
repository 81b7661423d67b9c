package protocol_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestSRCH53_KindsOfProblemsAreDeclaredOnce: what clients may ask for and are told are the kinds of record.ProblemKinds, and an
// editor is told of those that are about the text of a note.
func TestSRCH53_KindsOfProblemsAreDeclaredOnce(t *testing.T) {
	enum := func(of any, field string) []string {
		t.Helper()
		f, ok := reflect.TypeOf(of).FieldByName(field)
		if !ok {
			t.Fatal(field)
		}
		return strings.Split(f.Tag.Get("enum"), ",")
	}
	var all, ofNotes []string
	for _, k := range record.ProblemKinds {
		kind := string(k.Kind)
		all = append(all, kind)
		if !strings.HasPrefix(kind, "file.") && !strings.HasPrefix(kind, "vault.") &&
			k.Kind != record.TypeDeclaration && k.Kind != record.AttachmentText {
			ofNotes = append(ofNotes, kind)
		}
		if k.Title == "" || k.Fix == "" {
			t.Errorf("%s has no title, or nothing that mends it", kind)
		}
	}
	if got := enum(record.VaultProblem{}, "Kind"); !slices.Equal(got, all) {
		t.Errorf("a problem has the kinds %v, want %v", got, all)
	}
	if got := enum(protocol.VaultProblems{}, "Kinds"); !slices.Equal(got, all) {
		t.Errorf("the kinds %v may be asked for, want %v", got, all)
	}
	if got, want := enum(protocol.NoteProblem{}, "Code"), append(ofNotes, string(record.TypeInferred)); !slices.Equal(got, want) {
		t.Errorf("an editor is told of the kinds %v, want %v", got, want)
	}
}
