package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// deciderWorld is a store with a clock, two projects, one of them a file of a vault, and three persons, one of them private.
type deciderWorld struct {
	*testing.T
	db            *kv.Store
	ents          *entities.Store
	notes         *notes.Store
	chat          *chat.Store
	decider       *tools.Decider
	local, remote *audience.View
	now           time.Time
	actions       int

	memory    *memory.Store
	proposing tools.ActionDeps // of who proposes
}

func openDecider(t *testing.T) *deciderWorld {
	t.Helper()
	w := &deciderWorld{T: t, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.over(kv.InMemory)
	for _, typ := range []entities.Type{
		{Name: "Person"},
		{Name: "Project", Fields: []entities.Field{
			{Name: "lead", Type: record.EntityRef, TargetType: "Person"}, {Name: "team", Type: record.EntityRefList, TargetType: "Person"},
		}},
	} {
		_, _, err := w.ents.PutType(t.Context(), typ, nil, false)
		must(t, err)
	}
	for _, e := range []entities.Entity{
		{ID: "ann", Type: "Person", Name: "Ann"},
		{ID: "bob", Type: "Person", Name: "Bob"},
		{ID: "eve", Type: "Person", Name: "Eve", Private: true},
		{ID: "hive", Type: "Project", Name: "Hive"},
	} {
		_, err := w.ents.Put(t.Context(), e, nil)
		must(t, err)
	}
	return w
}

// over opens the rooms over the store in a folder.
func (w *deciderWorld) over(dir string) {
	w.Helper()
	var err error
	w.db, err = kv.Open(dir, kv.Options{})
	must(w, err)
	w.Cleanup(func() { _ = w.db.Close() })
	now := func() time.Time { return w.now }
	w.ents, err = entities.Open(w.db, entities.Options{Now: now})
	must(w, err)
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{Now: now})
	must(w, err)
	seen := audience.Open(w.db, audience.Stores{Entities: w.ents, Notes: w.notes})
	w.local, w.remote = seen.View(audience.Local), seen.View(audience.Remote)
	w.memory, err = memory.Open(w.db, memory.Options{Now: now, Entity: entities.EntityRecords.Has, Conversation: chat.State, HandleTaken: chat.HasHandle})
	must(w, err)
	w.chat, err = chat.Open(w.db, chat.Options{
		Now: now, Remote: w.remote, Memories: w.memory,
	})
	must(w, err)
	w.proposing.Memory = w.memory
	w.decider = tools.NewDecider(w.chat, tools.ActionDeps{Entities: w.ents, Memory: w.memory, Conversations: w.chat})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// proposed has an answer propose an action, as the tools do. It returns the ids of the action and the conversation.
func (w *deciderWorld) proposed(typ string, args any, private bool) (id, conversation string) {
	w.Helper()
	p, _, err := tools.ProposeAction(w.Context(), tools.ActionEnv{View: w.local, ActionDeps: w.proposing}, typ, args, "You asked for it.")
	must(w, err)
	w.actions++
	until := w.now.Add(record.ActionTime)
	a := record.ChatAction{
		ID: fmt.Sprint("act", w.actions), Type: typ, Status: record.ActionProposed, Reason: p.Reason, Edit: p.Edit, Version: p.Version,
		ExpiresAt: &until, Args: map[string]any{},
	}
	for _, pair := range strings.Split(strings.Trim(string(p.Args), "{}"), `","`) { // args of texts alone
		name, value, _ := strings.Cut(strings.Trim(pair, `"`), `":"`)
		a.Args[name] = value
	}
	turn, err := w.chat.Ask(w.Context(), w.local, chat.Question{Content: "Who leads?"})
	must(w, err)
	a.MessageID = turn.AnswerID
	_, err = w.chat.Answered(w.Context(), w.local, turn, &chat.Answer{
		Content: "Ann.", Finish: record.FinishComplete, Actions: []record.ChatAction{a}, Private: private,
	})
	must(w, err)
	w.sound()
	return a.ID, turn.Conversation.ID
}

func (w *deciderWorld) assigned(field, target string) string {
	w.Helper()
	id, _ := w.proposed("assignEntity", tools.AssignArgs{EntityID: "hive", Field: field, TargetID: target}, false)
	return id
}

func (w *deciderWorld) sound() {
	w.Helper()
	must(w, w.db.View(w.Context(), func(tx *kv.Tx) error {
		problems, err := chat.Check(tx)
		if len(problems) > 0 {
			w.Fatalf("problems:\n%s", strings.Join(problems, "\n"))
		}
		return err
	}))
}

// shown is the action as its conversation shows it to a reader.
func (w *deciderWorld) shown(v *audience.View, id string) *record.ChatAction {
	w.Helper()
	list, _, err := w.chat.List(w.Context(), v, false, nil, 1000)
	must(w, err)
	for _, c := range list {
		p, err := w.chat.Messages(w.Context(), v, c.ID, chat.AllBranches, 0, 1000)
		must(w, err)
		for _, m := range p.Messages {
			for i := range m.Actions {
				if m.Actions[i].ID == id {
					return &m.Actions[i]
				}
			}
		}
	}
	return nil
}

func (w *deciderWorld) wantStatus(id, status string) {
	w.Helper()
	if a := w.shown(w.local, id); a == nil || a.Status != status {
		w.Errorf("%s is %+v, want %s", id, a, status)
	}
	list, total, err := w.chat.Waiting(w.Context(), w.local, "", 1000)
	must(w, err)
	waits := false
	for _, x := range list {
		waits = waits || x.Action.ID == id
	}
	if waits != (status == record.ActionProposed) || total != len(list) {
		w.Errorf("%s is %s, and is listed as waiting: %v of %d", id, status, waits, total)
	}
	w.sound()
}

func (w *deciderWorld) confirm(id string, args map[string]any) *tools.Decision {
	w.Helper()
	d, err := w.decider.Confirm(w.Context(), w.local, id, args)
	must(w, err)
	w.sound()
	return d
}

// refused fails unless an error is of a kind, names a field, and has a hint.
func (w *deciderWorld) refused(err error, kind fault.Kind, field string) {
	w.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Field != field || f.Hint == "" {
		w.Errorf("%#v, want %v of %q", err, kind, field)
	}
	w.sound()
}

func (w *deciderWorld) field(name string) any { return w.ents.Get("hive").Fields[name] }

// TestCHAT21_ConfirmedOnce, however often and by however many at once, in one transaction.
func TestCHAT21_ConfirmedOnce(t *testing.T) {
	w := openDecider(t)
	id := w.assigned("team", "ann")
	version := w.ents.Get("hive").Version
	var sets []*kv.ChangeSet
	w.db.OnCommit(func(cs *kv.ChangeSet) { sets = append(sets, cs) })
	var done, repeats int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			d, err := w.decider.Confirm(t.Context(), w.local, id, nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case d.Action.Status != record.ActionConfirmed:
				t.Errorf("%+v", d.Action)
			case d.Repeat:
				repeats++
			default:
				done++
			}
		})
	}
	all.Wait()
	if done != 1 || repeats != 15 || w.ents.Get("hive").Version != version+1 || fmt.Sprint(w.field("team")) != "[ann]" {
		t.Errorf("done %d times, repeated %d times, the entity is %+v", done, repeats, w.ents.Get("hive"))
	}
	changed := make(map[string]int)
	for _, cs := range sets {
		for _, ch := range cs.Changes {
			changed[ch.Collection]++
		}
	}
	if len(sets) != 1 || changed["entity"] != 1 || changed["message"] != 1 || changed["message-action"] != 1 {
		t.Errorf("%d transactions changed %v", len(sets), changed)
	}
	w.wantStatus(id, record.ActionConfirmed)
	a := w.shown(w.local, id)
	if a.DecidedAt == nil || a.ForClient || a.Failure != "" {
		t.Errorf("%+v", a)
	}
}

// TestCHAT21_StatusesThatCannotBe are conflicts with a hint, and leave everything as it is.
func TestCHAT21_StatusesThatCannotBe(t *testing.T) {
	for _, was := range []string{record.ActionConfirmed, record.ActionRejected, record.ActionExpired, record.ActionFailed} {
		w := openDecider(t)
		id := w.assigned("lead", "ann")
		switch was {
		case record.ActionConfirmed:
			w.confirm(id, nil)
		case record.ActionRejected:
			d, err := w.decider.Reject(t.Context(), w.local, id)
			must(t, err)
			if d.Repeat || d.Action.Status != was || d.Action.DecidedAt == nil {
				t.Errorf("%+v", d)
			}
		case record.ActionExpired:
			w.now = w.now.Add(record.ActionTime)
		case record.ActionFailed:
			_, err := w.ents.Delete(t.Context(), "ann", nil)
			must(t, err)
			if d := w.confirm(id, nil); d.Action.Status != was || !strings.Contains(d.Action.Failure, `no entity with id "ann"`) {
				t.Errorf("%+v", d.Action)
			}
		}
		w.wantStatus(id, was)
		lead := w.field("lead")
		d, err := w.decider.Confirm(t.Context(), w.local, id, nil)
		if was != record.ActionConfirmed {
			w.refused(err, fault.Conflict, "")
		} else if err != nil || !d.Repeat {
			t.Errorf("%+v, %v", d, err)
		}
		_, err = w.decider.Confirm(t.Context(), w.local, id, map[string]any{"targetId": "bob"})
		if was != record.ActionConfirmed {
			w.refused(err, fault.Conflict, "")
		}
		d, err = w.decider.Reject(t.Context(), w.local, id)
		if was != record.ActionRejected {
			w.refused(err, fault.Conflict, "")
		} else if err != nil || !d.Repeat {
			t.Errorf("%+v, %v", d, err)
		}
		w.wantStatus(id, was)
		if w.field("lead") != lead {
			t.Errorf("%s: the lead is %v", was, w.field("lead"))
		}
	}
}

// TestCHAT21_ItExpires after 24 hours, and no clock brings it back.
func TestCHAT21_ItExpires(t *testing.T) {
	w := openDecider(t)
	begun := w.now
	id, never := w.assigned("lead", "ann"), w.assigned("team", "ann")
	at := func(after time.Duration, status string) {
		t.Helper()
		w.now = begun.Add(after)
		w.wantStatus(id, status)
	}
	at(record.ActionTime-time.Second, record.ActionProposed)
	at(-time.Hour, record.ActionProposed)
	seq := w.db.Seq()
	at(record.ActionTime, record.ActionExpired)
	if w.db.Seq() != seq {
		t.Error("reading it has written")
	}
	at(time.Hour, record.ActionExpired) // it was shown so
	_, err := w.decider.Confirm(t.Context(), w.local, id, nil)
	w.refused(err, fault.Conflict, "")
	if w.db.Seq() != seq+1 || w.field("lead") != nil {
		t.Errorf("%d transactions, the lead is %v", w.db.Seq()-seq, w.field("lead"))
	}
	w.decider, w.chat = nil, nil // another daemon, which has shown nothing
	w.chat, err = chat.Open(w.db, chat.Options{Now: func() time.Time { return w.now }, Remote: w.remote})
	must(t, err)
	w.decider = tools.NewDecider(w.chat, tools.ActionDeps{Entities: w.ents})
	at(time.Hour, record.ActionExpired)
	w.wantStatus(never, record.ActionProposed) // nobody has looked at it late
	_, err = w.decider.Reject(t.Context(), w.local, id)
	w.refused(err, fault.Conflict, "")

	w.now = begun.AddDate(1, 0, 0)
	ahead := w.assigned("lead", "bob")
	w.wantStatus(ahead, record.ActionProposed)
	w.now = begun
	w.wantStatus(ahead, record.ActionExpired) // who knows how old it is
	fresh := w.assigned("lead", "ann")
	if w.confirm(fresh, nil); w.field("lead") != "ann" {
		t.Error("what is proposed then cannot be confirmed")
	}
}

// TestCHAT21_WhatHasChangedSince it was proposed decides whether it is done, waits, or fails.
func TestCHAT21_WhatHasChangedSince(t *testing.T) {
	patch := func(w *deciderWorld, fields entities.Values) {
		_, err := w.ents.Patch(t.Context(), entities.Patch{ID: "hive", Fields: fields}, nil)
		must(t, err)
	}
	name := "Hive scale"
	for what, tc := range map[string]struct {
		field  string
		since  func(w *deciderWorld)
		kind   fault.Kind // of the error; else
		status string
		then   string
	}{
		"nothing":                {"lead", func(*deciderWorld) {}, 0, record.ActionConfirmed, "ann"},
		"another lead":           {"lead", func(w *deciderWorld) { patch(w, entities.Values{"lead": "bob"}) }, fault.Conflict, record.ActionProposed, "bob"},
		"the same lead":          {"lead", func(w *deciderWorld) { patch(w, entities.Values{"lead": "ann"}) }, 0, record.ActionConfirmed, "ann"},
		"others are in the team": {"team", func(w *deciderWorld) { patch(w, entities.Values{"team": []string{"bob"}}) }, 0, record.ActionConfirmed, "[bob ann]"},
		"she is in the team":     {"team", func(w *deciderWorld) { patch(w, entities.Values{"team": []string{"ann", "bob"}}) }, 0, record.ActionConfirmed, "[ann bob]"},
		"another name": {"lead", func(w *deciderWorld) {
			_, err := w.ents.Patch(t.Context(), entities.Patch{ID: "hive", Name: &name}, nil)
			must(t, err)
		}, 0, record.ActionConfirmed, "ann"},
		"the target was deleted": {"lead", func(w *deciderWorld) { _, err := w.ents.Delete(t.Context(), "ann", nil); must(t, err) }, 0, record.ActionFailed, "<nil>"},
		"the target is archived": {"lead", func(w *deciderWorld) { _, err := w.ents.Archive(t.Context(), "ann", nil); must(t, err) }, fault.Conflict, record.ActionProposed, "<nil>"},
		"the entity is archived": {"lead", func(w *deciderWorld) { _, err := w.ents.Archive(t.Context(), "hive", nil); must(t, err) }, fault.Conflict, record.ActionProposed, "<nil>"},
		"the field refers no more": {"lead", func(w *deciderWorld) {
			_, _, err := w.ents.PutType(t.Context(), entities.Type{Name: "Project", Fields: []entities.Field{{Name: "lead", Type: record.Text}}}, nil, true)
			must(t, err)
		}, 0, record.ActionFailed, "<nil>"},
	} {
		w := openDecider(t)
		id := w.assigned(tc.field, "ann")
		tc.since(w)
		d, err := w.decider.Confirm(t.Context(), w.local, id, nil)
		if tc.kind != 0 && (err == nil || fault.KindOf(err) != tc.kind) || tc.kind == 0 && (err != nil || d.Action.Status != tc.status) {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
		if (d != nil && d.Action.Failure != "") != (tc.status == record.ActionFailed) {
			t.Errorf("%s: %+v", what, d.Action)
		}
		w.wantStatus(id, tc.status)
		if got := fmt.Sprint(w.field(tc.field)); got != tc.then {
			t.Errorf("%s: the field is %s, want %s", what, got, tc.then)
		}
	}
	// The entity itself is gone.
	w := openDecider(t)
	id := w.assigned("lead", "ann")
	_, err := w.ents.Delete(t.Context(), "hive", nil)
	must(t, err)
	if d := w.confirm(id, nil); d.Action.Status != record.ActionFailed {
		t.Errorf("%+v", d.Action)
	}
	// Who has looked may overwrite.
	w = openDecider(t)
	id = w.assigned("lead", "ann")
	patch(w, entities.Values{"lead": "bob"})
	if d := w.confirm(id, map[string]any{}); d.Action.Status != record.ActionConfirmed || w.field("lead") != "ann" {
		t.Errorf("%+v", d.Action)
	}
}

// TestCHAT21_OtherArgs stand in the place of proposed ones, are checked as they are, and are kept.
func TestCHAT21_OtherArgs(t *testing.T) {
	w := openDecider(t)
	id := w.assigned("lead", "ann")
	for _, tc := range []struct {
		args  map[string]any
		kind  fault.Kind
		field string
	}{
		{map[string]any{"targetId": "none"}, fault.NotFound, "args.targetId"},
		{map[string]any{"entityId": "none"}, fault.NotFound, "args.entityId"},
		{map[string]any{"targetId": nil}, fault.Invalid, "args.targetId"},
		{map[string]any{"field": "budget"}, fault.Invalid, "args.field"},
		{map[string]any{"status": "confirmed"}, fault.Invalid, "args.status"},
		{map[string]any{"field": 3}, fault.Invalid, "args.field"},
	} {
		_, err := w.decider.Confirm(t.Context(), w.local, id, tc.args)
		w.refused(err, tc.kind, tc.field)
		w.wantStatus(id, record.ActionProposed)
	}
	d := w.confirm(id, map[string]any{"targetId": "bob", "field": "LEAD"})
	if fmt.Sprint(d.Action.Args) != "map[entityId:hive field:lead targetId:bob]" || w.field("lead") != "bob" {
		t.Errorf("%+v", d.Action)
	}
	task, _ := w.proposed("createTask", tools.TaskArgs{Title: "Tar", Details: "all"}, false)
	d = w.confirm(task, map[string]any{"entityIds": []any{"hive", "none"}, "details": nil})
	if fmt.Sprint(d.Action.Args) != "map[entityIds:[hive] title:Tar]" || len(d.Warnings) != 1 || !d.Action.ForClient {
		t.Errorf("%+v", d)
	}
	if again := w.confirm(task, nil); !again.Repeat || !again.Action.ForClient || fmt.Sprint(again.Action.Args) != "map[entityIds:[hive] title:Tar]" {
		t.Errorf("%+v", again)
	}
}

// TestCHAT21_AFileIsNotOurs: the entity is not written, and the client gets the line as it is to be when it is
// confirmed, not as it was to be.
func TestCHAT21_AFileIsNotOurs(t *testing.T) {
	w := openDecider(t)
	put := func(body string) {
		_, err := w.notes.Put(t.Context(), notes.Draft{ID: "vp", Vault: "v", Path: "Vault project.md", Body: body}, nil)
		must(t, err)
	}
	put("---\ntype: Project\nteam: ['[[Bob]]']\n---\nText")
	id, _ := w.proposed("assignEntity", tools.AssignArgs{EntityID: w.notes.Get("vp").EntityID, Field: "team", TargetID: "ann"}, false)
	if line := w.shown(w.local, id).Edit.Line; line != `team: ["[[Bob]]", "[[Ann]]"]` {
		t.Errorf("the line is %s", line)
	}
	put("---\ntype: Project\nteam: []\n---\nText")
	before := w.ents.Get(w.notes.Get("vp").EntityID).Version
	d := w.confirm(id, nil)
	if a := d.Action; a.Status != record.ActionConfirmed || !a.ForClient || a.Edit == nil || a.Edit.Line != `team: ["[[Ann]]"]` || a.Edit.Path != "Vault project.md" {
		t.Errorf("%+v", a)
	}
	if w.ents.Get(w.notes.Get("vp").EntityID).Version != before {
		t.Error("it was written")
	}
	w.wantStatus(id, record.ActionConfirmed)
}

// TestPRIV6_ActionsOfARemoteReader are those of messages that he sees. He is told nothing of others, and no action
// fails by what he does not see.
func TestPRIV6_ActionsOfARemoteReader(t *testing.T) {
	w := openDecider(t)
	secret, conversation := w.proposed("assignEntity", tools.AssignArgs{EntityID: "hive", Field: "lead", TargetID: "ann"}, true)
	open, _ := w.proposed("assignEntity", tools.AssignArgs{EntityID: "hive", Field: "lead", TargetID: "eve"}, false)
	yes, _ := w.proposed("assignEntity", tools.AssignArgs{EntityID: "hive", Field: "team", TargetID: "ann"}, false)
	for _, id := range []string{secret, "none"} {
		_, err := w.decider.Confirm(t.Context(), w.remote, id, nil)
		w.refused(err, fault.NotFound, "")
		_, err = w.decider.Reject(t.Context(), w.remote, id)
		w.refused(err, fault.NotFound, "")
	}
	if _, total, err := w.chat.Waiting(t.Context(), w.remote, "", 10); err != nil || total != 2 {
		t.Errorf("%d wait, %v", total, err)
	}
	if list, total, err := w.chat.Waiting(t.Context(), w.remote, conversation, 10); err != nil || total != 0 || len(list) != 0 {
		t.Errorf("%d wait, %v", total, err)
	}
	_, err := w.decider.Confirm(t.Context(), w.remote, open, nil) // of someone he does not see
	w.refused(err, fault.NotFound, "targetId")
	w.wantStatus(open, record.ActionProposed)
	d, err := w.decider.Confirm(t.Context(), w.remote, yes, nil)
	if err != nil || d.Action.Status != record.ActionConfirmed {
		t.Errorf("%+v, %v", d, err)
	}
	// A conversation that becomes private takes its actions along.
	private := true
	_, where := w.proposed("createTask", tools.TaskArgs{Title: "Tar"}, false)
	_, err = w.chat.Update(t.Context(), w.local, where, chat.Change{Settings: chat.Settings{Private: &private}})
	must(t, err)
	_, err = w.decider.Confirm(t.Context(), w.remote, "act4", nil)
	w.refused(err, fault.NotFound, "")
	w.wantStatus("act4", record.ActionProposed)
}

// TestCHAT21_OfTwoWithOneID, of which an import has brought one, neither is done.
func TestCHAT21_OfTwoWithOneID(t *testing.T) {
	w := openDecider(t)
	id := w.assigned("lead", "ann")
	w.actions--
	w.assigned("lead", "bob")
	_, err := w.decider.Confirm(t.Context(), w.local, id, nil)
	w.refused(err, fault.Conflict, "")
	if w.field("lead") != nil {
		t.Error("one of them was done")
	}
}

// TestCHAT21_DeletedWithItsConversation is what an action is, and found by nothing any more.
func TestCHAT21_DeletedWithItsConversation(t *testing.T) {
	w := openDecider(t)
	id, conversation := w.proposed("createTask", tools.TaskArgs{Title: "Tar"}, false)
	_, err := w.chat.Delete(t.Context(), w.local, conversation)
	must(t, err)
	_, err = w.decider.Confirm(t.Context(), w.local, id, nil)
	w.refused(err, fault.NotFound, "")
	_, total, err := w.chat.Waiting(t.Context(), w.local, "", 10)
	if err != nil || total != 0 {
		t.Errorf("%d wait, %v", total, err)
	}
}

// meddled are conversations in which somebody does something just before an action is decided about, once.
type meddled struct {
	*chat.Store
	once func()
}

func (m *meddled) Decide(ctx context.Context, v *audience.View, id string,
	decide func(tx *kv.Tx, a *record.ChatAction, now time.Time) error,
) (*record.ChatAction, error) {
	if m.once != nil {
		m.once()
		m.once = nil
	}
	return m.Store.Decide(ctx, v, id, decide)
}

// TestCHAT21_WhatChangesMeanwhile between the checks and the transaction is looked at anew: nothing of another writer is
// lost, and nothing is done to what is gone.
func TestCHAT21_WhatChangesMeanwhile(t *testing.T) {
	w := openDecider(t)
	id := w.assigned("team", "ann")
	w.decider = tools.NewDecider(&meddled{w.chat, func() {
		_, err := w.ents.Patch(t.Context(), entities.Patch{ID: "hive", Fields: entities.Values{"team": []string{"bob"}}}, nil)
		must(t, err)
	}}, tools.ActionDeps{Entities: w.ents})
	if d := w.confirm(id, nil); d.Action.Status != record.ActionConfirmed || fmt.Sprint(w.field("team")) != "[bob ann]" {
		t.Errorf("%+v, the team is %v", d.Action, w.field("team"))
	}
	gone := w.assigned("lead", "ann")
	w.decider = tools.NewDecider(&meddled{w.chat, func() {
		_, err := w.ents.Delete(t.Context(), "hive", nil)
		must(t, err)
	}}, tools.ActionDeps{Entities: w.ents})
	if d := w.confirm(gone, nil); d.Action.Status != record.ActionFailed {
		t.Errorf("%+v", d.Action)
	}
	task, _ := w.proposed("createTask", tools.TaskArgs{Title: "Tar"}, false)
	w.decider = tools.NewDecider(&meddled{w.chat, func() {
		_, err := w.chat.Decide(t.Context(), w.local, task, func(_ *kv.Tx, a *record.ChatAction, _ time.Time) error {
			a.Status = record.ActionRejected
			return nil
		})
		must(t, err)
	}}, tools.ActionDeps{Entities: w.ents})
	_, err := w.decider.Confirm(t.Context(), w.local, task, nil)
	w.refused(err, fault.Conflict, "")
	w.wantStatus(task, record.ActionRejected)
}
