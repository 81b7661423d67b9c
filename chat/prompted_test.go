package chat_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestCHAT3_TitlesAreTheBeginningOfAMessage in one line, as a plain model makes them of all of it.
func TestCHAT3_TitlesAreTheBeginningOfAMessage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune("ab é語👍🏽")), 0, 30, -1), rapid.SampledFrom([]string{" ", "\n\n", "\u3000", "\t"}),
		), 0, 20).Draw(rt, "text"), "")
		want := []rune(strings.Join(strings.Fields(text), " "))
		if len(want) > 60 {
			want = []rune(strings.TrimRight(string(want[:59]), " ") + "…")
		}
		if got := chat.TitleOf(text); got != string(want) {
			rt.Fatalf("%q is called %q, want %q", text, got, string(want))
		}
	})
	long := strings.Repeat("語", 5000)
	if got := chat.TitleOf(long); utf8.RuneCountInString(got) != 60 {
		t.Errorf("%q", got)
	}
}

// TestCHAT3_PromptsAskForWhatIsShown: what a prompt is told of conversations is what chat.get says of them to the same
// reader, after each change.
func TestCHAT3_PromptsAskForWhatIsShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, kv.InMemory, chat.Limits{})
		defer func() { _ = w.db.Close() }()
		ctx := t.Context()
		_, err := w.notes.Put(ctx, notes.Draft{Title: "Secret Plan", Private: true}, nil)
		must(rt, err)
		ids := []string{"none"}
		text := func() string {
			return rapid.SampledFrom([]string{"", "hello there", "about [[Secret Plan]] and more"}).Draw(rt, "text")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"say": func(rt *rapid.T) {
				said := chat.AppendRequest{ConversationID: rapid.SampledFrom(ids).Draw(rt, "conversation")}
				if said.ConversationID == ids[0] {
					said.ConversationID, said.Title = "", text()
				}
				d := user("said: " + text())
				d.Private = rapid.Bool().Draw(rt, "private")
				said.Messages = []chat.Draft{d}
				w.now = w.now.Add(time.Second)
				added, err := w.chat.Append(ctx, w.local, said)
				if fault.KindOf(err) == fault.NotFound {
					return // it was deleted
				}
				must(rt, err)
				if said.ConversationID == "" {
					ids = append(ids, added.ConversationID)
				}
			},
			"call": func(rt *rapid.T) {
				id, title := rapid.SampledFrom(ids).Draw(rt, "conversation"), text()
				w.now = w.now.Add(time.Second)
				_, err := w.chat.Update(ctx, w.local, id, chat.Change{Settings: chat.Settings{Title: &title}})
				if err != nil && fault.KindOf(err) != fault.NotFound && fault.KindOf(err) != fault.Invalid {
					rt.Fatal(err)
				}
			},
			"delete": func(rt *rapid.T) {
				_, err := w.chat.Delete(ctx, w.local, rapid.SampledFrom(ids).Draw(rt, "conversation"))
				if err != nil && fault.KindOf(err) != fault.NotFound {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				for _, v := range []*audience.View{w.local, w.remote} {
					titles, err := w.chat.Titles(ctx, v, ids)
					must(rt, err)
					for i, id := range ids {
						var want struct {
							title    string
							messages int
							at       time.Time
						}
						c, err := w.chat.Get(ctx, v, id)
						if err == nil {
							want.title, want.messages, want.at = c.Title, c.Messages, c.UpdatedAt
						}
						messages, at, err := w.chat.Last(ctx, v, id)
						must(rt, err)
						if titles[i] != want.title || messages != want.messages || !at.Equal(want.at) {
							rt.Fatalf("%s is %q with %d messages, the last at %v; shown is %+v", id, titles[i], messages, at, want)
						}
						if c == nil || c.Handle == "" {
							continue
						}
						if again, _, err := w.chat.Last(ctx, v, c.Handle); err != nil || again != messages {
							rt.Fatalf("%d messages by the handle, %d by the id (%v)", again, messages, err)
						}
					}
				}
			},
		})
	})
}
