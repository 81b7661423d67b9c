package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
)

// ImportRequest says what to import and how.
type ImportRequest struct {
	Path     string // of the folder, absolute
	Name     string // of the vault; "": that of the folder
	DryRun   bool   // report only
	Watch    bool   // follow the folder from then on; not in a dry run
	Progress func(stage string, done, total int)
	Named    func(vault string) // told the name of the vault before any progress
	// Await: a folder that can't be imported now, such as one on a disk that is out, is to
	// be imported and followed when it can; the error is returned all the same. It goes
	// with Watch.
	Await bool
}

// Import makes the store agree with a folder of Markdown files. What was done
// before an error or a cancellation stays, in whole notes; the next import
// goes on from there.
func (im *Importer) Import(ctx context.Context, req ImportRequest) (*ImportResult, error) {
	started := time.Now()
	root, err := openFolder(req.Path)
	if err != nil {
		im.await(ctx, req, err)
		return nil, err
	}
	defer root.Close()
	name, place, unregister, err := im.nameFor(ctx, req)
	if err != nil {
		im.await(ctx, req, err)
		return nil, err
	}
	defer unregister()
	if req.DryRun {
		unregister() // nothing of it will be there
	}
	if req.Watch && !req.DryRun && !im.canFollow() {
		return nil, fault.New(fault.Unavailable, "folders cannot be followed on this system").
			WithHint("leave out watch, and import again when the files have changed")
	}
	release, err := im.claim(ctx, name, true)
	if err != nil {
		return nil, err
	}
	defer release()
	if !req.DryRun {
		if err := im.finishForgetting(ctx, name); err != nil {
			return nil, err
		}
	}
	if req.Named != nil {
		req.Named(name)
	}
	target := im
	if req.DryRun {
		target, err = im.scratch(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = target.db.Close() }() // it is in memory
	}
	r := &run{Importer: target, root: root, name: name, path: place, progress: req.Progress, watch: req.Watch}
	if err := r.whole(ctx, nil); err != nil {
		return nil, err
	}
	res := r.report()
	release()
	if !req.DryRun {
		res.Watching = im.follow(name, r.path, req.Watch)
	}
	res.Ms, res.DryRun = time.Since(started).Milliseconds(), req.DryRun
	return res, nil
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
	ns, err := notes.Open(db, ents,
		notes.Options{MaxBody: im.notes.MaxBody(), PrivateFolders: im.notes.PrivateFolders()})
	if err != nil {
		return nil, err
	}
	for _, t := range im.ents.Types() {
		if _, _, err := ents.PutType(ctx, *t, nil, true); err != nil {
			return nil, err
		}
	}
	return NewImporter(db, ents, ns, im.opts), nil
}

func openFolder(p string) (*os.Root, error) {
	if p == "" {
		return nil, fault.Field("path", "path is empty").WithHint("give the folder of the vault")
	}
	if !filepath.IsAbs(p) {
		return nil, fault.Field("path", "path is not absolute").
			WithHint("give an absolute path; the working directory of the daemon is another one")
	}
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{
			Kind: fault.NotFound, Field: "path", Msg: "there is no such folder",
			Hint: "check the path of the vault",
		}
	case err != nil:
		return nil, unreadable(err)
	case !info.IsDir():
		return nil, fault.Field("path", "path is a file").WithHint("give the folder of the file")
	}
	root, err := os.OpenRoot(p)
	if err != nil {
		return nil, unreadable(err)
	}
	return root, nil
}
