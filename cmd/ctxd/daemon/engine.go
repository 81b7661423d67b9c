package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/cites"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// StoreFormat is the version of the records in the store. A daemon refuses a
// store of a newer one, and upgrades one of an older.
const StoreFormat = 12

// StoreOptions returns how the store is opened, by whoever does: a daemon adds
// that older records are upgraded.
func StoreOptions(c config.Store) kv.Options {
	opts := kv.Options{Format: StoreFormat, SnapshotAfter: c.SnapshotAfter, Queue: c.Sync.Offline == config.OfflineQueue}
	if c.Durability == kv.Relaxed.String() {
		opts.Durability = kv.Relaxed
	}
	return opts
}

// upgradeStore brings the records of an older format into today's. A store that
// names no format is of the first, or has lost the name to damage.
func upgradeStore(tx *kv.Tx, from int) error {
	if from < 2 {
		if err := entities.Upgrade(tx); err != nil {
			return err
		}
		if err := notes.Upgrade(tx); err != nil {
			return err
		}
	}
	if from < 3 {
		if err := notes.UpgradeSources(tx); err != nil {
			return err
		}
	}
	if from < 4 {
		if err := notes.UpgradePast(tx); err != nil {
			return err
		}
	}
	if from < 6 {
		if err := notes.UpgradeLinks(tx); err != nil {
			return err
		}
	}
	if from < 7 {
		if err := vault.UpgradeVaults(tx); err != nil {
			return err
		}
	}
	if from < 11 {
		return memory.Upgrade(tx)
	}
	return nil
}

// IndexFolders are where the indexes are kept, words and vectors, in the folder of the store: that of
// notes, then those of other documents. A folder is of one index.
var IndexFolders = []string{notesFolder, memoriesFolder, messagesFolder, passagesFolder}

const (
	notesFolder    = "index"
	memoriesFolder = "index-memories"
	messagesFolder = "index-messages"
	passagesFolder = "index-passages"
)

// LogFolder is where the log is kept, in the folder of the store.
const LogFolder = "log"

// besideStore is what else lies in the folder of the store. The log may come
// first, and an index may be left when the store was moved elsewhere.
var besideStore = beside()

func beside() []string {
	list := []string{LogFolder + "/", books.Folder + "/", shared.Folder + "/"}
	for _, folder := range IndexFolders {
		list = append(list, folder+"/")
	}
	return list
}

// openData opens the store in a folder, as the replica of a shared one unless that is nil.
// changed is called when its status is another. The files of the endpoint may lie in the folder before there is a store.
func openData(dir string, conf config.Store, replica *shared.Replica, log *slog.Logger, changed func(), endpoint ...string) (*kv.Store, error) {
	opts := StoreOptions(conf)
	opts.Upgrade, opts.Logger, opts.OnStatus = upgradeStore, log, changed
	opts.Beside = slices.Clone(besideStore)
	for _, path := range endpoint {
		if filepath.Dir(path) == filepath.Clean(dir) {
			opts.Beside = append(opts.Beside, filepath.Base(path))
		}
	}
	if replica != nil {
		replica.Prepare(&opts)
	}
	opts.Leave = shared.Left(dir)
	setGC(gcOfLoading) // until RoomsOver
	db, err := kv.Open(dir, opts)
	if err != nil {
		setGC(gcOfSmall)
	}
	return db, err
}

// openAsIs opens the store in a folder as it is, for what is in it to be replaced.
func openAsIs(dir string, conf config.Store, log *slog.Logger) (*kv.Store, error) {
	opts := StoreOptions(conf)
	opts.Logger, opts.Beside = log, besideStore
	return kv.Open(dir, opts)
}

// indexDir is where an index of a store is kept, "" for one in memory.
func indexDir(db *kv.Store, folder string) string {
	if db.Dir() == "" {
		return ""
	}
	return filepath.Join(db.Dir(), folder)
}

// Finding is how documents are found beside by their words, and who answers.
type Finding struct {
	embedder embed.Embedder      // nil: in no other way; not closed by the rooms
	encoder  embed.TokenEmbedder // nil: none
	reranker embed.Reranker      // nil: none; not closed by the rooms
	// rerankTimeout is how long it is waited for; 0: as long as a search waits by itself.
	rerankTimeout time.Duration
	weights       search.Weights
	fusion        search.Fusion
	providers     *llm.Set              // nil: nobody answers; not closed by the rooms
	distiller     gather.Distiller      // nil: memories stand as they are
	learner       *background.FactModel // nil: nobody finds facts
	ahead         *search.Ahead         // see readIndexAhead; nil: the index is read when the rooms open
	replica       *shared.Replica       // of the store; nil: it is not shared
	bookChild     []string              // see books.Options; nil: the rooms read no books
	queue         bool                  // calls wait while the servers of the replica cannot be reached
}

// readIndexAhead begins to read the index of words, beside the opening of the store.
func readIndexAhead(dir string) *search.Ahead {
	if dir == kv.InMemory {
		return nil
	}
	return search.ReadAhead(filepath.Join(dir, notesFolder))
}

// RoomsOver opens the rooms over a store, each before those that stand on it.
// Rooms register for change sets as they open, and see them in that order:
// entities, notes (which has entities resolve their links anew), the indexes of
// WQL, the graph, what remote readers see, memories, books, conversations, the indexes of
// words and of vectors of notes, those of memories, of messages and of passages, concepts, what is learned, the handles,
// the cached blocks of gather; then the events for clients. What they leave for later is
// built in the background, once the index of words is read, or before that by the first
// who needs it.
//
// Close the store when no call runs any more; the other rooms need no closing.
func RoomsOver(db *kv.Store, limits config.Records, by Finding, log *slog.Logger) (*rpc.Deps, error) {
	var engine *wql.Engine // set before a type can be put
	hider := new(cites.AnswerHider)
	check := func(t *entities.Type, f entities.Field) []entities.Diagnostic { return engine.CheckField(t, f) }
	ents, ns, err := recordsIn(db, limits, check, hider)
	if err != nil {
		return nil, err
	}
	var index *search.Index // which comes later in the order, and before the first query
	engine = wql.New(ents, wql.Options{Match: func(ctx context.Context, words string) (func(string) bool, error) {
		return index.EntityTest(ctx, ents, words, ents.Get, false)
	}})
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, ents, ns, engine)
	lean := keepLean(db, ns)
	seen := audience.Open(db, audience.Stores{Entities: ents, Notes: ns, WQL: engine, Graph: gr})
	var offered atomic.Pointer[gather.Completer]
	whole := func() { // a search needs none of it, so what it does need is read first
		ents.LoadRest()
		ns.LoadRest()
		gr.LoadRest()
		lean()
		seen.ReadReferences()
		if h := offered.Load(); h != nil {
			_ = h.Load(db.Closing()) // else by the first who completes a handle, who is told why
		}
	}
	finding := by.searchOptions(seen, log)
	mem, chats, library, err := rememberedIn(db, seen, limits, by.machine(), by.spending(db, log), by.bookChild)
	if err != nil {
		return nil, err
	}
	chat.RegisterHandles(seen, mem, chats) // before the indexes: they keep what remote readers may see
	ofNotes := finding
	ofNotes.Dir, ofNotes.Read, ofNotes.Ahead = indexDir(db, notesFolder), whole, by.ahead
	index = search.Open(db, notedoc.New(ns, notedoc.Options{Public: seen.Public, Revealed: seen.Revealed, Copies: vault.CopiesIn(db)}), ofNotes)
	seen.SetSearch(index)
	others, err := by.otherIndexes(db, seen, mem, library, finding)
	if err != nil {
		return nil, err
	}
	facts := by.facts(db, mem, seen, limits)
	learning, err := background.OpenLearning(db, mem, chats, learningOf(&limits, by.upkeep(db, mem, seen, others, facts)))
	if err != nil {
		return nil, err
	}
	waiting := recall.OpenPassive(db, seen, others.indexes, recall.PassiveOptions{Turns: chatdoc.Turns(chats)})
	if limits.Features.Learns(protocol.SettingMemoryPassive) {
		chats.Follow(waiting)
	}
	completing := chat.OpenCompleter(db, seen, ents, mem, chats)
	offered.Store(completing)
	refs := resolver(mem, chats, completing)
	cites := cites.OpenIndex(db, chats, others.messages.Messages())
	if err := cmp.Or(hider.Use(db, mem, library, cites, seen.View(audience.Remote)), ns.HideAnew(context.Background())); err != nil {
		return nil, err
	}
	vaults, attached, err := followed(db, ents, ns, library, limits)
	if err != nil {
		return nil, err
	}
	personalities, err := personality.Open(db, personality.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Mended(); err != nil {
		log.Warn("the next start looks once more whether records fit together", "error", fault.Message(err))
	}
	return &rpc.Deps{
		KV:            db,
		Entities:      ents,
		Notes:         ns,
		WQL:           engine,
		Graph:         gr,
		Audience:      seen,
		Search:        index,
		Memory:        mem,
		Books:         library,
		Chat:          chats,
		Memories:      others.memories,
		Messages:      others.said,
		Passages:      others.indexes.Passages,
		Concepts:      others.concepts,
		Recall:        others.ranker,
		Reranker:      by.reranker,
		Facts:         facts,
		Learn:         learning,
		Cites:         cites,
		Handles:       completing,
		Refs:          refs,
		Personalities: personalities,
		Gather: gather.Open(db, seen, gather.Options{
			Refs: refs, Memories: mem, Finder: others.ranker, Conversations: chats, Passive: waiting, Insights: others.concepts,
			DayNotes: vaults.DayNotes, NoBooks: !limits.Features.On(protocol.SettingBooksEnabled),
			ColdStart: limits.ColdStart, Distiller: by.distiller, Personality: personalities.Active, Deadline: prompt.DeadlineMS * time.Millisecond,
		}),
		Vaults:   vaults,
		Attached: attached,
		Sync:     by.replica,
		Queue:    by.callQueue(db),
	}, nil
}

// searchOptions are those that all indexes have in common.
func (f *Finding) searchOptions(seen *audience.Views, log *slog.Logger) search.Options {
	return search.Options{
		Logger: log, Embedder: f.embedder, Gate: seen.Gate, Scheduler: vectors.NewScheduler(), Weights: f.weights, Fusion: f.fusion,
		Words: f.encoder, WordScheduler: vectors.NewScheduler(),
	}
}

// followed are the vaults, and the books that follow their attachments. Those of private folders are private from the start.
func followed(db *kv.Store, ents *entities.Store, ns *notes.Store, library *books.Store, limits config.Records) (*vault.Importer, *books.Follower, error) {
	vaults := vault.NewImporter(db, ents, ns, vault.ImporterOptions{
		Exclude: limits.Vault.Exclude, Write: limits.Vault.Write, Writes: append([]string{db.Dir()}, limits.Vault.Outside...), Library: library,
	})
	attached := library.Follow(books.FollowerOptions{
		Files: vaults, Which: limits.Vault.Attachments,
		IsPrivate: func(vault, path string) bool { return !ns.PublicPlace(vault, path) },
	})
	return vaults, attached, attached.Hide(context.Background())
}

// machine returns what tells the name of this machine in a shared store, nil where the store is not shared.
func (f *Finding) machine() func() string {
	if f.replica == nil {
		return nil
	}
	return f.replica.Name
}

// callQueue returns the calls that wait for the other machines, nil where the store is not shared.
func (f *Finding) callQueue(db *kv.Store) *rpc.CallQueue {
	if f.replica == nil {
		return nil
	}
	return rpc.NewCallQueue(db, f.queue)
}

// otherIndexes is how what is no note is found: memories, messages and the passages of books.
type otherIndexes struct {
	messages       *chatdoc.Source
	memories, said *search.Index
	indexes        recall.Indexes
	concepts       *concepts.Index
	ranker         *recall.Ranker
}

// otherIndexes opens the indexes of what is no note, and what ranks over them.
func (f *Finding) otherIndexes(
	db *kv.Store, seen *audience.Views, mem *memory.Store, library *books.Store, finding search.Options,
) (*otherIndexes, error) {
	b := new(otherIndexes)
	var err error
	b.messages, err = chatdoc.New(db, seen, chatdoc.Options{})
	if err != nil {
		return nil, err
	}
	finding.Synonyms = mem.SynonymsOf
	ofMemories, ofMessages := finding, finding
	ofMemories.Dir, ofMessages.Dir = indexDir(db, memoriesFolder), indexDir(db, messagesFolder)
	remembered := document.New(db, mem, seen)
	b.memories, b.said = search.Open(db, remembered, ofMemories), search.Open(db, b.messages, ofMessages)
	b.indexes = recall.Indexes{
		Memories: recall.Index{Search: b.memories, Source: remembered}, Store: mem,
		Messages: recall.Index{Search: b.said, Source: b.messages}, Message: chatdoc.Recalled,
	}
	if err := passagesIn(db, seen, library, finding, &b.indexes); err != nil {
		return nil, err
	}
	b.concepts = concepts.Open(db, seen, concepts.Options{
		Store: mem, Memories: b.memories.Source(), Messages: b.said.Source(), Said: chatdoc.Spoken, SaidField: chatdoc.Said,
		OutcomeOf: learn.OutcomeChange, Outcomes: learn.AllOutcomes(db),
	})
	b.ranker = recall.New(b.indexes, recall.Options{Reranker: f.reranker, Gate: seen.Gate, RerankTimeout: f.rerankTimeout})
	return b, nil
}

// upkeep returns who keeps facts in order.
func (f *Finding) upkeep(db *kv.Store, mem *memory.Store, seen *audience.Views, others *otherIndexes, facts *background.FactExtractor) *learn.Keeper {
	return learn.NewKeeper(learn.KeeperOptions{
		DB: db, Memory: mem, Index: others.memories, Local: seen.View(audience.Local), Remote: seen.View(audience.Remote),
		Messages: chatdoc.OwnWords(others.messages), MessageIndex: others.said, Extract: facts.Run, Adviser: f.learner.Adviser(),
	})
}

// learningOf says what is learned.
func learningOf(limits *config.Records, upkeep *learn.Keeper) (o learn.Options) {
	o.Upkeep = upkeep
	o.AskInChat = limits.AskForOutcome == config.AskChat || limits.AskForOutcome == config.AskAll
	o.Outcomes.Off = !limits.Features.Learns(protocol.SettingMemoryOutcomes)
	o.NoPromotion = !limits.Features.Learns(protocol.SettingMemoryPromotion)
	o.NoUpkeep = !limits.Features.Learns(protocol.SettingMemoryUpkeep)
	return o
}

// facts returns who finds facts in what is said, nil for nobody.
func (f *Finding) facts(db *kv.Store, mem *memory.Store, seen *audience.Views, limits config.Records) *background.FactExtractor {
	if !limits.Features.Learns(protocol.SettingMemoryExtraction) {
		return nil
	}
	return background.NewFactExtractor(background.FactExtractorOptions{
		DB: db, Memory: mem, Local: seen.View(audience.Local), Remote: seen.View(audience.Remote), Model: f.learner,
	})
}

// recordsIn opens the rooms of entities and notes. check is asked for the queries of types, and hider is told of what
// becomes private.
func recordsIn(db *kv.Store, limits config.Records, check func(*entities.Type, entities.Field) []entities.Diagnostic,
	hider *cites.AnswerHider,
) (*entities.Store, *notes.Store, error) {
	var loaded *notes.Loaded
	var notesErr error
	var others sync.WaitGroup
	others.Go(func() { loaded, notesErr = notes.Load(db) })
	ents, err := entities.Open(db, entities.Options{CheckQuery: check, Limits: limits.Entities, Hide: hider.Entity})
	others.Wait()
	if err := cmp.Or(err, notesErr); err != nil {
		return nil, nil, err
	}
	ns, err := notes.Open(db, ents, notes.Options{MaxBody: limits.MaxBody, PrivateFolders: limits.Vault.Private, Loaded: loaded, Hide: hider.Note})
	return ents, ns, err
}

// spending opens what is spent on the providers, if there are any.
func (f *Finding) spending(db *kv.Store, log *slog.Logger) func() error {
	return func() error {
		if f.providers == nil {
			return nil
		}
		return send.OpenSpending(db, f.providers.Ledger(), log)
	}
}

// rememberedIn opens the rooms of memories, of books and of conversations, behind that of what the answers in the last cost.
// Memories have conversations unpin what they delete, and conversations know memories and books.
func rememberedIn(
	db *kv.Store, seen *audience.Views, limits config.Records, machine func() string, openSpending func() error, child []string,
) (*memory.Store, *chat.Store, *books.Store, error) {
	if err := openSpending(); err != nil {
		return nil, nil, nil, err
	}
	pins := new(chat.Pins)
	mem, err := memory.Open(db, memory.Options{
		Source: noteState, Conversation: chat.State, Entity: entities.EntityRecords.Has,
		HandleTaken: chat.HasHandle, Limits: limits.Memory, Machine: machine,
		Deleted: func(tx *kv.Tx, ids []string) error { return cmp.Or(pins.Unpin(tx, ids), learn.Forget(tx, ids)) },
		Hide:    chat.HideStanding,
	})
	if err == nil && db.Unmended() {
		err = db.Update(context.Background(), func(tx *kv.Tx) error { return learn.Mend(tx, chat.Conversations.Has) })
	}
	if err != nil {
		return nil, nil, nil, err
	}
	library, err := books.Open(db, books.Options{
		MaxBytes: limits.MaxBook, Dir: indexDir(db, books.Folder), Child: child,
		Conversation: func(tx *kv.Tx, id string) (private, found bool, err error) { return chat.State(tx, id, nil) },
		Hide: func(tx *kv.Tx, id string) error {
			said, err := chat.HideBooked(tx, id)
			if err != nil {
				return err
			}
			return mem.HideSaid(tx, said)
		},
	})
	if err != nil {
		return nil, nil, nil, err
	}
	chats, err := chat.Open(db, chat.Options{Pins: pins, Memories: mem, Books: library, Remote: seen.View(audience.Remote)})
	return mem, chats, library, err
}

// passagesIn opens the index of the passages of books.
func passagesIn(db *kv.Store, seen *audience.Views, library *books.Store, finding search.Options, to *recall.Indexes) error {
	read, err := books.NewSource(db, seen)
	if err != nil {
		return err
	}
	finding.Dir = indexDir(db, passagesFolder)
	to.Passages, to.Books = search.Open(db, read, finding), books.Library{Store: library, Source: read}
	return nil
}

// resolver says what references lead to.
func resolver(mem *memory.Store, chats *chat.Store, near *gather.Completer) *gather.Resolver {
	return gather.NewResolver(gather.ResolverOptions{
		Memories: mem, Conversation: chats.Handled, Message: chats.Referred, Near: near.Suggest,
	})
}

// noteState is what memories ask about a note that they come from.
func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

// OpenRooms opens the rooms over the data in a folder, for who serves them in
// this process.
func OpenRooms(dir string, log *slog.Logger, limits config.Records) (*rpc.Deps, error) {
	ahead := readIndexAhead(dir)
	db, err := openData(dir, config.Store{}, nil, log, nil)
	if err != nil {
		return nil, err
	}
	rooms, err := RoomsOver(db, limits, Finding{ahead: ahead}, log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return rooms, nil
}

// JoinOptions returns how the store of a machine is opened that joins a shared one.
func JoinOptions(c config.Store) kv.Options {
	opts := StoreOptions(c)
	opts.Beside, opts.Upgrade = besideStore, upgradeStore
	return opts
}
