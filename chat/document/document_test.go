package document_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM12_TheNextCallFindsAMessage(t *testing.T) {
	h := open(t)
	const said, told = "I swim in the lake on Sundays.", "The lake is cold in March."
	id := h.say("", user(said), answer(told))
	h.expect("lake", []string{said, told}, []string{said, told})
	h.expect("lake role:user", []string{said}, []string{said})
	h.expect("lake role:assistant", []string{told}, []string{told})
	h.expect("lake role:system", none, none)
	more := "The lake has warmed up."
	h.say(id, user(more))
	h.expect("warmed", []string{more}, []string{more})
	h.change(id, chat.Change{Archived: ptr(true)})
	h.expect("warmed", none, none)
	all := document.Keep(func(conversationID string, m *chat.Message) bool {
		return conversationID == id && m.Role == record.RoleUser
	})
	if got := h.found(search.Request{Query: "lake", Limit: 5, Keep: all}); !slices.Equal(got, []string{said, more}) {
		t.Errorf("found %q in an archived conversation", got)
	}
	h.change(id, chat.Change{Archived: ptr(false)})
	h.expect("warmed", []string{more}, []string{more})
	h.delete(id)
	if got := h.found(search.Request{Query: "lake", Limit: 5, Keep: func(text.Doc) bool { return true }}); len(got) > 0 {
		t.Errorf("found %q of a deleted conversation", got)
	}
	if n, bytes := h.source.Count(); n != 0 || bytes != 0 {
		t.Errorf("%d messages of %d bytes are left", n, bytes)
	}
}

func TestMEM13_TheTierOfAMessageIsComputed(t *testing.T) {
	h := open(t)
	h.say("", user("I saw a heron."))
	h.expect("heron tier:working", []string{"I saw a heron."}, []string{"I saw a heron."})
	h.expect("heron tier:history", none, none)
	h.now = h.now.Add(24 * time.Hour)
	h.expect("heron tier:working", none, none)
	h.expect("heron tier:history", []string{"I saw a heron."}, []string{"I saw a heron."})
}

func TestMEM13_CodeWeighsLess(t *testing.T) {
	h := open(t)
	code := "Look at this:\n\n```go\nfunc heron() {}\n```\n"
	h.say("", user(code), answer("Look at this: func heron() {}"))
	res, err := h.index.Search(t.Context(), search.Request{Query: "heron", Limit: 5, Mode: search.Lexical})
	searchtest.Must(t, err)
	if len(res.Hits) != 2 || res.Hits[1].Doc.Plain() != code || res.Hits[0].Score <= res.Hits[1].Score {
		t.Errorf("found %+v", res.Hits)
	}
	chunks := 0
	for d := range h.source.All() {
		for _, c := range d.Chunks() {
			chunks++
			if strings.Contains(d.Plain(), "```") && strings.Contains(c.Text, "heron") {
				t.Errorf("the code has a vector: %q", c.Text)
			}
		}
	}
	if chunks != 2 {
		t.Errorf("%d chunks", chunks)
	}
}

func TestMEM13_AMessageOfCodeAloneHasAVector(t *testing.T) {
	h := open(t)
	h.say("", user("```\nfunc heron() {}\n```"))
	for d := range h.source.All() {
		if list := d.Chunks(); len(list) != 1 || !strings.Contains(list[0].Text, "heron") {
			t.Errorf("chunks %q", list)
		}
	}
}

func TestPRIV8_ARemoteReaderFindsNoPrivateMessage(t *testing.T) {
	h := open(t)
	const open, hidden = "I own a boat.", "The boat is insured."
	id := h.say("", user(open), secret(hidden))
	all := []string{open, hidden}
	h.expect("boat", all, []string{open})
	h.change(id, chat.Change{Settings: chat.Settings{Private: ptr(true)}})
	h.expect("boat", all, none)
	more := "The boat leaks."
	h.say(id, user(more))
	h.expect("leaks", []string{more}, none)
	h.change(id, chat.Change{Settings: chat.Settings{Private: ptr(false)}})
	h.expect("boat", append(all, more), []string{open, more})
	h.delete(id)
	h.expect("boat", none, none)
	h.say("", secret("Nobody knows of the canoe."))
	h.expect("canoe", []string{"Nobody knows of the canoe."}, none)
}

func TestPRIV8_ARemoteReaderFindsNoMessageByAPrivateName(t *testing.T) {
	h := open(t)
	h.note("z", "Zanzibar Project", false)
	said := "The deadline of [[Zanzibar Project]] is in May."
	id := h.say("", user(said))
	h.expect("zanzibar", []string{said}, []string{said})
	h.note("z", "Zanzibar Project", true)
	h.expect("zanzibar", []string{said}, none)
	if found := h.finds("deadline", true); len(found) != 1 || strings.Contains(found[0], "Zanzibar") {
		t.Errorf("found %q", found)
	}
	more := "And that of [[Zanzibar Project]] in June?"
	h.say(id, user(more))
	h.expect("zanzibar", []string{more, said}, none)
	h.note("z", "Zanzibar Project", false)
	h.expect("zanzibar", []string{more, said}, []string{more, said})
}

// TestMEM12_AsAScanOfTheStore compares what the index finds, for both readers, with the messages that
// hold the word as each of them is shown it.
func TestMEM12_AsAScanOfTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		searchtest.Must(t, err)
		defer func() { searchtest.Must(t, db.Close()) }()
		h := over(t, db, search.Options{})
		names := []string{"alder", "birch", "cedar"}
		for i, name := range names {
			h.note(fmt.Sprint("n", i), name, rapid.Bool().Draw(t, "private note"))
		}
		ids := []string{}
		said := 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			i := rapid.IntRange(0, 2).Draw(t, "which")
			at := -1
			if len(ids) > 0 {
				at = rapid.IntRange(0, len(ids)-1).Draw(t, "conversation")
			}
			step := rapid.SampledFrom([]string{"begin", "say", "say", "note", "private", "archive", "delete"}).Draw(t, "step")
			d := user(fmt.Sprintf("Message %d about [[%s]].", said, names[i]))
			d.Private = rapid.Bool().Draw(t, "private message")
			yes := rapid.Bool().Draw(t, "yes")
			said++
			switch {
			case step == "note":
				h.note(fmt.Sprint("n", i), names[i], yes)
			case step == "begin" || at < 0:
				ids = append(ids, h.say("", d))
			case step == "say":
				h.say(ids[at], d, answer("Message %d.", said))
				said++
			case step == "private":
				h.change(ids[at], chat.Change{Settings: chat.Settings{Private: &yes}})
			case step == "archive":
				h.change(ids[at], chat.Change{Archived: &yes})
			case step == "delete":
				h.delete(ids[at])
				ids = slices.Delete(ids, at, at+1)
			}
			h.asTheStore(ids, append(names, "message")...)
		}
	})
}

// TestPRIV8_CommitsAtOnce has messages added while their conversation becomes private and public: a
// commit is prepared before those ahead of it are applied.
func TestPRIV8_CommitsAtOnce(t *testing.T) {
	h := open(t)
	id := h.say("", user("Message about the alder."))
	h.finds("message", true)
	for round := range 20 {
		var both sync.WaitGroup
		both.Go(func() {
			for i := range 5 {
				h.say(id, user(fmt.Sprintf("Message %d of round %d.", i, round)))
			}
		})
		both.Go(func() {
			for i := range 5 {
				h.change(id, chat.Change{Settings: chat.Settings{Private: ptr((round+i)%2 == 0)}})
			}
		})
		both.Wait()
		res, err := h.index.Search(t.Context(), search.Request{Query: "message", Limit: 200, Public: true})
		searchtest.Must(t, err)
		if want := len(h.shown(h.remote, []string{id}, "message")); len(res.Hits) != want {
			t.Fatalf("round %d: a remote reader finds %d messages, want %d", round, len(res.Hits), want)
		}
	}
}

func TestPRIV8_ARemoteReaderFindsNoHiddenMessageByItsMeaning(t *testing.T) {
	bags := &embedtest.Bags{Name: "b", Remote: true}
	h := over(t, searchtest.Open(t, kv.InMemory), search.Options{Embedder: bags})
	id := h.say("", user("I take aspirin."), secret("I take quinine."))
	h.say("", answer("Aspirin is white."))
	for _, step := range []struct {
		private bool
		want    int
	}{{false, 2}, {true, 1}, {false, 2}} {
		bags.Taken()
		h.change(id, chat.Change{Settings: chat.Settings{Private: &step.private}})
		searchtest.Until(t, "vectors", func() bool { return h.index.Waiting() == 0 })
		got := h.found(search.Request{Query: "take aspirin", Mode: search.Semantic, Limit: 5, Public: true})
		if len(got) != step.want {
			t.Errorf("private %v: found %q", step.private, got)
		}
		for _, sent := range bags.Taken() {
			if strings.Contains(fmt.Sprint(sent), "quinine") {
				t.Errorf("sent to a remote embedder: %q", sent)
			}
		}
	}
	h.change(id, chat.Change{Settings: chat.Settings{Private: ptr(true)}})
	bags.Taken()
	h.say(id, user("I take paracetamol."))
	searchtest.Until(t, "vectors", func() bool { return h.index.Waiting() == 0 })
	if sent := bags.Taken(); len(sent) > 0 {
		t.Errorf("sent to a remote embedder: %q", sent)
	}
}

func TestMEM12_AStoreThatIsOpenedAgain(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	var ids []string
	for start := range 2 {
		db, err := kv.Open(dir, kv.Options{})
		searchtest.Must(t, err)
		h := over(t, db, search.Options{Dir: files})
		if start == 0 {
			ids = append(ids, h.say("", user("I own a boat."), secret("The boat is insured.")))
			ids = append(ids, h.say("", secret("The boat leaks.")), h.say("", user("A boat is archived.")))
			h.change(ids[2], chat.Change{Archived: ptr(true)})
		}
		h.asTheStore(ids, "boat", "leaks", "insured", "archived")
		searchtest.Must(t, db.Close())
	}
}

func TestMEM12_AConversationThatBecomesPrivateChangesItsMessages(t *testing.T) {
	h := open(t)
	var told, revealed []string
	h.DB.OnCommit(func(cs *kv.ChangeSet) {
		revealed = h.source.Revealed(cs)
		for _, c := range h.source.Changes(cs) {
			_, m := document.Message(c.Now)
			told = append(told, fmt.Sprint(m.Content, " ", c.Old != nil && c.Old.Private(), " ", c.Now.Private()))
			if got := h.source.Get(c.ID); got != c.Now {
				t.Errorf("Get: %v, want %v", got, c.Now)
			}
		}
	})
	id := h.say("", user("One."), secret("Two."))
	if want := []string{"One. false false", "Two. false true"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	for _, step := range []struct {
		private bool
		want    []string
	}{{true, []string{"One. false true"}}, {true, nil}, {false, []string{"One. true false"}}} {
		told, revealed = nil, nil
		h.change(id, chat.Change{Settings: chat.Settings{Private: &step.private}})
		if !slices.Equal(told, step.want) {
			t.Errorf("private %v: told %q, want %q", step.private, told, step.want)
		}
		// Who asked for the changes before an earlier commit was applied does not know all messages.
		if len(revealed) != len(step.want) {
			t.Errorf("private %v: revealed %q", step.private, revealed)
		}
	}
}

// TestPRIV8_AMessageWithoutItsConversation is of a store that lost a record.
func TestPRIV8_AMessageWithoutItsConversation(t *testing.T) {
	h := open(t)
	id := h.say("", user("I own a boat."))
	h.finds("boat", true)
	searchtest.Must(t, h.DB.Update(context.Background(), func(tx *kv.Tx) error {
		return chat.Conversations.Delete(tx, id)
	}))
	h.expect("boat", none, none)
	seen := audience.Open(h.DB, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	src, err := document.New(h.DB, seen, document.Options{})
	searchtest.Must(t, err)
	for d := range src.All() {
		if !d.Private() || src.Public(d) != nil || src.Usual(d) {
			t.Errorf("%q is shown", d.Plain())
		}
	}
}
