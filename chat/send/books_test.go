package send_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
)

// book puts a book of one section.
func (h *house) book(d books.Draft) {
	h.t.Helper()
	d.MimeType = "md"
	_, _, err := h.shelf.Put(context.Background(), h.local, d, func(string, int, int) {})
	must(h.t, err)
}

// passages are the citations of the passages that the model was shown.
func passages(t *turn.ChatTrace) (out []string) {
	for _, r := range t.References {
		if r.Kind == prompt.KindPassage {
			out = append(out, strings.TrimSpace(r.ID+" "+r.Origin+" "+r.Title+" "+r.Status))
		}
	}
	return out
}

// TestMEM69_ATraceNamesThePassages by how they are cited, as long as their book is there.
func TestMEM69_ATraceNamesThePassages(t *testing.T) {
	h := open(t)
	h.near.says(quiet)
	h.book(books.Draft{ID: "boats", Title: "Boats", Content: []byte("# Red\n\nThe red boat has six seats.\n")})
	res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
	if res.AssistantMessage.Private {
		t.Error("an answer that stood on a public book is private")
	}
	if got := passages(h.inspect(h.local, res.ConversationID, 0).Trace); !slices.Equal(got, []string{"boats.000000 search [Boats, Red] ok"}) {
		t.Errorf("%q", got)
	}
	if got := passages(h.inspect(h.remote, res.ConversationID, 0).Trace); !slices.Equal(got, []string{"boats.000000 search [Boats, Red] ok"}) {
		t.Errorf("a remote reader is told %q", got)
	}
	must(t, h.shelf.Remove(context.Background(), h.local, "boats"))
	if got := passages(h.inspect(h.local, res.ConversationID, 0).Trace); !slices.Equal(got, []string{"boats.000000 search  deleted"}) {
		t.Errorf("of a removed book: %q", got)
	}
}

func TestPRIV13_AnAnswerIsPrivateAsSoonAsTheBookIsThatItStoodOn(t *testing.T) {
	h := open(t)
	h.near.says(quiet)
	text := []byte("# Red\n\nThe red boat has zqbody seats.\n")
	h.book(books.Draft{ID: "boats", Title: "Boats", Content: text})
	res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
	other := h.send(turn.ChatSend{Text: "What is the capital of France?", Provider: "near"})
	if res.AssistantMessage.Private || !strings.Contains(res.Content, "zqbody") {
		t.Fatalf("private: %v, %s", res.AssistantMessage.Private, res.Content)
	}
	h.book(books.Draft{ID: "boats", Title: "Boats", Content: text, Private: true})
	private := func(id string) bool {
		return h.said(h.local, id)[1].Private
	}
	if !private(res.ConversationID) {
		t.Error("an answer that stood on a book is public, and the book is private")
	}
	if private(other.ConversationID) {
		t.Error("an answer that stood on no book is private")
	}
	must(t, h.shelf.Remove(t.Context(), h.local, "boats"))
	if !private(res.ConversationID) {
		t.Error("the answer is public again once the book is gone")
	}
}

// TestPRIV8_AMessageThatBecomesPrivateBetweenTwoTriesIsNotSentAgain: an earlier answer stood on a book that becomes private
// while the provider is busy.
func TestPRIV8_AMessageThatBecomesPrivateBetweenTwoTriesIsNotSentAgain(t *testing.T) {
	h := open(t)
	h.near.says(func(_ *provider.Request, to *provider.Reply) { to.Text("It has zqbody seats.") })
	text := []byte("# Red\n\nThe red boat has six seats.\n")
	h.book(books.Draft{ID: "boats", Title: "Boats", Content: text})
	res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
	asked := 0
	h.far.says(func(r *provider.Request, to *provider.Reply) {
		if asked++; asked > 1 {
			to.Text("Yes.")
			return
		}
		if !strings.Contains(r.Body, "zqbody") {
			t.Errorf("the first request lacks what is to be hidden: %s", r.Body)
		}
		h.book(books.Draft{ID: "boats", Title: "Boats", Content: text, Private: true})
		to.Status(503, "busy")
	})
	h.send(turn.ChatSend{ConversationID: res.ConversationID, Text: "Really?", Provider: "far"})
	if bodies := h.far.asked(); len(bodies) != 2 || holdsCanary(bodies[1]) {
		t.Errorf("%d requests, the last %q", len(bodies), around(bodies[len(bodies)-1]))
	}
}

// TestPRIV13_AnswersOfAFormerVersionStandOnWhatTheirTracesName: it did not store which books an answer stood on.
func TestPRIV13_AnswersOfAFormerVersionStandOnWhatTheirTracesName(t *testing.T) {
	for name, before := range map[string]bool{"the book is private": true, "the book becomes private": false} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.near.says(quiet)
			text := []byte("# Red\n\nThe red boat has zqbody seats.\n")
			h.book(books.Draft{ID: "boats", Title: "Boats", Content: text})
			res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
			other := h.send(turn.ChatSend{Text: "What is the capital of France?", Provider: "near"})
			must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error {
				for key, m := range chat.Messages.All(tx, "") {
					delete(m.Members, chat.StandsOnMember)
					if err := chat.Messages.Put(tx, key, m); err != nil {
						return err
					}
				}
				return tx.Err()
			}))
			added, err := h.memory.Add(t.Context(), h.local, []memory.Draft{{Statement: "The red boat has zqbody seats", Source: record.MemorySource{
				Kind: "extraction", ConversationID: res.ConversationID, MessageIDs: []string{res.AssistantMessage.ID},
			}}})
			must(t, err)
			makePrivate := func() { h.book(books.Draft{ID: "boats", Title: "Boats", Content: text, Private: true}) }
			if before {
				makePrivate()
			}
			private := func(id string) bool { return h.said(h.local, id)[1].Private }
			if private(res.ConversationID) {
				t.Fatal("the answer is private already")
			}
			for range 2 {
				h.chat, err = chat.Open(h.db, chat.Options{Memories: h.memory, Books: h.shelf, Remote: h.remote})
				must(t, err)
			}
			if !before {
				if private(res.ConversationID) {
					t.Error("the answer is private before the book is")
				}
				makePrivate()
			}
			if !private(res.ConversationID) || h.memory.Numbered(h.remote, added[0].Memory.ID) != 0 {
				t.Error("the answer, or what was made of it, is public, and the book is private")
			}
			if private(other.ConversationID) {
				t.Error("an answer that stood on no book is private")
			}
		})
	}
}

// TestPRIV4_AnAnswerThatStoodOnAPrivateBookIsPrivate, and a remote model gets none of the book.
func TestPRIV4_AnAnswerThatStoodOnAPrivateBookIsPrivate(t *testing.T) {
	h := open(t)
	h.near.says(quiet)
	h.book(books.Draft{ID: "boats", Title: "Zqtitle boats", Content: []byte("# Red\n\nThe red boat has zqbody seats.\n"), Private: true})
	res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
	if !res.AssistantMessage.Private || !strings.Contains(res.Content, "zqbody") {
		t.Errorf("private: %v, %s", res.AssistantMessage.Private, res.Content)
	}
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("Six.") })
	res = h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "far"})
	if body := h.far.last(t).Body; canary.MatchString(body) {
		t.Error(body)
	}
	if res.AssistantMessage.Private || len(passages(h.inspect(h.local, res.ConversationID, 0).Trace)) > 0 {
		t.Error("an answer of a model that was shown no private book is private, or names it")
	}
	// Of a book of a conversation, an answer in another knows nothing.
	h.book(books.Draft{ID: "own", Title: "Own", Content: []byte("# Blue\n\nThe blue boat has nine oars.\n"), ConversationID: res.ConversationID})
	other := h.send(turn.ChatSend{Text: "How many oars has the blue boat?", Provider: "near"})
	mine := h.send(turn.ChatSend{ConversationID: res.ConversationID, Text: "How many oars has the blue boat?", Provider: "near"})
	if strings.Contains(other.Content, "nine") || !strings.Contains(mine.Content, "nine") {
		t.Errorf("%s\n%s", other.Content, mine.Content)
	}
	if got := passages(h.inspect(h.local, res.ConversationID, 0).Trace); !slices.Contains(got, "own.000000 search [Own, Blue] ok") {
		t.Errorf("%q", got)
	}
}
