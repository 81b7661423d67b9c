package vault

import (
	"cmp"
	"context"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
)

// vault is what the store knows of a folder that was imported.
type vault struct {
	Name       string       `json:"name"`
	Path       string       `json:"path"`
	LastScanAt time.Time    `json:"lastScanAt"`
	Skipped    []ImportSkip `json:"skipped,omitempty"`
	Watch      bool         `json:"watch,omitempty"`      // it is followed, after a restart too
	Forgetting bool         `json:"forgetting,omitempty"` // all that came from it is being removed
	Listed     int          `json:"listed,omitempty"`     // the listingRules by which Skipped was made
}

// file is what the store knows of one file of a vault.
type file struct {
	NoteID string `json:"noteId"`
	Hash   string `json:"hash"` // SHA-256 of the content
	// Size and Modified are the stamp of the file when it was read; both are 0
	// when that does not tell whether it has changed.
	Size     int64 `json:"size,omitempty"`
	Modified int64 `json:"modified,omitempty"`
	// Warning is what of the text could not be understood, a line each.
	Warning string `json:"warning,omitempty"`
	// Problems are the values that were left out, so that an import that finds
	// the file unchanged can list them again.
	Problems []string `json:"problems,omitempty"`
	// Type and TypeVersion are the type that the note's frontmatter was read
	// by: another version may read it otherwise.
	Type        string `json:"type,omitempty"`
	TypeVersion int    `json:"typeVersion,omitempty"`
	Private     bool   `json:"private,omitempty"` // it lay in a private folder
}

// What a machine knows of its own folders is its own: others that share the store have other
// files, or the same ones at other times, and get the notes alone.
var (
	vaults = kv.NewCollection[vault]("vault").Local()                                                       // by name
	files  = kv.NewCollection("vault-file", kv.Codec[file]{Encode: encodeFile, Decode: decodeFile}).Local() // by vault name, /, path
	// remains are the entities of notes whose files are gone. They are archived
	// until somebody restores them or the vault is forgotten.
	remains = kv.NewCollection[remain]("vault-remain").Local() // by vault name, /, entity id
)

type remain struct {
	EntityID string `json:"entityId"`
}

// ImporterOptions are what an Importer needs beside the rooms. The zero value works.
type ImporterOptions struct {
	Now     func() time.Time // nil: time.Now
	Exclude []string         // patterns as in .ctxdignore, for every vault
	// Writes are the files and folders that the program writes to: none of them may be in
	// a vault, nor hold one. Empty ones count for nothing.
	Writes []string
	// Write names the folders of vaults whose notes may be written (Write); none: nothing is.
	Write []WriteRule
	// Library reads the text of attachments; nil: nobody does, and they are known by name alone.
	Library Library
	// SweepEvery is the least time between two sweeps of a vault that is followed;
	// 0: half a minute.
	SweepEvery time.Duration
	// FoldsCase reports whether a folder does not tell letter case, given the names in
	// it; known is false when that can't be told. nil: the file system is asked.
	FoldsCase func(in *os.Root, names []string) (folds, known bool)
}

// Importer imports vaults into one store, and follows them.
type Importer struct {
	db      *kv.Store
	ents    *entities.Store
	notes   *notes.Store
	opts    ImporterOptions
	exclude exclusions

	mu                 sync.Mutex // guards what follows
	busy               map[string]*importJob
	host               *Host // nil: nothing can be followed
	followers          map[string]*follower
	stopped            bool
	problems           keptProblems
	removedSinceExpiry int // notes that were removed since what is kept of them was last looked through
	writesSinceTrim    int // into vaults, since the start

	registerMu  sync.Mutex // guards what follows
	registering []*vault   // being imported first, of which the store may not know yet

	ctx    context.Context // of the work in the background
	cancel func()
	work   sync.WaitGroup

	seam seam // of tests
}

// importJob is work on one vault.
type importJob struct {
	asked bool // it was asked for, so that a second one is refused
	done  chan struct{}
}

// NewImporter returns an importer into the given rooms. What it follows ends when db is
// closed.
func NewImporter(db *kv.Store, ents *entities.Store, ns *notes.Store, opts ImporterOptions) *Importer {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.FoldsCase == nil {
		opts.FoldsCase = foldsCase
	}
	im := &Importer{
		db: db, ents: ents, notes: ns, opts: opts, exclude: newExclusions(opts.Exclude),
		busy: make(map[string]*importJob), followers: make(map[string]*follower),
	}
	im.ctx, im.cancel = context.WithCancel(context.Background())
	db.OnClose(func(bool) { im.stop() })
	return im
}

// claim reserves a vault for one job. Of two that were asked for, the second is
// refused; what is done for a follower is short, and waited for.
func (im *Importer) claim(ctx context.Context, name string, asked bool) (release func(), err error) {
	for {
		im.mu.Lock()
		other := im.busy[name]
		if other == nil {
			mine := &importJob{asked: asked, done: make(chan struct{})}
			im.busy[name] = mine
			im.mu.Unlock()
			return sync.OnceFunc(func() {
				im.mu.Lock()
				defer im.mu.Unlock()
				delete(im.busy, name)
				close(mine.done)
			}), nil
		}
		im.mu.Unlock()
		if asked && other.asked {
			return nil, beingImported(name)
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func beingImported(name string) error {
	return &fault.Error{
		Kind: fault.Conflict, Reason: fault.Busy, Ref: name, Msg: "vault " + name + " is being imported", Retryable: true,
		Hint: "wait for the running import to end",
	}
}

// checkIdle returns an error when a vault is being imported or forgotten, which may take long.
func (im *Importer) checkIdle(name string) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	if other := im.busy[name]; other != nil && other.asked {
		return beingImported(name)
	}
	return nil
}

// records returns what the store knows of vaults.
func (im *Importer) records(ctx context.Context) (list []*vault, err error) {
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		list = slices.Collect(seqValues(vaults.All(tx, "")))
		return tx.Err()
	})
	return list, err
}

// all returns the vaults, and those whose folders are waited for.
func (im *Importer) all(tx *kv.Tx) ([]*vault, error) {
	list := slices.Collect(seqValues(vaults.All(tx, "")))
	known := make(map[string]bool, len(list))
	for _, v := range list {
		known[v.Name] = true
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	for name, f := range im.followers {
		if !known[name] {
			list = append(list, f.awaited())
		}
	}
	return list, tx.Err()
}

// awaited is what is known of a vault of which nothing has been read yet.
func (f *follower) awaited() *vault { return &vault{Name: f.name, Path: f.path, Watch: true} }

func seqValues[K, V any](seq iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range seq {
			if !yield(v) {
				return
			}
		}
	}
}

// List returns the state of all vaults by name: those that were imported, and those
// whose folders are waited for.
func (im *Importer) List(ctx context.Context) ([]Status, error) { return im.ListFor(ctx, nil) }

// ListFor is List for a reader who may know of the notes that sees says yes to.
func (im *Importer) ListFor(ctx context.Context, sees func(*notes.Note) bool) ([]Status, error) {
	out := []Status{}
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		list, err := im.all(tx)
		for _, v := range list {
			out = append(out, im.status(tx, v, sees))
		}
		return err
	})
	slices.SortFunc(out, func(a, b Status) int {
		return cmp.Or(entities.CompareNatural(a.Vault, b.Vault), strings.Compare(a.Path, b.Path))
	})
	return out, err
}

// Status returns the state of one vault; "" means the only one there is.
func (im *Importer) Status(ctx context.Context, name string) (*Status, error) {
	return im.StatusFor(ctx, name, nil)
}

// StatusFor is Status for a reader who may know of the notes that sees says yes to:
// others are not counted, links to them lead nowhere, and of Errors those remain that
// are about the vault as a whole or about a file whose note is shown. What was left out
// is not told of at all: nobody knows what it says.
func (im *Importer) StatusFor(ctx context.Context, name string, sees func(*notes.Note) bool) (*Status, error) {
	var out *Status
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		v, err := im.find(tx, name)
		if err != nil {
			return err
		}
		s := im.status(tx, v, sees)
		s.UnresolvedRefs = im.notes.CountUnresolvedRefs(v.Name, sees)
		out = &s
		return tx.Err()
	})
	return out, err
}

// Find returns the name of a vault, of the only one for "", and the absolute path of its folder.
func (im *Importer) Find(ctx context.Context, name string) (vault, folder string, err error) {
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		v, err := im.find(tx, name)
		if err != nil {
			return err
		}
		vault, folder = v.Name, v.Path
		return tx.Err()
	})
	return vault, folder, err
}

// DaysOf returns how the vault in a folder has its notes of days.
func DaysOf(folder string) days.Settings {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return days.Settings{} // it is away: nothing is called by a day
	}
	defer root.Close()
	t := newTree()
	(&walker{root: root}).readDays(t) // it lists no folder
	return t.days
}

func (im *Importer) find(tx *kv.Tx, name string) (*vault, error) {
	if name != "" {
		v, err := vaults.Get(tx, name)
		if err != nil || v != nil {
			return v, err
		}
		if f := im.follower(name); f != nil {
			return f.awaited(), nil
		}
		return nil, fault.New(fault.NotFound, "there is no vault %q", name).WithRef(name).
			WithHint("ctxd vault list shows the imported vaults")
	}
	all, err := im.all(tx)
	if err != nil {
		return nil, err
	}
	switch len(all) {
	case 0:
		return nil, fault.New(fault.NotFound, "no vault was imported").
			WithHint("import one with vault.import or ctxd import FOLDER")
	case 1:
		return all[0], nil
	}
	var candidates []fault.Candidate
	for _, v := range all {
		candidates = append(candidates, fault.Candidate{ID: v.Name})
	}
	return nil, fault.Clash(fault.Ambiguous, "there are %d vaults", len(all)).WithHint("name one of them").
		WithCandidates(candidates)
}

// status returns the state of a vault as a reader sees it who may know of the notes
// that sees says yes to; nil: of all.
func (im *Importer) status(tx *kv.Tx, v *vault, sees func(*notes.Note) bool) Status {
	s := Status{Vault: v.Name, Path: v.Path, LastScanAt: v.LastScanAt, Stale: !isFolder(v.Path), Errors: v.Skipped}
	if v.Forgetting {
		s.Errors = []ImportSkip{{Path: ".", Reason: "it is being forgotten"}}
	}
	shown := make(map[string]bool) // the files whose notes the reader may know of
	for key, f := range files.All(tx, v.Name+"/") {
		if sees != nil {
			n := im.notes.Get(f.NoteID)
			if n == nil || !sees(n) {
				continue
			}
			shown[strings.TrimPrefix(key, v.Name+"/")] = true
		}
		s.Notes++
	}
	count := im.notes.LinkCount(v.Name, sees)
	s.Attachments = im.notes.CountAttachments(v.Name, sees != nil)
	s.Links, s.MarkdownLinks, s.Unresolved = count.Links, count.Markdown, count.Unresolved
	if f := im.follower(v.Name); f != nil {
		f.addTo(&s)
	}
	if sees != nil {
		s.Errors = slices.DeleteFunc(slices.Clone(s.Errors),
			func(e ImportSkip) bool { return e.Path != "." && !shown[e.Path] })
	}
	if s.Errors == nil {
		s.Errors = []ImportSkip{}
	}
	return s
}
