package chats

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// asking is how a model is asked.
type asking struct {
	Session   string         `short:"s" placeholder:"CONVERSATION" help:"Id or handle of the conversation to go on with. Default: a new one."`
	Last      bool           `short:"l" help:"Go on with the conversation that was changed last."`
	Provider  string         `placeholder:"NAME" help:"Which provider answers. Default: that of the conversation, else chat.provider."`
	Model     string         `short:"m" placeholder:"NAME" help:"Which of its models. Default: that of the conversation, else chat.model."`
	System    string         `placeholder:"TEXT" help:"What the model is told before everything else, in a new conversation."`
	Private   bool           `help:"Keep what is said from remote models, and a new conversation with it. The provider must be local."`
	NoTools   bool           `help:"Let the model call no tools."`
	Memories  term.CountFlag `from:"0" to:"20" default:"5" placeholder:"N" help:"Memories and messages that a search adds to the prompt, 0 to 20. Default: 5."`
	Reasoning bool           `help:"Show all that the model thinks before it answers, not only its first line."`
}

// teller says something in a conversation and shows the answers. It is used by one goroutine.
type teller struct {
	*Options
	asking

	conversation *record.Conversation // nil before anything was said in a new one
	fresh        protocol.ChatPut     // how a new one is made
	client       *client.Client       // nil before the first call
	deltas       chan turn.ChatDelta
	over         chan struct{} // closed when nobody takes deltas of the connection any more
	ended        bool          // it was shown how the last answer ended
	prompts      bool          // a person is asked for messages, and is shown what was proposed behind each answer
}

func (c *asking) teller(a *Options) *teller {
	return &teller{Options: a, asking: *c, fresh: c.fresh()}
}

// fresh is how a new conversation is made: who answers first does so from then on.
func (c *asking) fresh() protocol.ChatPut {
	return protocol.ChatPut{SystemPrompt: c.System, Private: c.Private, Provider: c.Provider, Model: c.Model}
}

// maxWaiting is how many deltas wait to be drawn. Beyond that the daemon joins what it has not sent.
const maxWaiting = 256

// conn returns the connection, a new one when there is none or the daemon has ended it.
func (t *teller) conn() (*client.Client, error) {
	if t.client != nil {
		select {
		case <-t.client.Done():
			t.close()
		default:
			return t.client, nil
		}
	}
	deltas, over := make(chan turn.ChatDelta, maxWaiting), make(chan struct{})
	opts := client.Options{OnNotify: func(method string, params json.RawMessage) {
		var d turn.ChatDelta
		if method != protocol.NotifyChatDelta || json.Unmarshal(params, &d) != nil {
			return
		}
		select {
		case deltas <- d:
		case <-over:
		}
	}}
	cl, err := t.DialWith(opts)
	if err != nil {
		return nil, err
	}
	t.client, t.deltas, t.over = cl, deltas, over
	return cl, nil
}

func (t *teller) close() {
	if t.client != nil {
		close(t.over)
		_ = t.client.Close() // the answers are here
		t.client = nil
	}
}

func (t *teller) call(ctx context.Context, method string, params, result any) error {
	cl, err := t.conn()
	if err != nil {
		return err
	}
	return cl.Call(ctx, method, params, result)
}

// resume finds the conversation to go on with.
func (t *teller) resume() error {
	if t.Session != "" && t.Last {
		return term.Misuse("--last cannot be combined with --session", "ctxd chat --last")
	}
	if t.Session == "" && !t.Last {
		return nil
	}
	if t.System != "" {
		return term.Misuse("--system is for a new conversation", "ctxd chat set CONVERSATION --system-prompt TEXT")
	}
	if t.Last {
		var page protocol.Conversations
		if err := t.call(t.Ctx, "chat.list", protocol.ChatList{Page: protocol.Page{Limit: 1}}, &page); err != nil {
			return err
		}
		if len(page.Conversations) == 0 {
			return term.NotFound("conversation", "--last").WithHint("leave out --last to begin one")
		}
		t.conversation = page.Conversations[0]
		return nil
	}
	return t.use(t.Ctx, t.Session)
}

// use goes on with a conversation.
func (t *teller) use(ctx context.Context, ref string) error {
	cl, err := t.conn()
	if err != nil {
		return err
	}
	found, err := connect.FindConversation(ctx, cl, ref)
	if err == nil {
		t.conversation = found
	}
	return err
}

// message makes a message of what was typed.
func (t *teller) message(text string) turn.ChatSend {
	memories, tools := int(t.Memories), !t.NoTools
	return turn.ChatSend{
		Text: text, ClientMessageID: uuid.NewString(), Provider: t.Provider, Model: t.Model, Private: t.Private,
		Memories: &memories, Tools: &tools,
	}
}

// begin makes a new conversation where chat.send could not make one that is so. Its handle is made of the text, as if
// that were its title; it is called by its message once that is there.
func (t *teller) begin(ctx context.Context, text string) error {
	f := t.fresh
	if f.Title == "" && f.SystemPrompt == "" && f.Provider == "" && f.Model == "" &&
		len(f.PinnedMemoryIDs)+len(f.PinnedNoteIDs) == 0 {
		return nil // a conversation that begins with a private message is private
	}
	lent := f.Title == ""
	if lent {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		f.Title, _ = term.CutColumns(first, titleColumns)
	}
	var made record.Conversation
	if err := t.call(ctx, "chat.put", f, &made); err != nil {
		return err
	}
	t.conversation = &made
	if !lent {
		return nil
	}
	none := "" // before the answer: a title that a model makes of it is for what was not called yet
	return t.call(ctx, "chat.patch", protocol.ChatPatch{ID: made.ID, Title: &none}, nil)
}

// titleColumns is how much of a message its conversation is called by.
const titleColumns = 60

// ask has a message answered and shows the answer as it comes. told reports whether a part of it came.
func (t *teller) ask(ctx context.Context, m turn.ChatSend) (sent *turn.ChatSent, told bool, err error) {
	if t.conversation == nil {
		if err = t.begin(ctx, m.Text); err != nil {
			return nil, false, err
		}
	}
	if t.conversation != nil {
		m.ConversationID = t.conversation.ID
	}
	cl, err := t.conn()
	if err != nil {
		return nil, false, err
	}
	sent = &turn.ChatSent{}
	result := make(chan error, 1)
	t.discard() // of an answer that was given up
	go func() { result <- cl.Call(ctx, "chat.send", m, sent) }()
	view := newAnswerView(t.Streams, t.Reasoning)
	view.lists = t.prompts
	err = t.follow(view, result)
	t.ended = view.done
	if err != nil {
		t.keepID(err)
		if ctx.Err() != nil && t.Ctx.Err() == nil {
			t.keepStopped(&m)
		}
		if ctx.Err() == nil {
			err = t.Lost(cl, err)
		}
		return nil, view.began, err
	}
	if t.conversation == nil {
		t.conversation = &record.Conversation{ID: sent.ConversationID}
	}
	if t.JSON {
		return sent, true, jsonLine(t.Out, sent)
	}
	if !view.began { // it was stored
		view.text(sent.Content)
		err = view.end()
	}
	if err == nil {
		err = t.drawReferences(ctx, sent)
	}
	return sent, true, err
}

// drawReferences lists what an answer stands on.
func (t *teller) drawReferences(ctx context.Context, sent *turn.ChatSent) error {
	if len(sent.References) == 0 || sent.AssistantMessage == nil {
		return nil
	}
	res, err := referencesOf(ctx, t.call, sent.ConversationID, sent.AssistantMessage.ID)
	if err != nil || len(res.Items) == 0 {
		return err
	}
	t.Out.Say()
	drawReferences(t.Out, "", res, referencesShown)
	return t.Out.Flush()
}

func (t *teller) discard() {
	for {
		select {
		case <-t.deltas:
		default:
			return
		}
	}
}

// follow shows deltas until the call that they belong to is over.
func (t *teller) follow(view *answerView, result <-chan error) error {
	var broken error // the screen is
	show := func(d turn.ChatDelta) {
		if t.conversation == nil {
			t.conversation = &record.Conversation{ID: d.ConversationID}
		}
		if broken == nil {
			broken = view.show(&d)
		}
	}
	for {
		select {
		case d := <-t.deltas:
			show(d)
		case err := <-result:
			for {
				select { // the deltas of a call come before its result
				case d := <-t.deltas:
					show(d)
					continue
				default:
				}
				break
			}
			if ended := view.end(); broken == nil {
				broken = ended
			}
			if err == nil {
				err = broken
			}
			return err
		}
	}
}

// keepID remembers a new conversation in which the message was stored, but not answered.
func (t *teller) keepID(err error) {
	var known *fault.Error
	if t.conversation == nil && errors.As(err, &known) && known.Ref != "" {
		t.conversation = &record.Conversation{ID: known.Ref}
	}
}

// keepStopped remembers a new conversation whose first answer was stopped before anything of it came: a call that is
// withdrawn says nothing. The message is the same one, so it is stored once.
func (t *teller) keepStopped(m *turn.ChatSend) {
	if t.conversation != nil || m.ClientMessageID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Ctx, completeTimeout)
	defer cancel()
	var kept protocol.ChatAppended
	err := t.call(ctx, "chat.append", protocol.ChatAppend{Messages: []protocol.ChatMessageDraft{{
		Role: record.RoleUser, Content: m.Text, ClientMessageID: m.ClientMessageID, Private: m.Private,
	}}}, &kept)
	if err == nil { // else the next message begins another one
		t.conversation = &record.Conversation{ID: kept.ConversationID}
	}
}
