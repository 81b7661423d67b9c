//go:build linux

package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// hostileTexts are what parsers have been brought down with, by repetition.
var hostileTexts = []string{"x", "word ", "(", "[[", "@", `\\\"`, "a=1 AND ", "{{", "😀", "<b>", "\\n- ", "_*`", "../"}

// textMembers names the members of params that take a text or a list of texts.
func textMembers(params reflect.Type) (texts, lists []string) {
	for _, f := range reflect.VisibleFields(params) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		kind := f.Type
		if target := reflect.New(kind); kind.Kind() == reflect.Struct {
			if o, ok := target.Interface().(interface{ Target(null bool) any }); ok {
				kind = reflect.TypeOf(o.Target(false)).Elem()
			}
		}
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case kind.Kind() == reflect.String:
			texts = append(texts, name)
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.String:
			lists = append(lists, name)
		}
	}
	return texts, lists
}

// with returns the example params of a method with one member replaced.
func with(t *testing.T, m protocol.Method, member, value string) string {
	t.Helper()
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(m.Example.Params), &params); err != nil {
		t.Fatal(err)
	}
	params[member] = json.RawMessage(value)
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestCampaignREL6_LargeTextsEverywhere gives every text of every method of the
// contract a value of nearly the size of a message. Each is answered, none as a
// defect, within the memory that is promised, and in time that is linear in its
// size.
func TestCampaignREL6_LargeTextsEverywhere(t *testing.T) {
	size := figure(1<<20, 15<<20)
	var p *process
	var w *wire
	begin := func() {
		p = serve(t, launchOptions{})
		fill(t, p.client(), 200, 2000)
		w = p.greet()
	}
	begin()
	var slowest time.Duration
	calls, slowestName := 0, ""
	try := func(m protocol.Method, member, value, unit string) {
		began := time.Now()
		w.send(`{"jsonrpc":"2.0","id":1,"method":"` + m.Name + `","params":` + with(t, m, member, value) + "}\n")
		got := w.reply()
		calls++
		if took := time.Since(began); took > slowest {
			slowest, slowestName = took, m.Name+" "+member+" "+unit
		}
		if got.code() == protocol.CodeInternal {
			t.Errorf("%s with a long %s of %q: %v", m.Name, member, unit, got.Error)
		}
		if peak := p.status("VmHWM"); peak > memoryLimit {
			t.Errorf("%s with a long %s of %q: the daemon held %s", m.Name, member, unit, mib(peak))
			p.kill()
			begin() // with the memory of a new one
		}
	}
	for i, m := range protocol.Methods {
		if i%figure(3, 1) != 0 {
			continue
		}
		texts, lists := textMembers(m.Params)
		for k := range figure(1, 4) {
			unit := hostileTexts[(i+3*k)%len(hostileTexts)]
			long := `"` + strings.Repeat(unit, size/len(unit)) + `"`
			for _, member := range texts {
				try(m, member, long, unit)
			}
			for _, member := range lists {
				try(m, member, "["+long+"]", unit)
			}
		}
	}
	t.Logf("%d calls with texts of %s: at most %s at the end, the slowest took %v (%s)", calls, mib(int64(size)), mib(p.status("VmHWM")), slowest, slowestName)
	if slowest > 10*time.Second {
		t.Errorf("a call took %v", slowest)
	}
}
