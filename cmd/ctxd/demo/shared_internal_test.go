package demo

import (
	"os"
	"strings"
	"testing"
)

// The server that the demo starts is the one that all tests run with.
func TestSYNC1_TheServerOfTheDemoIsThatOfTheTests(t *testing.T) {
	module, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\t" + strings.Replace(serverModule, "@", " ", 1) + "\n"; !strings.Contains(string(module), want) {
		t.Errorf("go.mod does not have %q", want)
	}
}
