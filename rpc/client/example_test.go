package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// A search, with a daemon running (ctxd serve). README.md shows it without the
// looks at err.
func Example() {
	ctx := context.Background()
	at, err := socket.Resolve("") // $CTXD_SOCKET, or the default
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.Dial(ctx, at.Path, client.Options{Name: "my-app"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	var found protocol.SearchResult
	err = c.Call(ctx, "notes.search", protocol.NoteSearch{Query: "kickoff"}, &found)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.Title)
	}
}

func TestReadmeShowsTheExample(t *testing.T) {
	read := func(file, pattern string) string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("%s has nothing like %s", file, pattern)
		}
		looks := regexp.MustCompile(`(?s)\tif err != nil \{.*?\n\t\}\n`)
		return strings.Join(strings.Fields(looks.ReplaceAllString(m[1], "")), " ")
	}
	want := read("example_test.go", `(?s)func Example\(\) \{\n[^\n]*\n(.*?)\n\}\n`)
	if got := read(filepath.Join("..", "..", "README.md"), "(?s)```go\n(.*?)```"); got != want {
		t.Errorf("README.md shows\n%s\nthe example is\n%s", got, want)
	}
}
