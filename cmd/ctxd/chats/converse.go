package chats

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/shell"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// conversing is a conversation at a prompt.
type conversing struct {
	*teller
	prompt *shell.Prompt

	failed   *turn.ChatSend        // what was said last and has no whole answer; nil: nothing
	replaces string                // id of the message that the next one takes the place of
	branches []protocol.ChatBranch // as /branches has listed them
	branch   string                // id of a message on the branch that /branch has shown; "": the newest
	parent   string                // id of the last message of that branch, which the next one follows
	waiting  []record.ChatAction   // as they were listed last, for /confirm and /reject
	files    []turn.ChatFile       // that go with the next message, as the images do
	images   []turn.ChatImage
}

// errQuit is the end of a conversation that was asked for.
var errQuit = errors.New("quit")

// converse asks for messages and has them answered, until the person leaves.
func (t *teller) converse() error {
	s := &conversing{teller: t}
	t.prompts = true
	if err := t.resume(); err != nil {
		return err
	}
	if err := t.checkProvider(t.Ctx, t.Provider); err != nil { // nobody types in vain
		return err
	}
	file := ""
	if conf, err := t.Load(nil); err == nil { // who dials says what can't be used
		file = conf.ChatHistoryPath()
	}
	if err := s.welcome(); err != nil {
		return err
	}
	history, err := shell.OpenHistory(file, "CTXD_CHAT_HISTORY")
	if err != nil {
		t.Fail(err) // the prompt works without
	}
	s.prompt = &shell.Prompt{
		Streams: t.Streams, Ctx: t.Ctx, Interrupts: t.Interrupts, History: history,
		Complete: s.complete, Finished: func(string) bool { return true },
	}
	err = s.loop(history)
	if err == nil && t.conversation != nil && !t.JSON {
		s.leave()
	}
	return err
}

func (s *conversing) loop(history *shell.History) error {
	interrupted, empty := false, false
	for {
		text, err := s.prompt.Read("› ")
		switch {
		case errors.Is(err, shell.ErrInterrupted):
			if interrupted && text == "" {
				return nil
			}
			interrupted, empty, s.replaces = true, false, ""
			if text == "" {
				s.faint("Ctrl-C again leaves")
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		interrupted = false
		if strings.TrimSpace(text) == "" {
			if empty {
				return nil
			}
			empty = true
			continue
		}
		empty = false
		if err := history.Add(text); err != nil {
			s.Fail(err)
			history.Path = "" // it is said once
		}
		if err := s.enter(text); errors.Is(err, errQuit) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// faint says something by the way.
func (s *conversing) faint(text string) {
	s.Out.Say(term.Styled(term.Faint, text))
}

// welcome says which conversation it is, and shows how it has ended.
func (s *conversing) welcome() error {
	if s.JSON {
		return nil
	}
	if s.conversation == nil {
		s.Out.Say(term.Styled(term.Strong, "ctxd chat"),
			term.Styled(term.Faint, "  a new conversation; /help helps, two empty lines leave"))
		return nil
	}
	s.Out.Say(name(s.conversation)...)
	messages, _, err := s.messages(s.Ctx, "")
	if err != nil {
		return err
	}
	s.show(messages[max(0, len(messages)-2):])
	if err := s.await(s.Ctx); err != nil {
		return err
	}
	if len(s.waiting) > 0 {
		s.drawNumbered()
		s.Out.Say()
	}
	return nil
}

// leave says how to come back.
func (s *conversing) leave() {
	if s.conversation.Handle == "" {
		_ = s.use(s.Ctx, s.conversation.ID) // it has an id all the same
	}
	ref := s.conversation.Handle
	if ref == "" {
		ref = s.conversation.ID
	}
	s.faint("ctxd chat --session " + term.ShellQuoted(ref) + " goes on with it")
}

// messages returns all messages of a branch, "" for the newest, and where others begin.
func (s *conversing) messages(ctx context.Context, branch string) (list []*record.ChatMessage, others []protocol.ChatBranch, err error) {
	params := protocol.ChatGet{Ref: s.conversation.ID, Limit: pageSize, Branch: branch}
	for {
		var page protocol.ChatPage
		if err := s.call(ctx, "chat.get", params, &page); err != nil {
			return nil, nil, err
		}
		if params.Cursor == "" {
			others = page.Branches
			s.conversation = page.Conversation
		}
		list = append(list, page.Messages...)
		if page.NextCursor == "" {
			return list, others, nil
		}
		params.Cursor = page.NextCursor
	}
}

// show shows messages that were said before.
func (s *conversing) show(list []*record.ChatMessage) {
	for _, m := range list {
		if m.Role != record.RoleAssistant {
			s.Out.Say()
			mark := "› "
			if m.Role == record.RoleSystem {
				mark = "# "
			}
			for _, l := range term.Wrap(term.CleanLines(m.Content), s.Out.Columns()-2) {
				s.Out.Say(term.Styled(term.Accent, mark), term.Text(l))
				mark = "  "
			}
			continue
		}
		view := newAnswerView(s.Streams, s.Reasoning)
		view.text(m.Content)
		_ = view.end() // the last flush tells
		if m.Finish != record.FinishComplete {
			s.Out.Say(term.Styled(term.Warn, "the answer is "+m.Finish))
		}
		for i := range m.Actions {
			drawState(s.Out, "", &m.Actions[i])
		}
	}
	s.Out.Say()
}

// enter does what was entered, and shows what goes wrong. The error ends the conversation.
func (s *conversing) enter(text string) error {
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	defer s.Interrupts.Divert(cancel)()
	var err error
	told := false
	if isCommand(text) {
		err = s.command(ctx, strings.TrimSpace(text))
	} else {
		told, err = s.say(ctx, strings.TrimPrefix(text, "/"))
	}
	if flushed := s.Out.Flush(); flushed != nil {
		return flushed
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errQuit):
		return err
	case s.Ctx.Err() != nil:
		return s.Ctx.Err()
	case ctx.Err() != nil:
		if !s.ended && !s.JSON {
			s.Err.Say(term.Styled(term.Warn, "the answer is cancelled"))
		}
		return nil
	}
	s.Fail(err)
	if s.failed != nil && !told {
		s.prompt.Typed = s.failed.Text // nothing that was typed is lost
	}
	return nil
}

// isCommand reports whether a text is a command: two slashes begin a message with one.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
}

// say says something. A text that was said before in vain is the same message, which is stored once.
func (s *conversing) say(ctx context.Context, text string) (told bool, err error) {
	m := s.message(text)
	m.Replaces, s.replaces = s.replaces, ""
	if m.Replaces == "" {
		m.ParentID = s.parent
	}
	m.Files, m.Images = s.files, s.images
	if s.failed != nil && s.failed.Text == text && s.failed.Regenerate == "" {
		m = *s.failed
	}
	told, err = s.tell(ctx, m)
	if err == nil {
		s.files, s.images = nil, nil
	}
	return told, err
}

func (s *conversing) tell(ctx context.Context, m turn.ChatSend) (told bool, err error) {
	s.failed = &m
	sent, told, err := s.ask(ctx, m)
	if err != nil {
		return told, err
	}
	s.failed, s.branch, s.parent = nil, "", "" // what was said last is the end of the newest branch
	if sent.AssistantMessage != nil && sent.AssistantMessage.Finish != record.FinishComplete {
		s.failed = &m
	}
	if len(sent.Actions) > 0 && !s.JSON {
		if err := s.await(ctx); err != nil {
			return true, err
		}
		s.Out.Say()
		s.drawNumbered()
	}
	if !s.JSON {
		s.Out.Say()
	}
	return told, nil
}

// lastQuestion returns what the user said last.
func (s *conversing) lastQuestion(ctx context.Context) (*record.ChatMessage, error) {
	if s.conversation == nil {
		return nil, fault.New(fault.Invalid, "nothing was said yet").WithHint("type a message")
	}
	list, _, err := s.messages(ctx, s.branch)
	if err != nil {
		return nil, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role == record.RoleUser {
			return list[i], nil
		}
	}
	return nil, fault.New(fault.Invalid, "nothing was said yet").WithHint("type a message")
}
