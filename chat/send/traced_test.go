package send_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// inspect returns what a reader is told of an answer, which must be there.
func (h *house) inspect(v *audience.View, id string, index int) *turn.ChatInspected {
	h.t.Helper()
	out, err := cites.NewInspector(h.db, h.chat, h.memory, h.shelf).Inspect(context.Background(), v, id, index)
	must(h.t, err)
	return out
}

// refs are "kind/id origin title status" of what a model was shown.
func refs(t *turn.ChatTrace) (out []string) {
	for _, r := range t.References {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s %s", r.Kind, r.ID, r.Origin, r.Title, r.Status)))
	}
	slices.Sort(out)
	return out
}

// stored are the traces as they lie in the store.
func (h *house) stored() (texts []string) {
	h.t.Helper()
	raw := kv.NewCollection("message-trace", kv.Codec[string]{
		Encode: func(s *string) (string, error) { return *s, nil }, Decode: func(s string) (*string, error) { return &s, nil },
	})
	must(h.t, h.db.View(context.Background(), func(tx *kv.Tx) error {
		for _, text := range raw.All(tx, "") {
			texts = append(texts, *text)
		}
		return tx.Err()
	}))
	return texts
}

// sound fails when the store has a trace that is of no answer.
func (h *house) sound() {
	h.t.Helper()
	must(h.t, h.db.View(context.Background(), func(tx *kv.Tx) error {
		problems, err := chat.Check(tx)
		if len(problems) > 0 {
			h.t.Errorf("%q", problems)
		}
		return err
	}))
}

func TestCHAT27_ATraceSaysWhatTheModelGot(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "named", Title: "Kayak", Body: "The kayak is red."})
	h.note(notes.Draft{ID: "pinned", Title: "Rules", Body: "Be brief."})
	h.note(notes.Draft{ID: "found", Title: "Paddles", Body: "Paddles of carbon are light."})
	h.note(notes.Draft{ID: "tool", Title: "Zither", Body: "The zither has strings."})
	h.note(notes.Draft{ID: "cited", Title: "Zeppelin", Body: "The zeppelin zither flies."})
	liked := "liked"
	h.remembers(memory.Draft{ID: liked, Statement: "I like carbon paddles", Kind: "preference"})
	id := h.append("", user("hello"), answer("hi"))
	_, err := h.chat.Update(t.Context(), h.local, id, chat.Change{Settings: chat.Settings{
		PinnedNotes: &[]string{"pinned"}, SystemPrompt: ptr("Talk like a sailor."),
	}})
	must(t, err)
	h.far.says(func(r *provider.Request, to *provider.Reply) {
		switch r.N {
		case 1:
			to.Status(503, "busy")
		case 2:
			to.Call("search_notes", `{"query":"zither"}`)
			to.Call("no such tool", `{"secret":"words"}`)
		case 3:
			to.Call("search_notes", `{"query": "zither"}`)
		default:
			to.Text("See [[zeppelin|that]].")
		}
	})
	res := h.send(turn.ChatSend{ConversationID: id, Text: "carbon paddles for the [[Kayak]]", Files: []turn.ChatFile{{Name: "f", Text: "filetext"}}})
	got := h.inspect(h.local, id, 0)
	if got.Why != "" || got.Answer.ID != res.AssistantMessage.ID || got.Question.ID != res.UserMessage.ID {
		t.Fatalf("%+v", got)
	}
	tr := got.Trace
	want := []string{
		"memory/" + liked + " search I like carbon paddles ok", "note/cited tool Zeppelin ok", "note/found search Paddles ok",
		"note/named mention Kayak ok", "note/pinned pinned Rules ok", "note/tool tool Zither ok",
	}
	if list := refs(tr); !slices.Equal(list, want) {
		t.Errorf("the model was shown\n%q, want\n%q", list, want)
	}
	for _, r := range tr.References {
		if r.Used == (r.ID == "tool") {
			t.Errorf("%s used: %v", r.ID, r.Used)
		}
		if inPrompt := r.Section != ""; inPrompt != (r.Origin != turn.OriginTool) || inPrompt != (r.Chars > 0) {
			t.Errorf("%+v", r)
		}
	}
	if tr.Prompt.Hash != res.Report.Hash || tr.Prompt.Chars != res.Report.Chars || tr.Prompt.Own != len("Talk like a sailor.") || tr.Prompt.Tokens < 100 {
		t.Errorf("the prompt is %+v", tr.Prompt)
	}
	items := 0
	for i, s := range tr.Prompt.Sections {
		if of := res.Report.Sections[i]; s != (turn.ChatTraceSection{Name: of.Name, Chars: of.Chars, Budget: of.Budget, Items: len(of.Items)}) {
			t.Errorf("section %+v, want that of %+v", s, of)
		}
		items += s.Items
	}
	if items != 5 || tr.History != (turn.ChatTraceHistory{Messages: 2, Chars: 7}) || !tr.Remote || !tr.Asked || tr.Tools == 0 ||
		tr.Attached.Files != 1 || tr.Attached.Chars < len("filetext") || len(tr.Stages) != len(res.Report.Stages) {
		t.Errorf("%d items, %+v", items, tr)
	}
	if len(tr.Rounds) != 3 || tr.Rounds[0].Tries != 2 || tr.Rounds[1].Tries != 1 || tr.Rounds[2].Finish != "stop" || tr.Rounds[2].FirstMS == 0 {
		t.Fatalf("rounds: %+v", tr.Rounds)
	}
	calls := append(tr.Rounds[0].Calls, tr.Rounds[1].Calls...)
	if len(calls) != 3 || calls[0].Name != "search_notes" || calls[0].Arguments != 18 || calls[0].Chars == 0 || calls[0].MS == 0 || calls[0].Cached ||
		calls[1].Name != "" || !calls[1].Failed || !calls[2].Cached || calls[2].MS != 0 || calls[2].Chars != calls[0].Chars {
		t.Errorf("calls: %+v", calls)
	}
	for stage, ms := range tr.Timings {
		if told, ok := res.Timings[stage]; !ok || ms < 0 || stage != "own" && ms != told {
			t.Errorf("stage %s took %v, and chat.send says %v", stage, ms, told)
		}
	}
	if len(tr.Timings) != len(res.Timings)-1 { // the trace is part of what keep has stored
		t.Errorf("stages %v of %v", tr.Timings, res.Timings)
	}
	for _, text := range h.stored() {
		for _, word := range []string{"Kayak", "Rules", "addle", "ither", "carbon", "sailor", "filetext", "secret", "words", "hello", "that"} {
			if strings.Contains(text, word) {
				t.Errorf("%q is kept: %s", word, text)
			}
		}
	}
	h.sound()
}

// What is changed, renamed and deleted after the answer is told as it is now.
func TestCHAT27_TitlesAreThoseOfNow(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "a", Title: "Alpha", Body: "one"})
	h.note(notes.Draft{ID: "b", Title: "Beta", Body: "two"})
	id := h.send(turn.ChatSend{Text: "[[Alpha]] and [[Beta]]"}).ConversationID
	h.note(notes.Draft{ID: "a", Title: "Renamed", Body: "one", ModifiedAt: time.Now().Add(time.Hour)})
	_, err := h.notes.Delete(t.Context(), "b", nil)
	must(t, err)
	want := []string{"note/a mention Renamed changed", "note/b mention Beta deleted"}
	if list := refs(h.inspect(h.local, id, 2).Trace); !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
}

// Where a remote model was asked, the one who asked is told how much was withheld, and other remote readers are not.
func TestPRIV6_ATraceTellsRemoteReadersNothingPrivate(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "open", Title: "Open", Body: "one"})
	h.note(notes.Draft{ID: "later", Title: "Later", Body: "two"})
	h.note(notes.Draft{ID: "hidden", Title: "Hidden", Body: "three", Private: true})
	id := h.send(turn.ChatSend{Text: "[[Open]], [[Later]], [[Hidden]] and [[Ghost]]", MentionedNoteIDs: []string{"hidden", "gone"}}).ConversationID
	told := h.inspect(h.local, id, 2).Trace
	if told.Withheld == 0 || told.Prompt.Hash == "" || !slices.ContainsFunc(told.Dropped, func(d turn.ChatTraceDrop) bool { return d.Reason == prompt.Unknown }) {
		t.Fatalf("%+v", told)
	}
	if strings.Contains(strings.Join(h.stored(), ""), "hidden") {
		t.Errorf("what was withheld is named: %q", h.stored())
	}
	h.note(notes.Draft{ID: "later", Title: "Later", Body: "two", Private: true})
	seen := h.inspect(h.remote, id, 2).Trace
	if list := refs(seen); !slices.Equal(list, []string{"note/ link Ghost broken", "note/ mention  deleted", "note/open mention Open ok"}) {
		t.Errorf("%q", list)
	}
	text, err := json.Marshal(seen)
	must(t, err)
	if seen.Withheld != 0 || len(seen.Dropped) != 0 || seen.Prompt.Hash != "" || strings.Contains(string(text), "ater") || strings.Contains(string(text), "idden") {
		t.Errorf("a remote reader is told %s", text)
	}
	// An answer to a private message is not there.
	h.send(turn.ChatSend{ConversationID: id, Text: "secretly", Private: true, Provider: "near"})
	if got := h.inspect(h.local, id, 4); got.Trace == nil || got.Trace.Remote {
		t.Errorf("%+v", got)
	}
	for _, index := range []int{3, 4} {
		if _, err := cites.NewInspector(h.db, h.chat, h.memory, h.shelf).Inspect(t.Context(), h.remote, id, index); fault.KindOf(err) != fault.NotFound {
			t.Errorf("message %d: %v", index, err)
		}
	}
	if got := h.inspect(h.remote, id, 0); got.Answer.Index != 2 {
		t.Errorf("the newest answer is %d", got.Answer.Index)
	}
}

func TestCHAT27_WhichAnswerIsMeant(t *testing.T) {
	h := open(t)
	id := h.append("", chat.Draft{Role: record.RoleSystem, Content: "rules"}, user("hello"), answer("hi"))
	ask := cites.NewInspector(h.db, h.chat, h.memory, h.shelf)
	got := h.inspect(h.local, id, 3)
	if got.Trace != nil || !strings.Contains(got.Why, "appended") || got.Question.Index != 2 {
		t.Errorf("an answer that was appended: %+v", got)
	}
	first := h.send(turn.ChatSend{ConversationID: id, Text: "one"})
	again := h.send(turn.ChatSend{ConversationID: id, Regenerate: first.AssistantMessage.ID})
	for index, want := range map[int]string{0: again.AssistantMessage.ID, 4: again.AssistantMessage.ID, 5: first.AssistantMessage.ID, 6: again.AssistantMessage.ID} {
		if got := h.inspect(h.local, id, index); got.Answer.ID != want || got.Trace == nil || got.Question.ID != first.UserMessage.ID {
			t.Errorf("index %d leads to %+v", index, got.Answer)
		}
	}
	empty := h.append("", user("nothing yet"))
	for _, c := range []struct {
		ref   string
		index int
		kind  fault.Kind
		field string
	}{
		{id, 7, fault.NotFound, "index"},
		{id, 1, fault.Invalid, "index"},
		{empty, 0, fault.NotFound, "index"},
		{empty, 1, fault.NotFound, "index"},
		{"none", 0, fault.NotFound, "conversationId"},
	} {
		_, err := ask.Inspect(t.Context(), h.local, c.ref, c.index)
		f, _ := err.(*fault.Error)
		if f == nil || f.Kind != c.kind || f.Field != c.field || f.Hint == "" {
			t.Errorf("%s %d: %+v", c.ref, c.index, err)
		}
	}
}

func TestCHAT10_ATraceCountsWhatWasLeftOut(t *testing.T) {
	h := open(t)
	long := strings.Repeat("a", 20_000)
	id := h.append("", user("first "+long), answer("one "+long), user("second "+long+long), chat.Draft{Role: record.RoleUser, Content: "hid", Private: true}, user("third"), answer("three"))
	_, err := h.chat.Update(t.Context(), h.local, id, chat.Change{Settings: chat.Settings{MaxContext: ptr(10_000)}})
	must(t, err)
	h.send(turn.ChatSend{ConversationID: id, Text: "fourth"})
	if got := h.inspect(h.local, id, 0).Trace.History; got.Messages != 2 || got.Dropped != 4 || got.Withheld != 1 {
		t.Errorf("a local reader is told %+v", got)
	}
	if got := h.inspect(h.remote, id, 0).Trace.History; got.Messages != 2 || got.Dropped != 3 || got.Withheld != 0 {
		t.Errorf("a remote reader is told %+v", got)
	}
}

func TestCHAT27_AnswersThatAreNotWhole(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "a", Title: "Alpha", Body: "one"})
	id := h.append("", user("hello"), answer("hi"))
	h.far.says(func(_ *provider.Request, to *provider.Reply) {
		to.Text("Half")
		to.Break()
	})
	h.fails(turn.ChatSend{ConversationID: id, Text: "see [[Alpha]]"}, fault.Unavailable, "")
	tr := h.inspect(h.local, id, 0).Trace
	if tr.Failure != "unavailable" || len(tr.Rounds) != 1 || tr.Rounds[0].Finish != "interrupted" || len(tr.References) != 1 {
		t.Errorf("%+v", tr)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	h.far.says(func(_ *provider.Request, to *provider.Reply) {
		to.Text("Half")
		<-to.Gone()
	})
	_, err := h.pipe.Send(ctx, h.local, turn.ChatSend{ConversationID: id, Text: "go"}, &heard{on: func(_ context.Context, d turn.ChatDelta) error {
		if d.Type == turn.Text {
			leave()
		}
		return nil
	}})
	if fault.KindOf(err) != fault.Cancelled {
		t.Fatal(err)
	}
	if tr := h.inspect(h.local, id, 0).Trace; tr.Failure != "cancelled" || tr.Rounds[0].Finish != "cancelled" || tr.Rounds[0].FirstMS == 0 {
		t.Errorf("%+v", tr)
	}
	if n := len(h.stored()); n != 2 {
		t.Errorf("%d traces", n)
	}
}

// A daemon that was killed amid an answer knows what the model was given for it.
func TestCHAT27_AnInterruptedAnswerHasItsTrace(t *testing.T) {
	for _, full := range []bool{false, true} {
		dir := t.TempDir()
		near, far := newModel(t), newModel(t)
		h := openOver(t, t, dir, near, far, chat.Limits{})
		h.note(notes.Draft{ID: "a", Title: "Alpha", Body: "one"})
		id := h.append("", user("hello"), answer("hi"))
		kept, killed := make(chan struct{}), make(chan struct{})
		far.says(func(_ *provider.Request, to *provider.Reply) {
			to.Text(strings.Repeat("a piece ", 600))
			<-killed
			to.Break()
		})
		go func() {
			defer close(kept)
			for n := 0; n == 0; {
				must(t, h.db.View(context.Background(), func(tx *kv.Tx) error {
					for range kv.NewCollection[json.RawMessage]("message-part").All(tx, "") {
						n++
					}
					return tx.Err()
				}))
			}
		}()
		done := make(chan error, 1)
		go func() {
			_, err := h.pipe.Send(context.Background(), h.local, turn.ChatSend{ConversationID: id, Text: "see [[Alpha]]"}, &heard{})
			done <- err
		}()
		came(t, kept, "the first part")
		h.sound()
		must(t, h.db.Close())
		close(killed)
		_ = came(t, done, "the end of the call") // its store is closed
		limits := chat.Limits{}
		if full {
			limits.Messages = 3
		}
		h = openOver(t, t, dir, near, far, limits)
		h.sound()
		if full {
			if list := h.stored(); len(list) != 0 {
				t.Errorf("there is no room for the answer, and its trace is kept: %q", list)
			}
			continue
		}
		got := h.inspect(h.local, id, 0)
		if got.Answer.Finish != record.FinishInterrupted || got.Trace == nil || !slices.Equal(refs(got.Trace), []string{"note/a mention Alpha ok"}) || len(got.Trace.Rounds) != 0 {
			t.Errorf("%+v", got)
		}
	}
}

func TestCHAT25_TracesGoWithTheirConversation(t *testing.T) {
	h := open(t)
	id := h.send(turn.ChatSend{Text: "one"}).ConversationID
	h.send(turn.ChatSend{ConversationID: id, Text: "two"})
	other := h.send(turn.ChatSend{Text: "three"}).ConversationID
	if n := len(h.stored()); n != 3 {
		t.Fatalf("%d traces", n)
	}
	_, err := h.chat.Delete(t.Context(), h.local, id)
	must(t, err)
	if n := len(h.stored()); n != 1 {
		t.Errorf("%d traces are left", n)
	}
	h.sound()
	// What damage leaves without its answer is found.
	must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error { return chat.PutTrace(tx, id, "gone", &chat.Trace{}) }))
	must(t, h.db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := chat.Check(tx)
		if len(problems) != 1 || !strings.Contains(problems[0], "gone") {
			t.Errorf("%q", problems)
		}
		return err
	}))
	if h.inspect(h.local, other, 0).Trace == nil {
		t.Error("the other trace is gone")
	}
}

func TestCHAT4_UntrackedAnswersNameNoRecords(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "a", Title: "Alpha", Body: "one"})
	id := h.send(turn.ChatSend{Text: "[[Alpha]] [[Ghost]]", TrackReferences: ptr(false)}).ConversationID
	tr := h.inspect(h.local, id, 0).Trace
	if len(tr.References) != 0 || len(tr.Dropped) != 0 || len(tr.Prompt.Sections) == 0 || len(tr.Rounds) != 1 {
		t.Errorf("%+v", tr)
	}
}
