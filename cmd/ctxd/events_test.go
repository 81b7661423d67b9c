package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestEvents_OneLineEach(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 30, 1, 0, time.Local)
	for _, c := range []struct{ topic, params, want string }{
		{"notes.changed", `{"ids":["a","b"],"kind":"archive","seq":7}`, "12:30:01  notes.changed     archive   7        a b\n"},
		{"notes.changed", `{"ids":["1","2","3","4","5","6","7"],"kind":"put","seq":8}`, "12:30:01  notes.changed     put       8        1 2 3 4 5 and 2 more\n"},
		{"entities.changed", `{"ids":[],"kind":"many","seq":9}`, "12:30:01  entities.changed  many      9        too many to list: read everything again\n"},
		{"index.progress", `{"stage":"read","done":1200,"total":4000,"vault":"Notes"}`, "12:30:01  index.progress    read 1,200 of 4,000  Notes\n"},
		{"index.progress", `{"stage":"scan","done":3,"total":0}`, "12:30:01  index.progress    scan 3\n"},
		{"health.changed", `{"status":"warning","warnings":["one","two"]}`, "12:30:01  health.changed    warning  one; two\n"},
		{"later.topic", `{"x":"\u001b[2J"}`, `12:30:01  later.topic       {"x":"\u001b[2J"}` + "\n"},
	} {
		var out bytes.Buffer
		a := &app{Streams: &term.Streams{Out: &term.Screen{Writer: &out}}}
		if err := (event{c.topic, at, json.RawMessage(c.params)}).write(a); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%q\nwant %q", out.String(), c.want)
		}
	}
}

// Every topic has a line of its own making: none falls through to raw JSON.
func TestEvents_EveryTopicIsSummed(t *testing.T) {
	for _, n := range protocol.Notifications {
		if !n.Topic {
			continue
		}
		var text strings.Builder
		for _, sp := range (event{Topic: n.Name, Params: json.RawMessage(n.Example)}).summary() {
			text.WriteString(sp.Text)
		}
		if s := text.String(); s == "" || strings.Contains(s, "{") {
			t.Errorf("%s: %q", n.Name, s)
		}
	}
}
