package rpc_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// completions returns the handles that are offered for a prefix, in their order.
func (d *daemon) completions(params string) []string {
	d.t.Helper()
	out := []string{}
	for _, item := range at(d.do("refs.complete", params), "items").([]any) {
		out = append(out, fmt.Sprint(at(item, "handle")))
	}
	return out
}

func (d *daemon) wantCompletions(params string, want ...string) {
	d.t.Helper()
	if got := d.completions(params); !slices.Equal(got, want) {
		d.t.Errorf("%s is completed to %q, want %q", params, got, want)
	}
}

// TestREF16_Completion goes over the kinds, the order and the limits, each read in the call after the
// one that wrote it.
func TestREF16_Completion(t *testing.T) {
	d := start(t)
	d.wantCompletions(`{"prefix":""}`)
	d.do("memory.add", `{"id":"m1","statement":"I prefer morning workouts","handle":"prefer_morning_workouts","tags":["sport/run"],"domains":["Healthy_living"]}`)
	d.wantCompletions(`{"prefix":"morn"}`, "prefer_morning_workouts")
	d.do("memory.add", `{"id":"m2","statement":"Morning coffee","handle":"morning_coffee"}`)
	d.wantCompletions(`{"prefix":"@morn"}`, "morning_coffee", "prefer_morning_workouts")
	d.wantCompletions(`{"prefix":"claim_"}`, "morning_coffee", "prefer_morning_workouts")
	d.wantCompletions(`{"prefix":"#1"}`, "prefer_morning_workouts")
	d.wantCompletions(`{"prefix":"spor"}`, "sport_tag", "sport_run_tag")
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"e1","type":"Person","name":"John Smith","aliases":["Johnny"]}`)
	d.do("contexts.put", `{"id":"c1","name":"My Health Goals"}`)
	d.do("chat.append", `{"title":"Fix the bus","messages":[{"role":"user","content":"x"}]}`)

	got := d.do("refs.complete", `{"prefix":"prefer"}`)
	d.want(got, "items.0.kind", "memory")
	d.want(got, "items.0.label", "I prefer morning workouts")
	d.want(got, "items.0.id", "m1")
	d.want(got, "items.0.number", 1)
	d.wantCompletions(`{"prefix":"johnn"}`, "john_smith_person_entity")
	d.wantCompletions(`{"prefix":"my health"}`, "health_goals_context")
	// Where both were written within one millisecond the shorter handle is first: that is the context, too.
	d.wantCompletions(`{"prefix":"health"}`, "health_goals_context", "healthy_living_domain")
	d.wantCompletions(`{"prefix":"health","kinds":["domain"]}`, "healthy_living_domain")
	if n := len(d.completions(`{"prefix":"","limit":6}`)); n != 6 {
		t.Errorf("%d completions", n)
	}
	kinds := make(map[string]bool)
	for _, item := range at(d.do("refs.complete", `{"prefix":"","limit":6}`), "items").([]any) {
		kinds[fmt.Sprint(at(item, "kind"))] = true
	}
	if len(kinds) != 6 {
		t.Errorf("kinds %v, want one of each", kinds)
	}

	for written := time.Now().UnixMilli(); time.Now().UnixMilli() == written; { // all calls so far may have taken less than that
	}
	d.do("memory.use", `{"ids":["m1"]}`)
	d.wantCompletions(`{"prefix":"#"}`, "prefer_morning_workouts", "morning_coffee")
	d.do("memory.archive", `{"id":"m1"}`)
	d.wantCompletions(`{"prefix":"#"}`, "morning_coffee")
	d.wantCompletions(`{"prefix":"spor"}`)
	d.do("entities.archive", `{"id":"e1"}`)
	d.wantCompletions(`{"prefix":"john"}`)
}

// TestREF16_TheDefaultLimitIsTen and the greatest is 50.
func TestREF16_TheDefaultLimitIsTen(t *testing.T) {
	d := start(t)
	for i := range 60 {
		d.do("contexts.put", fmt.Sprintf(`{"name":"Plan %d","handle":"plan_%d"}`, i, i))
	}
	if n := len(d.completions(`{"prefix":"plan"}`)); n != 10 {
		t.Errorf("%d completions, want 10", n)
	}
	if n := len(d.completions(`{"prefix":"plan","limit":50}`)); n != 50 {
		t.Errorf("%d completions, want 50", n)
	}
}

// TestREF9_CompletionForARemoteReader is as if private records were not there, on a connection that
// is remote and for a call that says so.
func TestREF9_CompletionForARemoteReader(t *testing.T) {
	d := start(t)
	d.do("memory.add", `{"statement":"secret plan","handle":"secret_plan","private":true,"tags":["secret"]}`)
	d.do("memory.add", `{"statement":"open plan","handle":"open_plan"}`)
	d.do("notes.put", `{"id":"n","title":"Secret Note","body":"x","private":true}`)
	d.do("memory.add", `{"statement":"about [[Secret Note]]","handle":"about_secret_note"}`)
	d.wantCompletions(`{"prefix":"secret"}`, "secret_tag", "secret_plan", "about_secret_note")
	d.wantCompletions(`{"prefix":"secret","audience":"remote"}`)
	d.wantCompletions(`{"prefix":"","audience":"remote"}`, "open_plan")
	got := d.do("refs.complete", `{"prefix":"#3","audience":"remote"}`)
	d.want(got, "items.0.handle", "claim_3")
	d.want(got, "items.0.label", "about (private)")
	d.wantCompletions(`{"prefix":"#1","audience":"remote"}`)
}
