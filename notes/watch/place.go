package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// nameFor returns the name of the vault at a path: the one it has, the one
// that was asked for, or that of the folder. A name belongs to one folder, and a
// folder to one vault: by whatever path it is given, it is that at place. A new one
// may not lie in the folder of another vault, nor hold one, unless it is left out
// there: its notes would be there twice. A new one is a newcomer until left is called.
func (im *Importer) nameFor(ctx context.Context, req Request) (name, place string, left func(), err error) {
	place = filepath.Clean(req.Path)
	all, left, err := im.join(ctx, im.known, func(all []*vault) (*vault, error) {
		if v := at(all, place); v != nil {
			if req.Name != "" && req.Name != v.Name {
				return nil, fault.New(fault.Conflict, "the folder is imported as vault %q already", v.Name).WithRef(v.Name).
					WithHint("leave the name out, or forget that vault first")
			}
			name, place = v.Name, v.Path
			return nil, nil
		}
		if name = req.Name; name == "" {
			name = nameOf(place)
		}
		if err := entities.CheckID("name", name); err != nil {
			return nil, err
		}
		if isNamed(all, name) {
			return nil, fault.New(fault.Conflict, "another folder is imported as vault %q", name).WithRef(name).
				WithHint("give this one another name")
		}
		return &vault{Name: name, Path: place}, nil
	})
	if err == nil && all != nil {
		err = im.apart(ctx, place, all)
	}
	if err != nil {
		left()
		return "", "", nil, err
	}
	return name, place, left, nil
}

// join has a vault be a newcomer until left is called, if there is a new one by what
// choose says of all that there are. It returns these then, else nil. Of two that begin
// at the same moment, the second is told apart from the first.
func (im *Importer) join(ctx context.Context, list func(context.Context) ([]*vault, error), choose func(all []*vault) (*vault, error)) (all []*vault, left func(), err error) {
	left = func() {}
	im.joining.Lock()
	defer im.joining.Unlock()
	if all, err = list(ctx); err != nil {
		return nil, left, err
	}
	all = append(all, im.newcomers...)
	mine, err := choose(all)
	if err != nil || mine == nil {
		return nil, left, err
	}
	im.newcomers = append(im.newcomers, mine)
	return all, func() {
		im.joining.Lock()
		defer im.joining.Unlock()
		im.newcomers = slices.DeleteFunc(im.newcomers, func(v *vault) bool { return v == mine })
	}, nil
}

// at returns the vault at a place, by whatever path, nil for none.
func at(all []*vault, place string) *vault {
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

// apart returns an error when a folder lies in that of a vault, or holds it, and is
// not left out there.
func (im *Importer) apart(ctx context.Context, place string, all []*vault) error {
	for _, v := range all {
		if inner, lies := lieIn(place, v.Path); lies && im.takes(ctx, v.Path, inner) {
			return fault.New(fault.Conflict, "the folder lies in that of vault %q, which has its notes", v.Name).WithRef(v.Name).
				WithHint("to have a vault of its own, leave it out there first, with the line /%s/ in .ctxdignore", inner)
		}
		if inner, lies := lieIn(v.Path, place); lies && im.takes(ctx, place, inner) {
			return fault.New(fault.Conflict, "the folder of vault %q lies in this one", v.Name).WithRef(v.Name).
				WithHint("forget that vault first, or leave it out here, with the line /%s/ in .ctxdignore", inner)
		}
	}
	return nil
}

// lieIn reports whether a folder lies in another, however their paths are written,
// and where, with slashes.
func lieIn(inner, outer string) (at string, lies bool) {
	top, err := os.Stat(outer)
	if err != nil {
		return "", false
	}
	dir, err := filepath.EvalSymlinks(inner)
	if err != nil {
		return "", false
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, top) {
			return at, at != ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		at, dir = path.Join(filepath.Base(dir), at), up
	}
}

// takes reports whether the notes of a folder inside are those of the vault at a
// place. Where that can't be told, they are.
func (im *Importer) takes(ctx context.Context, place, inner string) bool {
	root, err := openFolder(place)
	if err != nil {
		return true
	}
	defer root.Close()
	t, err := (&walker{root: root, exclude: im.exclude}).all(ctx)
	return err != nil || t.folders[inner] != nil
}

// await has a folder that can't be imported now, for the reason why, be imported when
// it can, if that is asked for.
func (im *Importer) await(ctx context.Context, req Request, why error) {
	if req.Await && req.Watch && !req.DryRun && fault.KindOf(why) != fault.Invalid {
		im.Await(ctx, req)
	}
}

// Await has a folder be imported and followed when it can be, which it can't now. It
// is among the vaults until then, unless another has its name.
func (im *Importer) Await(ctx context.Context, req Request) {
	all, err := im.known(ctx)
	if err != nil {
		return
	}
	place := filepath.Clean(req.Path)
	if v := at(all, place); v != nil {
		im.follow(v.Name, v.Path, !v.Forgetting)
		return
	}
	name := req.Name
	if name == "" {
		name = nameOf(place)
	}
	if entities.CheckID("name", name) == nil && !isNamed(all, name) {
		im.follow(name, place, true)
	}
}

// admit returns an error when a follower has a folder that may be no vault: one that
// was waited for, and is the folder of another vault or lies in one. It is a newcomer
// until left is called.
func (f *follower) admit(ctx context.Context) (left func(), err error) {
	all, left, err := f.im.join(ctx, f.im.records, func(all []*vault) (*vault, error) {
		if isNamed(all, f.name) {
			return nil, nil
		}
		if v := at(all, f.path); v != nil {
			return nil, fault.New(fault.Conflict, "the folder is that of vault %q", v.Name).WithRef(v.Name).WithHint("name it once")
		}
		return f.awaited(), nil
	})
	if err == nil && all != nil {
		err = f.im.apart(ctx, f.path, all)
	}
	return left, err
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
