package chats

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// slashCommand is a command of the prompt, which begins with a slash.
type slashCommand struct {
	name, arg, about string
	needs            bool     // the argument must be given
	words            []string // that the argument may be; nil: any
	run              func(s *conversing, ctx context.Context, arg string) error
}

var onOff = []string{"on", "off"}

// slashCommands returns all commands, in the order of the help.
func slashCommands() []slashCommand {
	return slices.Concat([]slashCommand{
		{name: "/help", about: "this help", run: (*conversing).help},
		{name: "/new", about: "begin another conversation", run: (*conversing).new},
		{name: "/list", about: "the conversations changed last", run: (*conversing).list},
		{name: "/open", arg: "CONVERSATION", needs: true, about: "go on with another conversation", run: (*conversing).open},
		{name: "/title", arg: "TEXT", about: "its title; without one, how it begins", run: (*conversing).title},
		{name: "/pin", arg: "REF", needs: true, about: "have a memory or a note in every prompt of it, as messages name it", run: (*conversing).pin},
		{name: "/unpin", arg: "REF", needs: true, about: "take it out again", run: (*conversing).unpin},
		{name: "/private", arg: "on|off", words: onOff, about: "keep it from remote models, or no longer", run: (*conversing).private},
		{name: "/provider", arg: "NAME", about: "who answers; without a name, as configured", run: (*conversing).provider},
		{name: "/model", arg: "NAME", about: "which of its models; without a name, as configured", run: (*conversing).model},
		{name: "/regenerate", about: "have the last question answered anew, in a branch", run: (*conversing).regenerate},
		{name: "/edit", arg: "TEXT", about: "ask the last question otherwise, in a branch", run: (*conversing).edit},
		{name: "/branches", about: "where other branches begin", run: (*conversing).listBranches},
		{name: "/branch", arg: "N", needs: true, about: "show a branch of that list and go on with it", run: (*conversing).showBranch},
		{name: "/suggest", about: "notes that are related to it", run: (*conversing).suggested},
		{name: "/references", arg: "N|" + allWord, about: "what it stood on, or message N of it", run: (*conversing).stoodOn},
		{name: "/search", arg: "WORDS", needs: true, about: "the notes that are about something", run: (*conversing).search},
		{name: "/attach", arg: "FILE", about: "a text or a picture for the next message; without one, none", run: (*conversing).attach},
		{name: "/book", arg: "FILE", needs: true, about: "read a file, to ask about it in this conversation", run: (*conversing).book},
	}, orders(), []slashCommand{
		{name: "/actions", about: "what is proposed and waits for you", run: (*conversing).listWaiting},
		{name: "/confirm", arg: "N", about: "do what is proposed; N is its number, if several wait", run: (*conversing).confirm},
		{name: "/reject", arg: "N", about: "do not", run: (*conversing).reject},
		{name: "/retry", about: "say again what got no whole answer", run: (*conversing).retry},
		{name: "/quit", about: "leave, as two empty lines do", run: func(*conversing, context.Context, string) error { return errQuit }},
	})
}

// command runs a command.
func (s *conversing) command(ctx context.Context, line string) error {
	named, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	all := slashCommands()
	i := slices.IndexFunc(all, func(c slashCommand) bool { return c.name == named })
	if i < 0 {
		names := make([]string, len(all))
		for i, c := range all {
			names[i] = c.name
		}
		e := fault.New(fault.Invalid, "there is no command %s", term.Clean(named)).
			WithHint("/help lists the commands; two slashes begin a message with one")
		if near := text.Nearest(named, names); len(near) > 0 {
			e.Hint = strings.Join(near, " or ")
		}
		return e
	}
	c := all[i]
	switch {
	case arg == "" && c.needs:
		return fault.New(fault.Invalid, "%s needs %s", c.name, c.arg).WithHint("%s %s", c.name, c.arg)
	case arg != "" && c.arg == "":
		return fault.New(fault.Invalid, "%s takes nothing", c.name).WithHint("%s", c.name)
	case arg != "" && c.words != nil && !slices.Contains(c.words, arg):
		return fault.New(fault.Invalid, "%s takes no %q", c.name, arg).
			WithHint("%s %s", c.name, strings.Join(c.words, ", or "+c.name+" "))
	}
	return c.run(s, ctx, arg)
}

func (s *conversing) help(context.Context, string) error {
	t := &term.Table{Indent: 2}
	for _, c := range slashCommands() {
		t.Row(term.Line{term.Styled(term.Accent, c.name), term.Text(" "), term.Styled(term.Faint, c.arg)}, term.Line{term.Text(c.about)})
	}
	t.Draw(s.Out)
	for _, l := range term.Wrap("In a message, @handle, #42 and [[Title]] refer to what you have; Tab completes them. "+
		"Alt-Enter starts another line. Ctrl-C stops an answer. Two empty lines, Ctrl-D or Ctrl-C twice leave.", s.Out.Columns()) {
		s.Out.Say(term.Text(l))
	}
	return nil
}

func (s *conversing) new(context.Context, string) error {
	s.conversation = nil
	s.forget()
	s.fresh = s.asking.fresh()
	s.faint("a new conversation")
	return nil
}

// forget is called when another conversation begins.
func (s *conversing) forget() {
	s.failed, s.branches, s.branch, s.parent, s.waiting = nil, nil, "", "", nil
	s.files, s.images = nil, nil
}

// listedAtPrompt is how many conversations /list shows.
const listedAtPrompt = 20

func (s *conversing) list(ctx context.Context, _ string) error {
	var page protocol.Conversations
	if err := s.call(ctx, "chat.list", protocol.ChatList{Page: protocol.Page{Limit: listedAtPrompt}}, &page); err != nil {
		return err
	}
	(&list{}).draw(s.Out, page.Conversations)
	return nil
}

func (s *conversing) open(ctx context.Context, ref string) error {
	if err := s.use(ctx, ref); err != nil {
		return err
	}
	s.forget()
	return s.welcome()
}

// change changes the conversation, or how a new one will be made.
func (s *conversing) change(ctx context.Context, did string, u protocol.ChatPatch) error {
	u.ID = s.conversation.ID
	var now record.Conversation
	if err := s.call(ctx, "chat.patch", u, &now); err != nil {
		return err
	}
	s.conversation = &now
	drawSaid(s.Out, did, &now)
	return nil
}

func (s *conversing) title(ctx context.Context, text string) error {
	if s.conversation == nil {
		s.fresh.Title = text
		s.faint("the conversation will be called so")
		return nil
	}
	return s.change(ctx, "changed", protocol.ChatPatch{Title: &text})
}

func (s *conversing) private(ctx context.Context, arg string) error {
	on := arg != "off"
	if s.conversation == nil {
		s.fresh.Private, s.Private = on, on
		s.faint("the conversation will " + map[bool]string{false: "not "}[on] + "be private")
		return nil
	}
	s.Private = on
	return s.change(ctx, map[bool]string{true: "private", false: "no longer private"}[on], protocol.ChatPatch{Private: &on})
}

func (s *conversing) provider(ctx context.Context, named string) error {
	if err := s.checkProvider(ctx, named); err != nil {
		return err
	}
	s.Provider, s.Model = "", "" // that of the command line holds no longer
	if s.conversation == nil {
		s.fresh.Provider, s.fresh.Model = named, ""
		s.faint("who answers: " + orConfigured(named))
		return nil
	}
	return s.change(ctx, "who answers: "+orConfigured(named), protocol.ChatPatch{
		Provider: protocol.Some(named), Model: protocol.Some(""),
	})
}

func (s *conversing) model(ctx context.Context, named string) error {
	s.Model = ""
	if s.conversation == nil {
		s.fresh.Model = named
		s.faint("the model: " + orConfigured(named))
		return nil
	}
	return s.change(ctx, "the model: "+orConfigured(named), protocol.ChatPatch{Model: protocol.Some(named)})
}

// checkProvider refuses a provider that the settings do not have; "" is the one that is configured. Of one that is not local it
// says so, in a conversation that has begun.
func (t *teller) checkProvider(ctx context.Context, named string) error {
	if named == "" || named == noProvider {
		_, err := t.conn()
		return err
	}
	var res protocol.ChatProviderList
	if err := t.call(ctx, "chat.providers", protocol.ChatProviders{}, &res); err != nil {
		return err
	}
	names := make([]string, len(res.Providers))
	for i := range res.Providers {
		names[i] = res.Providers[i].Name
	}
	if i := slices.Index(names, named); i >= 0 {
		if t.prompts && t.conversation != nil && !res.Providers[i].Local {
			t.Out.Say(term.Styled(term.Faint, remoteNote(named, t.conversation.Private)))
		}
		return nil
	}
	e := fault.New(fault.Invalid, "the settings have no provider %s", term.Clean(named)).
		WithHint("ctxd chat providers shows how to set one")
	if len(names) > 0 {
		e.Hint = "one of " + strings.Join(names, ", ") + "; ctxd chat providers tells of them"
	}
	return e
}

// remoteNote says what a provider that is not local means for a conversation.
func remoteNote(named string, private bool) string {
	named = term.Clean(named)
	if private {
		return named + " is not local, and this conversation is private; /private off changes that"
	}
	return named + " is not local: nothing private goes to it; what is left out is said first"
}

// noProvider is the name by which nobody answers.
const noProvider = "none"

func orConfigured(named string) string {
	if named == "" {
		return "as configured"
	}
	return named
}

func (s *conversing) pin(ctx context.Context, ref string) error {
	return s.pinning(ctx, "pinned in", ref, func(have, refs []string) []string { return append(slices.Clone(have), refs...) })
}

func (s *conversing) unpin(ctx context.Context, ref string) error {
	return s.pinning(ctx, "unpinned in", ref, func(have, refs []string) []string {
		return slices.DeleteFunc(slices.Clone(have), func(id string) bool { return slices.Contains(refs, id) })
	})
}

func (s *conversing) pinning(ctx context.Context, did, ref string, to func(have, refs []string) []string) error {
	cl, err := s.conn()
	if err != nil {
		return err
	}
	p, err := find(s.Options, cl, []string{ref})
	if err != nil {
		return err
	}
	if s.conversation == nil {
		s.fresh.PinnedNoteIDs, s.fresh.PinnedMemoryIDs = to(s.fresh.PinnedNoteIDs, p.notes), to(s.fresh.PinnedMemoryIDs, p.memories)
		s.faint(did + " the conversation")
		return nil
	}
	found, err := connect.FindConversation(ctx, cl, s.conversation.ID)
	if err != nil {
		return err
	}
	u := protocol.ChatPatch{IfVersion: &found.Version}
	if len(p.notes) > 0 {
		u.PinnedNoteIDs = protocol.Some(to(found.PinnedNoteIDs, p.notes))
	}
	if len(p.memories) > 0 {
		u.PinnedMemoryIDs = protocol.Some(to(found.PinnedMemoryIDs, p.memories))
	}
	return s.change(ctx, did, u)
}

// anew is a message that has the last question answered once more.
func (s *conversing) anew(ctx context.Context) (turn.ChatSend, error) {
	q, err := s.lastQuestion(ctx)
	if err != nil {
		return turn.ChatSend{}, err
	}
	m := s.message("")
	m.ClientMessageID, m.Regenerate = "", q.ID
	return m, nil
}

func (s *conversing) regenerate(ctx context.Context, _ string) error {
	m, err := s.anew(ctx)
	if err != nil {
		return err
	}
	_, err = s.tell(ctx, m)
	return err
}

func (s *conversing) edit(ctx context.Context, text string) error {
	q, err := s.lastQuestion(ctx)
	if err != nil {
		return err
	}
	s.replaces, s.failed = q.ID, nil
	if text == "" {
		s.prompt.Typed = q.Content
		return nil
	}
	_, err = s.say(ctx, text)
	return err
}

// retry says again what got no answer. What got a part of one is answered anew.
func (s *conversing) retry(ctx context.Context, _ string) error {
	if s.failed == nil {
		return s.regenerate(ctx, "")
	}
	m := *s.failed
	if m.Regenerate == "" && s.conversation != nil && s.conversation.ID != "" {
		q, err := s.lastQuestion(ctx)
		if fault.KindOf(err) != fault.Invalid && err != nil {
			return err
		}
		if err == nil && q.Content == m.Text {
			if m, err = s.anew(ctx); err != nil {
				return err
			}
		}
	}
	_, err := s.tell(ctx, m)
	return err
}

func (s *conversing) listBranches(ctx context.Context, _ string) error {
	if s.conversation == nil {
		s.faint("nothing was said yet")
		return nil
	}
	_, others, err := s.messages(ctx, "")
	if err != nil {
		return err
	}
	s.branches = others
	if len(others) == 0 {
		s.faint("there are no other branches; /edit and /regenerate begin one")
		return nil
	}
	for i, b := range others {
		s.Out.Say(append(term.Line{term.Styled(term.Strong, strconv.Itoa(i+1)), term.Text("  ")}, branchLine(&b)...)...)
	}
	return nil
}

func (s *conversing) showBranch(ctx context.Context, arg string) error {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > len(s.branches) {
		return fault.New(fault.Invalid, "%q is no branch of the list", arg).WithHint("/branches lists them")
	}
	branch := s.branches[n-1].MessageID
	list, _, err := s.messages(ctx, branch)
	if err != nil {
		return err
	}
	s.show(list)
	if len(list) > 0 { // it may have been deleted
		s.branch, s.parent, s.failed = branch, list[len(list)-1].ID, nil
	}
	s.faint("what you say goes on with this branch")
	return nil
}
