package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/cites"
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
	rooms         viewer
	notes         noteWriter
	entities      entityWriter
	types         typeWriter
	gather        *gather.Gatherer
	vaults        vaultKeeper
	memory        memoryRenamer
	chat          chatKeeper
	exports       conversationExporter
	traces        answerInspector
	memories      *memoryHandlers
	personalities *personalityHandlers
	sync          *syncHandlers
	learning      *learningHandlers
	shows         showKeeper
	shown         interface {
		Shown(v *audience.View, ids []string) []*record.Memory
	}
	concepts *conceptHandlers
	books    *bookHandlers
	said     messageFinder
	answers  answerer
	actions  actionDecider
	intents  intentRouter
	answered func(context.Context, *turn.ChatSent) // is told of each answer
	judge    func(*turn.ChatSent)                  // and once it waits for its outcome
	handles  refCompleter
	refs     refResolver
	tools    toolCaller

	summaries noteSummarizer
	cites     noteCiter
	excerpts  *cites.ExcerptFinder
	suggests  *cites.NoteSuggester
	shower    referenceShower

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

// noteSummarizer says what notes are about.
type noteSummarizer interface {
	Of(ctx context.Context, v *audience.View, noteID string, limit int) (text, reason string)
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

// showKeeper keeps what the reader of a View was shown in a conversation, and tells how its answers went.
type showKeeper interface {
	Show(v *audience.View, conversationID, messageID string, hits []learn.OutcomeHit)
	Answered(ctx context.Context, v *audience.View, conversationID, messageID string, ids []string) error
	OutcomesOf(ctx context.Context, conversationID string) (map[string]string, error)
}

func (c scope) ofConcepts() *conceptHandlers { return c.concepts }

// viewer makes the Views of other readers, for a prompt that somebody else reads.
type viewer interface {
	View(audience.Reader) *audience.View
}

// noteWriter is what handlers write notes with.
type noteWriter interface {
	Put(ctx context.Context, d notes.Draft, ifVersion *int) (*notes.Note, error)
	Patch(ctx context.Context, p notes.Patch, ifVersion *int) (*notes.Note, error)
	PutMany(ctx context.Context, drafts []notes.Draft) ([]*notes.Note, error)
	Archive(ctx context.Context, id string, ifVersion *int) (*notes.Note, error)
	Unarchive(ctx context.Context, id string, ifVersion *int) (*notes.Note, error)
	Delete(ctx context.Context, id string, ifVersion *int) (version int, err error)
}

// entityWriter is what handlers write entities with.
type entityWriter interface {
	Put(ctx context.Context, e entities.Entity, ifVersion *int) (*entities.Entity, error)
	Patch(ctx context.Context, p entities.Patch, ifVersion *int) (*entities.Entity, error)
	PutMany(ctx context.Context, list []entities.Entity) ([]*entities.Entity, error)
	Trash(ctx context.Context, id string, ifVersion *int) (*entities.Entity, error)
	Restore(ctx context.Context, id string, ifVersion *int) (*entities.Entity, error)
	Delete(ctx context.Context, id string, ifVersion *int) (version int, err error)
}

// typeWriter is what handlers write types with.
type typeWriter interface {
	PutType(ctx context.Context, t entities.Type, ifVersion *int,
		force bool) (*entities.Type, []entities.Diagnostic, error)
	DeleteType(ctx context.Context, name, vault string, force bool) (*entities.Type, error)
}

// vaultKeeper reads vaults, forgets them, and tells how they stand for a reader who sees
// some of their notes.
type vaultKeeper interface {
	vaultImporter
	Unwatch(ctx context.Context, name string) error
	Forget(ctx context.Context, name string, progress func(done, total int)) (removed int, err error)
	Forgets(ctx context.Context, name string) (total int, copies []string, err error)
	ListFor(ctx context.Context, sees func(*notes.Note) bool) ([]record.VaultStatus, error)
	StatusFor(ctx context.Context, name string, sees func(*notes.Note) bool) (*record.VaultStatus, error)
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

// vaultImporter reads vaults.
type vaultImporter interface {
	Import(ctx context.Context, req vault.ImportRequest) (*vault.ImportResult, error)
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
func (c scope) typedAsSeen(typ string, fields entities.Values) error {
	return c.fieldsSeen(c.view.Type(typ), typ, fields)
}

// fieldsSeen is typedAsSeen for a type that the reader sees, nil for none.
func (c scope) fieldsSeen(t *entities.Type, typ string, fields entities.Values) error {
	if !c.view.Hides() {
		return nil
	}
	if t == nil {
		return entities.UnknownType(typ)
	}
	return entities.CheckFields(t, fields)
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
