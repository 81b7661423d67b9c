package jsonrpc_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// Every limit stands in the README, under the name of its setting, and has a default.
func TestRPC6_EveryLimitIsDocumented(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	defaults := reflect.ValueOf(jsonrpc.DefaultLimits())
	for i := range defaults.NumField() {
		name := defaults.Type().Field(i).Tag.Get("json")
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("rpc/README.md does not say what %s is", name)
		}
		if defaults.Field(i).IsZero() {
			t.Errorf("%s has no default", name)
		}
	}
}
