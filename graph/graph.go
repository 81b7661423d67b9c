package graph

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
)

// Kind tells entities from notes: their ids are spaces of their own.
type Kind uint8

// The kinds of node.
const (
	Entity Kind = iota
	Note
)

// String returns the name of the kind on the wire.
func (k Kind) String() string {
	if k == Note {
		return "note"
	}
	return "entity"
}

// Node is the number of an entity or note in a Graph. Numbers are given once
// and stay while the Graph lives, also when the record goes.
type Node int32

// Key names a node.
type Key struct {
	Kind Kind
	ID   string
}

// Edge leads from an entity to what one of its fields refers to.
type Edge struct {
	To    Node
	Field string // as declared; OwnNote for the note that the entity was made from
}

// OwnNote is the Field of the edge from an entity to its own note.
const OwnNote = "noteId"

// Graph is the adjacency of one store, as a reader sees it. Open makes one, and As
// makes those of other readers of it.
type Graph struct {
	*adjacency
	wql   *wql.Engine
	shown Visibility // nil: everything
}

// Visibility says what a reader sees who does not see everything.
type Visibility interface {
	SeesEntity(*entities.Entity) bool // whether it exists for the reader; it takes no lock
	SeesNote(*notes.Note) bool        // likewise
	HidesEntity(id string) bool       // whether there is, or was, one that does not exist for the reader
	HidesNote(id string) bool         // likewise
	NameOf(*entities.Entity) string
	TitleOf(*notes.Note) string
	TextOf(noteID, text string) string      // a value of an entity of that note
	TypeOf(*entities.Entity) *entities.Type // nil for one that does not exist for the reader
}

// Private stands for a record that the reader is not to know of, where something
// that is shown refers to it.
const Private = record.Withheld

// adjacency is what all Graphs of one store share.
type adjacency struct {
	ents  *entities.Store
	notes *notes.Store

	mu   kv.LoadLock // guards everything below, all of which is loaded later
	keys []Key
	node [2]map[string]Node // by kind and id
	out  [][]Edge
	in   [][]Node // without repeats, in no order

	walkers sync.Pool // of *walker
}

// Open makes the graph of the entities and notes of db and keeps it current. It is
// built when it is needed first.
func Open(db *kv.Store, ents *entities.Store, ns *notes.Store, engine *wql.Engine) *Graph {
	n := ents.Count("")
	a := &adjacency{
		ents: ents, notes: ns,
		keys: make([]Key, 0, n), out: make([][]Edge, 0, n), in: make([][]Node, 0, n),
		node: [2]map[string]Node{Entity: make(map[string]Node, n), Note: make(map[string]Node)},
	}
	g := &Graph{adjacency: a, wql: engine}
	g.walkers.New = func() any { return new(walker) }
	g.mu.Later(g.load)
	db.OnCommit(g.commit)
	return g
}

// As returns the same graph for a reader that does not see all of it. engine answers
// for that reader. Hidden records are in no walk, path or figure; what a record that
// is shown refers to shows as Private where the record would be named.
func (g *Graph) As(shown Visibility, engine *wql.Engine) *Graph {
	return &Graph{adjacency: g.adjacency, wql: engine, shown: shown}
}

// hides reports whether there is or was such a record, and not for the reader.
func (g *Graph) hides(key Key) bool {
	switch {
	case g.shown == nil:
		return false
	case key.Kind == Note:
		return g.shown.HidesNote(key.ID)
	}
	return g.shown.HidesEntity(key.ID)
}

func (g *Graph) entityName(e *entities.Entity) string {
	if g.shown == nil {
		return e.Name
	}
	return g.shown.NameOf(e)
}

func (g *Graph) noteTitle(n *notes.Note) string {
	if g.shown == nil {
		return n.Title
	}
	return g.shown.TitleOf(n)
}

// text returns a text of a field of an entity.
func (g *Graph) text(e *entities.Entity, text string) string {
	if g.shown == nil {
		return text
	}
	return g.shown.TextOf(e.NoteID, text)
}

func (g *Graph) texts(e *entities.Entity, list []string) []string {
	if g.shown == nil {
		return list
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = g.text(e, text)
	}
	return out
}

func (g *Graph) typeOf(e *entities.Entity) *entities.Type {
	if g.shown == nil {
		return g.ents.TypeOf(e)
	}
	return g.shown.TypeOf(e)
}

// withheld reports whether a reference leads to what the reader is not to know of: a
// hidden record, or a link that can mean nothing else.
func (g *Graph) withheld(e *entities.Entity, key Key) bool {
	if g.shown == nil {
		return false
	}
	if _, isLink := record.LinkTarget(key.ID); isLink {
		return g.text(e, key.ID) != key.ID
	}
	return g.hides(key)
}

// LoadRest builds the graph if nobody has needed it yet. It is for when there is time.
func (g *Graph) LoadRest() { g.mu.LoadRest() }

// load enters all entities. A commit that has the graph loaded first is in it twice,
// which makes no difference: what it changed gets its edges anew.
func (g *Graph) load() {
	var t *entities.Type // of the last entity: most have one of a few
	var last *entities.Entity
	for e := range g.ents.All() {
		if t == nil || e.Type != last.Type || e.Vault != last.Vault || e.VaultBacked != last.VaultBacked {
			t, last = g.ents.TypeOf(e), e
		}
		g.connect(g.enter(Key{Entity, e.ID}), g.edges(e, t))
	}
}

// commit is the Graph's part in a commit.
func (g *Graph) commit(cs *kv.ChangeSet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ch := range cs.Changes {
		if _, e, ok := entities.EntityRecords.Of(ch); ok {
			g.replace(ch.ID, e)
		}
	}
}

// replace sets the edges of an entity; nil for one that is gone. The caller
// has the lock, or the graph for itself.
func (g *Graph) replace(id string, e *entities.Entity) {
	from := g.enter(Key{Entity, id})
	for _, edge := range g.out[from] {
		g.in[edge.To] = without(g.in[edge.To], from)
	}
	g.out[from] = nil
	if e == nil {
		return
	}
	g.connect(from, g.edges(e, g.ents.TypeOf(e)))
}

// connect gives a node that has none its edges.
func (g *Graph) connect(from Node, edges []Edge) {
	g.out[from] = edges
	for _, edge := range edges {
		if !slices.Contains(g.in[edge.To], from) {
			g.in[edge.To] = append(g.in[edge.To], from)
		}
	}
}

// edges returns the edges of an entity of that type, which may be nil, in the
// order of the type's fields.
func (g *Graph) edges(e *entities.Entity, t *entities.Type) []Edge {
	var list [8]Edge
	edges := list[:0]
	if t != nil {
		for i := range t.Fields {
			f := &t.Fields[i]
			if !f.Type.IsRef() {
				continue
			}
			kind := Entity
			if f.Type.Info().To == record.ToNote {
				kind = Note
			}
			add := func(id string) {
				if _, raw := record.LinkTarget(id); !raw && id != "" {
					edges = append(edges, Edge{g.enter(Key{kind, id}), f.Name})
				}
			}
			switch v := e.Fields[f.Name].(type) {
			case string:
				add(v)
			case []string:
				for _, id := range v {
					add(id)
				}
			}
		}
	}
	if e.NoteID != "" {
		edges = append(edges, Edge{g.enter(Key{Note, e.NoteID}), OwnNote})
	}
	return slices.Clone(edges)
}

// enter returns the number of a node and gives it one if it has none.
func (g *Graph) enter(key Key) Node {
	n, ok := g.node[key.Kind][key.ID]
	if !ok {
		key.ID = strings.Clone(key.ID) // it is kept for good, and may be a part of a record
		n = Node(len(g.keys))
		g.node[key.Kind][key.ID] = n
		g.keys = append(g.keys, key)
		g.out = append(g.out, nil)
		g.in = append(g.in, nil)
	}
	return n
}

func without(list []Node, n Node) []Node {
	if at := slices.Index(list, n); at >= 0 {
		list[at] = list[len(list)-1]
		return list[:len(list)-1]
	}
	return list
}

// Number returns the number of a node, giving it one if it has none yet.
func (g *Graph) Number(key Key) Node {
	g.mu.RLock()
	n, ok := g.node[key.Kind][key.ID]
	g.mu.RUnlock()
	if ok {
		return n
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.enter(key)
}

// Key returns what a number stands for.
func (g *Graph) Key(n Node) Key {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.keys[n]
}

// Referrers returns the entities that refer to a node, in id order: what they
// show of it is stale when its name, title or state changes. nil: none does.
func (g *Graph) Referrers(key Key) []string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n, ok := g.node[key.Kind][key.ID]
	if !ok || len(g.in[n]) == 0 { // a node that was only asked for is none
		return nil
	}
	ids := make([]string, 0, len(g.in[n]))
	for _, from := range g.in[n] {
		ids = append(ids, g.keys[from].ID)
	}
	slices.Sort(ids)
	return ids
}

// References returns the stored references of an entity in the order of its
// type's fields, its own note last. nil: it has none.
func (g *Graph) References(id string) []Ref {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n, ok := g.node[Entity][id]
	if !ok || len(g.out[n]) == 0 {
		return nil
	}
	refs := make([]Ref, len(g.out[n]))
	for i, e := range g.out[n] {
		refs[i] = Ref{Key: g.keys[e.To], Field: e.Field}
	}
	return refs
}

// Ref is an edge by the key of its target.
type Ref struct {
	Key
	Field string
}

// computed returns the entities that the computed fields of e give.
func (g *Graph) computed(ctx context.Context, e *entities.Entity) []Ref {
	t := g.typeOf(e)
	if t == nil || g.wql == nil {
		return nil
	}
	var refs []Ref
	for _, f := range t.Fields {
		if !f.Type.IsComputed() {
			continue
		}
		res, err := g.wql.Computed(ctx, e, f)
		if err != nil {
			continue // what fails is shown where the field is shown
		}
		for _, row := range res.Rows {
			refs = append(refs, Ref{Key{Entity, row.ID}, f.Name})
		}
	}
	return refs
}
