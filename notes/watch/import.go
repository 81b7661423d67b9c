package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// batch is how many notes one transaction writes: few enough that readers do
// not wait long for it, many enough that the disk is not waited for often.
const batch = 200

// Request says what to import and how.
type Request struct {
	Path     string // of the folder, absolute
	Name     string // of the vault; "": that of the folder
	DryRun   bool   // report only
	Progress func(stage string, done, total int)
	Named    func(vault string) // told the name of the vault before any progress
}

// Result says what an import did.
type Result struct {
	Vault      string   `json:"vault"`
	Notes      int      `json:"notes"`
	Entities   int      `json:"entities"`
	Links      int      `json:"links"`
	Unresolved int      `json:"unresolved"`
	Written    int      `json:"written"`            // notes that were new or had changed
	Removed    int      `json:"removed"`            // notes whose file is gone
	Inferred   []string `json:"inferred,omitempty"` // types made from frontmatter
	Skipped    []Skip   `json:"skipped"`
	Ms         int64    `json:"ms"`
	DryRun     bool     `json:"dryRun,omitempty"`
}

// run is one import under way.
type run struct {
	*Importer
	req     Request
	root    *os.Root
	name    string
	known   map[string]*file // by path
	found   *scan
	vacated []string // paths whose note moved and that have no known one now
	gone    []gone
	docs    []document
	skipped []Skip
	result  Result
}

// Import makes the store agree with a folder of Markdown files. What was done
// before an error or a cancellation stays, in whole notes; the next import
// goes on from there.
func (im *Importer) Import(ctx context.Context, req Request) (*Result, error) {
	started := time.Now()
	root, err := openFolder(req.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name, err := im.nameFor(ctx, req)
	if err != nil {
		return nil, err
	}
	release, err := im.claim(name)
	if err != nil {
		return nil, err
	}
	defer release()
	if req.Named != nil {
		req.Named(name)
	}
	if req.Progress == nil {
		req.Progress = func(string, int, int) {}
	}
	target := im
	if req.DryRun {
		if target, err = im.scratch(ctx); err != nil {
			return nil, err
		}
		defer func() { _ = target.db.Close() }() // it is in memory
	}
	r := &run{Importer: target, req: req, root: root, name: name}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	r.result.Ms = time.Since(started).Milliseconds()
	r.result.DryRun = req.DryRun
	return &r.result, nil
}

// scratch returns an importer into an empty store in memory with the types of
// this one: a dry run is a real one that nobody sees.
func (im *Importer) scratch(ctx context.Context) (*Importer, error) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		return nil, err
	}
	var engine *wql.Engine
	ents, err := entities.Open(db, entities.Options{
		CheckQuery: func(t *entities.Type, f entities.Field) []entities.Diagnostic { return engine.CheckField(t, f) },
		Limits:     im.ents.Limits(),
	})
	if err != nil {
		return nil, err
	}
	engine = wql.New(ents, wql.Options{})
	ns, err := notes.Open(db, ents, notes.Options{MaxBody: im.notes.MaxBody()})
	if err != nil {
		return nil, err
	}
	for _, t := range im.ents.Types() {
		if _, _, err := ents.PutType(ctx, *t, nil, true); err != nil {
			return nil, err
		}
	}
	return New(db, ents, ns, im.opts), nil
}

func openFolder(p string) (*os.Root, error) {
	if p == "" {
		return nil, fault.Field("path", "path is empty").WithHint("give the folder of the vault")
	}
	if !filepath.IsAbs(p) {
		return nil, fault.Field("path", "path is not absolute").WithHint("the daemon has a working directory of its own: give the whole path")
	}
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Kind: fault.NotFound, Field: "path", Msg: "there is no such folder", Hint: "check the path of the vault"}
	case err != nil:
		return nil, unreadable(err)
	case !info.IsDir():
		return nil, fault.Field("path", "path is a file").WithHint("give the folder that the file is in")
	}
	root, err := os.OpenRoot(p)
	if err != nil {
		return nil, unreadable(err)
	}
	return root, nil
}

// nameFor returns the name of the vault at a path: the one it has, the one
// that was asked for, or that of the folder. A name belongs to one path.
func (im *Importer) nameFor(ctx context.Context, req Request) (string, error) {
	p := filepath.Clean(req.Path)
	name := req.Name
	err := im.db.View(ctx, func(tx *kv.Tx) error {
		for _, v := range vaults.All(tx, "") {
			if v.Path != p {
				continue
			}
			if name != "" && name != v.Name {
				return fault.New(fault.Conflict, "the folder is imported as vault %q already", v.Name).WithRef(v.Name).
					WithHint("leave the name out, or forget that vault first")
			}
			name = v.Name
			return nil
		}
		if name == "" {
			name = nameOf(p)
		}
		if err := entities.CheckID("name", name); err != nil {
			return err
		}
		other, err := vaults.Get(tx, name)
		if err != nil {
			return err
		}
		if other != nil && other.Path != p {
			return fault.New(fault.Conflict, "another folder is imported as vault %q", name).WithRef(name).
				WithHint("give this one another name")
		}
		return tx.Err()
	})
	return name, err
}

// nameOf makes a name for the vault in a folder: that of the folder, with
// hyphens for what may not stand in a name; where nothing is left of it, one
// that tells it from others.
func nameOf(p string) string {
	name := strings.Trim(strings.Map(nameRune, filepath.Base(p)), "-")
	if name = name[:min(len(name), 64)]; name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(p))
	return "vault-" + hex.EncodeToString(sum[:4])
}

// nameRune keeps what may stand in the name of a vault.
func nameRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		return r
	}
	return '-'
}

// all runs the steps of an import.
func (r *run) all(ctx context.Context) error {
	found, err := walk(ctx, r.root)
	if err != nil {
		return err
	}
	r.found, r.skipped = found, found.skipped
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.read(ctx, found.notes); err != nil {
		return err
	}
	if err := r.declare(ctx, found.types); err != nil {
		return err
	}
	if err := r.infer(ctx); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if err := r.remove(ctx, found.notes); err != nil {
		return err
	}
	return r.conclude(ctx)
}

// load reads what the store knows of the vault's files.
func (r *run) load(ctx context.Context) error {
	r.known = make(map[string]*file)
	return r.db.View(ctx, func(tx *kv.Tx) error {
		for key, f := range files.All(tx, r.name+"/") {
			r.known[strings.TrimPrefix(key, r.name+"/")] = f
		}
		return tx.Err()
	})
}

// read reads and parses the files in parallel, keeping their order.
func (r *run) read(ctx context.Context, paths []string) error {
	docs := make([]document, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	workers, maxBody := runtime.GOMAXPROCS(0), r.notes.MaxBody()
	for w := range workers {
		g.Go(func() error {
			for i := w; i < len(paths); i += workers {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				docs[i] = readNote(r.root, paths[i], maxBody)
				if w == 0 {
					r.req.Progress("read", i+1, len(paths))
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, d := range docs {
		if d.skip != "" {
			r.skipped = append(r.skipped, Skip{d.path, d.skip})
			continue
		}
		if d.warning != "" {
			r.skipped = append(r.skipped, Skip{d.path, d.warning})
		}
		r.docs = append(r.docs, d)
	}
	return nil
}

// infer makes types from the frontmatter of notes whose type nobody declared.
func (r *run) infer(ctx context.Context) error {
	docs := make(map[string][]*markdown.Document)
	var order []string
	for i := range r.docs {
		doc := r.docs[i].draft.Read()
		name := notes.TypeOf(doc)
		if name == "" {
			continue
		}
		if t := r.ents.Type(name); t != nil && !t.Inferred {
			continue
		}
		key := entities.Fold(name)
		if docs[key] == nil {
			order = append(order, name)
		}
		docs[key] = append(docs[key], doc)
	}
	for _, name := range order {
		t, err := r.notes.EnsureType(ctx, name, docs[entities.Fold(name)])
		if err != nil {
			return err
		}
		r.result.Inferred = append(r.result.Inferred, t.Name)
	}
	return nil
}

// write writes the notes that are new or changed, batch by batch.
func (r *run) write(ctx context.Context) error {
	r.moves()
	var due []*document
	for i := range r.docs {
		d := &r.docs[i]
		if known := r.known[d.path]; known != nil && known.Hash == d.hash && r.typeOf(d) == [2]any{known.Type, known.TypeVersion} {
			r.list(d.path, known.Problems)
			continue
		}
		due = append(due, d)
	}
	done := 0
	for part := range slices.Chunk(due, batch) {
		problems := make([][]string, len(part))
		err := r.db.Update(ctx, func(tx *kv.Tx) (err error) {
			for i, d := range part {
				if problems[i], err = r.writeNote(tx, d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, d := range part {
			r.list(d.path, problems[i])
		}
		done += len(part)
		r.req.Progress("write", done, len(due))
	}
	r.result.Written = len(due)
	return nil
}

// typeOf returns the type that a note's frontmatter is read by, and its version.
func (r *run) typeOf(d *document) [2]any {
	if t := r.ents.Type(notes.TypeOf(d.draft.Read())); t != nil {
		return [2]any{t.Name, t.Version}
	}
	return [2]any{"", 0}
}

// list lists what of a file's frontmatter did not fit its type.
func (r *run) list(p string, problems []string) {
	for _, problem := range problems {
		r.skipped = append(r.skipped, Skip{p, "value left out: " + problem})
	}
}

// writeNote writes one note and returns what of its frontmatter did not fit.
func (r *run) writeNote(tx *kv.Tx, d *document) (problems []string, err error) {
	var id string
	if known := r.known[d.path]; known != nil {
		id = known.NoteID
	} else {
		id = notes.VaultID(r.name, d.path, "note")
		taken, err := notes.Records.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if taken != nil {
			id = "" // the file that had this path moved and kept its id
		}
	}
	draft := d.draft
	draft.ID, draft.Vault = id, r.name
	if id != "" {
		old, err := notes.Records.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if old != nil {
			draft.Private = old.Given.Get().Private // said by a client, not by the file
		}
	}
	n, err := r.notes.PutTx(tx, draft, nil, func(err error) { problems = append(problems, fault.Message(err)) })
	if err != nil {
		return nil, err
	}
	f := &file{NoteID: n.ID, Hash: d.hash, MarkdownLinks: len(draft.Read().MarkdownLinks), Problems: problems}
	if e, err := entities.EntityRecords.Get(tx, n.EntityID); err != nil {
		return nil, err
	} else if name := notes.TypeOf(draft.Read()); e != nil && name != "" {
		t, err := entities.TypeRecords.Get(tx, entities.Fold(name))
		if err != nil {
			return nil, err
		}
		f.Type, f.TypeVersion = t.Name, t.Version
	}
	return problems, files.Put(tx, r.name+"/"+d.path, f)
}

// conclude records the scan and counts what there is now.
func (r *run) conclude(ctx context.Context) error {
	slices.SortStableFunc(r.skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	v := vault{Name: r.name, Path: filepath.Clean(r.req.Path), LastScanAt: r.opts.Now().UTC(), Skipped: r.skipped}
	if err := r.db.Update(ctx, func(tx *kv.Tx) error { return vaults.Put(tx, r.name, &v) }); err != nil {
		return err
	}
	r.result.Vault = r.name
	r.result.Skipped = r.skipped
	if r.result.Skipped == nil {
		r.result.Skipped = []Skip{}
	}
	for n := range r.notes.All() {
		if n.Vault != r.name {
			continue
		}
		r.result.Notes++
		if n.EntityID != "" {
			r.result.Entities++
		}
	}
	r.result.Links, r.result.Unresolved = r.notes.LinkCount(r.name)
	return nil
}
