package chats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type create struct {
	Title   string   `arg:"" optional:"" help:"Its title. Default: the beginning of its first message."`
	Private bool     `help:"Hide it from remote models."`
	Pin     []string `placeholder:"REF" help:"A memory or a note that stands in every prompt of it, as ctxd chat pin takes it; may be repeated."`
	answering
}

func (create) Help() string { return "It prints the handle of the conversation." }

func (create) Examples() []term.Example {
	return []term.Example{
		{`ctxd chat new "Weekend trip"`, "ctxd chat append --to adds what is said"},
		{`ctxd chat new "Weekend trip" --pin 42 --pin "[[Packing list]]"`, "with what the model is to know in all of it"},
	}
}

func (c *create) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		p, err := find(a, cl, c.Pin)
		if err != nil {
			return err
		}
		params := protocol.ChatPut{
			Title: c.Title, Private: c.Private, MaxContext: c.MaxContext, Temperature: c.Temperature,
			PinnedNoteIDs: p.notes, PinnedMemoryIDs: p.memories,
			SystemPrompt: given(c.SystemPrompt), Provider: given(c.Provider), Model: given(c.Model),
		}
		var made record.Conversation
		if err := cl.Call(a.Ctx, "chat.put", params, &made); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(made)
		}
		drawSaid(a.Out, "begun", &made)
		return nil
	})
}

// given returns the value of a flag, "" for one that is absent.
func given(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}

// pins are what the user wants in every prompt of a conversation, or not.
type pins struct{ notes, memories []string }

// find returns what references lead to: a memory by its id, handle or number, or a note by its id, path or
// title, with or without [[ ]].
func find(a *Options, cl *client.Client, refs []string) (p pins, err error) {
	for _, ref := range refs {
		title, link := strings.CutPrefix(ref, "[[")
		if !link {
			m, err := connect.FindMemory(a.Ctx, cl, ref)
			if err == nil {
				p.memories = append(p.memories, m.ID)
				continue
			}
			if fault.KindOf(err) != fault.NotFound {
				return p, err
			}
		}
		n, err := connect.FindNote(a.Ctx, cl, strings.TrimSuffix(title, "]]"))
		if fault.KindOf(err) == fault.NotFound {
			return p, term.NotFound("memory or note", ref).
				WithHint("give the number of a memory, as listed by ctxd memory list, or the title of a note")
		}
		if err != nil {
			return p, err
		}
		p.notes = append(p.notes, n.ID)
	}
	return p, nil
}

// pinArgs are the arguments of ctxd chat pin and unpin.
type pinArgs struct {
	aConversation
	Refs []string `arg:"" name:"ref" help:"Id, handle or number of a memory; id, path or title of a note."`
}

// pinning changes what is pinned, by two lists: that there is, and that the references lead to.
func (c *pinArgs) pinning(a *Options, did string, to func(have, refs []string) []string) error {
	var p pins
	err := a.With(func(cl *client.Client) (err error) {
		p, err = find(a, cl, c.Refs)
		return err
	})
	if err != nil {
		return err
	}
	return c.change(a, did, "chat.patch", func(found *record.Conversation) any {
		params := protocol.ChatPatch{ID: found.ID, IfVersion: &found.Version}
		if len(p.notes) > 0 {
			params.PinnedNoteIDs = protocol.Some(to(found.PinnedNoteIDs, p.notes))
		}
		if len(p.memories) > 0 {
			params.PinnedMemoryIDs = protocol.Some(to(found.PinnedMemoryIDs, p.memories))
		}
		return params
	})
}

type pin struct{ pinArgs }

func (pin) Help() string {
	return "A prompt that ctxd prompt --conversation or a client asks for has them. ctxd memory pin has a memory stand in the prompts of all conversations."
}

func (pin) Examples() []term.Example {
	return []term.Example{
		{`ctxd chat pin weekend_trip_k3x9 42 "[[Packing list]]"`, "a memory and a note"},
		{"ctxd chat show weekend_trip_k3x9", "what is pinned in it"},
	}
}

func (c *pin) Run(a *Options) error {
	return c.pinning(a, "pinned in", func(have, refs []string) []string { return append(slices.Clone(have), refs...) })
}

type unpin struct{ pinArgs }

func (unpin) Examples() []term.Example {
	return []term.Example{{"ctxd chat unpin weekend_trip_k3x9 42", "the memory itself stays"}}
}

func (c *unpin) Run(a *Options) error {
	return c.pinning(a, "unpinned in", func(have, refs []string) []string {
		return slices.DeleteFunc(slices.Clone(have), func(id string) bool { return slices.Contains(refs, id) })
	})
}

// maxPinsShown is how many memories and notes each are listed as pinned.
const maxPinsShown = 10

// pinned says what is pinned in a conversation, in words.
func pinned(a *Options, cl *client.Client, c *record.Conversation) (list []string, err error) {
	for _, id := range c.PinnedMemoryIDs[:min(len(c.PinnedMemoryIDs), maxPinsShown)] {
		m, err := connect.FindMemory(a.Ctx, cl, id)
		if fault.KindOf(err) == fault.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("#%d %s", m.Number, term.Clean(m.Statement)))
	}
	for _, id := range c.PinnedNoteIDs[:min(len(c.PinnedNoteIDs), maxPinsShown)] {
		n, err := connect.FindNote(a.Ctx, cl, id)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, "[["+term.Clean(n.Title)+"]]")
	}
	if more := len(c.PinnedMemoryIDs) + len(c.PinnedNoteIDs) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return list, nil
}
