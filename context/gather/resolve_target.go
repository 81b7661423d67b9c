package gather

import (
	"errors"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// memory is a reference to one memory, whatever its status: one that was merged leads to the other. The error
// is NotFound for what was wrong.
func (r *Resolver) memory(v *audience.View, id string, via record.ResolvedVia) (*ReferenceTarget, error) {
	ids, retracted := r.opts.Memories.Single(v, id)
	switch {
	case retracted:
		e := fault.New(fault.NotFound, "the memory was retracted, because it was wrong")
		e.Field = "ref"
		return nil, e.WithHint("memory.get with its id shows what it said")
	case len(ids) == 0: // it was merged into what is not there
		return nil, nil
	}
	return &ReferenceTarget{Type: record.ResolvedMemory, Via: via, ID: ids[0], Memories: ids}, nil
}

func (r *Resolver) context(v *audience.View, id string, via record.ResolvedVia) *ReferenceTarget {
	t := &ReferenceTarget{Type: record.ResolvedContext, Via: via, ID: id}
	t.Memories, t.Deeper = r.opts.Memories.Tree(v, id, maxContextDepth)
	return t
}

func (r *Resolver) entity(v *audience.View, id string, via record.ResolvedVia) *ReferenceTarget {
	return &ReferenceTarget{Type: record.ResolvedEntity, Via: via, ID: id, Memories: r.group(v, audience.GroupEntity, id)}
}

// About returns the ids of the memories about an entity.
func (r *Resolver) About(v *audience.View, id string) []string {
	return r.group(v, audience.GroupEntity, id)
}

func (r *Resolver) group(v *audience.View, kind audience.GroupKind, key string) []string {
	if r.opts.Memories == nil {
		return nil
	}
	return r.opts.Memories.Group(v, kind, key)
}

// spell has a tag or a domain be called as the first memory of it spells it.
func spell(out *record.Resolved, t *ReferenceTarget) {
	if len(out.Memories) == 0 {
		return
	}
	labels := out.Memories[0].Tags
	switch t.Type {
	case record.ResolvedTag:
	case record.ResolvedDomain:
		labels = out.Memories[0].Domains
	default:
		return
	}
	levels := strings.Count(t.ID, "/") + 1
	for _, label := range labels {
		parts := strings.Split(label, "/")
		if len(parts) >= levels {
			upper := strings.Join(parts[:levels], "/")
			if audience.FoldStatement(upper) == t.ID {
				out.SourceID = upper
				return
			}
		}
	}
}

func ambiguous(candidates []fault.Candidate) error {
	e := fault.Clash(fault.Ambiguous, "several records are called so")
	e.Field, e.Candidates = "ref", candidates
	return e.WithHint("give the id of one of the candidates")
}

func entityCandidates(v *audience.View, list []*entities.Entity) []fault.Candidate {
	v.LikeliestFirst(list)
	var out []fault.Candidate
	for _, e := range list {
		if !v.SeesEntity(e) {
			continue
		}
		c := fault.Candidate{ID: e.ID, Name: v.NameOf(e), Type: e.Type}
		c.Vault, c.Path = v.PlaceOf(e.ID)
		out = append(out, c)
	}
	return withKind(out, record.ResolvedEntity)
}

func contextCandidates(list []*memory.Context) []fault.Candidate {
	var out []fault.Candidate
	for _, c := range list {
		out = append(out, fault.Candidate{ID: c.ID, Name: c.Name, Handle: c.Handle})
	}
	return withKind(out, record.ResolvedContext)
}

func labelCandidates(targets []*ReferenceTarget) []fault.Candidate {
	var out []fault.Candidate
	for _, t := range targets {
		out = append(out, fault.Candidate{ID: t.ID, Kind: string(t.Type)})
	}
	return out
}

func withKind(list []fault.Candidate, kind record.ResolvedType) []fault.Candidate {
	for i := range list {
		list[i].Kind = string(kind)
	}
	return list
}

func asFault(err error) *fault.Error {
	var e *fault.Error
	errors.As(err, &e)
	return e
}
