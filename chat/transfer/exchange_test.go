package transfer_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// live does something to the conversations of a store. What is refused changes nothing.
func live(rt *rapid.T, w *world) {
	ctx := w.Context()
	w.now = w.now.Add(time.Duration(rapid.IntRange(-2, 5000).Draw(rt, "ms")) * time.Millisecond)
	one := rapid.SampledFrom(append([]string{"none"}, w.all()...)).Draw(rt, "conversation")
	flag := func(name string) bool { return rapid.Bool().Draw(rt, name) }
	text := func() string {
		return rapid.SampledFrom([]string{
			"yes", "# Title\n\n```go\nx <- 1 & 2\n```", "Grüße \u2028 an \U0001F375", "\x00 \x1b[31m \\ \" \t", "[[Plan]] and @ada",
		}).Draw(rt, "text") + fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "n"))
	}
	v := w.local
	if flag("by a remote reader") {
		v = w.remote
	}
	switch rapid.IntRange(0, 9).Draw(rt, "what") {
	case 0, 1, 2, 3:
		said := chat.AppendRequest{ConversationID: one, Title: text(), Private: flag("private")}
		if flag("new") {
			said.ConversationID = ""
		}
		if said.Title[0] == 'y' {
			said.Title = ""
		}
		for range rapid.IntRange(1, 4).Draw(rt, "messages") {
			d := chat.Draft{Role: rapid.SampledFrom(record.Roles).Draw(rt, "role"), Content: text(), Private: flag("private")}
			if flag("with an id") {
				d.ClientMessageID = fmt.Sprintf("client-%d", rapid.IntRange(0, 30).Draw(rt, "client"))
			}
			if flag("earlier") {
				d.CreatedAt = w.now.Add(-time.Hour)
			}
			said.Messages = append(said.Messages, d)
		}
		for _, m := range w.mem.Shown(v, []string{"r1", "r2"}) {
			if m != nil && flag("shown") {
				said.MemoryIDs = append(said.MemoryIDs, m.ID)
			}
		}
		_, _ = w.chat.Append(ctx, v, said)
	case 4:
		_, _ = w.chat.AppendMany(ctx, w.local, []chat.AppendRequest{{
			Past: true, CreatedAt: w.now.Add(-time.Hour), ClientID: fmt.Sprintf("elsewhere/%d", rapid.IntRange(0, 5).Draw(rt, "n")),
			Messages: []chat.Draft{{Role: record.RoleUser, Content: text(), CreatedAt: w.now.Add(-time.Minute)}},
		}})
	case 5:
		_, _ = w.chat.Update(ctx, v, one, chat.Change{Settings: chat.Settings{
			Title: ptr(text()), SystemPrompt: ptr(text()), Model: ptr("small"), Provider: ptr("local-1"), MaxContext: ptr(2000),
			Temperature: ptr(rapid.SampledFrom([]float64{0, 0.1, 1.0 / 3, math.NaN()}).Draw(rt, "temperature")),
		}})
	case 6:
		set := chat.Settings{PinnedMemories: &[]string{}, PinnedNotes: &[]string{}}
		for _, m := range w.mem.Shown(v, []string{"r1", "r2"}) {
			if m != nil && flag("pinned") {
				*set.PinnedMemories = append(*set.PinnedMemories, m.ID)
			}
		}
		for _, id := range []string{"open", "secret"} {
			if v.Note(id) != nil && flag("pinned") {
				*set.PinnedNotes = append(*set.PinnedNotes, id)
			}
		}
		_, _ = w.chat.Update(ctx, v, one, chat.Change{Settings: set})
	case 7:
		_, _ = w.chat.Update(ctx, v, one, chat.Change{
			Archived: ptr(flag("archived")), Settings: chat.Settings{Private: ptr(flag("private"))},
		})
	case 8:
		_, _ = w.chat.Rename(ctx, v, one, fmt.Sprintf("handle_%d", rapid.IntRange(0, 9).Draw(rt, "handle")))
	case 9:
		if flag("really") {
			_, _ = w.chat.Delete(ctx, v, one)
		}
	}
}

// TestCHAT26_AnExportComesBackAsItWas: of any history, in a store that has nothing else.
func TestCHAT26_AnExportComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, chat.Limits{})
		w.remember("Ada likes tea", false)
		w.remember("Ada's boat leaks", true)
		for _, d := range []notes.Draft{{ID: "open", Title: "Plan"}, {ID: "secret", Title: "Boat", Private: true}} {
			_, err := w.notes.Put(t.Context(), d, nil)
			must(rt, err)
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			live(rt, w)
		}
		other := open(t, chat.Limits{})
		other.now = w.now.Add(time.Hour)
		for _, id := range w.all() {
			text := w.export(w.local, id, transfer.FormatJSON)
			out, err := other.tryTake(text, transfer.JSONImportOptions{})
			must(rt, err)
			if out.ConversationID != id || out.Begun || out.HandleTaken {
				rt.Fatalf("imported %+v", out)
			}
			other.sound(rt)
			if got := other.export(other.local, id, transfer.FormatJSON); got != text {
				rt.Fatalf("the export is\n%s\nand was\n%s", got, text)
			}
			out, err = other.tryTake(text, transfer.JSONImportOptions{})
			must(rt, err)
			if out.Messages != 0 || !out.Begun {
				rt.Fatalf("imported again: %+v", out)
			}
			if got := other.export(other.local, id, transfer.FormatJSON); got != text {
				rt.Fatalf("the export of what was imported twice is\n%s\nand was\n%s", got, text)
			}
		}
	})
}

// talk is an export of a conversation with two messages, the second of which has members of a later program.
const talk = `{"format":"ctxd-chat","version":1,"conversation":{"id":"c1","handle":"weekend_trip_k3x9","aliases":["trip_of_may"],` +
	`"title":"Weekend trip","createdAt":"2026-03-04T08:00:00Z","changedAt":"2026-03-04T08:30:00Z","version":3,"handleTitle":"Weekend trip",` +
	`"pinnedNotes":["n1"],"pinnedMemories":["m1"],"all":{"messages":2,"user":1,"at":"2026-03-04T08:01:00Z"},` +
	`"public":{"messages":1,"user":1,"at":"2026-03-04T08:00:00Z"},"colour":"red","weights":{"b":1.50,"a":[null,1e400]}},"messages":[
{"id":"a1","index":1,"publicIndex":1,"hash":"a3f20k","role":"user","content":"Where <could> we hike?","createdAt":"2026-03-04T08:00:00Z",` +
	`"addedAt":"2026-03-04T08:00:00Z","finish":"complete","clientMessageId":"m-1"},
{"id":"a2","index":2,"publicIndex":0,"hash":"b3f20k","role":"assistant","content":"By the river.","createdAt":"2026-03-04T08:01:00Z",` +
	`"addedAt":"2026-03-04T08:01:00Z","finish":"cancelled","clientMessageId":"","actions":[{"id":"x","status":"proposed"}],"parentId":"a1",` +
	`"reasoning":"It is \u003cnear\u003e.","references":[{"wikilink":"[[River]]","noteId":"n1","relativePath":"places/river.md",` +
	`"referenceType":"direct","summary":"It flows.","status":"ok","later":true},{"wikilink":"Ghost","noteId":null,"status":"broken"}],` +
	`"toolCalls":[{"name":"read_note","round":1}],"usage":{"in":9007199254740993},"warnings":["slow"]}
]}
`

// TestCHAT4_MembersOfLaterProgramsGoThroughAnExport of a conversation and of a message, with numbers that no float holds.
func TestCHAT4_MembersOfLaterProgramsGoThroughAnExport(t *testing.T) {
	w := open(t, chat.Limits{})
	out := w.take(talk, transfer.JSONImportOptions{})
	if out.ConversationID != "c1" || out.Messages != 2 || out.Known != 0 || out.HandleTaken {
		t.Errorf("imported %+v", out)
	}
	if got := w.export(w.local, "weekend_trip_k3x9", transfer.FormatJSON); got != talk {
		t.Errorf("the export is\n%s\nand was\n%s", got, talk)
	}
	c, err := w.chat.Get(t.Context(), w.local, "@trip_of_may")
	must(t, err)
	if c.Messages != 2 || c.Version != 3 || c.Title != "Weekend trip" {
		t.Errorf("the conversation is %+v", c)
	}
	again := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{{Role: "user", Content: "Where <could> we hike?", ClientMessageID: "m-1"}}})
	if again.ConversationID != "c1" || !again.Messages[0].Repeat {
		t.Errorf("the id of a client leads to %+v", again)
	}
}

// TestCHAT26_AConversationThatIsThereGoesOn or stays as it is; one that goes on otherwise is a conflict.
func TestCHAT26_AConversationThatIsThereGoesOn(t *testing.T) {
	w := open(t, chat.Limits{})
	id := w.say(w.local, chat.AppendRequest{Title: "Trip", Messages: []chat.Draft{user("One"), answer("Two")}}).ConversationID
	short := w.export(w.local, id, transfer.FormatJSON)
	other, third := open(t, chat.Limits{}), open(t, chat.Limits{})
	for _, x := range []*world{other, third} {
		x.now = w.now.Add(time.Hour)
		x.take(short, transfer.JSONImportOptions{})
	}
	w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user("Three"), {Role: "assistant", Content: "Four", Private: true}}})
	long := w.export(w.local, id, transfer.FormatJSON)
	dry, err := other.tryTake(long, transfer.JSONImportOptions{DryRun: true})
	must(t, err)
	if got := other.export(other.local, id, transfer.FormatJSON); got != short || dry.Messages != 2 {
		t.Errorf("a dry run imports %+v and leaves\n%s", dry, got)
	}
	if out := other.take(long, transfer.JSONImportOptions{}); !out.Begun || out.Messages != 2 || out.Known != 2 {
		t.Errorf("imported %+v", out)
	}
	if got := other.export(other.local, id, transfer.FormatJSON); got != long {
		t.Errorf("it went on as\n%s\nwant\n%s", got, long)
	}
	if out := other.take(short, transfer.JSONImportOptions{}); out.Messages != 0 || out.Known != 2 {
		t.Errorf("imported %+v", out)
	}
	third.say(third.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user("Another")}})
	before := third.export(third.local, id, transfer.FormatJSON)
	_, err = third.tryTake(long, transfer.JSONImportOptions{})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "from message 3 on") {
		t.Errorf("error %v", err)
	}
	if got := third.export(third.local, id, transfer.FormatJSON); got != before {
		t.Errorf("a conflict leaves\n%s\nwant\n%s", got, before)
	}
}

// TestCHAT26_AHandleThatIsTakenIsReplaced, and what has it keeps it.
func TestCHAT26_AHandleThatIsTakenIsReplaced(t *testing.T) {
	w := open(t, chat.Limits{})
	for _, h := range []string{"weekend_trip_k3x9", "trip_of_may"} {
		id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("Mine " + h)}}).ConversationID
		_, err := w.chat.Rename(t.Context(), w.local, id, h)
		must(t, err)
	}
	if out := w.take(talk, transfer.JSONImportOptions{}); !out.HandleTaken || out.Messages != 2 {
		t.Errorf("imported %+v", out)
	}
	c, err := w.chat.Get(t.Context(), w.local, "c1")
	must(t, err)
	if !strings.HasPrefix(c.Handle, "weekend_trip_") || c.Handle == "weekend_trip_k3x9" || len(c.Aliases) > 0 {
		t.Errorf("it is called %s, formerly %s", c.Handle, c.Aliases)
	}
	for _, h := range []string{"weekend_trip_k3x9", "trip_of_may"} {
		if c, err := w.chat.Get(t.Context(), w.local, h); err != nil || c.ID == "c1" {
			t.Errorf("%s leads to %+v, %v", h, c, err)
		}
	}
}

// TestPRIV4_AnImportMayBePrivate, and stays so when it goes on.
func TestPRIV4_AnImportMayBePrivate(t *testing.T) {
	w := open(t, chat.Limits{})
	w.take(talk, transfer.JSONImportOptions{Private: true})
	if _, err := w.chat.Get(t.Context(), w.remote, "c1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a remote reader gets %v", err)
	}
	w.take(talk, transfer.JSONImportOptions{})
	if c, err := w.chat.Get(t.Context(), w.local, "c1"); err != nil || !c.Private {
		t.Errorf("it is %+v, %v", c, err)
	}
	_, err := transfer.ImportJSON(t.Context(), w.chat, w.remote, strings.NewReader(talk), int64(len(talk)), transfer.JSONImportOptions{})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a remote reader imports: %v", err)
	}
}

// TestCHAT26_LongConversationsAreGivenInPieces, which are the export when they are joined; what is said meanwhile is in none.
func TestCHAT26_LongConversationsAreGivenInPieces(t *testing.T) {
	w := open(t, chat.Limits{})
	long := strings.Repeat("long <text> ", 30_000)
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user(long), {Role: "user", Content: "mine", Private: true}, answer(long)}}).ConversationID
	for range 7 {
		w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user(long), user("short")}})
	}
	whole := make(map[string]string)
	for _, v := range []*audience.View{w.local, w.remote} {
		for _, format := range transfer.ExportFormats {
			whole[string(v.Reader())+format] = w.export(v, id, format)
		}
	}
	for _, v := range []*audience.View{w.local, w.remote} {
		for _, format := range transfer.ExportFormats {
			pieces, text, later := 0, "", "later, "+format+", "+string(v.Reader())
			for after := (transfer.ExportCursor{}); ; pieces++ {
				p, err := w.exporter.Export(t.Context(), v, id, format, after)
				must(t, err)
				if len(p.Text) > 2<<20 {
					t.Errorf("a piece has %d bytes", len(p.Text))
				}
				text += p.Text
				if !p.More {
					break
				}
				after = p.End
				w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user(later), user(later)}})
			}
			if pieces < 2 || strings.Contains(text, later) {
				t.Errorf("%s for a %s reader: %d pieces", format, v.Reader(), pieces)
			}
		}
	}
	other := open(t, chat.Limits{})
	other.now = w.now
	other.take(whole["local"+transfer.FormatJSON], transfer.JSONImportOptions{})
	if other.export(other.local, id, transfer.FormatJSON) != whole["local"+transfer.FormatJSON] {
		t.Error("a long conversation comes back otherwise")
	}
}

// TestCHAT26_MoreThanATransactionHoldsIsTakenInInGroups, and what an interrupted import has written the next one completes.
func TestCHAT26_MoreThanATransactionHoldsIsTakenInInGroups(t *testing.T) {
	transfer.SetSizes(t, 32<<10, 8<<10)
	w := open(t, chat.Limits{})
	long := strings.Repeat("x", 1<<10)
	id := ""
	for range 35 {
		id = w.say(w.local, chat.AppendRequest{ConversationID: id, Messages: []chat.Draft{user(long)}}).ConversationID
	}
	text := w.export(w.local, id, transfer.FormatJSON)
	other := open(t, chat.Limits{})
	other.now = w.now
	told := int64(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := transfer.ImportJSON(ctx, other.chat, other.local, strings.NewReader(text), int64(len(text)), transfer.JSONImportOptions{
		Progress: func(done, total int64) {
			if told = done; done > total*3/4 {
				cancel()
			}
		},
	})
	if fault.KindOf(err) != fault.Cancelled || told == 0 {
		t.Fatalf("error %v after %d", err, told)
	}
	other.sound(t)
	out := other.take(text, transfer.JSONImportOptions{})
	if !out.Begun || out.Known == 0 || out.Messages == 0 || out.Known+out.Messages != 35 {
		t.Errorf("imported %+v", out)
	}
	if other.export(other.local, id, transfer.FormatJSON) != text {
		t.Error("what was taken in in groups is otherwise")
	}
}

// TestCHAT21_ActionsGoThroughAnExport with what has become of them, and wait where they are imported as long as they
// did. What a later program says of one stays when somebody decides about it.
func TestCHAT21_ActionsGoThroughAnExport(t *testing.T) {
	w := open(t, chat.Limits{})
	turn, err := w.chat.Ask(t.Context(), w.local, chat.Question{Content: "What is to be done?"})
	must(t, err)
	until := w.now.Add(record.ActionTime)
	action := func(id, title string) record.ChatAction {
		return record.ChatAction{
			ID: id, Type: "createTask", Args: map[string]any{"title": title}, Status: record.ActionProposed, MessageID: turn.AnswerID, ExpiresAt: &until,
		}
	}
	_, err = w.chat.Answered(t.Context(), w.local, turn, &chat.Answer{
		Content: "This.", Finish: record.FinishComplete, Actions: []record.ChatAction{action("one", "Tar\n## 3. user\nthe roof"), action("two", "Feed")},
	})
	must(t, err)
	id := turn.Conversation.ID
	decide := func(action, status string) {
		t.Helper()
		_, err := w.chat.Decide(t.Context(), w.local, action, func(_ *kv.Tx, a *record.ChatAction, now time.Time) error {
			a.Status, a.DecidedAt = status, &now
			return nil
		})
		must(t, err)
		w.sound(t)
	}
	decide("one", record.ActionConfirmed)
	const readable = "> This.\n\nProposals:\n\n- confirmed: createTask {\"title\":\"Tar\\n## 3. user\\nthe roof\"}\n- proposed: createTask {\"title\":\"Feed\"}\n"
	if got := w.export(w.local, id, transfer.FormatMarkdown); !strings.HasSuffix(got, readable) {
		t.Errorf("the export ends with\n%s\nwant\n%s", got, readable)
	}
	text := w.export(w.local, id, transfer.FormatJSON)
	later := strings.Replace(text, `"args":{"title":"Feed"},`, `"args":{"title":"Feed","aside":{"x":[1]}},"sentBy":{"z":"later"},`, 1)
	_, err = w.chat.Delete(t.Context(), w.local, id)
	must(t, err)
	w.take(text, transfer.JSONImportOptions{})
	if again := w.export(w.local, id, transfer.FormatJSON); again != text {
		t.Errorf("the export was\n%s\nand is\n%s", text, again)
	}
	_, err = w.chat.Delete(t.Context(), w.local, id)
	must(t, err)
	w.take(later, transfer.JSONImportOptions{})
	a, err := w.chat.Action(t.Context(), w.local, "two")
	if err != nil || a.Status != record.ActionProposed {
		t.Fatalf("%+v, %v", a, err)
	}
	decide("two", record.ActionRejected)
	now := w.export(w.local, id, transfer.FormatJSON)
	for _, want := range []string{`"sentBy":{"z":"later"`, `"id":"two"`, `"status":"rejected"`, `"aside":{"x":[1]}`} {
		if !strings.Contains(now, want) {
			t.Errorf("no %s in\n%s", want, now)
		}
	}
	w.now = until
	w.take(strings.NewReplacer(`"`+id+`"`, `"other"`, `"id":"two"`, `"id":"three"`, `"id":"one"`, `"id":"four"`).Replace(text), transfer.JSONImportOptions{})
	if a, err := w.chat.Action(t.Context(), w.local, "three"); err != nil || a.Status != record.ActionExpired {
		t.Errorf("%+v, %v", a, err)
	}
}
