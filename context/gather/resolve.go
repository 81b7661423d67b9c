package gather

// A Resolver says which records the references of a message lead to: memories by number, id or handle, contexts with
// all that lies below them, tags, domains, entities, conversations, their messages and notes (REF-7).
//
// Resolve takes one reference. InMessage finds all of a text: those that package refs reads without knowing a store,
// and names, which may have several words. The longest of what a place may mean counts, of one length the first in the
// order of REF-7, and of two records that are called the same none: the error names both.
//
// The handlers of rpc and the assembly of a prompt pass the View of the reader: for a remote one a private record
// answers as one that does not exist, and is no candidate. Conversations lie in package chat, which imports this one:
// what is needed of them are functions of [ResolverOptions], which cmd/ctxd fills in.
//
// A Resolver holds nothing but what it was made with, and may be used by any number of goroutines. The stores that it
// asks are asked one by one: what is written meanwhile may be seen by the later ones.

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Bounds.
const (
	maxReferenceBytes = markdown.MaxMention // bytes of a reference
	maxContextDepth   = 10                  // levels of contexts below the one that is named
	maxMessageChars   = 8000                // characters of a message of a conversation
	maxSuggestions    = 5
)

// memoryOwners is what a person told, as far as references lead there: memory.Store, but for what of it reads without a
// View (PRIV-2).
type memoryOwners interface {
	Owner(v *audience.View, handle string) (kind, id string, former bool)
	ByID(v *audience.View, id string) (kind string)
	ByNumber(v *audience.View, number int64) (id string)
	Single(v *audience.View, id string) (ids []string, retracted bool)
	Group(v *audience.View, kind audience.GroupKind, key string) []string
	Labelled(kind audience.GroupKind, handle string) []string
	Tree(v *audience.View, id string, deepest int) (ids []string, deeper bool)
	Called(v *audience.View, key string) (list []*memory.Context, beginning bool)
	Shown(v *audience.View, ids []string) []*record.Memory
	LastNumber(ctx context.Context) (int64, error)
}

// ResolverOptions are what a Resolver asks. What is nil has no records.
type ResolverOptions struct {
	Memories memoryOwners
	// Conversation returns the id of the conversation with a handle, "" for none that the reader sees.
	Conversation func(ctx context.Context, v *audience.View, handle string) (id string, err error)
	// Message returns a message of a conversation as the reader sees it, by its number from 1 when which
	// is digits, else by its hash; nil for none. total counts the messages.
	Message func(ctx context.Context, v *audience.View, id, which string) (m *record.ChatMessage, total int, err error)
	// Near returns what the reader may have meant by a word that names nothing, the nearest first.
	Near func(v *audience.View, word string, most int) []fault.Candidate
}

// Resolver finds what references lead to.
type Resolver struct{ opts ResolverOptions }

// NewResolver returns a Resolver.
func NewResolver(opts ResolverOptions) *Resolver { return &Resolver{opts} }

// ReferenceTarget is what a reference leads to.
type ReferenceTarget struct {
	Type     record.ResolvedType
	Via      record.ResolvedVia
	ID       string   // of a tag or domain its fold
	Memories []string // ids of the memory, or of the memories that belong to it
	Deeper   bool     // whether there are contexts below those that were looked at
	Message  *record.ChatMessage
}

// word is a reference without its marks, and how it may be read.
type word struct {
	text string
	ids  bool // as the id of a record
}

// Resolve returns what one reference leads to, with at most limit memories: an id, a handle, a number, a
// name, with an @ or # before it or without; @[Full Name], @memory:ID or [[Title]]. It means all of the
// text. The errors are NotFound with what may have been meant, Conflict with the candidates where
// several records are called so, and Invalid and Limit for what is no reference.
func (r *Resolver) Resolve(ctx context.Context, v *audience.View, ref string, limit int) (*record.Resolved, error) {
	t, err := r.resolve(ctx, v, ref)
	if err != nil {
		return nil, err
	}
	shown := t.Memories[:min(limit, len(t.Memories))]
	out := &record.Resolved{
		Type: t.Type, Via: t.Via, SourceID: t.ID, Memories: make([]*record.Memory, 0, len(shown)), Message: t.Message,
		Total: len(t.Memories), Truncated: t.Deeper || len(shown) < len(t.Memories),
	}
	if len(shown) == 0 {
		return out, nil
	}
	for _, m := range r.opts.Memories.Shown(v, shown) {
		if m != nil { // else it has just gone
			out.Memories = append(out.Memories, m)
		}
	}
	spell(out, t)
	return out, nil
}

func (r *Resolver) resolve(ctx context.Context, v *audience.View, ref string) (*ReferenceTarget, error) {
	if len(ref) > maxReferenceBytes {
		return nil, fault.TooLarge("ref", len(ref), maxReferenceBytes, "bytes")
	}
	ref = strings.TrimSpace(ref)
	bare := strings.TrimPrefix(ref, "@")
	switch name, size, bracketed := markdown.BracketedName(bare); {
	case strings.HasPrefix(ref, "[["):
		return r.note(v, ref)
	case bracketed && size == len(bare) && len(bare) < len(ref):
		return r.orMissing(ctx, v, name, func() (*ReferenceTarget, error) { return r.named(v, name) })
	case bare == "" || bare == "#":
		return nil, fault.Field("ref", "the reference is empty").
			WithHint("give an id, a handle, a number as #42, or a name")
	}
	if id, ok := memoryID(bare); ok {
		return r.orMissing(ctx, v, ref, func() (*ReferenceTarget, error) { return r.memoryID(v, id) })
	}
	w := word{text: bare, ids: true}
	return r.orMissing(ctx, v, bare, func() (*ReferenceTarget, error) {
		t, err := r.word(ctx, v, w)
		if t != nil || err != nil || bare != ref {
			return t, err
		}
		return r.record(v, ref)
	})
}

// record is what names a note or an entity where one is asked for, though not in a message: a path, a title, the beginning of an
// id.
func (r *Resolver) record(v *audience.View, ref string) (*ReferenceTarget, error) {
	id, err := v.FindRecord(ref)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case v.Entity(id) != nil:
		return r.entity(v, id, record.ViaName), nil
	}
	return &ReferenceTarget{Type: record.ResolvedNote, Via: record.ViaName, ID: id}, nil
}

// memoryID returns the id of memory:ID and mem:ID.
func memoryID(text string) (id string, ok bool) {
	kind, id, found := strings.Cut(text, ":")
	return id, found && id != "" && (strings.EqualFold(kind, "memory") || strings.EqualFold(kind, "mem"))
}

// orMissing is the error of step 6 where a reference leads to nothing.
func (r *Resolver) orMissing(ctx context.Context, v *audience.View, called string, find func() (*ReferenceTarget, error),
) (*ReferenceTarget, error) {
	t, err := find()
	if t != nil || err != nil {
		return t, err
	}
	missing := missingReference(called)
	if number, ok := refs.ParseMemoryNumber(called); ok && !v.Hides() && r.opts.Memories != nil {
		last, err := r.opts.Memories.LastNumber(ctx)
		if err != nil {
			return nil, err
		}
		if number <= uint64(last) {
			return nil, missing.WithHint("numbers are never given again: the memory that had this one was deleted")
		}
	}
	if r.opts.Near != nil {
		missing.Candidates = r.opts.Near(v, called, maxSuggestions)
	}
	return nil, missing
}

// missingReference is the error for a reference that leads to nothing.
func missingReference(called string) *fault.Error {
	const most = 100 // characters of it that are said again
	e := fault.New(fault.NotFound, "No memory, context or entity is called %s", text.Prefix(called, most))
	e.Field = "ref"
	return e.WithHint("give an id, a handle such as prefer_morning_workouts_a3f2, a number such as #42, or a name")
}

// word goes through the steps of REF-7 for a reference that is one word or name; nil for nothing.
func (r *Resolver) word(ctx context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	for _, step := range [...]func(context.Context, *audience.View, word) (*ReferenceTarget, error){
		r.byMessage, r.byID, r.byNumber, r.byHandle, r.byComputed,
		func(_ context.Context, v *audience.View, w word) (*ReferenceTarget, error) { return r.named(v, w.text) },
	} {
		t, err := step(ctx, v, w)
		if t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// byMessage is the first half of step 1.
func (r *Resolver) byMessage(ctx context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	of, which, ok := refs.SplitMessageRef(w.text)
	if !ok || r.opts.Conversation == nil {
		return nil, nil
	}
	id, err := r.opts.Conversation(ctx, v, of)
	if id == "" || err != nil {
		return nil, err
	}
	m, err := r.Message(ctx, v, id, which)
	if err != nil {
		return nil, err
	}
	return &ReferenceTarget{Type: record.ResolvedMessage, Via: record.ViaMessage, ID: m.ID, Message: m}, nil
}

// Message returns a message of a conversation that the reader sees, with its body cut to MaxBody. The error
// is NotFound and says how many there are.
func (r *Resolver) Message(ctx context.Context, v *audience.View, id, which string) (*record.ChatMessage, error) {
	m, total, err := r.opts.Message(ctx, v, id, which)
	if err != nil {
		return nil, err
	}
	if m == nil {
		e := fault.New(fault.NotFound, "the conversation has %d messages, and none is called %s", total, text.Prefix(which, 10))
		e.Field = "ref"
		return nil, e.WithHint("give a number from 1 to %d, or the hash of a message", total)
	}
	m.Content, _ = text.Truncate(m.Content, maxMessageChars)
	return m, nil
}

// byID is the second half of step 1.
func (r *Resolver) byID(_ context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	isID := entities.CheckID("ref", w.text) == nil
	if !w.ids || !isID {
		return nil, nil
	}
	t, err := r.memoryID(v, w.text)
	switch {
	case t != nil || err != nil:
		return t, err
	case r.opts.Memories != nil && r.opts.Memories.ByID(v, w.text) == memory.KindContext:
		return r.context(v, w.text, record.ViaID), nil
	case v.Entity(w.text) != nil:
		return r.entity(v, w.text, record.ViaID), nil
	case v.Note(w.text) != nil:
		return &ReferenceTarget{Type: record.ResolvedNote, Via: record.ViaID, ID: w.text}, nil
	}
	return nil, nil
}

func (r *Resolver) memoryID(v *audience.View, id string) (*ReferenceTarget, error) {
	if r.opts.Memories == nil || r.opts.Memories.ByID(v, id) != memory.KindMemory {
		return nil, nil
	}
	return r.memory(v, id, record.ViaID)
}

// byNumber is step 2.
func (r *Resolver) byNumber(_ context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	number, ok := refs.ParseMemoryNumber(w.text)
	if !ok || r.opts.Memories == nil {
		return nil, nil
	}
	id := r.opts.Memories.ByNumber(v, int64(number))
	if id == "" {
		return nil, nil
	}
	return r.memory(v, id, record.ViaNumber)
}

// byHandle is step 3. Handles of memories, contexts and conversations, former ones too, are different from
// each other.
func (r *Resolver) byHandle(ctx context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	if r.opts.Memories != nil {
		kind, id, former := r.opts.Memories.Owner(v, w.text)
		via := record.ViaHandle
		if former {
			via = record.ViaAlias
		}
		switch kind {
		case memory.KindMemory:
			return r.memory(v, id, via)
		case memory.KindContext:
			return r.context(v, id, via), nil
		}
	}
	if r.opts.Conversation == nil {
		return nil, nil
	}
	id, err := r.opts.Conversation(ctx, v, w.text)
	if id == "" || err != nil {
		return nil, err
	}
	return &ReferenceTarget{
		Type: record.ResolvedConversation, Via: record.ViaHandle, ID: id, Memories: r.group(v, audience.GroupConversation, id),
	}, nil
}

// byComputed is step 4.
func (r *Resolver) byComputed(_ context.Context, v *audience.View, w word) (*ReferenceTarget, error) {
	if strings.IndexByte(w.text, '_') < 0 { // as in most names: it has no suffix
		return nil, nil
	}
	folded := refs.FoldHandle(w.text)
	if strings.HasSuffix(folded, refs.EntityHandle.Suffix()) {
		switch list := v.Handled(w.text); len(list) {
		case 0:
		case 1:
			return r.entity(v, list[0].ID, record.ViaComputed), nil
		default:
			return nil, ambiguous(entityCandidates(v, list))
		}
	}
	if r.opts.Memories == nil {
		return nil, nil
	}
	for _, labels := range [...]struct {
		kind   audience.GroupKind
		suffix string
		found  record.ResolvedType
	}{
		{audience.GroupTag, refs.TagHandle.Suffix(), record.ResolvedTag},
		{audience.GroupDomain, refs.DomainHandle.Suffix(), record.ResolvedDomain},
	} {
		if !strings.HasSuffix(folded, labels.suffix) {
			continue
		}
		var targets []*ReferenceTarget
		for _, fold := range r.opts.Memories.Labelled(labels.kind, w.text) {
			if ids := r.opts.Memories.Group(v, labels.kind, fold); len(ids) > 0 {
				targets = append(targets, &ReferenceTarget{Type: labels.found, Via: record.ViaComputed, ID: fold, Memories: ids})
			}
		}
		switch len(targets) {
		case 0:
		case 1:
			return targets[0], nil
		default:
			return nil, ambiguous(labelCandidates(targets))
		}
	}
	return nil, nil
}

// named is step 5 for a text that is a name as a whole.
func (r *Resolver) named(v *audience.View, name string) (*ReferenceTarget, error) {
	var found []*entities.Entity
	e, err := v.EntityByName(name, "")
	var several *fault.Error
	switch {
	case err == nil:
		found = []*entities.Entity{e}
	case fault.KindOf(err) == fault.Conflict:
		several = asFault(err)
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	contexts := r.called(v, name)
	if several != nil {
		return nil, ambiguous(append(withKind(several.Candidates, record.ResolvedEntity), contextCandidates(contexts)...))
	}
	return r.oneOf(v, found, contexts)
}

// called returns the contexts of a name.
func (r *Resolver) called(v *audience.View, name string) []*memory.Context {
	if r.opts.Memories == nil {
		return nil
	}
	list, _ := r.opts.Memories.Called(v, strings.TrimRight(audience.ContextNameKey(name), "_"))
	return list
}

// oneOf returns the one record of a name; nil for none.
func (r *Resolver) oneOf(v *audience.View, found []*entities.Entity, contexts []*memory.Context) (*ReferenceTarget, error) {
	switch {
	case len(found)+len(contexts) > 1:
		return nil, ambiguous(append(entityCandidates(v, found), contextCandidates(contexts)...))
	case len(found) == 1:
		return r.entity(v, found[0].ID, record.ViaName), nil
	case len(contexts) == 1:
		return r.context(v, contexts[0].ID, record.ViaName), nil
	}
	return nil, nil
}

// note is a reference by [[Title]].
func (r *Resolver) note(v *audience.View, ref string) (*ReferenceTarget, error) {
	links := markdown.Links(ref)
	if len(links) != 1 || links[0].Start != 0 || links[0].End != len(ref) || links[0].Target == "" {
		return nil, fault.Field("ref", "the reference is no link to a note").WithHint("give [[Title]]")
	}
	res := v.ResolveNote(links[0].Target, "")
	switch {
	case res.ID != "":
		return &ReferenceTarget{Type: record.ResolvedNote, Via: record.ViaName, ID: res.ID}, nil
	case len(res.Candidates) > 0:
		return nil, ambiguous(withKind(v.Candidates(res.Candidates), record.ResolvedNote))
	}
	e := fault.New(fault.NotFound, "No note is called %s", text.Prefix(links[0].Target, 100))
	e.Field = "ref"
	return nil, e.WithHint("notes.complete finds notes by the beginning of their title")
}
