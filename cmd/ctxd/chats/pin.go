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

// find returns what references lead to, as messages take them: a memory, a note, or the note of an entity.
func find(a *Options, cl *client.Client, refs []string) (p pins, err error) {
	for _, ref := range refs {
		if err := p.add(a, cl, ref); err != nil {
			return p, err
		}
	}
	return p, nil
}

// add adds what one reference leads to.
func (p *pins) add(a *Options, cl *client.Client, ref string) error {
	switch {
	case strings.HasPrefix(ref, "[["):
		return p.addNote(a, cl, ref, ref)
	case strings.HasPrefix(ref, "@") || strings.HasPrefix(ref, "#"):
		return p.addReferred(a, cl, ref)
	}
	m, err := connect.FindMemory(a.Ctx, cl, ref)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return p.addNote(a, cl, ref, ref)
	}
	if err == nil {
		p.memories = append(p.memories, m.ID)
	}
	return err
}

func (p *pins) addNote(a *Options, cl *client.Client, ref, of string) error {
	n, err := connect.FindNote(a.Ctx, cl, a.Err, of)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return noPin(ref)
	}
	if err == nil {
		p.notes = append(p.notes, n.ID)
	}
	return err
}

func noPin(ref string) *fault.Error {
	return term.NotFound("memory or note", ref).
		WithHint("give the number of a memory, as listed by ctxd memory list, or the title of a note")
}

// addReferred adds what a reference behind @ or # leads to.
func (p *pins) addReferred(a *Options, cl *client.Client, ref string) error {
	var to record.Resolved
	err := cl.Call(a.Ctx, "refs.resolve", protocol.RefsResolve{Ref: ref}, &to)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		missing := noPin(ref)
		missing.Candidates = fault.CandidatesOf(err)
		return missing
	}
	if err != nil {
		return err
	}
	switch to.Type {
	case record.ResolvedMemory:
		p.memories = append(p.memories, to.SourceID)
		return nil
	case record.ResolvedNote:
		p.notes = append(p.notes, to.SourceID)
		return nil
	case record.ResolvedEntity:
		var e protocol.EntityFull
		if err := cl.Call(a.Ctx, "entities.get", protocol.EntityGet{Ref: to.SourceID}, &e); err != nil {
			return err
		}
		if e.NoteID != "" {
			p.notes = append(p.notes, e.NoteID)
			return nil
		}
	}
	return fault.New(fault.Invalid, "%s is no memory and no note, and has no note of its own", term.Clean(ref)).
		WithHint("give the number of a memory or the title of a note; in a message %s stands for what belongs to it", term.Clean(ref))
}

// pinArgs are the arguments of ctxd chat pin and unpin.
type pinArgs struct {
	aConversation
	Refs []string `arg:"" name:"ref" help:"A memory or a note as messages name it: #42, @handle, [[Title]], @Entity for its note; or an id, a path or a title."`
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
		n, err := connect.FindNote(a.Ctx, cl, a.Err, id)
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
