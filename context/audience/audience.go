package audience

import (
	"slices"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// Reader says who reads what a call answers.
type Reader string

// Readers.
const (
	Local  Reader = "local"  // a person or a model on this machine: private records are shown
	Remote Reader = "remote" // any other: private records do not exist
)

// Stores are the rooms that Views look into. Graph and WQL, of which one needs the
// other, and Search may be nil where nobody asks for them.
type Stores struct {
	Entities *entities.Store
	Notes    *notes.Store
	WQL      *wql.Engine
	Graph    *graph.Graph
	Search   *search.Index
}

// Views make Views. Open makes them. They may be used concurrently.
type Views struct {
	local, remote View

	shown    atomic.Pointer[shownRecords]
	named    references
	namers   []*Namers
	revealed revealed
	sources  atomic.Pointer[notes.SourcesByName] // of the last record that has many
	vaults   struct{ local, remote vaultsSeen }
	tasks    struct{ local, remote taskReader }
	handled  handledRecords

	// ofPast keeps for a commit, from its preparation on, the ids of the notes that name
	// what private records were called and from this commit on need not be hidden.
	ofPast kv.Ahead[[]string]

	counted  []func(ch kv.Change) bool // see CountPrivacy
	privacy  atomic.Uint64             // counts the changes of what private records there are and how they are called
	meanings atomic.Uint64             // counts those, and the others after which a link may mean another record
}

// Open returns Rooms over stores that were opened before.
func Open(db *kv.Store, s Stores) *Views {
	r := new(Views)
	r.local = View{rooms: r, entities: s.Entities, notes: s.Notes, graph: s.Graph, wql: s.WQL}
	r.remote = r.local
	r.remote.hides = true
	r.named.over(db)
	r.forgetShown()
	r.tasks.local, r.tasks.remote = taskReader{views: r, view: &r.local}, taskReader{views: r, view: &r.remote}
	if s.WQL != nil {
		s.WQL.ReadTasks(r.tasks.local.Each)
		r.remote.wql = s.WQL.Showing(wql.Visibility{
			Hides: privateEntity, As: r.queried, Match: r.match,
			Types:  func() []*entities.Type { return r.remote.types(r.remote.queriedType) },
			TypeOf: func(e *entities.Entity) *entities.Type { return r.remote.typeOf(e, r.remote.queriedType) },
			Named: func(name string) *entities.NamedTypes {
				return r.remote.typesNamed(name, r.remote.queriedType)
			},
			Tasks: r.tasks.remote.Each,
		})
	}
	if s.Graph != nil {
		r.remote.graph = s.Graph.As(&r.remote, r.remote.wql)
	}
	db.OnPrepare(r.prepare)
	db.OnCommit(r.commit)
	r.SetSearch(s.Search)
	return r
}

// SetSearch gives the Rooms the index, for whose making they are needed. Call it before
// anybody has a View.
func (r *Views) SetSearch(index *search.Index) { r.local.search, r.remote.search = index, index }

// View returns what a reader may see. A reader that is not known sees what a
// remote one does.
func (r *Views) View(reader Reader) *View {
	if reader == Local {
		return &r.local
	}
	return &r.remote
}

// CountPrivacy has View.Privacy count the changes that pass a test as well: records of a room to the right, of which texts
// call none by name, become private or public. Call it before anybody has a View.
func (r *Views) CountPrivacy(test func(ch kv.Change) bool) { r.counted = append(r.counted, test) }

func (r *Views) countsPrivacy(ch kv.Change) bool {
	return slices.ContainsFunc(r.counted, func(test func(ch kv.Change) bool) bool { return test(ch) })
}

// commit counts the commits that change what is private or how it is called, and has
// queries forget what may be shown otherwise from now on.
func (r *Views) commit(cs *kv.ChangeSet) {
	r.vaults.local.commit(cs, r.local.SeesNote)
	r.vaults.remote.commit(cs, r.remote.SeesNote)
	r.tasks.local.commit(cs)
	r.tasks.remote.commit(cs)
	r.handled.commit(cs, r.remote.entities.Past())
	private := slices.ContainsFunc(cs.Changes, func(ch kv.Change) bool {
		return entityPrivacy(ch) || notePrivacy(ch) || r.remote.handledPrivacy(ch) || r.remote.pastPrivacy(ch)
	})
	if private || slices.ContainsFunc(cs.Changes, r.countsPrivacy) {
		r.privacy.Add(1)
	}
	stale := private || r.remote.masks() && slices.ContainsFunc(cs.Changes, renames)
	if stale {
		r.meanings.Add(1)
		r.forgetShown()
	}
	if r.remote.wql == nil {
		return
	}
	if stale {
		r.remote.wql.Forget()
	}
	r.remote.wql.Apply(cs)
}

// renames reports whether a change may give links another meaning, or names: a record
// came, went or is called otherwise, or its names are made from other texts than before.
func renames(ch kv.Change) bool {
	if old, now, ok := notes.Records.Of(ch); ok {
		return old == nil || now == nil || old.Path != now.Path || old.Vault != now.Vault || old.Live() != now.Live() ||
			old.Sources != now.Sources || !sameNames(old.Title, now.Title, old.Aliases, now.Aliases)
	}
	old, now, ok := entities.EntityRecords.Of(ch)
	return ok && (old == nil || now == nil || old.Type != now.Type || old.NoteID != now.NoteID ||
		old.Live() != now.Live() ||
		old.Sources != now.Sources || !sameNames(old.Name, now.Name, old.Aliases, now.Aliases))
}

func entityPrivacy(ch kv.Change) bool {
	old, now, ok := entities.EntityRecords.Of(ch)
	if !ok {
		return false
	}
	was, is := old != nil && old.Private, now != nil && now.Private
	return was != is || is && !sameNames(old.Name, now.Name, old.Aliases, now.Aliases)
}

func notePrivacy(ch kv.Change) bool {
	old, now, ok := notes.Records.Of(ch)
	if !ok {
		return false
	}
	was, is := old != nil && old.Private, now != nil && now.Private
	return was != is || is && !sameNames(old.Title, now.Title, old.Aliases, now.Aliases)
}

func sameNames(name, other string, aliases, others []string) bool {
	return name == other && slices.Equal(aliases, others)
}

// View is what one reader may see. Rooms.View makes it for one call.
type View struct {
	rooms    *Views
	hides    bool // private records
	entities *entities.Store
	notes    *notes.Store
	graph    *graph.Graph // in which private records do not exist if they are hidden
	search   *search.Index
	wql      *wql.Engine // likewise
}

// Reader returns whose View it is.
func (v *View) Reader() Reader {
	if v.hides {
		return Remote
	}
	return Local
}

// Hides reports whether private records do not exist in the View.
func (v *View) Hides() bool { return v.hides }

// SeesNote reports whether the reader may know of a note; not of nil.
func (v *View) SeesNote(n *notes.Note) bool { return n != nil && !(v.hides && n.Private) }

// SeesEntity reports whether the reader may know of an entity; not of nil.
func (v *View) SeesEntity(e *entities.Entity) bool { return e != nil && !(v.hides && e.Private) }

// Privacy names what private records there are and how they are called, as far as
// that can change what the reader is shown of others: while two calls give the same
// number, a text without marks of links shows the same.
func (v *View) Privacy() uint64 {
	if !v.hides {
		return 0
	}
	return v.rooms.privacy.Load()
}

// Meanings numbers what links, mentions and names mean, as far as that can change what the
// reader is shown: while two calls give the same number, the text of one notes.Note shows
// the same. Ask for it before the text is masked: a commit in between may be half seen.
func (v *View) Meanings() uint64 {
	if !v.hides {
		return 0
	}
	return v.rooms.meanings.Load()
}

// WithholdsNotes reports whether there are notes that the reader does not see.
func (v *View) WithholdsNotes() bool { return v.hides && v.notes.Privates() > 0 }

// masks reports whether anything is to be taken out of texts.
func (v *View) masks() bool {
	return v.hides &&
		v.notes.Privates()+v.entities.Privates()+v.rooms.handled.private.Load()+v.entities.Past().Len() > 0
}

// skipNote is what the notes store is to leave out; nil for nothing.
func (v *View) skipNote() notes.Skip {
	if !v.hides {
		return nil
	}
	return privateNote
}

// skipEntity is what the store of entities is to leave out; nil for nothing.
func (v *View) skipEntity() entities.Skip {
	if !v.hides {
		return nil
	}
	return privateEntity
}

func privateNote(n *notes.Note) bool { return n.Private }

func privateEntity(e *entities.Entity) bool { return e.Private }
