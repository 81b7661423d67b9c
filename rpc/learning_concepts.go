package rpc

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// conceptHandlers has the handlers of concepts.list, concepts.get, concepts.path, memory.effectiveness and
// memory.insights. NewConcepts makes one.
type conceptHandlers struct{ room conceptKnower }

// newConceptHandlers returns the handlers over the room of concepts.
func newConceptHandlers(room conceptKnower) *conceptHandlers { return &conceptHandlers{room} }

// conceptKnower is the room of concepts: no handler has the Index, which tells all concepts (PRIV-2).
type conceptKnower interface {
	List(ctx context.Context, v *audience.View, f concepts.Filter) ([]*record.Concept, []record.ConceptEdge, int, error)
	Get(ctx context.Context, v *audience.View, label string) (*concepts.About, error)
	Path(ctx context.Context, v *audience.View, from, to string) ([]*record.Concept, []record.ConceptEdge, error)
	Actions(ctx context.Context, v *audience.View, task string) (*concepts.Actions, error)
	Insight(ctx context.Context, v *audience.View, text, conversation string) (*record.Insight, error)
}

// List is concepts.list.
func (c *conceptHandlers) List(ctx context.Context, by callReader, p protocol.ConceptFilter) (out protocol.ConceptList, err error) {
	f := concepts.Filter{Sort: p.Sort, Limit: p.Limit}
	if p.Since != nil {
		f.Since = *p.Since
	}
	out.Concepts, out.Edges, out.Total, err = c.room.List(ctx, by.View, f)
	return out, err
}

// Get is concepts.get.
func (c *conceptHandlers) Get(ctx context.Context, by callReader, p protocol.ConceptRef) (protocol.ConceptFull, error) {
	about, err := c.room.Get(ctx, by.View, p.Ref)
	if err != nil {
		return protocol.ConceptFull{}, fault.In("ref", err)
	}
	return protocol.ConceptFull{Concept: *about.Concept, Edges: about.Edges, Examples: about.Examples}, nil
}

// Path is concepts.path.
func (c *conceptHandlers) Path(ctx context.Context, by callReader, p protocol.ConceptEnds) (out protocol.ConceptPath, err error) {
	out.Concepts, out.Edges, err = c.room.Path(ctx, by.View, p.From, p.To)
	return out, err
}

// Actions is memory.effectiveness.
func (c *conceptHandlers) Actions(ctx context.Context, by callReader, p protocol.TaskDescription) (protocol.ActionEffectiveness, error) {
	found, err := c.room.Actions(ctx, by.View, p.Task)
	if err != nil {
		return protocol.ActionEffectiveness{}, err
	}
	return protocol.ActionEffectiveness{Kinds: found.Kinds, Actions: found.Actions}, nil
}

// Insight is memory.insights.
func (c *conceptHandlers) Insight(ctx context.Context, by callReader, p protocol.InsightAsked) (*record.Insight, error) {
	if strings.TrimSpace(p.Text) == "" {
		return nil, fault.Field("text", "text has no words").WithHint("give what the user typed")
	}
	return c.room.Insight(ctx, by.View, p.Text, p.ConversationID)
}
