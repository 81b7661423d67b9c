package send_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/provider"
)

// distils has a provider shorten memories, and prompts wait so long for all but that.
func (h *house) distils(name string, within time.Duration) {
	h.t.Helper()
	d, err := background.NewDistiller(background.DistillerOptions{Providers: h.sending.Providers, Provider: name, Prompts: prompts.BuiltIn()})
	must(h.t, err)
	o := h.gathering
	o.Distiller, o.DistillTime = d, patience
	h.sending.Prompts, h.sending.GatherTimeout = gather.Open(h.db, h.seen, o), within
	h.pipe = send.New(h.sending)
}

// remembers adds a memory.
func (h *house) remembers(m memory.Draft) {
	h.t.Helper()
	_, err := h.memory.Add(context.Background(), h.local, []memory.Draft{m})
	must(h.t, err)
}

// shortened answers what is asked of it as a distiller, once the prompt has had more time than its searches have.
func shortened(to *provider.Reply, r *provider.Request, wait time.Duration) bool {
	if !strings.Contains(r.System(), "You choose what of some remembered items") {
		return false
	}
	select {
	case <-to.Gone():
	case <-time.After(wait):
		to.Text(`[{"ref":"m1","text":"I train on Monday mornings"}]`)
	}
	return true
}

const mornings = "I train on Monday mornings, in the park by the river"

func TestREF13_AnAnswerStandsOnWhatWasDistilled(t *testing.T) {
	h := open(t)
	const within = 100 * time.Millisecond
	h.distils("near", within)
	h.remembers(memory.Draft{ID: "park", Statement: mornings})
	h.near.says(func(r *provider.Request, to *provider.Reply) {
		if !shortened(to, r, 2*within) {
			to.Text("On Monday.")
		}
	})
	for _, by := range []string{"near", "far"} {
		res := h.send(turn.ChatSend{Text: "when do I train?", Provider: by})
		asked := h.near
		if by == "far" {
			asked = h.far
		}
		if system := asked.last(t).System(); !strings.Contains(system, "] I train on Monday mornings [id:park]") {
			t.Errorf("%s was told %s", by, system)
		}
		if res.AssistantMessage.Private || len(res.Warnings) > 0 {
			t.Errorf("%s: %+v, %+v", by, res.AssistantMessage, res.Warnings)
		}
		if res.Timings["distill"] < 200 || res.Timings["own"] >= 200 || res.Timings["assemble"] >= 200 {
			t.Errorf("%s: %v", by, res.Timings)
		}
	}
	for _, r := range h.far.Requests() {
		if strings.Contains(r.Body, "You choose what of") {
			t.Error("a prompt that is compared alone was distilled")
		}
	}
}

func TestPRIV4_AnAnswerOfWhatWasDistilledStaysPrivate(t *testing.T) {
	h := open(t)
	h.distils("near", patience)
	h.remembers(memory.Draft{ID: "park", Statement: mornings, Private: true})
	h.near.says(func(r *provider.Request, to *provider.Reply) {
		if !shortened(to, r, 0) {
			to.Text("On Monday.")
		}
	})
	res := h.send(turn.ChatSend{Text: "when do I train?", Provider: "near"})
	if !res.AssistantMessage.Private || !strings.Contains(h.near.last(t).System(), "I train on Monday mornings [id:park]") {
		t.Errorf("%+v", res.AssistantMessage)
	}
	// A remote model that distils is given nothing for an answer of a local one.
	h.distils("far", patience)
	res = h.send(turn.ChatSend{Text: "when do I train?", Provider: "near", Private: true})
	if len(h.far.Requests()) > 0 || !strings.Contains(h.near.last(t).System(), mornings) {
		t.Errorf("%d requests, %+v", len(h.far.Requests()), res.Report)
	}
}

func TestCHAT18_ACancelledMessageIsNotDistilledToItsEnd(t *testing.T) {
	h := open(t)
	h.distils("near", patience)
	h.remembers(memory.Draft{ID: "park", Statement: mornings})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	h.near.says(func(_ *provider.Request, to *provider.Reply) {
		if list, _, err := h.chat.List(t.Context(), h.local, false, nil, 10); err != nil || len(list) != 1 {
			t.Errorf("the model is asked before the message is stored: %v, %v", list, err)
		}
		cancel()
		<-to.Gone()
		close(gone)
	})
	_, err := h.pipe.Send(ctx, h.local, turn.ChatSend{Text: "when do I train?", Provider: "near"}, &heard{})
	if fault.KindOf(err) != fault.Cancelled || h.near.last(t).N != 1 {
		t.Error(err)
	}
	<-gone
}

// TestREF13_WhatIsDistilledIsInTheReport is what a caller is told of it.
func TestREF13_WhatIsDistilledIsInTheReport(t *testing.T) {
	h := open(t)
	h.distils("near", patience)
	h.remembers(memory.Draft{ID: "park", Statement: mornings})
	h.near.says(func(r *provider.Request, to *provider.Reply) {
		if !shortened(to, r, 0) {
			to.Text("On Monday.")
		}
	})
	res := h.send(turn.ChatSend{Text: "when do I train?", Provider: "near"})
	for _, s := range res.Report.Sections {
		if s.Name == prompt.SectionMemory && len(s.Items) == 1 && s.Items[0].Distilled {
			return
		}
	}
	t.Errorf("%+v", res.Report)
}
