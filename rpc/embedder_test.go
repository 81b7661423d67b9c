package rpc_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestKindsAreThoseOfTheContract: clients are told of embedders by these names.
func TestKindsAreThoseOfTheContract(t *testing.T) {
	names := make([]string, len(embed.Kinds))
	for i, kind := range embed.Kinds {
		names[i] = string(kind)
	}
	f, _ := reflect.TypeFor[protocol.EmbedderInfo]().FieldByName("Kind")
	if got, want := f.Tag.Get("enum"), strings.Join(names, ","); got != want {
		t.Errorf("the contract has %q, there are %q", got, want)
	}
	f, _ = reflect.TypeFor[protocol.RerankerInfo]().FieldByName("Kind")
	if got, want := f.Tag.Get("enum"), string(embed.KindRunner+","+embed.KindHTTP); got != want {
		t.Errorf("the contract has %q for rerankers, there are %q", got, want)
	}
}
