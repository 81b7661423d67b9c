package vault

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// How many notes one transaction changes or removes, and how many it takes in: few
// enough that readers do not wait long for it, many enough that the disk is not waited
// for often, and that a word is entered once for many of the notes.
const (
	batch     = 200
	bulkBatch = 500
)

// run makes the store agree with a scan: with the whole vault, or with what has changed
// in it.
type run struct {
	*Importer
	root     *os.Root
	name     string
	path     string
	watch    bool // the vault is to be followed
	progress func(stage string, done, total int)

	tree          *tree
	dayNames      func(path string) []string // what links call a note of a day
	known         map[string]*file           // by path: of what is looked at, and of what is gone
	also          map[string]bool            // ids of known notes that a file is known by which is not looked at
	looked        []looked                   // what was read, whether it can be taken in or not
	docs          []document                 // of these, what can
	vacated       []string                   // paths whose note moved and that have no known one now
	moved         map[string]bool            // ids of the notes whose text is at another path now
	leaving       []gone
	hasTombstones bool // there are tombstones of the vault

	sameAttachments bool // the files that are no notes are those that the store knows
	listed          int  // the listingRules by which doubts are listed
	faults          faults
	written         int
	removed         int
}

// faults are what could not be taken in, or not whole, beside what the scan left
// out: reasons by path.
type faults struct {
	notes map[string][]string
	types []ImportSkip
}

// whole makes the store agree with the whole vault. seen is the scan, nil when there was
// none yet.
func (r *run) whole(ctx context.Context, seen *tree) (err error) {
	r.tree = seen
	if seen == nil {
		r.tree, err = r.newWalker(r.root, r.name).all(ctx)
		if err != nil {
			return err
		}
	}
	if err := r.notes.SetFoldsCase(ctx, r.name, r.tree.folds); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if r.tree.folders["."].empty && len(r.known)+len(r.notes.Attachments(r.name)) > 0 {
		return emptied()
	}
	r.faults = faults{notes: make(map[string][]string)}
	var due []string
	for _, p := range r.tree.notes() {
		if s, _ := r.tree.stamp(p); !r.unchanged(p, s) {
			due = append(due, p)
		}
	}
	if err := r.read(ctx, due); err != nil {
		return err
	}
	if err := r.declare(ctx, r.tree.types()); err != nil {
		return err
	}
	return r.finish(ctx, true)
}

// emptied is the error for a vault in whose folder nothing is left at all. It looks like
// a disk that is not mounted, and all notes would be removed.
func emptied() error {
	return fault.New(fault.Unavailable, "the folder is empty, as if its disk were not mounted: the notes are kept").
		WithHint("mount the disk; if the notes are meant to go, use vault.forget")
}

// part makes the store agree with the notes that have changed, and those that are gone.
func (r *run) part(ctx context.Context, d *difference) error {
	if err := r.load(ctx, append(slices.Clone(d.notes), d.gone...)...); err != nil {
		return err
	}
	r.sameAttachments = !d.others
	for _, p := range d.gone {
		delete(r.faults.notes, p)
	}
	if err := r.read(ctx, d.notes); err != nil {
		return err
	}
	return r.finish(ctx, false)
}

// finish infers types, writes what was read and removes what is gone.
func (r *run) finish(ctx context.Context, whole bool) error {
	grown, err := r.infer(ctx)
	if err != nil {
		return err
	}
	if whole || grown {
		if err := r.reread(ctx); err != nil {
			return err
		}
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if err := r.remove(ctx); err != nil {
		return err
	}
	if err := r.noteAttachments(ctx); err != nil {
		return err
	}
	if r.expiryDue(whole) {
		if err := r.expireTombstones(ctx); err != nil {
			return err
		}
	}
	return r.recordScan(ctx, whole)
}

// load reads what the store knows of the vault's files, or of some of them.
func (r *run) load(ctx context.Context, some ...string) error {
	r.known, r.also, r.dayNames = make(map[string]*file), make(map[string]bool), r.tree.days.Names()
	return r.db.View(ctx, func(tx *kv.Tx) error {
		for _, p := range some {
			f, err := files.Get(tx, r.name+"/"+p)
			if err != nil {
				return err
			}
			if f == nil {
				continue
			}
			r.known[p] = f
			if n := r.notes.Get(f.NoteID); n != nil && n.Path != p && r.known[n.Path] == nil {
				there, err := files.Get(tx, r.name+"/"+n.Path)
				if err != nil {
					return err
				}
				if there != nil && there.NoteID == f.NoteID {
					r.also[f.NoteID] = true
				}
			}
		}
		v, err := vaults.Get(tx, r.name)
		if err != nil {
			return err
		}
		if v != nil {
			r.listed = v.Listed
		}
		r.hasTombstones = false
		for range tombstones.All(tx, r.name+"/") {
			r.hasTombstones = true
			break
		}
		if some == nil {
			for key, f := range files.All(tx, r.name+"/") {
				r.known[strings.TrimPrefix(key, r.name+"/")] = f
			}
		}
		return tx.Err()
	})
}

// unchanged reports whether a file needs no reading: it has the stamp that it
// had, and would be taken in as it was.
func (r *run) unchanged(p string, s stamp) bool {
	f := r.known[p]
	if f == nil || s == (stamp{}) || f.stamp() != s || r.hasMoved(p, f) || f.Private != r.inPrivateFolder(p) || !r.sameDay(f.NoteID, p) {
		return false
	}
	if r.listed >= listingRules {
		return true
	}
	n := r.notes.Get(f.NoteID)
	return n == nil || !n.Private && !notes.HasSeveralTypes(n.Body)
}

// hasMoved reports whether the note that a file was known by is known by the file at
// another path, which the note has: a run that was cut short had moved it.
func (r *run) hasMoved(p string, f *file) bool {
	n := r.notes.Get(f.NoteID)
	if n == nil || n.Path == p {
		return false
	}
	there := r.known[n.Path]
	return r.also[f.NoteID] || there != nil && there.NoteID == f.NoteID
}

// aliases returns the names of the note of a day at a path, none of another one.
func (r *run) aliases(p string) []string {
	list, err := entities.CheckAliases(r.dayNames(p), r.ents.Limits().Name)
	if err != nil {
		return nil // a format of the vault makes none that can be a name
	}
	return list
}

// sameDay reports whether a note has the names of a day that it is to have at a path.
func (r *run) sameDay(id, p string) bool {
	n := r.notes.Get(id)
	return n == nil || slices.Equal(n.Given.Get().Aliases, r.aliases(p))
}

// listingRules is the version of the rules by which doubts about the privacy of a note and
// several types of one are listed. When it is raised, such files are read again once.
const listingRules = 3

func (r *run) inPrivateFolder(p string) bool { return r.notes.InPrivateFolder(r.name, p, "") }

// read reads and parses files in parallel, keeping their order. Those of a folder
// stand together.
func (r *run) read(ctx context.Context, paths []string) error {
	docs := make([]document, len(paths))
	g, going := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	maxBody := r.notes.MaxBody()
	var mu sync.Mutex // guards done, and has progress told by one at a time
	done := 0
	for from, to := 0, 0; from < len(paths) && going.Err() == nil; from = to {
		to = ofOneFolder(paths, from)
		g.Go(func() error {
			inFolder(place{Root: r.root}, paths[from:to], func(in place, i int, name string) {
				if going.Err() == nil {
					docs[from+i] = readNote(in, name, maxBody)
				}
			})
			mu.Lock()
			defer mu.Unlock()
			done += to - from
			r.progressed("read", done, len(paths))
			return going.Err()
		})
	}
	if err := errors.Join(g.Wait(), ctx.Err()); err != nil {
		return err
	}
	r.looked = slices.Grow(r.looked, len(docs))
	for i := range docs {
		d := &docs[i]
		r.looked = append(r.looked, d.looked)
		delete(r.faults.notes, d.path)
		if d.skip != "" {
			r.faults.notes[d.path] = []string{d.skip}
		}
		d.draft.Aliases = r.aliases(d.path)
	}
	docs = slices.DeleteFunc(docs, func(d document) bool { return d.skip != "" })
	if r.docs == nil {
		r.docs = docs
		return nil
	}
	r.docs = append(r.docs, docs...)
	return nil
}

// readAtOnce is how many files of a folder one goroutine reads before it tells of
// them.
const readAtOnce = 64

// ofOneFolder returns where the files end that one goroutine reads, from one on.
func ofOneFolder(paths []string, from int) (to int) {
	dir, _ := path.Split(paths[from])
	for to = from + 1; to < len(paths) && to < from+readAtOnce; to++ {
		if d, _ := path.Split(paths[to]); d != dir {
			break
		}
	}
	return to
}

func (r *run) progressed(stage string, done, total int) {
	if r.progress != nil {
		r.progress(stage, done, total)
	}
}

// infer makes types from the frontmatter of notes whose type nobody declared, and
// reports whether a type is another one then.
func (r *run) infer(ctx context.Context) (grown bool, err error) {
	docs := make(map[string][]notes.TypeDoc)
	var order []string
	for i := range r.docs {
		doc := r.docs[i].draft.Read()
		name := r.typeOf(doc)
		if name == "" {
			continue
		}
		if t := r.typeNamed(name); t != nil && !t.Inferred {
			continue
		}
		key := entities.Fold(name)
		if docs[key] == nil {
			order = append(order, name)
		}
		docs[key] = append(docs[key], notes.TypeDoc{Document: doc, Private: r.mayBePrivate(&r.docs[i])})
	}
	for _, name := range order {
		before := r.typeNamed(name)
		t, err := r.notes.EnsureType(ctx, r.name, name, docs[entities.Fold(name)])
		if err != nil {
			return grown, err
		}
		grown = grown || before != nil && before.Version != t.Version
	}
	return grown, nil
}

// mayBePrivate reports whether a note is private, or is not known not to be: a file
// that moved is told from a new one only later.
func (r *run) mayBePrivate(d *document) bool {
	known := r.known[d.path]
	if known == nil {
		return r.hasTombstones || r.notes.WillBePrivate(&d.draft)
	}
	old := r.notes.Get(known.NoteID)
	return old != nil && old.Private || r.notes.WillBePrivate(&d.draft)
}

// reread reads the notes whose type is another than when they were taken in:
// their frontmatter may mean something else now.
func (r *run) reread(ctx context.Context) error {
	have := make(map[string]bool, len(r.docs))
	for i := range r.docs {
		have[r.docs[i].path] = true
	}
	var due []string
	err := r.db.View(ctx, func(tx *kv.Tx) error {
		for key, f := range files.All(tx, r.name+"/") {
			p := strings.TrimPrefix(key, r.name+"/")
			if f.Type == "" || have[p] || f.readBy(r.readBy(strings.Split(f.Type, "\n"))) {
				continue
			}
			if _, there := r.tree.stamp(p); there {
				due = append(due, p)
				r.known[p] = f
			}
		}
		return tx.Err()
	})
	if err != nil || len(due) == 0 {
		return err
	}
	if err := r.read(ctx, due); err != nil {
		return err
	}
	slices.SortStableFunc(r.docs, func(a, b document) int { return strings.Compare(a.path, b.path) })
	return nil
}

// write writes the notes that are new or changed, batch by batch.
func (r *run) write(ctx context.Context) error {
	r.moves()
	var moved, due, touched []*document
	for i := range r.docs {
		d := &r.docs[i]
		known := r.known[d.path]
		switch {
		case known == nil || known.Hash != d.hash || !known.readBy(r.readBy(typeNames(d.draft.Read()))) ||
			known.Private != r.inPrivateFolder(d.path), !r.sameDay(known.NoteID, d.path):
			if known != nil && r.moved[known.NoteID] {
				moved = append(moved, d)
				continue
			}
			due = append(due, d)
		case known.stamp() != d.stamp, known.Warning != r.warning(d, r.notes.Get(known.NoteID)):
			touched = append(touched, d)
		}
	}
	// First the notes that moved: if the run is cut short, no other note has their old place.
	r.written = len(moved) + len(due)
	if err := r.writeAll(ctx, moved, 0); err != nil {
		return err
	}
	if err := r.writeAll(ctx, due, len(moved)); err != nil {
		return err
	}
	for part := range slices.Chunk(touched, batch) {
		err := r.db.Update(ctx, func(tx *kv.Tx) error {
			for _, d := range part {
				f := *r.known[d.path]
				f.Size, f.Modified, f.Warning = d.stamp.size, d.stamp.modified, r.warning(d, r.notes.Get(f.NoteID))
				r.known[d.path] = &f
				if err := files.Put(tx, r.name+"/"+d.path, &f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writers is how many batches are on their way: while one waits for the disk, or is
// entered into the indexes, the next one is made.
const writers = 4

// writeAll writes notes, batch by batch, when done of the run's are written.
func (r *run) writeAll(ctx context.Context, due []*document, done int) error {
	g, going := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	var mu sync.Mutex // guards done and r.known
	before := maps.Clone(r.known)
	for part := range slices.Chunk(due, bulkBatch) {
		if going.Err() != nil {
			break
		}
		g.Go(func() error {
			written := make([]*file, len(part))
			err := r.db.Update(going, func(tx *kv.Tx) (err error) {
				for i, d := range part {
					written[i], err = r.writeNote(tx, d, before[d.path])
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for i, d := range part {
				r.known[d.path] = written[i]
				d.draft = notes.Draft{} // the store has the text
			}
			done += len(part)
			r.progressed("write", done, r.written)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// writeNote writes one note and returns the record of its file. known is the
// file it was known by, nil for none.
func (r *run) writeNote(tx *kv.Tx, d *document, known *file) (*file, error) {
	draft := d.draft
	draft.Vault = r.name
	cameFrom := ""
	if known != nil {
		draft.ID = known.NoteID
		old, err := notes.Records.Get(tx, draft.ID)
		if err != nil {
			return nil, err
		}
		if old != nil {
			draft.Private = old.Given.Get().Private // said by a client, not by the file
			if known.Hash != d.hash && old.Body == draft.Body && old.Vault == r.name && old.Path == d.path {
				return r.putFile(tx, d, old, nil) // a machine that shares the store has written it already
			}
		}
	} else {
		draft.ID = notes.VaultID(r.name, d.path, "note")
		taken, err := notes.Records.Get(tx, draft.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case taken == nil:
		case taken.Vault == r.name && taken.Path == d.path && !r.moved[taken.ID]: // a machine that shares the store has the file, too
			draft.Private = taken.Given.Get().Private
			if taken.Body == draft.Body {
				return r.putFile(tx, d, taken, nil) // the same bytes from two machines are one write
			}
		default:
			draft.ID = "" // the file that had this path moved and keeps its id
		}
		if r.hasTombstones {
			draft.Was, cameFrom, err = r.findTombstone(tx, d)
			if err != nil {
				return nil, err
			}
		}
		if draft.Was != nil {
			draft.ID, draft.Private = draft.Was.ID, draft.Was.Given.Private
		}
	}
	var problems []string
	n, err := r.notes.PutTx(tx, draft, nil, func(err error) { problems = append(problems, fault.Message(err)) })
	if err != nil {
		return nil, err
	}
	if draft.Was != nil {
		if err := r.restored(tx, cameFrom, n); err != nil {
			return nil, err
		}
	}
	return r.putFile(tx, d, n, problems)
}

// putFile notes a file whose text a note has.
func (r *run) putFile(tx *kv.Tx, d *document, n *notes.Note, problems []string) (_ *file, err error) {
	f := &file{
		NoteID: n.ID, Hash: d.hash, Size: d.stamp.size, Modified: d.stamp.modified,
		Warning: r.warning(d, n), Problems: problems, Private: r.inPrivateFolder(d.path),
	}
	f.Type, f.TypeVersion = readBy(typeNames(d.draft.Read()), func(name string) *entities.Type {
		named, failed := entities.TypeRecords.Shared(tx, entities.Fold(name))
		err = errors.Join(err, failed)
		return named.Own(r.name)
	})
	if err != nil {
		return nil, err
	}
	return f, files.Put(tx, r.name+"/"+d.path, f)
}

// warning says what of a file could not be understood, a line each: its frontmatter, its
// types, and why its note is private although it does not plainly say so.
func (r *run) warning(d *document, n *notes.Note) string {
	var lines []string
	if d.warning != "" {
		lines = append(lines, d.warning)
	}
	lines = append(lines, typeWarnings(d.draft.Read())...)
	if n != nil && n.Private {
		if doubt := r.notes.WhyPrivate(n).Doubt; doubt != "" {
			lines = append(lines, doubt)
		}
	}
	return strings.Join(lines, "\n")
}

// recordScan records the scan in the record of the vault, when that changes.
func (r *run) recordScan(ctx context.Context, whole bool) error {
	for p, f := range r.known {
		if _, there := r.tree.stamp(p); there && r.faults.notes[p] == nil {
			if list := f.faults(); list != nil {
				r.faults.notes[p] = list
			}
		}
	}
	now, skipped := r.opts.Now().UTC(), r.skipped()
	return r.db.Update(ctx, func(tx *kv.Tx) error {
		v, err := vaults.Get(tx, r.name)
		if err != nil {
			return err
		}
		if v != nil && !whole && slices.Equal(v.Skipped, skipped) {
			return nil
		}
		fresh := vault{
			Name: r.name, Path: r.path, LastScanAt: now, Skipped: skipped,
			Watch: r.watch || v != nil && v.Watch, Listed: r.listed,
		}
		if whole {
			fresh.Listed = listingRules
		}
		return vaults.Put(tx, r.name, &fresh)
	})
}

// skipped returns everything that was not taken in, or not whole, by path.
func (r *run) skipped() []ImportSkip {
	list := append(r.tree.skipped(), r.faults.types...)
	for p, reasons := range r.faults.notes {
		for _, reason := range reasons {
			list = append(list, ImportSkip{Path: strings.ToValidUTF8(p, "\ufffd"), Reason: reason})
		}
	}
	slices.SortStableFunc(list, func(a, b ImportSkip) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// report counts what there is now.
func (r *run) report() *ImportResult {
	res := &ImportResult{Vault: r.name, Written: r.written, Removed: r.removed, Skipped: r.skipped()}
	if res.Skipped == nil {
		res.Skipped = []ImportSkip{}
	}
	var made []string
	for n := range r.notes.All() {
		if n.Vault != r.name {
			continue
		}
		res.Notes++
		if n.EntityID != "" {
			made = append(made, n.EntityID)
		}
	}
	res.Entities = len(made)
	inferred := make(map[string]bool)
	for _, id := range made {
		if e := r.ents.Get(id); e != nil && !inferred[e.Type] {
			if t := r.ents.TypeOf(e); t != nil && t.Inferred {
				inferred[e.Type] = true
				res.Inferred = append(res.Inferred, e.Type)
			}
		}
	}
	slices.SortFunc(res.Inferred, entities.CompareNatural)
	count := r.notes.LinkCount(r.name, nil)
	res.Links, res.Unresolved = count.Links, count.Unresolved
	return res
}

// stamp returns the stamp that the file had when it was taken in.
func (f *file) stamp() stamp { return stamp{f.Size, f.Modified} }

// faults says what of the file could not be taken in.
func (f *file) faults() (list []string) {
	if f.Warning != "" {
		list = strings.Split(f.Warning, "\n")
	}
	for _, problem := range f.Problems {
		list = append(list, "value left out: "+problem)
	}
	return list
}
