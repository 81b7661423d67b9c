package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// nameFor returns the name and the path of the vault that a request is about: the name
// that the folder has as a vault, the one that was asked for, or that of the folder. A
// name belongs to one folder, and a folder to one vault, by whatever path it is given. A
// new vault may not lie in the folder of another, nor hold one, unless one is excluded
// from the other: its notes would be there twice. A new vault is registered until
// unregister is called.
func (im *Importer) nameFor(ctx context.Context, req ImportRequest) (name, place string, unregister func(), err error) {
	place = filepath.Clean(req.Path)
	if err := im.checkOwnFiles(place); err != nil {
		return "", "", nil, err
	}
	all, unregister, err := im.register(ctx, im.known, func(all []*vault) (*vault, error) {
		if v := vaultAt(all, place); v != nil {
			if req.Name != "" && req.Name != v.Name {
				return nil, fault.Clash(fault.Exists, "the folder is already imported as vault %q", v.Name).
					WithRef(v.Name).
					WithHint("leave out the name, or forget that vault first")
			}
			name, place = v.Name, v.Path
			return nil, nil
		}
		name = req.Name
		if name == "" {
			name = vaultNameFor(place)
		}
		if err := entities.CheckID("name", name); err != nil {
			return nil, err
		}
		if isNamed(all, name) {
			return nil, fault.Clash(fault.Exists, "another folder is already imported as vault %q", name).WithRef(name).
				WithHint("give this one another name")
		}
		return &vault{Name: name, Path: place}, nil
	})
	if err == nil && all != nil {
		err = im.checkOverlap(ctx, place, all)
	}
	if err != nil {
		unregister()
		return "", "", nil, err
	}
	return name, place, unregister, nil
}

// register calls choose with all vaults, those that are being imported first included.
// If choose returns a new vault, it is registered until unregister is called, so that of
// two imports that begin at the same moment the second sees the first; the others are
// returned. If choose returns nil, all is nil.
func (im *Importer) register(ctx context.Context, list func(context.Context) ([]*vault, error),
	choose func(all []*vault) (*vault, error),
) (all []*vault, unregister func(), err error) {
	unregister = func() {}
	im.registerMu.Lock()
	defer im.registerMu.Unlock()
	all, err = list(ctx)
	if err != nil {
		return nil, unregister, err
	}
	all = append(all, im.registering...)
	mine, err := choose(all)
	if err != nil || mine == nil {
		return nil, unregister, err
	}
	im.registering = append(im.registering, mine)
	return all, func() {
		im.registerMu.Lock()
		defer im.registerMu.Unlock()
		im.registering = slices.DeleteFunc(im.registering, func(v *vault) bool { return v == mine })
	}, nil
}

// vaultAt returns the vault in the folder that a path leads to, nil for none.
func vaultAt(all []*vault, place string) *vault {
	for _, v := range all {
		if v.Path == place {
			return v
		}
	}
	for _, v := range all {
		if isSame(place, v.Path) {
			return v
		}
	}
	return nil
}

func isSame(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// checkOverlap returns an error when a folder lies in that of a vault, or holds it, and
// is not excluded there.
func (im *Importer) checkOverlap(ctx context.Context, place string, all []*vault) error {
	for _, v := range all {
		if inner, lies := nestedIn(place, v.Path); lies && im.includes(ctx, v.Path, inner) {
			return fault.Clash(fault.Exists, "the folder is inside vault %q, which has its notes", v.Name).
				WithRef(v.Name).
				WithHint("to make it a vault, first exclude it there with the line /%s/ in .ctxdignore", inner)
		}
		if inner, lies := nestedIn(v.Path, place); lies && im.includes(ctx, place, inner) {
			return fault.Clash(fault.Exists, "the folder contains vault %q", v.Name).WithRef(v.Name).
				WithHint("forget that vault first, or exclude it here with the line /%s/ in .ctxdignore", inner)
		}
	}
	return nil
}

// nestedIn reports whether a folder lies in another, however their paths are written, and
// returns its path there, with slashes.
func nestedIn(inner, outer string) (at string, lies bool) {
	top, err := os.Stat(outer)
	if err != nil {
		return "", false
	}
	dir, err := filepath.EvalSymlinks(inner)
	if err != nil {
		return "", false
	}
	at, lies = below(dir, top)
	return at, lies && at != ""
}

// includes reports whether the notes of a folder inside are those of the vault at a path.
// When the vault can't be read, they are.
func (im *Importer) includes(ctx context.Context, place, inner string) bool {
	root, err := openFolder(place)
	if err != nil {
		return true
	}
	defer root.Close()
	t, err := im.newWalker(root, "").all(ctx)
	return err != nil || t.folders[inner] != nil
}

// await calls Await for a folder that can't be imported now, for the reason why, if the
// request asks for that.
func (im *Importer) await(ctx context.Context, req ImportRequest, why error) {
	if req.Await && req.Watch && !req.DryRun && fault.KindOf(why) != fault.Invalid {
		im.Await(ctx, req)
	}
}

// Await imports and follows a folder as soon as it can be read, which it can't be now. It
// is listed among the vaults until then, unless another vault has its name.
func (im *Importer) Await(ctx context.Context, req ImportRequest) {
	all, err := im.known(ctx)
	if err != nil {
		return
	}
	place := filepath.Clean(req.Path)
	if v := vaultAt(all, place); v != nil {
		im.follow(v.Name, v.Path, !v.Forgetting)
		return
	}
	name := req.Name
	if name == "" {
		name = vaultNameFor(place)
	}
	if entities.CheckID("name", name) == nil && !isNamed(all, name) {
		im.follow(name, place, true)
	}
}

// admit returns an error when the folder of a follower may not become a vault: one that
// was waited for, and is the folder of another vault or lies in one. The vault is
// registered until unregister is called.
func (f *follower) admit(ctx context.Context) (unregister func(), err error) {
	all, unregister, err := f.im.register(ctx, f.im.records, func(all []*vault) (*vault, error) {
		if isNamed(all, f.name) {
			return nil, nil
		}
		if v := vaultAt(all, f.path); v != nil {
			return nil, fault.Clash(fault.Exists, "the folder is that of vault %q", v.Name).WithRef(v.Name).
				WithHint("name it once")
		}
		return f.awaited(), nil
	})
	if err == nil && all != nil {
		err = f.im.checkOverlap(ctx, f.path, all)
	}
	return unregister, err
}

func (im *Importer) known(ctx context.Context) (all []*vault, err error) {
	err = im.db.View(ctx, func(tx *kv.Tx) error {
		all, err = im.all(tx)
		return err
	})
	return all, err
}

func isNamed(all []*vault, name string) bool {
	return slices.ContainsFunc(all, func(v *vault) bool { return v.Name == name })
}

// vaultNameFor makes a name for the vault in a folder: that of the folder, with
// hyphens for what may not stand in a name; where nothing is left of it, one
// that tells it from others.
func vaultNameFor(p string) string {
	name := strings.Trim(strings.Map(nameRune, filepath.Base(p)), "-")
	name = name[:min(len(name), 64)]
	if name != "" {
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
