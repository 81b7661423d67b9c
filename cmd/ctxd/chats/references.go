package chats

import (
	"context"
	"strconv"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type references struct {
	aConversation
	Number *int `arg:"" optional:"" name:"n" help:"Number of a message. Default: all messages of the newest branch."`
	All    bool `help:"Show all, and also what was found and not used."`

	connect.Audience
}

func (references) Help() string {
	return "Lists the notes that messages name with a link, those that a model has read for them, and the memories that it was given. " +
		"Each is listed once, with the path that it has now; (not found) stands behind what is gone. " +
		"The first ten are shown. ctxd open opens the address that --json gives for each."
}

func (references) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat references weekend_trip_k3x9", "what the conversation stood on"},
		{"ctxd chat references weekend_trip_k3x9 4", "what message 4 stood on"},
		{"ctxd chat references weekend_trip_k3x9 --all", "all of it, and what was only found"},
		{"ctxd chat references weekend_trip_k3x9 --json | jq -r '.items[] | select(.clickable) | .uri'", "for scripts"},
	}
}

func (c *references) Run(a *Options) error {
	if c.Number != nil && *c.Number < 1 {
		return term.Misuse("messages are numbered from 1", "ctxd chat references weekend_trip_k3x9 2; ctxd chat show lists them")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		params := protocol.ChatReferences{ConversationID: found.ID, All: c.All}
		if c.Number != nil {
			params.Index = *c.Number
		}
		res, err := allReferences(a.Ctx, cl.Call, params)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawListed(a.Out, res, c.All, "--all")
		return nil
	})
}

// caller calls a method of the daemon.
type caller func(ctx context.Context, method string, params, result any) error

// allReferences returns the references of all pages.
func allReferences(ctx context.Context, call caller, params protocol.ChatReferences) (*protocol.ChatReferenceList, error) {
	all := &protocol.ChatReferenceList{Items: []turn.ChatShownReference{}}
	for {
		var page protocol.ChatReferenceList
		if err := call(ctx, "chat.references", params, &page); err != nil {
			return nil, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Total, all.Unused = page.Total, page.Unused
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return all, nil
		}
	}
}

// referencesShown is how many of the records that messages stand on are listed.
const referencesShown = 10

// referencesOf asks for what a message stands on, as far as it is listed.
func referencesOf(ctx context.Context, call caller, conversationID, messageID string) (*protocol.ChatReferenceList, error) {
	res := &protocol.ChatReferenceList{}
	err := call(ctx, "chat.references", protocol.ChatReferences{ConversationID: conversationID, MessageID: messageID, Limit: referencesShown}, res)
	if fault.KindOf(err) == fault.NotFound { // it was deleted meanwhile
		return &protocol.ChatReferenceList{}, nil
	}
	return res, err
}

// drawListed shows references that were asked for, and says what is not among them. all names what shows that.
func drawListed(s *term.Screen, res *protocol.ChatReferenceList, whole bool, all string) {
	most := referencesShown
	if whole {
		most = len(res.Items)
	}
	drawReferences(s, "", res, most)
	switch {
	case len(res.Items) == 0 && res.Unused == 0:
		s.Say(term.Styled(term.Faint, "no message stood on anything"))
	case !whole && res.Unused > 0:
		noun := "more record"
		if len(res.Items) == 0 {
			noun = "record"
		}
		s.Say(term.Styled(term.Faint, term.Count(res.Unused, noun)+" found and not used; "+all+" shows them"))
	}
}

// drawReferences lists what messages stand on, at most so many; nothing where that is nothing. It draws it for all
// commands.
func drawReferences(s *term.Screen, indent string, res *protocol.ChatReferenceList, most int) {
	if len(res.Items) == 0 {
		return
	}
	s.Say(term.Text(indent), term.Styled(term.Strong, "📚 Referenced Documents:"))
	shown := min(len(res.Items), most)
	for i := range shown {
		drawReference(s, indent, &res.Items[i])
	}
	if more := res.Total - shown; more > 0 {
		s.Say(term.Styled(term.Faint, indent+"  … and "+term.Number(more)+" more"))
	}
}

func drawReference(s *term.Screen, indent string, r *turn.ChatShownReference) {
	line := term.Line{term.Text(indent + "  • ")}
	if r.MemoryID != "" {
		line = append(line, term.Styled(term.Accent, r.Ref), term.Text(" "+r.Label))
		if !r.Used {
			line = append(line, term.Styled(term.Faint, "  found and not used"))
		}
		s.SayWhole(line...)
		return
	}
	switch {
	case r.EntityID != "":
		line = append(line, term.Styled(term.Accent, "@"+r.Label))
	case r.PassageID != "":
		line = append(line, term.Styled(term.Accent, "["+r.Label+"]"))
	default:
		line = append(line, term.Styled(term.Accent, "[["+calledAs(r)+"]]"))
	}
	switch {
	case r.Kind == record.ReferAttachment && r.Status == record.ReferOK:
		line = append(line, term.Styled(term.Faint, " (file "+r.Path+")"))
	case r.PassageID != "" && r.Status == record.ReferOK:
	case r.Status == record.ReferOK && r.Path != "":
		line = append(line, term.Styled(term.Faint, " ("+r.Path+")"))
	case r.Status == record.ReferAmbiguous:
		line = append(line, term.Styled(term.Warn, " (several notes)"))
	case r.Status == record.ReferBroken && r.NoteID+r.EntityID != "":
		line = append(line, term.Styled(term.Warn, " (archived)"))
	case r.Status != record.ReferOK:
		line = append(line, term.Styled(term.Warn, " (not found)"))
	}
	if r.Type == record.ReferSearch && !r.Used {
		line = append(line, term.Styled(term.Faint, "  found and not used"))
	}
	s.SayWhole(line...)
	below := []string{r.Summary}
	if r.Status == record.ReferOK || r.Status == record.ReferAmbiguous {
		below = append(below, r.Reason)
	}
	for _, text := range term.NonEmpty(below...) {
		s.Say(term.Styled(term.Faint, indent+"    "+text))
	}
}

// calledAs is what a note is called in brackets: not by the alias of the link, by which it is not found.
func calledAs(r *turn.ChatShownReference) string {
	if l, ok := markdown.ParseLink(r.Wikilink); ok && l.Alias != "" && l.Alias == r.Label {
		l.Alias = ""
		return l.Text()
	}
	return r.Label
}

// stoodOn shows what the conversation, or one of its messages, stood on.
func (s *conversing) stoodOn(ctx context.Context, arg string) error {
	if s.conversation == nil {
		s.faint("nothing was said yet")
		return nil
	}
	params := protocol.ChatReferences{ConversationID: s.conversation.ID, All: arg == allWord}
	if arg != "" && !params.All {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return fault.New(fault.Invalid, "%q is no number of a message", term.Clean(arg)).WithHint("/references, /references 2 or /references %s", allWord)
		}
		params.Index = n
	}
	res, err := allReferences(ctx, s.call, params)
	if err != nil {
		return err
	}
	drawListed(s.Out, res, params.All, "/references "+allWord)
	return nil
}

// allWord is the argument of /references that shows all.
const allWord = "all"
