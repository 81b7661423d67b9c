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

// Deps are the domain rooms over one store, which methods call. All of them
// must be set, but for the Reranker. A handler keeps none of them longer than its call lasts: the next
// call may find others.
type Deps struct {
	KV            *kv.Store
	Entities      *entities.Store
	Notes         *notes.Store
	WQL           *wql.Engine
	Graph         *graph.Graph
	Search        *search.Index
	Audience      *audience.Views
	Gather        *gather.Gatherer
	Vaults        *vault.Importer
	Memory        *memory.Store
	Learn         *learn.Stores             // of Memory
	Facts         *background.FactExtractor // of what is said in Chat; nil: nobody looks for any
	Memories      *search.Index             // of Memory
	Reranker      embed.Reranker            // nil: none is configured
	Chat          *chat.Store
	Recall        *recall.Ranker // over Memories
	Messages      *search.Index  // of Chat
	Cites         *cites.Index   // of Chat
	Handles       *gather.Completer
	Concepts      *concepts.Index // of Memory and Chat
	Refs          *gather.Resolver
	Personalities *personality.Store
	Books         *books.Store
	Passages      *search.Index   // of Books
	Sync          *shared.Replica // of KV; nil: it is this machine's alone
	Queue         *CallQueue      // of calls that wait for the other machines; nil: none does

	all scope // over the rooms, without a View; made by serveRooms

	refused error // why nothing can be called here; the rooms are not set then
}

// scopeOf returns what a call of a session has that reads for the audience asked; ""
// is that of the connection.
func (r *Deps) scopeOf(s *Session, asked audience.Reader) (scope, error) {
	reader := s.Reader()
	if asked != "" {
		if reader == audience.Remote && asked == audience.Local {
			return scope{}, notLocal()
		}
		reader = asked
	}
	c := r.all
	c.view = r.Audience.View(reader)
	return c, nil
}

// scope is what every call has, but for its View.
func (r *Deps) scope(answered func(context.Context, *turn.ChatSent), answers answerer, toolset toolCaller, intents intentRouter) scope {
	learned := cmp.Or(r.Learn, new(learn.Stores))
	return scope{
		rooms: r.Audience, gather: r.Gather,
		notes: r.Notes, entities: r.Entities, types: r.Entities, vaults: r.Vaults, memory: r.Memory,
		memories: newMemoryHandlers(r.Memory, document.NewSimilarFinder(r.Memory, r.Memories), r.Recall, learned.Outcomes),
		learning: &learningHandlers{Scorer: learned.Outcomes, Promoter: learned.Owner, Log: learned.Events, Keeper: learned.Upkeep}, shows: learned.Outcomes, shown: r.Memory,
		chat: r.Chat, personalities: newPersonalityHandlers(r.Personalities), sync: newSyncHandlers(r.Sync, r.Queue, syncDeps{Memory: r.Memory, Chat: r.Chat}), books: newBookHandlers(r.Books, r.Recall, r.Passages.Waiting), said: cites.NewMessageFinder(r.Chat, r.Messages),
		exports: transfer.NewExporter(r.Chat, r.Memory), traces: cites.NewInspector(r.KV, r.Chat, r.Memory, r.Books),
		handles: r.Handles, refs: r.Refs, answers: answers, answered: answered, tools: toolset, cites: r.Cites, shower: cites.NewSourceLister(r.Chat, r.Memory),
		excerpts: cites.NewExcerptFinder(r.Chat, r.Cites, r.Audience.View(audience.Remote)), suggests: cites.NewSuggester(r.Chat, r.Cites),
		actions: tools.NewDecider(r.Chat, tools.ActionDeps{Entities: r.Entities, Memory: r.Memory, Conversations: r.Chat}),
		intents: intents, concepts: newConceptHandlers(r.Concepts), queue: r.Queue, asked: newQueuedChat(r.Chat, r.Queue),
	}
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
		s.gate.Open(protocol.LoadStarting, &Deps{refused: notServing(err)})
		return err
	}
	if !s.serveRooms(protocol.LoadStarting, r) { // given up meanwhile
		return errors.Join(cmp.Or(ctx.Err(), leaving()), r.KV.Close())
	}
	return nil
}

// rooms returns those that calls are let in to; nil while the gate is closed.
func (s *Server) rooms() *Deps {
	r, _ := s.gate.Storage().(*Deps)
	return r
}

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
func (s *Server) serveRooms(phase string, r *Deps) bool {
	if r.KV != nil {
		has := tools.SetOptions{Views: r.Audience, Recall: r.Recall}
		noMemory, noBooks := s.switchedOff("what is remembered", protocol.SettingMemoryEnabled), s.switchedOff("what books say", protocol.SettingBooksEnabled)
		if noMemory != nil {
			has.Recall = nil
		}
		toolset := tools.NewSet(has)
		remote := r.Audience.View(audience.Remote)
		intents := tools.NewRouter(tools.RouterOptions{Memory: r.Memory, Recall: r.Recall, Refs: r.Refs, Remote: remote, NoMemory: noMemory, NoBooks: noBooks})
		answers := send.New(send.Options{
			Chat: newQueuedChat(r.Chat, r.Queue), Prompts: r.Gather, Providers: s.providers, Views: r.Audience, Tools: toolset,
			Orders: intents, NoMemories: noMemory != nil, NoPassive: noMemory != nil || s.isOff(protocol.SettingMemoryPassive), NoBooks: noBooks != nil,
			Unscored: r.unscored(),
		})
		enter := s.entering(r)
		house := background.TitlerDeps{Chat: r.Chat, Local: r.Audience.View(audience.Local), Remote: remote, Enter: enter}
		judged := r.judged(remote, enter)
		r.all = r.scope(func(ctx context.Context, sent *turn.ChatSent) {
			s.titles.Answered(house, sent)
			if err := r.Facts.Answered(context.WithoutCancel(ctx), sent); err != nil {
				s.log.Warn("a message was not noted, in which facts are to be looked for", "error", fault.Message(err))
			}
		}, answers, toolset, intents)
		r.all.memories.NoBooks = noBooks
		r.all.judge = func(sent *turn.ChatSent) { s.detector.Answered(judged, sent) }
		r.all.learning.Detect = func(ctx context.Context, v *audience.View, conversationID string) (*background.Detection, error) {
			inside := judged
			inside.Enter = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
			return s.detector.Detect(ctx, inside, v, conversationID)
		}
		summaries := background.NewSummaryStore(r.KV, background.SummaryStoreOptions{Remote: remote, Maker: s.summaries, Enter: enter})
		r.all.summaries = summaries
		if r.Chat != nil {
			r.Chat.SummariseBy(summaries.Line)
		}
		r.KV.OnCommit(func(cs *kv.ChangeSet) { s.events.Commit(cs, remote) })
		s.replay(r)
	}
	for _, x := range r.indexes() {
		tell := s.events.Indexing()
		x.OnProgress(func(stage string, done, total int) {
			tell(protocol.IndexProgress{Stage: stage, Done: int64(done), Total: int64(total), Kind: x.kind})
		})
	}
	opened := s.gate.Open(phase, r)
	s.events.SuspectHealth()
	if opened && r.Vaults != nil {
		s.startFollowers(r)
	}
	return opened
}

// replay has the calls that wait made again in these rooms, each for the reader that it was made for.
func (s *Server) replay(r *Deps) {
	c, views := r.all, r.Audience // the store waits for them when it is closed, before the rooms are taken apart
	r.Queue.Replay(func(ctx context.Context, method string, call *DeferrableCall) error {
		c := c
		c.view, c.client = views.View(call.Audience), call.Client
		return c.again(ctx, method, call, s.textBytes)
	})
}

// judged is where the detector of outcomes reads and scores.
func (r *Deps) judged(remote *audience.View, enter func(context.Context, func(context.Context) error) error) background.DetectorDeps {
	h := background.DetectorDeps{Chat: r.Chat, Local: r.Audience.View(audience.Local), Remote: remote, Enter: enter}
	if r.Learn != nil {
		h.Scorer = r.Learn.Outcomes
	}
	return h
}

// unscored tells where the model is to ask how the last answer went; nil where it never is.
func (r *Deps) unscored() func(v *audience.View, conversationID string) bool {
	if r.Learn == nil || !r.Learn.AskInChat {
		return nil
	}
	return r.Learn.Outcomes.Unscored
}

// giveUp answers the calls that wait for the first rooms, if there are none yet.
func (s *Server) giveUp() {
	s.gate.Open(protocol.LoadStarting, &Deps{refused: leaving()})
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
		if r.Learn != nil {
			r.Learn.Flush(context.Background())
		}
		return r.KV.Close()
	}
	return nil
}

// drop gives the memory of rooms back, before others take as much.
func (r *Deps) drop() {
	*r = Deps{}
	debug.FreeOSMemory() // the collector would let old and new stand beside each other
}

// Replace exchanges the rooms while the server serves. New calls wait, but for
// those that need no rooms; admin.health says for which phase. Calls under way
// finish, and jobs are withdrawn, to be answered Unavailable; the one that
// replaces the rooms must not be in them. Then change gets the rooms and returns
// others, over which the server serves from then on; subscribers are told that
// anything may have changed. When it returns nil, the server goes on with those
// that it had; otherwise it may take them apart.
//
// Of two at a time the second is refused with Conflict.
func (s *Server) Replace(ctx context.Context, phase string, change func(old *Deps) (*Deps, error)) error {
	busy := &fault.Error{
		Kind: fault.Conflict, Msg: "the store is already being opened or replaced",
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
	old := s.gate.Close(phase, protocol.StageCalls).(*Deps)
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
func (s *Server) changed(phase string, old *Deps, change func(*Deps) (*Deps, error)) (*Deps, error) {
	returned := false
	defer func() {
		if !returned {
			why := fault.New(fault.Unavailable, "the store was lost while it was being replaced").
				WithHint("restart the daemon")
			s.gate.Open(phase, &Deps{refused: why})
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
	r := behind.(*Deps)
	if r.refused != nil {
		return r.refused
	}
	ctx, cancel := s.gate.Lease(ctx)
	defer cancel(nil)
	return evicted(ctx, fn(ctx, r))
}

// visit enters the rooms, if they are open: the gate is to be left then. Else it
// returns what calls wait for.
func (s *Server) visit() (*Deps, *protocol.Loading) {
	behind, closed := s.gate.Visit()
	if closed == nil {
		return behind.(*Deps), nil
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
