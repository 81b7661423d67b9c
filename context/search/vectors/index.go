package vectors

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Files of vectors are named for their model, those with the vectors of words, too, apart. One that is being made, to take
// the place of another, says so until it is whole.
const (
	FilePrefix   = "vectors-"
	TokensPrefix = "tokens-"
	PartSuffix   = ".part"
	TempSuffix   = ".tmp" // of a writer that did not come to its end
)

// Options say how vectors are kept.
type Options struct {
	// Dir is where they are kept between starts; "" for memory only.
	Dir string
	// Embedder makes them. It stays the caller's, and is to be closed after the store. Of a [embed.TokenEmbedder] the vectors
	// of words are kept, too, in files of their own: they take a thousand times as long to make, so that is work for when
	// nothing else is to be done.
	Embedder embed.Embedder
	// Scheduler is shared by the indexes that one Embedder serves; nil: there is one.
	Scheduler *Scheduler
	// Logger gets what nobody waits for, without any content.
	Logger *slog.Logger
	// Public is that of the Source for searches, by who has looked at the texts already; known is false where nobody has.
	// nil: nobody has.
	Public func(d text.Doc) (public text.Doc, known bool)

	seam seam
}

// seam replaces what reads and writes the disk in tests of a disk that fails. What is nil is
// that of FlatIndex.
type seam struct {
	open func(name string, model embed.Model) (*FlatIndex, error)
	put  func(x *FlatIndex, it Item, current func() bool) (bool, error)
}

// Index keeps the vectors of documents current, in the background. One goroutine
// changes what there is; commits and searches wait for it nowhere. It is safe for
// concurrent use.
//
// What waits is the difference between the documents and what is stored, so nothing
// has to be written down for it to survive a crash.
type Index struct {
	src      text.Source
	turns    *Scheduler
	embedder embed.Embedder
	tokens   embed.TokenEmbedder // the embedder, if it gives vectors of words; else nil
	dir      string              // "" for memory only
	prefix   string              // of the names of files
	log      *slog.Logger
	tell     func(stage string, done, total int) // of progress
	known    func(d text.Doc) (public text.Doc, known bool)

	deleting sync.Mutex   // held while vectors of deleted documents are removed
	mu       sync.RWMutex // guards what follows; no index is called with it held
	serving  *generation  // that searches ask; nil until it is known
	building *generation  // that is to take its place; nil for none
	anew     bool         // the serving one is to be made anew
	unwanted bool         // the building one was made for somebody who has withdrawn
	notBegun *fault.Error // why the serving one could not be made anew
	learnt   bool         // the embedder has said which model it has
	retry    retry        // of asking for the model
	unsteady retry        // of making vectors of a model that comes and goes
	changed  time.Time    // when a commit last left something to do
	imported time.Time    // when one last did with many notes at once
	waiters  []chan struct{}
	work     workload

	flight map[string]bool    // notes whose texts are on their way to a remote embedder
	recall context.CancelFunc // of these

	asked      questions[[]float32]
	askedWords questions[embed.QuestionTokens]
	model      *embed.Model // that the embedder had last; of the goroutine

	begin  chan struct{} // closed when the words are read
	wake   chan struct{}
	hurry  chan struct{} // somebody waits for the queue
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	seam   seam
}

// generation is an index of one model and what it lacks. All but the first three
// members is guarded by the meaning's mu.
type generation struct {
	model embed.Model
	index *FlatIndex
	stage string // of progress

	embedder embed.Embedder // of its model; nil: none is at hand
	ready    bool           // it has been compared with the notes
	waiting  map[string]*wait
	gone     []string // notes that were deleted
	edited   []string // notes of waiting, the latest last
	backlog  []string // further ones, the latest changed last
	held     map[string]struct{}
	refused  map[string]struct{}
	retry    retry
	unkept   *fault.Error // why the disk did not take the last vectors; nil when it did
}

// editedAtOnce is from how many documents on a commit is part of an import.
const editedAtOnce = 8

// wait is the waiting of a note in one version.
type wait struct {
	since time.Time
	kept  bool // the parts that did not change are served
	from  int  // the parts before it were read
}

// retry is when something that failed may be tried again: later each time. The zero
// value is of what has not failed.
type retry struct {
	at    time.Time
	pause backoff.ExponentialBackOff
	why   string
}

const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

func (r *retry) fail(err error) {
	r.pause.InitialInterval, r.pause.Multiplier, r.pause.MaxInterval = firstRetry, 2, lastRetry
	r.at, r.why = time.Now().Add(r.pause.NextBackOff()), fault.Message(err)
}

func (r *retry) due() bool { return !time.Now().Before(r.at) }

// Open registers the vectors of a Source with db. They are read when Begin is called.
func Open(db *kv.Store, src text.Source, opts Options) *Index {
	if opts.Scheduler == nil {
		opts.Scheduler = NewScheduler()
	}
	x := &Index{
		src: src, turns: opts.Scheduler, embedder: opts.Embedder, dir: opts.Dir, log: opts.Logger,
		tell:  func(string, int, int) {},
		begin: make(chan struct{}), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		done:  make(chan struct{}),
		known: opts.Public, seam: opts.seam, prefix: FilePrefix,
	}
	if x.tokens, _ = opts.Embedder.(embed.TokenEmbedder); x.tokens != nil {
		x.prefix = TokensPrefix
	}
	if x.seam.open == nil {
		x.seam.open = func(name string, model embed.Model) (*FlatIndex, error) { return openFlatIndex(x.ctx, name, model) }
	}
	if x.seam.put == nil {
		x.seam.put = (*FlatIndex).Put
	}
	x.ctx, x.cancel = context.WithCancel(db.Closing())
	db.OnCommit(x.commit)
	db.OnClose(x.close)
	db.OnDeleteCopies(x.forget)
	go x.run()
	return x
}

// Begin has the vectors read and made. It is called once, when the words are read: until
// then the processors are theirs.
func (x *Index) Begin() { close(x.begin) }

// commit is the part of the vectors in a commit: it notes what there is to do.
// O(notes that changed).
func (x *Index) commit(cs *kv.ChangeSet) {
	var gone, edited, hidden []string
	for _, c := range x.src.Changes(cs) {
		if c.Now == nil || c.Now.Private() {
			hidden = append(hidden, c.ID)
		}
		switch {
		case c.Now == nil:
			gone = append(gone, c.ID)
		case c.Old == nil || !sameText(c.Old, c.Now) || c.Old.Private() != c.Now.Private():
			edited = append(edited, c.ID)
		}
	}
	revealed := x.src.Revealed(cs)
	hidden, edited = append(hidden, revealed...), append(edited, revealed...)
	if len(gone)+len(edited) == 0 {
		return
	}
	now := time.Now()
	x.mu.Lock()
	x.changed = now
	if slices.ContainsFunc(hidden, func(id string) bool { return x.flight[id] }) {
		x.recall()
	}
	if len(edited) > editedAtOnce {
		x.imported = now
	}
	for _, g := range x.generations() {
		for _, id := range gone {
			g.leave(id)
			g.gone = append(g.gone, id)
		}
		for _, id := range edited {
			g.add(id, now)
			g.edited = append(g.edited, id)
		}
		g.tidy()
	}
	x.mu.Unlock()
	poke(x.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// generations returns those that there are. The caller has the lock.
func (x *Index) generations() []*generation {
	return slices.DeleteFunc([]*generation{x.serving, x.building}, func(g *generation) bool { return g == nil })
}

// add has a note wait, in its version of now. The time is that of the first change
// that waits.
func (g *generation) add(id string, since time.Time) {
	if old := g.waiting[id]; old != nil {
		since = old.since
	}
	g.leave(id)
	g.waiting[id] = &wait{since: since}
}

func (g *generation) leave(id string) {
	delete(g.waiting, id)
	delete(g.held, id)
	delete(g.refused, id)
}

// tidy drops what was edited again from the list of edits.
func (g *generation) tidy() {
	if len(g.edited) < 64+2*len(g.waiting) {
		return
	}
	seen := make(map[string]bool, len(g.waiting))
	kept := g.edited[:0]
	for _, id := range slices.Backward(g.edited) {
		if !seen[id] && g.waiting[id] != nil {
			seen[id] = true
			kept = append(kept, id)
		}
	}
	slices.Reverse(kept)
	g.edited = kept
}

// finish takes a note off the queue, if it is still that version that waits.
func (x *Index) finish(g *generation, id string, w *wait, into map[string]struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if g.waiting[id] != w {
		return
	}
	delete(g.waiting, id)
	if into != nil {
		into[id] = struct{}{}
	}
}

// isCurrent reports whether that version of a note still waits.
func (x *Index) isCurrent(g *generation, id string, w *wait) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return g.waiting[id] == w
}

// serves reports whether what is stored of a note is of its text.
func (x *Index) serves(g *generation, id string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	w := g.waiting[id]
	return w == nil || w.kept
}

// load opens what is on disk, as far as it can be known before the embedder is
// asked for its model.
func (x *Index) load() {
	var newest string
	var at time.Time
	found := false // that of the model
	known := x.embedder.Status().Model
	for _, name := range x.files() {
		model, err := FileModel(name)
		info, failed := os.Stat(name)
		switch {
		case strings.HasSuffix(name, PartSuffix):
		case strings.HasSuffix(name, TempSuffix): // its writer did not come to its end
			x.report(os.Remove(name))
		case err != nil || failed != nil:
			_ = os.Remove(name) // it can't be read, and is made anew
		case known != nil && *known == model:
			newest, found = name, true
		case !found && info.ModTime().After(at):
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return
	}
	if model, err := FileModel(newest); err == nil {
		x.open(model, x.fileOrMemory(newest, model), stageEmbed, func(g *generation) { x.serving = g })
	}
}

// files returns the files of vectors.
func (x *Index) files() []string {
	if x.dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(x.dir) // not there yet
	var names []string
	for _, e := range entries {
		if IsFile(e.Name()) && strings.HasPrefix(e.Name(), x.prefix) {
			names = append(names, filepath.Join(x.dir, e.Name()))
		}
	}
	return names
}

// IsFile reports whether a name is that of a file of vectors, or of one that is being written.
func IsFile(name string) bool {
	key, ok := strings.CutPrefix(name, FilePrefix)
	if !ok {
		key, ok = strings.CutPrefix(name, TokensPrefix)
	}
	key = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, TempSuffix), PartSuffix), TempSuffix)
	_, err := hex.DecodeString(key)
	return ok && err == nil && len(key) == 16
}

// fileOf is the name of the file of a model, "" in memory.
func (x *Index) fileOf(model embed.Model) string {
	if x.dir == "" {
		return ""
	}
	key := NewTextKey(model.Name, fmt.Sprint(model.Dims), model.SHA256)
	return filepath.Join(x.dir, fmt.Sprintf("%s%x", x.prefix, key[:8]))
}

// openFile opens the file of an index, which is made when there is none.
func (x *Index) openFile(name string, model embed.Model) (*FlatIndex, error) {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return nil, err
	}
	return x.seam.open(name, model)
}

// fileOrMemory opens the file of an index, and makes one in memory when there is no name
// or the file can't be opened.
func (x *Index) fileOrMemory(name string, model embed.Model) *FlatIndex {
	if name == "" {
		return NewFlatIndex(model.Dims)
	}
	index, err := x.openFile(name, model)
	if err != nil {
		if x.ctx.Err() != nil {
			return NewFlatIndex(model.Dims) // of which nobody asks anything
		}
		x.log.Warn("search: the vectors can't be kept on disk until the next start", "error", err)
		return NewFlatIndex(model.Dims)
	}
	return index
}

// open makes a generation of an index, has it take part in commits and then compares it
// with the notes.
func (x *Index) open(model embed.Model, index *FlatIndex, stage string, place func(*generation)) {
	g := &generation{
		model: model, index: index, stage: stage, embedder: x.embedderOf(model), waiting: map[string]*wait{},
		held: map[string]struct{}{}, refused: map[string]struct{}{},
	}
	x.mu.Lock()
	place(g)
	x.mu.Unlock()
	x.compare(g)
}

// embedderOf returns an embedder of a model, nil when none is at hand. The
// built-in one always is.
func (x *Index) embedderOf(model embed.Model) embed.Embedder {
	known := x.model
	if known == nil {
		known = x.embedder.Status().Model
	}
	if known != nil && *known == model {
		return x.embedder
	}
	if builtin, err := embed.BuiltinTable(); err == nil {
		if own, _ := builtin.Model(x.ctx); own == model {
			return builtin
		}
	}
	return nil
}

// EmbeddedDoc returns the form of a document that its vectors are made of: of one that hides
// a part from others that without it, for whoever searches.
func EmbeddedDoc(src text.Source, d text.Doc) text.Doc {
	if d == nil || d.Private() {
		return d
	}
	public := src.Public(d)
	if public == nil {
		return d
	}
	return public
}

// keyOf stands for what the vectors of a document are made of.
func (x *Index) keyOf(d text.Doc) TextKey {
	return NewTextKey(EmbeddedDoc(x.src, d).ChunkedFrom()...)
}

// compare finds out what a generation lacks.
func (x *Index) compare(g *generation) {
	stored := g.index.All()
	var all []text.Doc
	for n := range x.src.All() {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b text.Doc) int { return a.UpdatedAt().Compare(b.UpdatedAt()) })
	var missing []string
	for _, n := range all {
		if x.ctx.Err() != nil {
			return
		}
		key, there := stored[n.ID()]
		delete(stored, n.ID())
		if !there || key != x.keyOf(n) || n.Private() && isRemote(g.embedder) {
			missing = append(missing, n.ID())
		}
	}
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range missing {
		if g.waiting[id] == nil {
			g.add(id, now)
			g.backlog = append(g.backlog, id)
		}
	}
	for id := range stored {
		g.gone = append(g.gone, id)
	}
	g.ready = true
}

func isRemote(e embed.Embedder) bool { return e != nil && e.Status().Remote }

// learn asks the embedder for its model, and has vectors of it made.
func (x *Index) learn() {
	ctx, cancel := context.WithTimeout(x.ctx, embedTimeout)
	defer cancel()
	model, err := x.embedder.Model(ctx)
	if x.ctx.Err() != nil {
		return
	}
	if err == nil && model.Dims < 1 {
		err = fault.New(fault.Unavailable, "the embedder does not say how long its vectors are")
	}
	x.mu.Lock()
	if err != nil {
		x.retry.fail(err)
	} else {
		x.retry = retry{}
	}
	x.mu.Unlock()
	if err == nil {
		x.target(model)
	}
}

// target is called with the model that vectors are to be of.
func (x *Index) target(model embed.Model) {
	x.model = &model
	x.mu.Lock()
	x.learnt = true
	serving, building := x.serving, x.building
	x.mu.Unlock()
	switch {
	case serving != nil && serving.model == model:
		x.mu.Lock()
		serving.embedder = x.embedder
		x.mu.Unlock()
		if building != nil && building.model != model {
			x.modelChangedAgain()
			x.abandon()
		}
	case serving == nil:
		name := x.fileOf(model)
		if name != "" {
			_ = os.Rename(name+PartSuffix, name) // nothing serves that it would have to wait for
		}
		x.open(model, x.fileOrMemory(name, model), stageEmbed, func(g *generation) { x.serving = g })
	case building == nil || building.model != model:
		if building != nil {
			x.modelChangedAgain()
		}
		x.abandon()
		x.build(model)
	default:
		x.mu.Lock()
		building.embedder = x.embedder
		x.mu.Unlock()
	}
	x.setRight()
	x.sweep()
}

// modelChangedAgain is called when an embedder has changed its model before the vectors of the
// last one were made, as an endpoint does that stands for two. Each time the next
// model is begun with later.
func (x *Index) modelChangedAgain() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Since(x.unsteady.at) > lastRetry {
		x.unsteady = retry{}
	}
	x.unsteady.fail(fault.New(fault.Unavailable, "the embedder changes its model again and again"))
}

// setRight gives the generations the embedders of their models, since the
// configured one may have become another.
func (x *Index) setRight() {
	x.mu.RLock()
	all := x.generations()
	x.mu.RUnlock()
	for _, g := range all {
		e := x.embedderOf(g.model)
		x.mu.Lock()
		g.embedder = e
		x.mu.Unlock()
	}
}

// build begins a second generation, or goes on with one that was begun.
func (x *Index) build(model embed.Model) {
	name := x.fileOf(model)
	if name != "" {
		if _, err := os.Stat(name); err != nil || name == x.serving.index.Name() {
			name += PartSuffix
		}
	}
	x.open(model, x.fileOrMemory(name, model), stageModel, func(g *generation) { x.building, g.retry = g, x.unsteady })
}

// rebuild begins a second generation of the model of the one that serves. When that is in
// a file and the disk does not take another one, the error says so: vectors that are kept
// do not give way to some that are not.
func (x *Index) rebuild(serving *generation) *fault.Error {
	var index *FlatIndex
	if serving.index.Name() == "" {
		index = x.fileOrMemory(x.fileOf(serving.model), serving.model)
	} else {
		part := x.fileOf(serving.model) + PartSuffix
		var err error
		index, err = x.openFile(part, serving.model)
		if err != nil {
			_ = os.Remove(part) // what there is of it
			return notKept(err)
		}
	}
	x.open(serving.model, index, stageModel, func(g *generation) { x.building = g })
	return nil
}

// abandon gives the second generation up.
func (x *Index) abandon() {
	x.mu.Lock()
	old := x.building
	x.building, x.unwanted = nil, false
	x.mu.Unlock()
	if old != nil {
		x.report(old.index.Remove())
	}
}

// swap puts the second generation in the place of the first when it is whole.
func (x *Index) swap() {
	x.mu.Lock()
	g, old := x.building, x.serving
	if g == nil || !g.ready || len(g.waiting) > 0 || x.unwanted {
		x.mu.Unlock()
		return
	}
	x.serving, x.building, x.unsteady = g, nil, retry{}
	g.stage = stageEmbed
	x.mu.Unlock()
	x.report(old.index.Remove())
	if name := x.fileOf(g.model); name != "" {
		x.report(g.index.Rename(name))
	}
	x.log.Info("search: vectors of another model serve now", "model", g.model.Name, "vectors", g.index.Len())
	x.sweep()
}

// sweep removes the files that no generation is in.
func (x *Index) sweep() {
	x.mu.RLock()
	all := x.generations()
	x.mu.RUnlock()
	for _, name := range x.files() {
		if !slices.ContainsFunc(all, func(g *generation) bool { return x.keeps(g, name) }) {
			x.report(os.Remove(name))
		}
	}
}

// keeps reports whether a file is that of a generation: the one that it is in, or,
// when it could not be opened, the one that the next start will read. What was the
// matter may pass, as a lack of descriptors does, and a slow model's vectors are
// hours of work.
func (x *Index) keeps(g *generation, name string) bool {
	at := g.index.Name()
	return at == name || at == "" && x.fileOf(g.model) == name
}

func (x *Index) report(err error) {
	if err != nil {
		x.log.Warn("search: a file of vectors can't be written or removed", "error", err)
	}
}

// close ends the work and keeps what there is.
func (x *Index) close(bool) {
	x.cancel()
	<-x.done
	x.turns.leave(x)
	x.mu.Lock()
	all := x.generations()
	x.serving, x.building = nil, nil
	x.wakeWaiters()
	x.mu.Unlock()
	for _, g := range all {
		x.report(g.index.Close())
	}
}

// forget leaves nothing on disk of what is not in the store any more: of notes
// that are gone, and of the former text of those that wait.
func (x *Index) forget() (err error) {
	x.mu.RLock()
	all := x.generations()
	x.mu.RUnlock()
	for _, g := range all {
		x.deleteGone(g)
		for _, id := range x.outdated(g) {
			g.index.Delete(id)
		}
		if failed := g.index.Flush(); err == nil {
			err = failed
		}
	}
	return err
}

// outdated returns the notes whose vectors are of another text, in part.
func (x *Index) outdated(g *generation) (ids []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for id, w := range g.waiting {
		if !w.kept {
			ids = append(ids, id)
		}
	}
	return ids
}

// deleteGone takes notes that were deleted out of an index.
func (x *Index) deleteGone(g *generation) {
	x.deleting.Lock()
	defer x.deleting.Unlock()
	x.mu.Lock()
	gone := g.gone
	g.gone = nil
	x.mu.Unlock()
	for _, id := range gone {
		if x.src.Get(id) == nil {
			g.index.Delete(id)
		}
	}
}
