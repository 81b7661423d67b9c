package rpc

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Deps are the domain rooms over one store, which methods call, each after those that it needs. They are filled once, by
// whoever opens the store, and all must be set but for those that say so. A handler keeps none of them longer than its
// call lasts: the next call may find others.
type Deps struct {
	KV       *kv.Store
	Entities *entities.Store
	Notes    *notes.Store
	WQL      *wql.Engine
	Graph    *graph.Graph
	Audience *audience.Views
	Search   *search.Index // of Notes

	Memory   *memory.Store
	Books    *books.Store
	Chat     *chat.Store   // after Memory and Books, which it tells what becomes private
	Memories *search.Index // of Memory
	Messages *search.Index // of Chat
	Passages *search.Index // of Books
	Concepts *concepts.Index
	Recall   *recall.Ranker // over the three indexes and Concepts
	Reranker embed.Reranker // of Recall; nil: none is configured

	Facts *background.FactExtractor // of messages of Chat; nil: nobody looks for any
	Learn *learn.Stores             // of Memory and Chat, with Facts
	Cites *cites.Index              // of Chat

	Handles       *gather.Completer
	Refs          *gather.Resolver // with Handles
	Personalities *personality.Store
	Gather        *gather.Gatherer
	Vaults        *vault.Importer
	Attached      *books.Follower // of Vaults, in Books; nil: attachments are known by name

	Sync  *shared.Replica // of KV; nil: it is this machine's alone
	Queue *CallQueue      // of calls that wait for the other machines; nil: none does

	refused error // why nothing can be called here; the rooms are not set then
}

// rooms are what calls run in: the Deps, and what the server makes of them.
type rooms struct {
	*Deps
	scope scope // of every call, but for its View
}

// newRooms makes what calls need of the rooms, each part after those that it needs.
func (s *Server) newRooms(d *Deps) *rooms {
	if d.KV == nil { // calls are refused, or need no records
		return &rooms{Deps: d}
	}
	local, remote := d.Audience.View(audience.Local), d.Audience.View(audience.Remote)
	enter := s.entering(d)
	noMemory := s.switchedOff("what is remembered", protocol.SettingMemoryEnabled)
	noBooks := s.switchedOff("what books say", protocol.SettingBooksEnabled)

	summaries := background.NewSummaryStore(d.KV, background.SummaryStoreOptions{Remote: remote, Maker: s.summaries, Enter: enter})
	d.Chat.SummariseBy(summaries.Line)
	toolDeps := tools.SetOptions{Views: d.Audience, Recall: d.Recall}
	if noMemory != nil {
		toolDeps.Recall = nil
	}
	toolset := tools.NewSet(toolDeps)
	intents := tools.NewRouter(tools.RouterOptions{
		Memory: d.Memory, Recall: d.Recall, Refs: d.Refs, Remote: remote, NoMemory: noMemory, NoBooks: noBooks,
	})
	asked := newQueuedChat(d.Chat, d.Queue)
	answers := send.New(send.Options{
		Chat: asked, Prompts: d.Gather, Providers: s.providers, Views: d.Audience, Tools: toolset, Orders: intents,
		NoMemories: noMemory != nil, NoPassive: noMemory != nil || s.isOff(protocol.SettingMemoryPassive),
		NoBooks: noBooks != nil, Unscored: d.unscored(), Score: s.scorer(d), IsPrivate: d.Vaults.IsPrivateFile,
	})
	titles := background.TitlerDeps{Chat: d.Chat, Local: local, Remote: remote, Enter: enter}
	detection := background.DetectorDeps{Chat: d.Chat, Local: local, Remote: remote, Scorer: d.Learn.Outcomes, Enter: enter}
	similar := document.NewSimilarFinder(d.Memory, d.Memories)

	return &rooms{Deps: d, scope: scope{
		audiences: d.Audience,
		notes:     d.Notes, entities: d.Entities, vaults: d.Vaults, gather: d.Gather,
		memory: d.Memory, memories: newMemoryHandlers(d.Memory, similar, d.Recall, d.Learn.Outcomes, noBooks),
		concepts: newConceptHandlers(d.Concepts),
		learning: &learningHandlers{
			Scorer: d.Learn.Outcomes, Promoter: d.Learn.Owner, Log: d.Learn.Events, Keeper: d.Learn.Upkeep,
			Detector: s.detector, Detection: detection.Inside(),
		},
		shows: d.Learn.Outcomes, books: newBookHandlers(d.Books, d.Recall, d.Passages.Waiting, d.Vaults),
		chat: d.Chat, asked: asked, answers: answers, intents: intents, tools: toolset, summaries: summaries,
		messages: cites.NewMessageFinder(d.Chat, d.Messages), exports: transfer.NewExporter(d.Chat, d.Memory),
		traces: cites.NewInspector(d.KV, d.Chat, d.Memory, d.Books), cites: d.Cites,
		shower:   cites.NewSourceLister(d.Chat, d.Memory, d.Books),
		excerpts: cites.NewExcerptFinder(d.Chat, d.Cites, remote), suggests: cites.NewSuggester(d.Chat, d.Cites),
		actions: tools.NewDecider(d.Chat, tools.ActionDeps{Entities: d.Entities, Memory: d.Memory, Conversations: d.Chat, Tasks: tools.NewTaskList(d.Notes, s.tasks)}),
		handles: d.Handles, refs: d.Refs, personalities: newPersonalityHandlers(d.Personalities),
		sync: newSyncHandlers(d.Sync, d.Queue, d.Memory, d.Chat), queue: d.Queue,
		answered: func(ctx context.Context, sent *turn.ChatSent) {
			s.titles.Answered(titles, sent)
			if err := d.Facts.Answered(context.WithoutCancel(ctx), sent); err != nil {
				s.log.Warn("a message was not noted, in which facts are to be looked for", "error", fault.Message(err))
			}
		},
		judge: func(sent *turn.ChatSent) { s.detector.Answered(detection, sent) },
	}}
}

// scopeOf returns what a call of a session has that reads for the audience asked; ""
// is that of the connection.
func (r *rooms) scopeOf(s *Session, asked audience.Reader) (scope, error) {
	reader := s.Reader()
	if asked != "" {
		if reader == audience.Remote && asked == audience.Local {
			return scope{}, notLocal()
		}
		reader = asked
	}
	c := r.scope
	c.view = r.Audience.View(reader)
	return c, nil
}

// Load opens the store and the rooms over it, by the functions of the Options,
// and lets the calls in that have waited for them. When that fails, or when ctx
// ends first, they are answered with the reason, as are all that come later: the
// server is then to be shut down. Load waits for what it has begun in any case.
// Call it once.
func (s *Server) Load(ctx context.Context) error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	// Who waits is told at once that it is in vain; what opens can't be stopped.
	defer context.AfterFunc(ctx, s.giveUp)()
	r, err := s.openRooms(ctx)
	if err != nil {
		s.gate.Open(protocol.LoadStarting, refusing(notServing(err)))
		return err
	}
	if !s.serveRooms(protocol.LoadStarting, r) { // given up meanwhile
		return errors.Join(cmp.Or(ctx.Err(), leaving()), r.KV.Close())
	}
	return nil
}

// rooms returns those that calls are let in to; nil while the gate is closed.
func (s *Server) rooms() *rooms {
	r, _ := s.gate.Storage().(*rooms)
	return r
}

// refusing are rooms in which nothing can be called.
func refusing(why error) *rooms { return &rooms{Deps: &Deps{refused: why}} }

func leaving() error {
	return &fault.Error{Kind: fault.Unavailable, Msg: "the daemon is stopping", Hint: "start it again", Retryable: true}
}

// openRooms opens the store and the rooms over it.
func (s *Server) openRooms(ctx context.Context) (*Deps, error) {
	s.gate.Stage(protocol.StageStore)
	db, err := s.openStore()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.gate.Stage(protocol.StageRooms)
	r, err := s.openOver(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

// serveRooms lets calls in to the rooms and has their changes told.
func (s *Server) serveRooms(phase string, d *Deps) bool {
	r := s.newRooms(d)
	if d.KV != nil {
		remote := d.Audience.View(audience.Remote)
		d.KV.OnCommit(func(cs *kv.ChangeSet) { s.events.Commit(cs, remote, d.Memory.Stored) })
		s.replay(r)
	}
	for _, x := range d.indexes() {
		tell := s.events.Indexing()
		x.OnProgress(func(stage string, done, total int) {
			tell(protocol.IndexProgress{Stage: stage, Done: int64(done), Total: int64(total), Kind: x.kind})
		})
	}
	opened := s.gate.Open(phase, r)
	s.events.SuspectHealth()
	if opened && d.Vaults != nil {
		s.startFollowers(d)
	}
	return opened
}

// replay has the calls that wait made again in these rooms, each for the reader that it was made for.
func (s *Server) replay(r *rooms) {
	c, views := r.scope, r.Audience // the store waits for them when it is closed, before the rooms are taken apart
	r.Queue.Replay(func(ctx context.Context, method string, call *DeferrableCall) error {
		c := c
		c.view, c.client = views.View(call.Audience), call.Client
		return c.again(ctx, method, call, s.textBytes)
	})
}

// unscored tells where the model is to ask how the last answer went; nil where it never is.
func (d *Deps) unscored() func(v *audience.View, conversationID string) bool {
	if !d.Learn.AskInChat {
		return nil
	}
	return d.Learn.Outcomes.Unscored
}

// scorer scores what the last answer of a conversation was given; nil where nothing is learned from outcomes.
func (s *Server) scorer(d *Deps) func(ctx context.Context, v *audience.View, conversationID, outcome string, related []string) error {
	if s.isOff(protocol.SettingMemoryOutcomes) || s.isOff(protocol.SettingMemoryEnabled) {
		return nil
	}
	return func(ctx context.Context, v *audience.View, conversationID, outcome string, related []string) error {
		_, err := d.Learn.Outcomes.Response(ctx, v, learn.AnswerOutcome{ConversationID: conversationID, Outcome: outcome, Related: related})
		return err
	}
}

// giveUp answers the calls that wait for the first rooms, if there are none yet.
func (s *Server) giveUp() {
	s.gate.Open(protocol.LoadStarting, refusing(leaving()))
}

// notServing is what calls are told when the rooms can't be opened.
func notServing(err error) error {
	var known *fault.Error
	if !errors.As(err, &known) {
		return fault.Wrap(fault.Unavailable, err, "the daemon can't open its store").
			WithHint("run ctxd serve on a terminal to see what is wrong")
	}
	return fault.Wrap(fault.Unavailable, err, "the daemon cannot start: %s", known.Msg).WithHint("%s", known.Hint)
}

// CloseStore closes the store under the rooms, if one is open. Call it when Wait
// has returned.
func (s *Server) CloseStore() error {
	s.titles.Close()
	s.summaries.Close()
	s.detector.Close()
	r := s.rooms()
	if r != nil && r.KV != nil {
		r.Learn.Flush(context.Background())
		return r.KV.Close()
	}
	return nil
}

// drop gives the memory of rooms back, before others take as much.
func (r *rooms) drop() {
	*r.Deps, r.scope = Deps{}, scope{}
	debug.FreeOSMemory() // the collector would let old and new stand beside each other
}

// replace exchanges the rooms while the server serves. New calls wait, but for
// those that need no rooms; admin.health says for which phase. Calls under way
// finish, and jobs are withdrawn, to be answered Unavailable; the one that
// replaces the rooms must not be in them. Then change gets the rooms and returns
// others, over which the server serves from then on; subscribers are told that
// anything may have changed. When it returns nil, the server goes on with those
// that it had; otherwise it may take them apart.
//
// Of two at a time the second is refused with Conflict.
func (s *Server) replace(ctx context.Context, phase string, change func(old *rooms) (*Deps, error)) error {
	busy := &fault.Error{
		Kind: fault.Conflict, Reason: fault.Busy, Msg: "the store is already being opened or replaced",
		Hint: "wait until that is done; admin.health shows it", Retryable: true,
	}
	if !s.replacing.TryLock() {
		return busy
	}
	defer s.replacing.Unlock()
	r := s.rooms()
	switch {
	case r == nil:
		return busy
	case r.refused != nil:
		return r.refused
	}
	old := s.gate.Close(phase, protocol.StageCalls).(*rooms)
	s.events.SuspectHealth()
	s.wire.EvictCalls(&fault.Error{
		Kind: fault.Unavailable, Msg: "the store was being replaced, which stops jobs", Hint: "start it again",
		Retryable: true,
	})
	err := s.gate.Cleared(ctx)
	var fresh *Deps
	if err == nil {
		fresh, err = s.changed(phase, old, change)
	}
	if fresh == nil {
		s.gate.Open(phase, old)
		s.events.SuspectHealth()
		return err
	}
	if fresh.KV != nil {
		s.events.AllChanged(fresh.KV.Seq())
	}
	s.serveRooms(phase, fresh)
	return err
}

// changed calls change. When that panics nobody knows what has become of the
// rooms, and nobody may wait for them.
func (s *Server) changed(phase string, old *rooms, change func(*rooms) (*Deps, error)) (*Deps, error) {
	returned := false
	defer func() {
		if !returned {
			why := fault.New(fault.Unavailable, "the store was lost while it was being replaced").
				WithHint("restart the daemon")
			s.gate.Open(phase, refusing(why))
		}
	}()
	fresh, err := change(old)
	returned = true
	return fresh, err
}

// use runs fn in the rooms as soon as they are open. The context that fn gets
// ends when they are to be replaced.
func (s *Server) use(ctx context.Context, fn func(context.Context, *Deps) error) error {
	behind, err := s.gate.Wait(ctx)
	if err != nil {
		return err
	}
	defer s.gate.Leave()
	r := behind.(*rooms)
	if r.refused != nil {
		return r.refused
	}
	ctx, cancel := s.gate.Lease(ctx)
	defer cancel(nil)
	return evicted(ctx, fn(ctx, r.Deps))
}

// visit enters the rooms, if they are open: the gate is to be left then. Else it
// returns what calls wait for.
func (s *Server) visit() (*rooms, *protocol.Loading) {
	behind, closed := s.gate.Visit()
	if closed == nil {
		return behind.(*rooms), nil
	}
	waited := time.Since(closed.Since)
	return nil, &protocol.Loading{Phase: closed.Why, Stage: closed.Stage, ForMS: waited.Milliseconds()}
}

// evicted returns why a job was withdrawn when the daemon has done that, and
// otherwise err.
func evicted(ctx context.Context, err error) error {
	var why *fault.Error
	if err != nil && fault.KindOf(err) == fault.Cancelled && errors.As(context.Cause(ctx), &why) {
		return why
	}
	return err
}
