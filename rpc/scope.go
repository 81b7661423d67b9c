package rpc

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// scope is what the handler of one call has: what its reader may see, and what it
// writes with. It holds no store: whatever a handler reads, it reads through the View.
type scope struct {
	view          *audience.View
	audiences     *audience.Views
	notes         noteWriter
	entities      entityWriter
	gather        *gather.Gatherer
	vaults        *vault.Importer
	memory        memoryKeeper
	chat          chatKeeper
	exports       *transfer.Exporter
	traces        *cites.Inspector
	memories      *memoryHandlers
	personalities *personalityHandlers
	sync          *syncHandlers
	learning      *learningHandlers
	shows         *learn.Scorer
	concepts      *conceptHandlers
	books         *bookHandlers
	messages      *cites.MessageFinder
	answers       *send.Pipeline
	actions       *tools.Decider
	intents       *tools.Router
	answered      func(context.Context, *turn.ChatSent) // is told of each answer
	judge         func(*turn.ChatSent)                  // and once it waits for its outcome
	handles       *gather.Completer
	refs          *gather.Resolver
	tools         *tools.Set

	summaries *background.SummaryStore
	cites     noteCiter
	excerpts  *cites.ExcerptFinder
	suggests  *cites.NoteSuggester
	shower    *cites.SourceLister

	queue  *CallQueue
	asked  *queuedChat // what chat.send writes with
	client string      // that has made a call which is made again
}

// by is for whom a call of a session reads and writes; s is nil for one that is made again.
func (c scope) by(s *Session) callReader {
	by := callReader{View: c.view, Client: c.client, Queue: c.queue}
	if s != nil {
		by.Client = s.Client().Name
	}
	return by
}

// personalityValidate needs no store, and no scope.
func personalityValidate(_ context.Context, _ *Session, p protocol.PersonalityTemplate) (protocol.PersonalityValidated, error) {
	return validatePersonality(p), nil
}

func (c scope) ofPersonalities() *personalityHandlers { return c.personalities }

func (c scope) ofSync() *syncHandlers { return c.sync }

func (c scope) ofBooks() *bookHandlers { return c.books }

func (c scope) ofMemories() *memoryHandlers { return c.memories }

func (c scope) ofLearning() *learningHandlers { return c.learning }

func (c scope) ofConcepts() *conceptHandlers { return c.concepts }

// noteWriter is what handlers write notes with: the Store reads without a View (PRIV-2).
type noteWriter interface {
	Put(ctx context.Context, d notes.Draft, ifVersion *int) (*notes.Note, error)
	Patch(ctx context.Context, p notes.Patch, ifVersion *int) (*notes.Note, error)
	PutMany(ctx context.Context, drafts []notes.Draft) ([]*notes.Note, error)
	Archive(ctx context.Context, id string, ifVersion *int) (*notes.Note, error)
	Restore(ctx context.Context, id string, ifVersion *int) (*notes.Note, error)
	Delete(ctx context.Context, id string, ifVersion *int) (version int, err error)
}

// entityWriter is what handlers write entities and types with: the Store reads without a View (PRIV-2).
type entityWriter interface {
	Put(ctx context.Context, e entities.Entity, ifVersion *int) (*entities.Entity, error)
	Patch(ctx context.Context, p entities.Patch, ifVersion *int) (*entities.Entity, error)
	PutMany(ctx context.Context, list []entities.Entity) ([]*entities.Entity, error)
	Archive(ctx context.Context, id string, ifVersion *int) (*entities.Entity, error)
	Restore(ctx context.Context, id string, ifVersion *int) (*entities.Entity, error)
	Delete(ctx context.Context, id string, ifVersion *int) (version int, err error)
	PutType(ctx context.Context, t entities.Type, ifVersion *int,
		force bool) (*entities.Type, []entities.Diagnostic, error)
	DeleteType(ctx context.Context, name, vault string, force bool) (*entities.Type, error)
}

// notLocal is what a connection is told that said it is remote and asks for more.
func notLocal() error {
	return fault.New(fault.Unavailable, "the connection is remote, and cannot ask for private records").
		WithHint("open a connection with the audience local")
}

// localOnly is what a remote connection is told that calls a method which is not for it.
func localOnly(m *protocol.Method) error {
	what := "all records, private ones included"
	if m.Daemon {
		what = "the daemon, which others use, too"
	}
	return fault.New(fault.Unavailable, "%s concerns %s, and the connection is remote", m.Name, what).
		WithHint("call it on a connection with the audience local")
}

// hiddenNote returns the error for a note that the reader does not see and wants to
// change: that of an id that no note has.
func (c scope) hiddenNote(id string) error {
	if c.view.HidesNote(id) {
		return fault.Missing("note", id)
	}
	return nil
}

// hiddenEntity is hiddenNote for an entity.
func (c scope) hiddenEntity(id string) error {
	if c.view.HidesEntity(id) {
		return fault.Missing("entity", id)
	}
	return nil
}

// newNote returns the error for a note that is written under an id that none has for a
// reader who does not see all notes. Another may have it: an answer that tells one from
// the other would tell which ids private notes have, and no such note may be written over.
func (c scope) newNote(id, field string) error {
	if id == "" || !c.view.Hides() || c.view.Note(id) != nil {
		return nil
	}
	return chosenIDError("note", id, field)
}

// newEntity is newNote for an entity, and for the note that it names as its source: by
// what is private an entity of a private note would tell that there is one.
func (c scope) newEntity(id, noteID, prefix string) error {
	if !c.view.Hides() {
		return nil
	}
	if id != "" && c.view.Entity(id) == nil {
		return chosenIDError("entity", id, prefix+"id")
	}
	return c.sourceSeen(noteID, prefix+"noteId")
}

// typedAsSeen returns the error for an entity that is written with a type or a field which
// private notes alone have made: for a reader who does not see them there is none.
func (c scope) typedAsSeen(id, typ string, fields entities.Values) error {
	return c.fieldsSeen(c.view.Type(typ), typ, fields, c.view.Entity(id))
}

// fieldsSeen is typedAsSeen for a type that the reader sees, nil for none, and for the entity as it is, nil for a new one.
func (c scope) fieldsSeen(t *entities.Type, typ string, fields entities.Values, old *entities.Entity) error {
	if !c.view.Hides() {
		return nil
	}
	if t == nil {
		return entities.UnknownType(typ)
	}
	if err := entities.CheckFields(t, fields); err != nil {
		return err
	}
	was := cmp.Or(c.view.ShownEntity(old), new(entities.Entity))
	for _, f := range t.Fields {
		if value, ok := fields[f.Name]; ok && f.Type == record.Select {
			if _, err := f.Check(value); err != nil {
				return fault.Under("fields", err)
			}
		}
		if !f.Type.IsRef() {
			continue
		}
		for _, ref := range (&entities.Entity{Fields: fields}).Strings(f.Name) {
			if !slices.Contains(was.Strings(f.Name), ref) || ref == record.Withheld {
				if err := c.refSeen(f.Type.Info().To, ref, "fields."+f.Name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// refSeen returns the error for what a reader who does not see all records writes where a reference belongs, if it leads to
// none that he sees: shown again, the id of a private record would be told from one that no record has. A link may lead to
// what is to come.
func (c scope) refSeen(to record.Target, ref, field string) error {
	if _, isLink := record.LinkTarget(ref); isLink {
		return nil
	}
	kind, seen := "entity", c.view.Entity(ref) != nil || len(c.view.Named(ref)) > 0
	if to == record.ToNote {
		_, err := c.view.NoteByTitle(ref)
		kind, seen = "note", c.view.Note(ref) != nil || fault.KindOf(err) != fault.NotFound
	}
	if seen {
		return nil
	}
	err := fault.Missing(kind, ref).WithHint("give an id or a name of one that is there, or [[a link]] to one that is to come")
	err.Field = field
	return err
}

// sourceSeen returns the error for a source that a reader gives an entity who does not see
// all notes, and not that one.
func (c scope) sourceSeen(noteID, field string) error {
	if noteID == "" || !c.view.Hides() || c.view.Note(noteID) != nil {
		return nil
	}
	if err := entities.CheckID(field, noteID); err != nil {
		return err
	}
	err := fault.Missing("note", noteID)
	err.Field = field
	return err
}
