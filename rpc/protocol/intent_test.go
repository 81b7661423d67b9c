package protocol_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM78_TheContractNamesWhatMayBeOrdered: the kinds of an Intent are those that have a command.
func TestMEM78_TheContractNamesWhatMayBeOrdered(t *testing.T) {
	f, _ := reflect.TypeFor[protocol.Intent]().FieldByName("Kind")
	got := strings.Split(f.Tag.Get("enum"), ",")
	var want []string
	for _, c := range turn.Commands() {
		want = append(want, string(c.Intent))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the contract has %s, and the commands are %s", got, want)
	}
}
