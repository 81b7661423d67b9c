package concepts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

func (h *house) insight(v *audience.View, text, conversation string) *record.Insight {
	h.Helper()
	in, err := h.x.Insight(ctx(), v, text, conversation)
	must(h, err)
	return in
}

func lines(in *record.Insight) string {
	var list []string
	for _, line := range in.Lines {
		list = append(list, line.Kind+": "+line.Text+" ["+line.ID+"]")
	}
	return strings.Join(list, "\n")
}

func TestMEM65_InsightSaysWhatHelped(t *testing.T) {
	h := open(t)
	good := h.remember(memory.Draft{Statement: "Restarting the router at the fuse box helps.", Tier: record.TierHistory})[0]
	bad := h.remember(memory.Draft{Statement: "Moving the router to\nthe window helps.", Tier: record.TierHistory})[0]
	why := h.remember(memory.Draft{Statement: "The window is too far from the socket of the router.", Tier: record.TierWorking, Kind: record.MemoryTakeaway})[0]
	h.use(good, 3, 0)
	h.use(bad, 0, 2)
	h.use(why, 0, 1)
	first := h.say("", "Why is the router slow at the fuse box?", "I do not know.")
	h.say("", "Is the router broken?", "No.")
	in := h.insight(h.local, "What is wrong with the router by the fuse box?", "")
	want := "experience: About fuse box: 3 of 3 uses helped, such as: Restarting the router at the fuse box helps. [" + good + "]\n" +
		"failure: About router, this did not help in 2 of 2 uses: Moving the router to the window helps.; " +
		"the reason: The window is too far from the socket of the router. [" + bad + "]\n" +
		"advice: About fuse box, memories of the tier history helped surest: in 3 of 3 uses [" + good + "]"
	if got := lines(in); !strings.HasPrefix(got, want) {
		t.Errorf("the insight is\n%s\nwant\n%s", got, want)
	}
	if len(in.Lines) != 5 {
		t.Errorf("there are %d lines", len(in.Lines))
	}
	if e := in.Experience[0]; e.Rate != 1 || e.Partial != 0 || e.Example.Kind != concepts.Memories {
		t.Errorf("the experience is %+v", e)
	}
	if len(in.Repeated) != 1 || in.Repeated[0].Here || in.Repeated[0].Example.ConversationID != first || in.Repeated[0].Times != 1 {
		t.Errorf("what was asked before is %+v", in.Repeated)
	}
	if len(in.Continuing) != 1 || in.Continuing[0].Topic != "router" || in.Continuing[0].Conversations != 2 {
		t.Errorf("what goes on is %+v", in.Continuing)
	}
	for _, text := range []string{"", "hi", "What is the weather in Lima?"} {
		if in := h.insight(h.local, text, ""); len(in.Lines)+len(in.Topics) > 0 {
			t.Errorf("%q has the insight %s", text, lines(in))
		}
	}
}

func TestMEM65_RepetitionInAConversation(t *testing.T) {
	h := open(t)
	h.fact("The stove has a chimney.")
	id := h.say("", "Is the stove safe with the chimney?", "Yes.", "Thanks.", "Fine.", "And the stove with its chimney?")
	in := h.insight(h.local, "And the stove with its chimney?", id)
	if len(in.Repeated) != 1 || !in.Repeated[0].Here || in.Repeated[0].Times != 1 || in.Repeated[0].Example.Index != 1 {
		t.Errorf("what was asked before is %+v", in.Repeated)
	}
	if got := lines(in); !strings.Contains(got, "The user has asked nearly the same in this conversation before, once, the last time on 2026-03-04") {
		t.Errorf("the lines are\n%s", got)
	}
}

func TestMEM65_InsightOfARemoteReader(t *testing.T) {
	h := open(t)
	h.entity("e1", "Sorrel", true, nil)
	a := h.remember(memory.Draft{Statement: "The router of @Sorrel needs a restart.", Tier: record.TierHistory})[0]
	b := h.remember(memory.Draft{Statement: "The router needs a secret word.", Tier: record.TierPatterns, Private: true})[0]
	h.fact("A router is loud.")
	h.use(a, 2, 0)
	h.use(b, 5, 0)
	h.append(chat.AppendRequest{Messages: []chat.Draft{{Role: "user", Content: "Is the router of the secret broken?", Private: true}}})
	in := h.insight(h.remote, "Is the router of the secret broken?", "")
	if got := lines(in); got != "experience: About router: 2 of 2 uses helped, such as: The router of (private) needs a restart. ["+a+"]\n"+
		"advice: About router, memories of the tier history helped surest: in 2 of 2 uses ["+a+"]" {
		t.Errorf("a remote reader is told\n%s", got)
	}
	if got := lines(h.insight(h.local, "Is the router of the secret broken?", "")); !strings.Contains(got, "7 of 7") {
		t.Errorf("a local reader is told\n%s", got)
	}
}

func TestMEM65_LongTextsAreCut(t *testing.T) {
	h := open(t)
	id := h.remember(memory.Draft{Statement: "The router " + strings.Repeat("needs a rest ", 100), Tier: record.TierHistory, Tags: []string{"router"}})[0]
	h.use(id, 1, 0)
	in := h.insight(h.local, "What of the router?", "")
	if len(in.Lines) != 1 || len(in.Experience[0].Text) > 210 || !strings.HasSuffix(in.Experience[0].Text, " …") {
		t.Errorf("the lines are\n%s", lines(in))
	}
}

func TestMEM65_WhoCantWaitIsTold(t *testing.T) {
	h := open(t)
	h.fact("The router is loud.", "router")
	if in, late := h.x.InsightOf(ctx(), h.local, "the router", ""); late || len(in.Topics) != 1 {
		t.Errorf("of a small store there is %+v, %v", in, late)
	}
	drafts := make([]memory.Draft, 600)
	for n := range 2 {
		for i := range drafts {
			drafts[i] = memory.Draft{Statement: fmt.Sprint("The router has the port ", n, i), Tier: record.TierPatterns}
		}
		h.remember(drafts...)
	}
	if in, late := h.x.InsightOf(ctx(), h.local, "the router", ""); !late || in != nil {
		t.Errorf("of a large change there is %+v, %v", in, late)
	}
	must(t, h.x.Ready(ctx()))
	for late := true; late; { // the background says that it has ended behind that
		_, late = h.x.InsightOf(ctx(), h.local, "the router", "")
	}
}

func TestMEM64_ActionsOfAKindOfTask(t *testing.T) {
	h := open(t)
	m := h.remember(memory.Draft{Statement: "The trip to Bremen needs a ticket.", Tier: record.TierPatterns})[0]
	_ = m
	for i, outcome := range []string{"worked", "worked", "failed", "partial", "unknown"} {
		out, err := h.chat.Append(ctx(), h.local, chat.AppendRequest{Messages: []chat.Draft{
			{Role: "user", Content: "Plan the trip to Bremen with a ticket."}, {Role: "assistant", Content: "Done."},
		}})
		must(t, err)
		h.now = h.now.Add(time.Hour)
		tools := []string{"search_notes"}
		if i == 2 {
			tools = []string{"query", "query"}
		}
		h.outcome(out.ConversationID, out.Messages[1].ID, outcome, tools...)
	}
	h.say("", "Mend the roof.", "Done.")
	actions, err := h.x.Actions(ctx(), h.local, "a trip to Bremen")
	must(t, err)
	if !slices.Equal(actions.Kinds, []string{"Bremen", "trip"}) {
		t.Errorf("the kinds are %q", actions.Kinds)
	}
	var got []string
	for _, a := range actions.Actions {
		got = append(got, fmt.Sprintf("%s %d: %d %d %d %v, %d examples", a.Action, a.Uses, a.Worked, a.Failed, a.Partial, a.Wilson, len(a.Examples)))
	}
	if s := strings.Join(got, "\n"); s != "search_notes 4: 2 0 1 0.34, 4 examples\nquery 1: 0 1 0 0, 1 examples" {
		t.Errorf("the actions are\n%s", s)
	}
	if e := actions.Actions[0].Examples; e[0].Outcome != "unknown" || !e[0].At.After(e[1].At) {
		t.Errorf("the examples are %+v", e)
	}
	if none, err := h.x.Actions(ctx(), h.local, "the roof"); err != nil || len(none.Actions) > 0 {
		t.Errorf("another task has %+v, %v", none, err)
	}
	if _, err := h.x.Actions(ctx(), h.local, "…"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a task without a word: %v", err)
	}
}
