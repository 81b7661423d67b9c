package gather

import (
	"context"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// FoundReference is a place of a message that refers to something, or that looks so. Places are bytes, half open.
type FoundReference struct {
	Start, End int
	Raw        string           // the text there
	Target     *ReferenceTarget // what it leads to; nil: to no record, or to several
	// Err says why a reference that can mean nothing else leads to no record: fault.NotFound, or
	// fault.Conflict with candidates.
	Err error

	// Of a mention, as @Alice Novak or @[Alice Novak].
	Mention  bool
	Name     string             // as it is written; "" where nothing behind the @ is a name
	Rest     string             // what follows the @ as far as it is prose; "" for one in brackets
	Entities []*entities.Entity // those that the name may mean
}

// InMessage yields what a message refers to, in its order: what package refs finds, and mentions by names,
// as context.assemble reads them. Nothing within a place counts. Bare ids and numbers are no references
// here. The time is linear in the text, but for what is read of records. An error ends it.
func (r *Resolver) InMessage(ctx context.Context, v *audience.View, m *markdown.Message) iter.Seq2[FoundReference, error] {
	return func(yield func(FoundReference, error) bool) {
		found := refs.FindIn(m)
		behind := 0
		each := func(p place) bool {
			if p.start < behind {
				return true
			}
			f, err := r.at(ctx, v, p)
			if err != nil {
				yield(FoundReference{}, err)
				return false
			}
			f.Start, f.Raw, behind = p.start, m.Text[p.start:f.End], f.End
			return yield(f, nil)
		}
		for at, rest := range m.Mentions() {
			if at.Kind == markdown.WikilinkRef {
				continue // package refs has it, where it counts
			}
			for len(found) > 0 && found[0].Start < at.Start {
				if !each(place{start: found[0].Start, ref: &found[0]}) {
					return
				}
				found = found[1:]
			}
			p := place{start: at.Start, mention: &at, rest: rest}
			if len(found) > 0 && found[0].Start == at.Start {
				p.ref, found = &found[0], found[1:]
			}
			if !each(p) {
				return
			}
		}
		for i := range found {
			if !each(place{start: found[i].Start, ref: &found[i]}) {
				return
			}
		}
	}
}

// place is a place of a message, as each of two readers has it; nil for one that has not.
type place struct {
	start   int
	ref     *refs.Ref
	mention *markdown.Reference
	rest    string // behind the @ of the mention
}

// at returns what a place means: the longest of what it may mean.
func (r *Resolver) at(ctx context.Context, v *audience.View, p place) (FoundReference, error) {
	var f FoundReference
	if p.ref != nil {
		t, err := r.typed(ctx, v, p.ref)
		if err != nil && fault.KindOf(err) != fault.NotFound && fault.KindOf(err) != fault.Conflict {
			return FoundReference{}, err
		}
		f = FoundReference{End: p.ref.End, Target: t, Err: err}
	}
	if p.mention == nil {
		if f.Target == nil && f.Err == nil {
			f.Err = missingReference(p.ref.Raw)
		}
		return f, nil
	}
	named := r.mention(v, p)
	if (f.Target != nil || f.Err != nil) && f.End >= named.End {
		f.Mention = true
		return f, nil
	}
	return named, nil
}

// typed returns what a reference that package refs has found leads to, by all steps but names; nil for nothing.
func (r *Resolver) typed(ctx context.Context, v *audience.View, ref *refs.Ref) (*ReferenceTarget, error) {
	switch ref.Kind {
	case refs.Note:
		return r.note(v, ref.Raw)
	case refs.MemoryID:
		t, err := r.memoryID(v, ref.ID)
		if t == nil && err == nil {
			err = missingReference(ref.Raw)
		}
		return t, err
	}
	w := word{text: ref.ID}
	switch ref.Kind {
	case refs.Number:
		return r.byNumber(ctx, v, w)
	case refs.Conversation:
		return r.byMessage(ctx, v, w)
	}
	t, err := r.byHandle(ctx, v, w)
	if t != nil || err != nil {
		return t, err
	}
	return r.byComputed(ctx, v, w)
}

// mention is step 5 for what follows an @: the longest name counts.
func (r *Resolver) mention(v *audience.View, p place) FoundReference {
	m := p.mention
	f := FoundReference{End: m.End, Mention: true, Name: m.Target, Rest: p.rest}
	var contexts []*memory.Context
	if m.Open() {
		var size, longest int
		f.Entities, size = v.MentionAt(p.rest)
		contexts, longest = r.contextAt(v, p.rest)
		switch {
		case longest > size:
			f.Entities, size = nil, longest
		case longest < size:
			contexts = nil
		}
		f.Name, f.End = p.rest[:size], m.End+size
		if size == 0 {
			f.Name = firstWord(p.rest)
			f.End = m.End + len(f.Name)
		}
	} else {
		f.Entities, f.Rest = v.Named(m.Target), ""
		contexts = r.called(v, m.Target)
	}
	if len(contexts) == 0 && len(f.Entities) != 1 { // none, or several of one kind: for the caller to say
		return f
	}
	f.Target, f.Err = r.oneOf(v, f.Entities, contexts)
	return f
}

// contextAt returns the contexts of the longest name that a text begins with, and its length.
func (r *Resolver) contextAt(v *audience.View, text string) (list []*memory.Context, size int) {
	if r.opts.Memories == nil {
		return nil, 0
	}
	name := audience.LongestMatch(text, func(fold string) (whole, beginning bool) {
		called, beginning := r.opts.Memories.Called(v, audience.ContextNameKey(fold))
		if len(called) > 0 {
			list = called
		}
		return len(called) > 0, beginning
	})
	return list, len(name)
}

// CleanMessage returns a message as it is searched for: without references to memories and to what holds
// some, with the names of entities and notes without their marks, and with what leads to nothing as it is.
func CleanMessage(text string, found []FoundReference) string {
	if len(found) == 0 {
		return text
	}
	list := make([]refs.Ref, len(found))
	for i, f := range found {
		list[i] = refs.Ref{Kind: refs.Handle, Raw: f.Raw, Start: f.Start, End: f.End}
		if isLink(f.Raw) {
			list[i].Kind = refs.Note
		}
	}
	next := 0 // they are asked for in their order
	return refs.Clean(text, list, func(refs.Ref) refs.Treatment {
		f := &found[next]
		next++
		switch {
		case isLink(f.Raw):
			return refs.Named
		case f.Target == nil && len(f.Entities) == 0:
			return refs.Kept
		case f.Target == nil || f.Target.Type == record.ResolvedEntity:
			return refs.Named
		}
		return refs.Removed
	})
}

func isLink(raw string) bool { return strings.HasPrefix(raw, "[[") || strings.HasPrefix(raw, "![[") }

// firstWord returns the word that an unknown mention begins with, "" when it
// is none.
func firstWord(text string) string {
	w := words.FromString(text)
	if !w.Next() {
		return ""
	}
	if r, _ := utf8.DecodeRuneInString(w.Value()); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return ""
	}
	return w.Value()
}
