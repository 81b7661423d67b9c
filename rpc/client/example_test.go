package client_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// A search, with a daemon running (ctxd serve). The README shows it without the
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

func TestTheExampleRuns(t *testing.T) {
	d := start(t, rpc.Define("notes.search", protocol.Read, func(_ context.Context, _ *rpc.Session, p protocol.NoteSearch) (protocol.SearchResult, error) {
		return protocol.SearchResult{Hits: []protocol.SearchHit{{ID: "a", Title: "About the " + p.Query}}}, nil
	}))
	t.Setenv("CTXD_SOCKET", d.path)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = in
	Example()
	os.Stdout = stdout
	_ = in.Close()
	printed, err := io.ReadAll(out)
	if err != nil || string(printed) != "About the kickoff\n" {
		t.Errorf("the example prints %q (%v)", printed, err)
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
	if got := read("README.md", "(?s)```go\n(.*?)```"); got != want {
		t.Errorf("README.md of rpc/client shows\n%s\nthe example is\n%s", got, want)
	}
}
