package search

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vector"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// Files of vectors are named for their model. One that is being made, to take
// the place of another, says so until it is whole.
const (
	vectorsPrefix = "vectors-"
	partSuffix    = ".part"
)

// meaning keeps the vectors of the notes current, in the background. One
// goroutine changes what there is; commits and searches wait for it nowhere.
//
// What waits is the difference between the notes and what is stored, so nothing
// has to be written down for it to survive a crash.
type meaning struct {
	notes    *notes.Store
	embedder embed.Embedder
	dir      string // "" for memory only
	log      *slog.Logger
	tell     func(stage string, done, total int) // of progress

	burying  sync.Mutex   // held while deleted notes are taken out
	mu       sync.RWMutex // guards what follows; no index is called with it held
	serving  *generation  // that searches ask; nil until it is known
	building *generation  // that is to take its place; nil for none
	anew     bool         // the serving one is to be made anew
	learnt   bool         // the embedder has said which model it has
	retry    backoff      // of asking for the model
	unsteady backoff      // of making vectors of a model that comes and goes
	changed  time.Time    // when a commit last left something to do
	imported time.Time    // when one last did with many notes at once
	waiters  []chan struct{}
	work     workload

	flight map[string]bool    // notes whose texts are on their way to a remote embedder
	recall context.CancelFunc // of these

	asked questions
	model *embed.Model // that the embedder had last; of the goroutine

	begin  chan struct{} // closed when the words are read
	wake   chan struct{}
	hurry  chan struct{} // somebody waits for the queue
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
}

// generation is an index of one model and what it lacks. All but the first three
// members is guarded by the meaning's mu.
type generation struct {
	model embed.Model
	index *vector.Index
	stage string // of progress

	embedder embed.Embedder // of its model; nil: none is at hand
	ready    bool           // it has been compared with the notes
	waiting  map[string]*wait
	gone     []string // notes that were deleted
	edited   []string // notes of waiting, the latest last
	backlog  []string // further ones, the latest changed last
	held     map[string]struct{}
	refused  map[string]struct{}
	retry    backoff
}

// wait is the waiting of a note in one version.
type wait struct {
	since time.Time
	kept  bool // the parts that did not change are served
}

// backoff is when something may be tried again.
type backoff struct {
	at    time.Time
	delay time.Duration
	why   string
}

const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

func (b *backoff) fail(err error) {
	b.delay = min(max(firstRetry, 2*b.delay), lastRetry)
	b.at, b.why = time.Now().Add(b.delay), fault.Message(err)
}

func (b *backoff) due() bool { return !time.Now().Before(b.at) }

// newMeaning registers the vectors with db. They are read when begin is closed.
func newMeaning(db *kv.Store, ns *notes.Store, opts *Options) *meaning {
	m := &meaning{
		notes: ns, embedder: opts.Embedder, dir: opts.Dir, log: opts.Logger, tell: func(string, int, int) {},
		begin: make(chan struct{}), wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), done: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	db.OnCommit(m.commit)
	db.OnClose(m.close)
	db.OnDeleteCopies(m.forget)
	go m.run()
	return m
}

// commit is the part of the vectors in a commit: it notes what there is to do.
// O(notes that changed).
func (m *meaning) commit(cs *kv.ChangeSet) {
	var gone, edited, hidden []string
	for _, ch := range cs.Changes {
		old, now, ok := notes.Records.Of(ch)
		if ok && (now == nil || now.Private) {
			hidden = append(hidden, ch.ID)
		}
		switch {
		case !ok:
		case now == nil:
			gone = append(gone, ch.ID)
		case old == nil || old.Title != now.Title || old.Body != now.Body || old.Private != now.Private:
			edited = append(edited, ch.ID)
		}
	}
	if len(gone)+len(edited) == 0 {
		return
	}
	now := time.Now()
	m.mu.Lock()
	m.changed = now
	if slices.ContainsFunc(hidden, func(id string) bool { return m.flight[id] }) {
		m.recall()
	}
	if len(edited) > fewChanges {
		m.imported = now
	}
	for _, g := range m.generations() {
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
	m.mu.Unlock()
	poke(m.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// generations returns those that there are. The caller has the lock.
func (m *meaning) generations() []*generation {
	return slices.DeleteFunc([]*generation{m.serving, m.building}, func(g *generation) bool { return g == nil })
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
func (m *meaning) finish(g *generation, id string, w *wait, into map[string]struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.waiting[id] != w {
		return
	}
	delete(g.waiting, id)
	if into != nil {
		into[id] = struct{}{}
	}
}

// isCurrent reports whether that version of a note still waits.
func (m *meaning) isCurrent(g *generation, id string, w *wait) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return g.waiting[id] == w
}

// serves reports whether what is stored of a note is of its text.
func (m *meaning) serves(g *generation, id string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	w := g.waiting[id]
	return w == nil || w.kept
}

// load opens what is on disk, as far as it can be known before the embedder is
// asked for its model.
func (m *meaning) load() {
	var newest string
	var at time.Time
	known := m.embedder.Status().Model
	for _, name := range m.files() {
		model, err := vector.ModelOf(name)
		info, failed := os.Stat(name)
		switch {
		case strings.HasSuffix(name, partSuffix):
		case strings.HasSuffix(name, tempSuffix): // its writer did not come to its end
			m.report(os.Remove(name))
		case err != nil || failed != nil:
			_ = os.Remove(name) // it can't be read, and is made anew
		case known != nil && *known == model:
			newest, at = name, time.Now()
		case info.ModTime().After(at):
			newest, at = name, info.ModTime()
		}
	}
	if newest == "" {
		return
	}
	if model, err := vector.ModelOf(newest); err == nil {
		m.open(model, newest, stageEmbed, func(g *generation) { m.serving = g })
	}
}

// files returns the files of vectors.
func (m *meaning) files() []string {
	if m.dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(m.dir) // not there yet
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), vectorsPrefix) {
			names = append(names, filepath.Join(m.dir, e.Name()))
		}
	}
	return names
}

// fileOf is the name of the file of a model, "" in memory.
func (m *meaning) fileOf(model embed.Model) string {
	if m.dir == "" {
		return ""
	}
	key := vector.KeyOf(model.Name, fmt.Sprint(model.Dims), model.SHA256)
	return filepath.Join(m.dir, fmt.Sprintf("%s%x", vectorsPrefix, key[:8]))
}

// open opens a generation, has it take part in commits and then compares it with
// the notes.
func (m *meaning) open(model embed.Model, name, stage string, place func(*generation)) {
	g := &generation{
		model: model, stage: stage, embedder: m.embedderOf(model), waiting: map[string]*wait{},
		held: map[string]struct{}{}, refused: map[string]struct{}{},
	}
	if name != "" {
		err := os.MkdirAll(m.dir, 0o700)
		if err == nil {
			g.index, err = vector.Open(name, model)
		}
		if err != nil {
			m.log.Warn("search: the vectors can't be kept on disk until the next start", "error", err)
		}
	}
	if g.index == nil {
		g.index = vector.New(model.Dims)
	}
	m.mu.Lock()
	place(g)
	m.mu.Unlock()
	m.compare(g)
}

// embedderOf returns an embedder of a model, nil when none is at hand. The
// built-in one always is.
func (m *meaning) embedderOf(model embed.Model) embed.Embedder {
	known := m.model
	if known == nil {
		known = m.embedder.Status().Model
	}
	if known != nil && *known == model {
		return m.embedder
	}
	if builtin, err := embed.Builtin(); err == nil {
		if own, _ := builtin.Model(m.ctx); own == model {
			return builtin
		}
	}
	return nil
}

// keyOf stands for what the vectors of a note are made of.
func keyOf(n *notes.Note) vector.Key { return vector.KeyOf(chunksVersion, n.Title, n.Body) }

// compare finds out what a generation lacks.
func (m *meaning) compare(g *generation) {
	stored := g.index.All()
	var all []*notes.Note
	for n := range m.notes.All() {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *notes.Note) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	var missing []string
	for _, n := range all {
		if m.ctx.Err() != nil {
			return
		}
		key, there := stored[n.ID]
		delete(stored, n.ID)
		if !there || key != keyOf(n) || n.Private && isRemote(g.embedder) {
			missing = append(missing, n.ID)
		}
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
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
func (m *meaning) learn() {
	ctx, cancel := context.WithTimeout(m.ctx, embedTimeout)
	defer cancel()
	model, err := m.embedder.Model(ctx)
	if m.ctx.Err() != nil {
		return
	}
	if err == nil && model.Dims < 1 {
		err = fault.New(fault.Unavailable, "the embedder does not say how long its vectors are")
	}
	m.mu.Lock()
	if err != nil {
		m.retry.fail(err)
	} else {
		m.retry = backoff{}
	}
	m.mu.Unlock()
	if err == nil {
		m.target(model)
	}
}

// target is called with the model that vectors are to be of.
func (m *meaning) target(model embed.Model) {
	m.model = &model
	m.mu.Lock()
	m.learnt = true
	serving, building := m.serving, m.building
	m.mu.Unlock()
	switch {
	case serving != nil && serving.model == model:
		m.mu.Lock()
		serving.embedder = m.embedder
		m.mu.Unlock()
		if building != nil && building.model != model {
			m.waver()
			m.abandon()
		}
	case serving == nil:
		name := m.fileOf(model)
		if name != "" {
			_ = os.Rename(name+partSuffix, name) // nothing serves that it would have to wait for
		}
		m.open(model, name, stageEmbed, func(g *generation) { m.serving = g })
	case building == nil || building.model != model:
		if building != nil {
			m.waver()
		}
		m.abandon()
		m.build(model)
	default:
		m.mu.Lock()
		building.embedder = m.embedder
		m.mu.Unlock()
	}
	m.setRight()
	m.sweep()
}

// waver is called when an embedder has changed its model before the vectors of the
// last one were made, as an endpoint does that stands for two. Each time the next
// model is begun with later.
func (m *meaning) waver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.unsteady.at) > lastRetry {
		m.unsteady = backoff{}
	}
	m.unsteady.fail(fault.New(fault.Unavailable, "the embedder changes its model again and again"))
}

// setRight gives the generations the embedders of their models, since the
// configured one may have become another.
func (m *meaning) setRight() {
	m.mu.RLock()
	all := m.generations()
	m.mu.RUnlock()
	for _, g := range all {
		e := m.embedderOf(g.model)
		m.mu.Lock()
		g.embedder = e
		m.mu.Unlock()
	}
}

// build begins a second generation, or goes on with one that was begun.
func (m *meaning) build(model embed.Model) {
	name := m.fileOf(model)
	if name != "" {
		if _, err := os.Stat(name); err != nil || name == m.serving.index.Name() {
			name += partSuffix
		}
	}
	m.open(model, name, stageModel, func(g *generation) { m.building, g.retry = g, m.unsteady })
}

// abandon gives the second generation up.
func (m *meaning) abandon() {
	m.mu.Lock()
	old := m.building
	m.building = nil
	m.mu.Unlock()
	if old != nil {
		m.report(old.index.Remove())
	}
}

// swap puts the second generation in the place of the first when it is whole.
func (m *meaning) swap() {
	m.mu.Lock()
	g, old := m.building, m.serving
	if g == nil || !g.ready || len(g.waiting) > 0 {
		m.mu.Unlock()
		return
	}
	m.serving, m.building, m.unsteady = g, nil, backoff{}
	g.stage = stageEmbed
	m.mu.Unlock()
	m.report(old.index.Remove())
	if name := m.fileOf(g.model); name != "" {
		m.report(g.index.Rename(name))
	}
	m.log.Info("search: vectors of another model serve now", "model", g.model.Name, "vectors", g.index.Len())
	m.sweep()
}

// sweep removes the files that no generation is in.
func (m *meaning) sweep() {
	m.mu.RLock()
	all := m.generations()
	m.mu.RUnlock()
	for _, name := range m.files() {
		if !slices.ContainsFunc(all, func(g *generation) bool { return m.keeps(g, name) }) {
			m.report(os.Remove(name))
		}
	}
}

// keeps reports whether a file is that of a generation: the one that it is in, or,
// when it could not be opened, the one that the next start will read. What was the
// matter may pass, as a lack of descriptors does, and a slow model's vectors are
// hours of work.
func (m *meaning) keeps(g *generation, name string) bool {
	at := g.index.Name()
	return at == name || at == "" && m.fileOf(g.model) == name
}

func (m *meaning) report(err error) {
	if err != nil {
		m.log.Warn("search: a file of vectors can't be written or removed", "error", err)
	}
}

// close ends the work and keeps what there is.
func (m *meaning) close(bool) {
	m.cancel()
	<-m.done
	m.mu.Lock()
	all := m.generations()
	m.serving, m.building = nil, nil
	m.wakeWaiters()
	m.mu.Unlock()
	for _, g := range all {
		m.report(g.index.Close())
	}
}

// forget leaves nothing on disk of what is not in the store any more: of notes
// that are gone, and of the former text of those that wait.
func (m *meaning) forget() (err error) {
	m.mu.RLock()
	all := m.generations()
	m.mu.RUnlock()
	for _, g := range all {
		m.bury(g)
		for _, id := range m.outdated(g) {
			g.index.Delete(id)
		}
		if failed := g.index.Flush(); err == nil {
			err = failed
		}
	}
	return err
}

// outdated returns the notes whose vectors are of another text, in part.
func (m *meaning) outdated(g *generation) (ids []string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for id, w := range g.waiting {
		if !w.kept {
			ids = append(ids, id)
		}
	}
	return ids
}

// bury takes notes that were deleted out of an index.
func (m *meaning) bury(g *generation) {
	m.burying.Lock()
	defer m.burying.Unlock()
	m.mu.Lock()
	gone := g.gone
	g.gone = nil
	m.mu.Unlock()
	for _, id := range gone {
		if m.notes.Get(id) == nil {
			g.index.Delete(id)
		}
	}
}
