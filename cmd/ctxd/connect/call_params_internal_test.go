package connect

import (
	"errors"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestCall_ArgumentsThatMakeNoParams(t *testing.T) {
	for _, c := range []struct {
		args []string
		msg  string
	}{
		{[]string{"query=x", "query=y"}, "query is given twice"},
		{[]string{"limit=1", "limit:=1"}, "limit is given twice"},
		{[]string{"limit=many"}, `limit is a whole number, not "many"`},
		{[]string{"explain=yes"}, `explain is true or false, not "yes"`},
		{[]string{"filter=tag:work"}, "filter is an object, which must be given as JSON"},
		{[]string{"query=\xff"}, `"query=\xff" is not valid UTF-8, which JSON requires`},
	} {
		_, err := (&CallCommand{Method: "notes.search", Params: c.args}).params(nil)
		if err == nil || err.Error() != c.msg || term.ExplainError(err).Code != term.ExitMisused {
			t.Errorf("%q: %v, want %s", c.args, err, c.msg)
		}
	}
}

// NAME=TEXT becomes what the schema of the method says.
func TestCall_TextsBecomeWhatTheMethodTakes(t *testing.T) {
	for _, c := range []struct {
		method string
		args   []string
		want   string
	}{
		{"notes.search", []string{"query=7", "limit=7", "explain=true"}, `{"explain":true,"limit":7,"query":"7"}`},
		{"notes.search", []string{"query=a", `filter:={"tags":["b"]}`}, `{"filter":{"tags":["b"]},"query":"a"}`},
		{"notes.put", []string{"title=A", "tags=x", "tags=y,z"}, `{"tags":["x","y,z"],"title":"A"}`},
		{"notes.put", []string{"tags=x"}, `{"tags":["x"]}`},
		{"notes.patch", []string{"title=null", "tags=x", "ifVersion=2"}, `{"ifVersion":2,"tags":["x"],"title":"null"}`},
		{"notes.patch", []string{"title:=null"}, `{"title":null}`},
		{"notes.search", []string{"limt=7"}, `{"limt":"7"}`},                        // the daemon refuses it
		{"newer.method", []string{"limit=7", "x=true"}, `{"limit":"7","x":"true"}`}, // of a newer daemon
	} {
		got, err := (&CallCommand{Method: c.method, Params: c.args}).params(nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%s %q: %s, %v, want %s", c.method, c.args, got, err, c.want)
		}
	}
}

func TestCall_ParametersThatAMethodDoesNotHave(t *testing.T) {
	for _, c := range []struct{ method, field, hint string }{
		{"notes.complete", "prefx", "notes.complete takes audience, from, limit, prefix"},
		{"notes.complete", "q", "notes.complete takes audience, from, limit, prefix"},
		{"admin.health", "q", "admin.health takes no parameters"},
		{"notes.complete", "limit", ""},
		{"notes.put", "tags[0]", ""},
		{"newer.method", "q", ""},
	} {
		refused := &client.Error{Code: protocol.CodeInvalidParams, Data: protocol.ErrorData{Field: c.field}}
		var got *client.Error
		if err := (&CallCommand{Method: c.method}).suggest(refused, nil); !errors.As(err, &got) || got.Data.Hint != c.hint {
			t.Errorf("%s %s: %+v, want %q", c.method, c.field, got, c.hint)
		}
	}
}
