//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// manyProposals is an export of a conversation in which an answer proposes that each of n persons is in a team.
func manyProposals(n int) string {
	until := time.Now().UTC().Add(23 * time.Hour).Format(time.RFC3339)
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"act%[1]d","type":"assignEntity","args":{"entityId":"hive","field":"team","targetId":"p%[1]d"},"status":"proposed","messageId":"m1","reason":"","expiresAt":%[2]q}`,
			i, until)
	}
	head, _, _ := strings.Cut(proposes("acts", 1, ""), `"actions":[`)
	return head + `"actions":[` + strings.Join(list, ",") + `]}]}`
}

// TestCampaignREL1_KillsOverActions kills the daemon while several clients confirm the same actions. An action is
// confirmed when, and only when, the entity was changed by it, once; each one that was acknowledged is.
func TestCampaignREL1_KillsOverActions(t *testing.T) {
	n := figure(120, 2000)
	opts := launchOptions{home: shortHome(t)}
	p := serve(t, opts)
	c := p.client()
	ask[any](t, c, "types.put", rawParams(`{"name":"Person","fields":[]}`))
	ask[any](t, c, "types.put", rawParams(`{"name":"Project","fields":[{"name":"team","type":"entity_ref_list"}]}`))
	for i := range n {
		ask[any](t, c, "entities.put", rawParams(fmt.Sprintf(`{"id":"p%d","type":"Person","name":"P %d"}`, i, i)))
	}
	ask[any](t, c, "entities.put", rawParams(`{"id":"hive","type":"Project","name":"Hive"}`))
	ask[any](t, c, "chat.import", protocol.ChatImport{Data: manyProposals(n)})
	rng := rand.New(rand.NewPCG(1, 21))
	acked := make(map[string]bool)
	for kills := 0; ; kills++ {
		var mu sync.Mutex
		var all sync.WaitGroup
		fresh := 0
		done := make(chan struct{})
		stop := 1 + rng.IntN(n/8) // actions until the daemon is killed
		for range 4 {
			cl := p.client()
			order := rng.Perm(n)
			all.Go(func() {
				for _, i := range order {
					var out protocol.ChatDecided
					id := fmt.Sprintf("act%d", i)
					if err := cl.Call(t.Context(), "chat.confirm", protocol.ChatConfirm{ID: id}, &out); err != nil {
						return // it was killed
					}
					mu.Lock()
					acked[id] = true
					if !out.Repeat {
						fresh++
					}
					if fresh == stop && !out.Repeat {
						close(done)
					}
					mu.Unlock()
				}
			})
		}
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		select {
		case <-done:
			p.kill()
			<-ended
			p = prepare(t, opts)
			p.launch()
			p.await()
		case <-ended:
			if kills < 2 {
				t.Errorf("it was killed %d times", kills)
			}
		}
		confirmed, team, version := actionsDone(t, p)
		for id := range acked {
			if !slices.Contains(confirmed, id) {
				t.Fatalf("%s was acknowledged and is not confirmed", id)
			}
		}
		if len(team) != len(confirmed) || version != 1+len(confirmed) {
			t.Fatalf("%d actions are confirmed, the team has %d, and its version is %d", len(confirmed), len(team), version)
		}
		if len(confirmed) == n {
			t.Logf("%d actions, %d kills", n, kills)
			break
		}
	}
	wantChecked(t, p.client())
	p.stop()
}

// actionsDone are the actions that are confirmed, and what they have done.
func actionsDone(t *testing.T, p *process) (confirmed []string, team []any, version int) {
	t.Helper()
	c := p.client()
	page := ask[protocol.ChatPage](t, c, "chat.get", protocol.ChatGet{Ref: "acts"})
	for _, a := range page.Messages[0].Actions {
		if a.Status == record.ActionConfirmed {
			confirmed = append(confirmed, a.ID)
		}
	}
	hive := ask[struct {
		Fields  map[string]json.RawMessage `json:"fields"`
		Version int                        `json:"version"`
	}](t, c, "entities.get", rawParams(`{"ref":"hive"}`))
	if list := hive.Fields["team"]; list != nil {
		if err := json.Unmarshal(list, &team); err != nil {
			t.Fatal(err)
		}
	}
	return confirmed, team, hive.Version
}
