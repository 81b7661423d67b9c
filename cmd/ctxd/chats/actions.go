package chats

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type listActions struct {
	Conversation string         `arg:"" optional:"" help:"Id or handle of the conversation. Default: all."`
	Limit        term.CountFlag `short:"n" from:"1" to:"1000" default:"50" placeholder:"N" help:"Maximum number of actions, 1 to 1000. Default: 50."`

	connect.Audience
}

func (listActions) Help() string {
	return "What a model proposed, or a message ordered, and nobody has confirmed or rejected yet, the oldest first. Nothing of it is done before somebody confirms it; " +
		"after 24 hours it can't be confirmed any more. ctxd chat show has what became of the others."
}

func (listActions) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat actions", "what waits"},
		{"ctxd chat actions weekend_trip_k3x9", "in one conversation"},
		{"ctxd chat actions --json | jq -r '.actions[].action.id'", "for scripts"},
	}
}

func (c *listActions) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		params := protocol.ChatActions{Limit: int(c.Limit)}
		if c.Conversation != "" {
			found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
			if err != nil {
				return err
			}
			params.ConversationID = found.ID
		}
		var list protocol.ChatActionList
		if err := cl.Call(a.Ctx, "chat.actions", params, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		drawWaiting(a.Out, &list)
		return nil
	})
}

func drawWaiting(s *term.Screen, list *protocol.ChatActionList) {
	if len(list.Actions) == 0 {
		s.Say(term.Styled(term.Faint, "nothing waits to be confirmed"))
		return
	}
	for i := range list.Actions {
		w := &list.Actions[i]
		drawProposal(s, term.Line{term.Styled(term.Warn, "? ")}, &w.Action)
		where := w.Handle
		if where == "" {
			where = w.ConversationID
		}
		s.Say(term.Styled(term.Faint, "  in "+where+until(&w.Action)))
		s.Say(term.Styled(term.Faint, "  "), term.Text("ctxd chat confirm "+w.Action.ID))
	}
	if more := list.Total - len(list.Actions); more > 0 {
		s.Say(term.Styled(term.Faint, "… and "+term.Number(more)+" more"))
	}
}

func until(a *record.ChatAction) string {
	if a.ExpiresAt == nil {
		return ""
	}
	return ", until " + a.ExpiresAt.Local().Format(time.DateTime)
}

// drawProposal shows what an answer proposes to do.
func drawProposal(s *term.Screen, head term.Line, a *record.ChatAction) {
	s.SayWhole(append(append(head, term.Styled(term.Strong, a.Type)), term.Text(" "+argsOf(a)))...)
	if a.Reason != "" {
		s.Say(term.Styled(term.Faint, "  "+a.Reason))
	}
	if a.Edit != nil && a.Status == record.ActionProposed {
		s.Say(term.Styled(term.Faint, "  in "+a.Edit.Path+": "), term.Text(a.Edit.Line))
	}
}

// argsOf shows the args of an action: of those that a message orders what is said, without ids.
func argsOf(a *record.ChatAction) string {
	shown := a.Args
	switch a.Type {
	case record.ProposeAssign, record.ProposeTask:
		shown = named(a)
	case record.ProposeRemember, record.ProposeForget, record.ProposePin, record.ProposeBook:
		shown = maps.Clone(a.Args)
		for _, id := range []string{"conversationId", "messageId", "memoryId", "noteId"} {
			if len(shown) > 1 {
				delete(shown, id)
			}
		}
		if shown["kind"] == record.MemoryFact {
			delete(shown, "kind")
		}
	}
	args, _ := json.Marshal(shown) // a map of JSON values
	return argumentsOf(string(args))
}

// named returns the args of an action with the names of the records instead of their ids.
func named(a *record.ChatAction) map[string]any {
	out := make(map[string]any, len(a.Args))
	name := func(id any) any {
		if id, ok := id.(string); ok && a.Names[id] != "" {
			return a.Names[id]
		}
		return id
	}
	for arg, value := range a.Args {
		switch list, several := value.([]any); {
		case several:
			names := make([]any, len(list))
			for i, id := range list {
				names[i] = name(id)
			}
			out[strings.TrimSuffix(arg, "Ids")] = names
		case strings.HasSuffix(arg, "Id"):
			out[strings.TrimSuffix(arg, "Id")] = name(value)
		default:
			out[arg] = value
		}
	}
	return out
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// anAction is the argument of commands that take one action.
type anAction struct {
	Action string `arg:"" help:"Id of the action, as ctxd chat actions lists it."`
}

type confirm struct {
	anAction
	Args string `placeholder:"JSON" help:"An object with args in the place of proposed ones; null takes one out. An empty object says that you have seen what is there, and may be overwritten."`
}

func (confirm) Help() string {
	return "Does what was proposed, once: confirmed again, nothing more is done. A field of an entity, a memory, and what is pinned are changed here. " +
		"A task is appended to the note of the setting chat.tasks. What ctxd doesn't do is shown for you to do: a search, and the line of a file that an entity comes from. " +
		"A file that is to be read as a book is read now, for the conversation."
}

func (confirm) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat confirm 36fd2706-8baf-433b-82eb-8c7fada847da", "do it"},
		{`ctxd chat confirm 36fd2706-8baf-433b-82eb-8c7fada847da --args '{"due":"2026-06-01"}'`, "do it otherwise"},
	}
}

func (c *confirm) Run(a *Options) error {
	params := protocol.ChatConfirm{ID: c.Action}
	if c.Args != "" {
		if err := json.Unmarshal([]byte(c.Args), &params.Args); err != nil || params.Args == nil {
			return term.Misuse("--args is no JSON object", `ctxd chat confirm ID --args '{"title":"…"}'`)
		}
	}
	return c.decide(a, "chat.confirm", params)
}

type reject struct{ anAction }

func (reject) Help() string {
	return "Has what was proposed not be done. The model is told with your next message."
}

func (reject) Examples() []term.Example {
	return []term.Example{{"ctxd chat reject 36fd2706-8baf-433b-82eb-8c7fada847da", "it can't be confirmed any more"}}
}

func (c *reject) Run(a *Options) error {
	return c.decide(a, "chat.reject", protocol.ChatReject{ID: c.Action})
}

func (c *anAction) decide(a *Options, method string, params any) error {
	return a.With(func(cl *client.Client) error {
		var out protocol.ChatDecided
		if err := cl.Call(a.Ctx, method, params, &out); err != nil {
			return err
		}
		if a.JSON {
			if err := a.Out.JSON(out); err != nil {
				return err
			}
		} else {
			drawDecided(a.Out, &out)
		}
		return readConfirmed(a.Ctx, a, cl, &out)
	})
}

// drawDecided says what has become of an action, and what the person is to do.
func drawDecided(s *term.Screen, d *protocol.ChatDecided) {
	style, state := term.Good, d.Status
	switch {
	case d.Status == record.ActionFailed:
		style = term.Bad
	case d.Repeat:
		style, state = term.Faint, d.Status+" before"
	}
	s.SayWhole(term.Styled(style, state), term.Text("  "), term.Styled(term.Strong, d.Type), term.Text(" "+argsOf(&d.ChatAction)))
	for _, w := range d.Warnings {
		s.Say(term.Styled(term.Warn, "! "), term.Text(w))
	}
	switch {
	case d.Failure != "":
		s.Say(term.Styled(term.Bad, "  "+d.Failure))
	case !d.ForClient:
	case d.Edit != nil && d.Edit.Line != "":
		s.Say(term.Text("  ctxd does not write into your files. Put this line into the frontmatter of " + d.Edit.Path + ":"))
		s.SayWhole(term.Text("  " + d.Edit.Line))
	case d.Edit != nil:
		s.Say(term.Text("  ctxd does not write into your files. Add " + d.Edit.Value + " to " + d.Edit.Field + " in the frontmatter of " + d.Edit.Path))
	case d.Type == record.ProposeSearch:
		query, _ := d.Args["query"].(string)
		s.Say(term.Text("  ctxd search " + term.ShellQuoted(query)))
	case d.Type == record.ProposeBook: // the command that has confirmed it reads the file
	default:
		s.Say(term.Text("  ctxd keeps no tasks: put it where you keep yours"))
	}
	if d.Type == record.ProposeTask && d.Edit != nil && d.Status == record.ActionConfirmed {
		s.Say(term.Styled(term.Faint, "  in the note "+d.Edit.Path+": "), term.Text(firstLine(d.Edit.Line)))
	}
}

// drawState says of an action of a stored answer what has become of it.
func drawState(s *term.Screen, indent string, a *record.ChatAction) {
	style := term.Faint
	if a.Status == record.ActionProposed {
		style = term.Warn
	}
	l := term.Line{term.Styled(style, indent+a.Status), term.Text("  "), term.Styled(term.Strong, a.Type), term.Text(" " + argsOf(a))}
	if a.Status == record.ActionProposed {
		l = append(l, term.Styled(term.Faint, "  "+a.ID))
	}
	s.SayWhole(l...)
	if a.Failure != "" {
		s.Say(term.Styled(term.Faint, indent+"  "+a.Failure))
	}
}

// await finds the actions of the conversation that wait, and lists them with the numbers that /confirm and /reject take.
func (s *conversing) await(ctx context.Context) error {
	s.waiting = nil
	if s.conversation == nil || s.conversation.ID == "" {
		return nil
	}
	var list protocol.ChatActionList
	if err := s.call(ctx, "chat.actions", protocol.ChatActions{ConversationID: s.conversation.ID}, &list); err != nil {
		return err
	}
	for i := range list.Actions {
		s.waiting = append(s.waiting, list.Actions[i].Action)
	}
	return nil
}

func (s *conversing) listWaiting(ctx context.Context, _ string) error {
	if err := s.await(ctx); err != nil {
		return err
	}
	if len(s.waiting) == 0 {
		s.faint("nothing waits to be confirmed in this conversation")
		return nil
	}
	s.drawNumbered()
	return nil
}

// drawNumbered lists what waits, with the numbers of /confirm and /reject.
func (s *conversing) drawNumbered() {
	for i := range s.waiting {
		drawProposal(s.Out, term.Line{term.Styled(term.Warn, "? "), term.Styled(term.Strong, strconv.Itoa(i+1)+"  ")}, &s.waiting[i])
	}
	s.faint("/confirm N does one of them, /reject N does not")
}

// meant is the action that a number means, or the only one where there is none.
func (s *conversing) meant(command, arg string) (*record.ChatAction, error) {
	n, err := strconv.Atoi(arg)
	switch {
	case len(s.waiting) == 0:
		return nil, fault.New(fault.Invalid, "nothing waits to be confirmed").WithHint("/actions lists what does")
	case arg == "" && len(s.waiting) > 1:
		return nil, fault.New(fault.Invalid, "%s actions wait", term.Number(len(s.waiting))).WithHint("%s N; /actions lists them", command)
	case arg == "":
		n = 1
	case err != nil || n < 1 || n > len(s.waiting):
		return nil, fault.New(fault.Invalid, "%q is no action of the list", arg).WithHint("/actions lists them")
	}
	return &s.waiting[n-1], nil
}

func (s *conversing) confirm(ctx context.Context, arg string) error {
	a, err := s.meant("/confirm", arg)
	if err != nil {
		return err
	}
	return s.decide(ctx, "chat.confirm", protocol.ChatConfirm{ID: a.ID})
}

func (s *conversing) reject(ctx context.Context, arg string) error {
	a, err := s.meant("/reject", arg)
	if err != nil {
		return err
	}
	return s.decide(ctx, "chat.reject", protocol.ChatReject{ID: a.ID})
}

// decide decides about an action. The numbers of the others stay until the next answer or list.
func (s *conversing) decide(ctx context.Context, method string, params any) error {
	var out protocol.ChatDecided
	if err := s.call(ctx, method, params, &out); err != nil {
		return err
	}
	if s.JSON {
		if err := jsonLine(s.Out, out); err != nil {
			return err
		}
	} else {
		drawDecided(s.Out, &out)
	}
	cl, err := s.conn()
	if err != nil {
		return err
	}
	return readConfirmed(ctx, s.Options, cl, &out)
}
