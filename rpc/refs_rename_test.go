package rpc_test

import (
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestREF5_Rename goes over the kinds of records that have a handle, and those whose handle is computed.
func TestREF5_Rename(t *testing.T) {
	d := start(t)
	d.do("memory.add", `{"id":"m1","statement":"I prefer mornings","handle":"mornings","tags":["sport"],"domains":["health"]}`)
	d.do("contexts.put", `{"id":"c1","name":"Health Goals"}`)
	id := at(d.do("chat.append", `{"title":"Fix the bus","messages":[{"role":"user","content":"x"}]}`), "conversationId").(string)
	talk := at(d.do("chat.get", `{"ref":"`+id+`"}`), "conversation.handle").(string)

	got := d.do("refs.rename", `{"ref":"#1","handle":"Early_Bird"}`)
	d.want(got, "kind", "memory")
	d.want(got, "memory.handle", "early_bird")
	d.want(got, "memory.aliases.0", "mornings")
	got = d.do("refs.rename", `{"ref":"@health_goals_context","handle":"fit"}`)
	d.want(got, "context.handle", "fit")
	d.want(got, "context.aliases.0", "health_goals_context")
	got = d.do("refs.rename", `{"ref":"`+talk+`","handle":"bus_repair"}`)
	d.want(got, "conversation.handle", "bus_repair")
	d.want(got, "conversation.aliases.0", talk)

	// The former ones lead there, are completed as names are, and stay taken.
	d.want(d.do("refs.resolve", `{"ref":"@mornings"}`), "sourceId", "m1")
	d.want(d.do("refs.resolve", `{"ref":"@health_goals_context"}`), "via", "alias")
	d.want(d.do("chat.get", `{"ref":"`+talk+`"}`), "conversation.id", id)
	d.wantCompletions(`{"prefix":"health_g"}`, "fit")
	d.wantCompletions(`{"prefix":"early"}`, "early_bird")
	for _, handle := range []string{"mornings", "Early_bird", "fit", "health_goals_context"} {
		want := protocol.CodeConflict
		if handle == "health_goals_context" {
			want = protocol.CodeInvalidParams // of another kind
		}
		d.wantRefused("refs.rename", `{"ref":"`+id+`","handle":"`+handle+`"}`, want, "handle")
	}
	d.want(d.do("refs.rename", `{"ref":"m1","handle":"mornings"}`), "memory.aliases.0", "early_bird")

	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"e1","type":"Person","name":"John Smith"}`)
	d.do("notes.put", `{"id":"n1","title":"Kickoff","body":"x"}`)
	d.wantRefused("refs.rename", `{"ref":"john_smith_person_entity","handle":"john"}`, protocol.CodeConflict, "handle")
	d.wantRefused("refs.rename", `{"ref":"sport_tag","handle":"john"}`, protocol.CodeConflict, "handle")
	d.wantRefused("refs.rename", `{"ref":"health_domain","handle":"john"}`, protocol.CodeConflict, "handle")
	d.wantRefused("refs.rename", `{"ref":"[[Kickoff]]","handle":"john"}`, protocol.CodeInvalidParams, "ref")
	d.wantRefused("refs.rename", `{"ref":"nobody","handle":"john"}`, protocol.CodeNotFound, "ref")
	d.wantRefused("refs.rename", `{"ref":"m1","handle":"ab"}`, protocol.CodeInvalidParams, "handle")
	d.wantRefused("refs.rename", `{"ref":"m1","handle":"claim_7"}`, protocol.CodeInvalidParams, "handle")
}
